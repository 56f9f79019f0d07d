//! The embedded declarations of the C and POSIX library.
//!
//! Written from the standards' own descriptions; constants have their values on x86-64 Linux, so
//! that a revision means the same on every machine.

/// Folder that the embedded headers seem to lie in. No file of a tree can be there.
pub const DIR: &str = "<invdiff>";

/// Where a Linux machine keeps its headers, for `host_headers`.
pub const HOST_DIRS: [&str; 3] = ["/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include"];

/// Returns the text of an embedded header by the name that an include writes.
pub fn text(name: &str) -> Option<&'static str> {
    let at = HEADERS.binary_search_by(|(n, _)| (*n).cmp(name)).ok()?;
    HEADERS.get(at).map(|(_, text)| *text)
}

/// Sorted by name.
const HEADERS: &[(&str, &str)] = &[
    ("assert.h", include_str!("headers/assert.h")),
    ("math.h", include_str!("headers/math.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("string.h", include_str!("headers/string.h")),
    ("strings.h", include_str!("headers/strings.h")),
    ("sys/_time.h", include_str!("headers/sys/_time.h")),
    ("sys/select.h", include_str!("headers/sys/select.h")),
    ("sys/types.h", include_str!("headers/sys/types.h")),
];
