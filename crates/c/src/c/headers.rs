//! The embedded declarations of the C and POSIX library, and of what nearly all code for Windows uses of its own.
//!
//! Written from the standards' own descriptions; constants have their values on x86-64 Linux, so
//! that a revision means the same on every machine.

use serde::{Deserialize, Deserializer, de};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

/// Folder that the embedded headers seem to lie in. No file of a tree can be there.
pub const DIR: &str = "<invdiff>";

/// Folder in it of headers of test frameworks: any file of a tree comes before them.
pub const TESTS: &str = "<invdiff>/<tests>";

/// Where a Linux machine keeps its headers, for `host_headers`.
pub const HOST_DIRS: [&str; 3] = ["/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include"];

/// What code for Windows begins with, under all names of it.
const WINDOWS: &str = include_str!("headers/windows.h");
const WINDOWS_NAMES: [&str; 8] =
    ["windows.h", "Windows.h", "minwindef.h", "winbase.h", "windef.h", "winnt.h", "winsock.h", "winsock2.h"];

/// Returns the text of an embedded header by the name that an include writes.
pub fn text(name: &str) -> Option<&'static str> {
    if WINDOWS_NAMES.contains(&name) {
        return Some(WINDOWS);
    }
    let at = HEADERS.binary_search_by(|(n, _)| (*n).cmp(name)).ok()?;
    HEADERS.get(at).map(|(_, text)| *text)
}

/// Returns the text that an include of the C or POSIX library reads: an embedded header's, or one of those that come with
/// a compiler.
pub fn library(name: &str) -> Option<&'static str> {
    text(name).or_else(|| rucc_session::runtime::header(name))
}

/// Returns the text of a file that seems to lie in [`DIR`].
pub fn at(path: &Path) -> Option<&'static str> {
    let Ok(name) = path.strip_prefix(TESTS) else { return text(path.strip_prefix(DIR).ok()?.to_str()?) };
    FRAMEWORKS.iter().find(|(n, _)| name == Path::new(n)).map(|(_, text)| *text)
}

/// Returns whether an include of this name means the C or POSIX library, whatever file of that name
/// a tree may hold somewhere (replacements for other systems, mostly).
pub fn is_library(name: &str) -> bool {
    library(name).is_some()
}

/// Folders of headers of other systems.
const OTHER_FOLDERS: [&str; 3] = ["mach", "machine", "rpc"];

/// Returns whether a system has a folder of this name among its headers.
pub fn is_system_folder(name: &str) -> bool {
    OTHER_FOLDERS.contains(&name)
        || names().any(|n| n.split_once('/').is_some_and(|(folder, _)| folder == name))
}

/// Types that the compiler's own headers declare.
const COMPILER_TYPES: &[(&str, &str)] = &[
    ("bool", "stdbool.h"),
    ("int16_t", "stdint.h"),
    ("int32_t", "stdint.h"),
    ("int64_t", "stdint.h"),
    ("int8_t", "stdint.h"),
    ("intmax_t", "stdint.h"),
    ("intptr_t", "stdint.h"),
    ("ptrdiff_t", "stddef.h"),
    ("size_t", "stddef.h"),
    ("uint16_t", "stdint.h"),
    ("uint32_t", "stdint.h"),
    ("uint64_t", "stdint.h"),
    ("uint8_t", "stdint.h"),
    ("uintmax_t", "stdint.h"),
    ("uintptr_t", "stdint.h"),
    ("va_list", "stdarg.h"),
    ("wchar_t", "stddef.h"),
];

/// What the embedded headers declare, by name.
struct Index {
    types: BTreeMap<&'static str, &'static str>,
    /// With the text of the definition.
    tags: BTreeMap<&'static str, (&'static str, &'static str)>,
    functions: BTreeMap<&'static str, &'static str>,
}

/// Reads the declarations of a machine's library once. Every one of them begins a line and ends with `;` at depth 0.
fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| Index::of(HEADERS, COMPILER_TYPES.iter().copied().collect()))
}

/// The same of what Windows has beside it.
fn of_windows() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| Index::of(&[("windows.h", WINDOWS)], BTreeMap::new()))
}

impl Index {
    fn of(headers: &[(&'static str, &'static str)], types: BTreeMap<&'static str, &'static str>) -> Index {
        let mut index = Index { types, tags: BTreeMap::new(), functions: BTreeMap::new() };
        for &(header, text) in headers {
            let (mut start, mut depth, mut at) = (0, 0usize, 0);
            for line in text.split_inclusive('\n') {
                at += line.len();
                if line.starts_with('#') || line.trim_end().ends_with('\\') {
                    start = if depth == 0 { at } else { start };
                    continue;
                }
                depth += line.matches('{').count();
                depth = depth.saturating_sub(line.matches('}').count());
                if depth == 0 && line.trim_end().ends_with(';') {
                    declare(text[start..at].trim(), header, &mut index);
                    start = at;
                }
            }
        }
        index
    }
}

fn declare(text: &'static str, header: &'static str, index: &mut Index) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.starts_with("typedef") {
        let name = text.trim_end_matches(';').rsplit(|c| !word(c)).find(|w| !w.is_empty());
        if let Some(name) = name.filter(|_| !text.contains("(*")) {
            index.types.entry(name).or_insert(header);
        }
    } else if let Some((tag, _)) = text.strip_prefix("struct ").and_then(|t| t.split_once('{')) {
        index.tags.entry(tag.trim()).or_insert((header, text));
    } else if let Some(open) = text.find('(').filter(|_| !text.contains('{')) {
        let name = text[..open].rsplit(|c| !word(c)).next().unwrap_or_default();
        if !name.is_empty() {
            index.functions.entry(name).or_insert(text);
        }
    }
}

/// Returns the library header that declares a type.
pub fn declaring_type(name: &str) -> Option<&'static str> {
    index().types.get(name).or_else(|| of_windows().types.get(name)).copied()
}

/// Headers that nearly every source reads, through another one if not by itself.
const COMMON: [&str; 14] = [
    "limits.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "errno.h",
    "fcntl.h",
    "unistd.h",
    "signal.h",
    "sys/stat.h",
    "sys/socket.h",
    "netinet/in.h",
    "inttypes.h",
    "math.h",
];

/// Returns the library header that defines a constant, of those that are read nearly everywhere.
pub fn defining_constant(name: &str) -> Option<&'static str> {
    static INDEX: OnceLock<BTreeMap<&'static str, &'static str>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index = BTreeMap::new();
        for header in COMMON {
            for line in library(header).unwrap_or_default().lines() {
                let words = line.strip_prefix("#define ").and_then(|rest| rest.split_once(' '));
                if let Some((name, _)) = words.filter(|(name, _)| !name.contains('(')) {
                    index.entry(name).or_insert(header);
                }
            }
        }
        index
    });
    index.get(name).copied()
}

/// Returns the library header that defines a structure.
pub fn declaring_tag(tag: &str) -> Option<&'static str> {
    index().tags.get(tag).or_else(|| of_windows().tags.get(tag)).map(|(header, _)| *header)
}

/// Reads names of library headers; other names are errors.
pub fn known<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<&'static str>, D::Error> {
    let written = BTreeSet::<String>::deserialize(from)?;
    let of_compiler = COMPILER_TYPES.iter().map(|(_, header)| *header);
    let all: BTreeSet<&str> = names().chain(WINDOWS_NAMES).chain(of_compiler).collect();
    let find = |name: &String| all.get(name.as_str()).copied();
    written.iter().map(|name| find(name).ok_or_else(|| de::Error::custom("no such header"))).collect()
}

/// The names of the embedded headers.
pub fn names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(name, _)| *name)
}

/// The functions that they declare.
pub fn functions() -> impl Iterator<Item = &'static str> {
    index().functions.keys().copied()
}

/// The types that they, and the compiler's own, define.
pub fn types() -> impl Iterator<Item = &'static str> {
    index().types.keys().copied()
}

/// The structures that they define, with the words of their definitions that end a declarator.
pub fn structures() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    index().tags.iter().map(|(tag, (_, text))| {
        let ends = text.split([';', ',', '[']).filter_map(|part| {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            part.rsplit(|c| !word(c)).find(|w| !w.is_empty())
        });
        (*tag, ends.collect())
    })
}

/// The macros that they define.
pub fn macros() -> BTreeSet<&'static str> {
    let lines = HEADERS.iter().flat_map(|(_, text)| text.lines());
    let defined = lines.filter_map(|line| line.strip_prefix("#define "));
    defined.filter_map(|rest| rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()).collect()
}

/// Returns the prototype of a library function in types that need no header, as compilers know it
/// for functions that were never declared; `None` for others.
pub fn prototype(name: &str) -> Option<String> {
    let text = index().functions.get(name)?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let known = |w: &str| {
        w.is_empty()
            || w == name
            || super::scan::is_keyword(w)
            || matches!(w, "size_t" | "ssize_t" | "wchar_t")
    };
    if !text.split(|c| !word(c)).all(|w| known(w) || w.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    // ssize_t has the width of ptrdiff_t under both data models.
    let typed = text.replace("ssize_t", "__PTRDIFF_TYPE__").replace("size_t", "__SIZE_TYPE__");
    Some(typed.replace("wchar_t", "__WCHAR_TYPE__").replace('\n', " "))
}

/// Of test frameworks.
const FRAMEWORKS: [(&str, &str); 2] = [
    ("check.h", include_str!("headers/tests/check.h")),
    ("cmocka.h", include_str!("headers/tests/cmocka.h")),
];

/// Sorted by name.
const HEADERS: &[(&str, &str)] = &[
    ("aio.h", include_str!("headers/aio.h")),
    ("alloca.h", include_str!("headers/alloca.h")),
    ("arpa/inet.h", include_str!("headers/arpa/inet.h")),
    ("arpa/nameser.h", include_str!("headers/arpa/nameser.h")),
    ("arpa/telnet.h", include_str!("headers/arpa/telnet.h")),
    ("asm/byteorder.h", include_str!("headers/asm/byteorder.h")),
    ("asm/types.h", include_str!("headers/asm/types.h")),
    ("asm/unistd.h", include_str!("headers/asm/unistd.h")),
    ("assert.h", include_str!("headers/assert.h")),
    ("bitstring.h", include_str!("headers/bitstring.h")),
    ("byteswap.h", include_str!("headers/byteswap.h")),
    ("complex.h", include_str!("headers/complex.h")),
    ("crypt.h", include_str!("headers/crypt.h")),
    ("ctype.h", include_str!("headers/ctype.h")),
    ("dirent.h", include_str!("headers/dirent.h")),
    ("dlfcn.h", include_str!("headers/dlfcn.h")),
    ("elf.h", include_str!("headers/elf.h")),
    ("endian.h", include_str!("headers/endian.h")),
    ("err.h", include_str!("headers/err.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("error.h", include_str!("headers/error.h")),
    ("execinfo.h", include_str!("headers/execinfo.h")),
    ("fcntl.h", include_str!("headers/fcntl.h")),
    ("features.h", include_str!("headers/features.h")),
    ("fenv.h", include_str!("headers/fenv.h")),
    ("fnmatch.h", include_str!("headers/fnmatch.h")),
    ("fts.h", include_str!("headers/fts.h")),
    ("ftw.h", include_str!("headers/ftw.h")),
    ("getopt.h", include_str!("headers/getopt.h")),
    ("glob.h", include_str!("headers/glob.h")),
    ("grp.h", include_str!("headers/grp.h")),
    ("iconv.h", include_str!("headers/iconv.h")),
    ("ifaddrs.h", include_str!("headers/ifaddrs.h")),
    ("inttypes.h", include_str!("headers/inttypes.h")),
    ("langinfo.h", include_str!("headers/langinfo.h")),
    ("libgen.h", include_str!("headers/libgen.h")),
    ("libintl.h", include_str!("headers/libintl.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("link.h", include_str!("headers/link.h")),
    ("linux/bpf_common.h", include_str!("headers/linux/bpf_common.h")),
    ("linux/errqueue.h", include_str!("headers/linux/errqueue.h")),
    ("linux/filter.h", include_str!("headers/linux/filter.h")),
    ("linux/if_ether.h", include_str!("headers/linux/if_ether.h")),
    ("linux/if_packet.h", include_str!("headers/linux/if_packet.h")),
    ("linux/in.h", include_str!("headers/linux/in.h")),
    ("linux/in6.h", include_str!("headers/linux/in6.h")),
    ("linux/limits.h", include_str!("headers/linux/limits.h")),
    ("linux/seccomp.h", include_str!("headers/linux/seccomp.h")),
    ("linux/sockios.h", include_str!("headers/linux/sockios.h")),
    ("linux/types.h", include_str!("headers/linux/types.h")),
    ("locale.h", include_str!("headers/locale.h")),
    ("malloc.h", include_str!("headers/malloc.h")),
    ("math.h", include_str!("headers/math.h")),
    ("memory.h", include_str!("headers/memory.h")),
    ("mntent.h", include_str!("headers/mntent.h")),
    ("monetary.h", include_str!("headers/monetary.h")),
    ("mqueue.h", include_str!("headers/mqueue.h")),
    ("net/ethernet.h", include_str!("headers/net/ethernet.h")),
    ("net/if.h", include_str!("headers/net/if.h")),
    ("netdb.h", include_str!("headers/netdb.h")),
    ("netinet/ether.h", include_str!("headers/netinet/ether.h")),
    ("netinet/icmp6.h", include_str!("headers/netinet/icmp6.h")),
    ("netinet/in.h", include_str!("headers/netinet/in.h")),
    ("netinet/in_systm.h", include_str!("headers/netinet/in_systm.h")),
    ("netinet/ip.h", include_str!("headers/netinet/ip.h")),
    ("netinet/ip6.h", include_str!("headers/netinet/ip6.h")),
    ("netinet/ip_icmp.h", include_str!("headers/netinet/ip_icmp.h")),
    ("netinet/tcp.h", include_str!("headers/netinet/tcp.h")),
    ("netinet/udp.h", include_str!("headers/netinet/udp.h")),
    ("netpacket/packet.h", include_str!("headers/netpacket/packet.h")),
    ("nl_types.h", include_str!("headers/nl_types.h")),
    ("paths.h", include_str!("headers/paths.h")),
    ("poll.h", include_str!("headers/poll.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("pty.h", include_str!("headers/pty.h")),
    ("pwd.h", include_str!("headers/pwd.h")),
    ("regex.h", include_str!("headers/regex.h")),
    ("resolv.h", include_str!("headers/resolv.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("search.h", include_str!("headers/search.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("setjmp.h", include_str!("headers/setjmp.h")),
    ("shadow.h", include_str!("headers/shadow.h")),
    ("signal.h", include_str!("headers/signal.h")),
    ("spawn.h", include_str!("headers/spawn.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdio_ext.h", include_str!("headers/stdio_ext.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("string.h", include_str!("headers/string.h")),
    ("strings.h", include_str!("headers/strings.h")),
    ("sys/_time.h", include_str!("headers/sys/_time.h")),
    ("sys/acct.h", include_str!("headers/sys/acct.h")),
    ("sys/auxv.h", include_str!("headers/sys/auxv.h")),
    ("sys/bitypes.h", include_str!("headers/sys/bitypes.h")),
    ("sys/cdefs.h", include_str!("headers/sys/cdefs.h")),
    ("sys/dir.h", include_str!("headers/sys/dir.h")),
    ("sys/endian.h", include_str!("headers/sys/endian.h")),
    ("sys/epoll.h", include_str!("headers/sys/epoll.h")),
    ("sys/errno.h", include_str!("headers/sys/errno.h")),
    ("sys/eventfd.h", include_str!("headers/sys/eventfd.h")),
    ("sys/fcntl.h", include_str!("headers/sys/fcntl.h")),
    ("sys/file.h", include_str!("headers/sys/file.h")),
    ("sys/inotify.h", include_str!("headers/sys/inotify.h")),
    ("sys/ioctl.h", include_str!("headers/sys/ioctl.h")),
    ("sys/ipc.h", include_str!("headers/sys/ipc.h")),
    ("sys/mman.h", include_str!("headers/sys/mman.h")),
    ("sys/mount.h", include_str!("headers/sys/mount.h")),
    ("sys/msg.h", include_str!("headers/sys/msg.h")),
    ("sys/param.h", include_str!("headers/sys/param.h")),
    ("sys/personality.h", include_str!("headers/sys/personality.h")),
    ("sys/poll.h", include_str!("headers/sys/poll.h")),
    ("sys/prctl.h", include_str!("headers/sys/prctl.h")),
    ("sys/ptrace.h", include_str!("headers/sys/ptrace.h")),
    ("sys/queue.h", include_str!("headers/sys/queue.h")),
    ("sys/random.h", include_str!("headers/sys/random.h")),
    ("sys/reboot.h", include_str!("headers/sys/reboot.h")),
    ("sys/resource.h", include_str!("headers/sys/resource.h")),
    ("sys/select.h", include_str!("headers/sys/select.h")),
    ("sys/sem.h", include_str!("headers/sys/sem.h")),
    ("sys/sendfile.h", include_str!("headers/sys/sendfile.h")),
    ("sys/shm.h", include_str!("headers/sys/shm.h")),
    ("sys/signal.h", include_str!("headers/sys/signal.h")),
    ("sys/signalfd.h", include_str!("headers/sys/signalfd.h")),
    ("sys/socket.h", include_str!("headers/sys/socket.h")),
    ("sys/stat.h", include_str!("headers/sys/stat.h")),
    ("sys/statfs.h", include_str!("headers/sys/statfs.h")),
    ("sys/statvfs.h", include_str!("headers/sys/statvfs.h")),
    ("sys/syscall.h", include_str!("headers/sys/syscall.h")),
    ("sys/sysinfo.h", include_str!("headers/sys/sysinfo.h")),
    ("sys/syslog.h", include_str!("headers/sys/syslog.h")),
    ("sys/sysmacros.h", include_str!("headers/sys/sysmacros.h")),
    ("sys/termios.h", include_str!("headers/sys/termios.h")),
    ("sys/time.h", include_str!("headers/sys/time.h")),
    ("sys/timeb.h", include_str!("headers/sys/timeb.h")),
    ("sys/timerfd.h", include_str!("headers/sys/timerfd.h")),
    ("sys/times.h", include_str!("headers/sys/times.h")),
    ("sys/tree.h", include_str!("headers/sys/tree.h")),
    ("sys/ttydefaults.h", include_str!("headers/sys/ttydefaults.h")),
    ("sys/types.h", include_str!("headers/sys/types.h")),
    ("sys/ucontext.h", include_str!("headers/sys/ucontext.h")),
    ("sys/uio.h", include_str!("headers/sys/uio.h")),
    ("sys/un.h", include_str!("headers/sys/un.h")),
    ("sys/unistd.h", include_str!("headers/sys/unistd.h")),
    ("sys/utsname.h", include_str!("headers/sys/utsname.h")),
    ("sys/vfs.h", include_str!("headers/sys/vfs.h")),
    ("sys/wait.h", include_str!("headers/sys/wait.h")),
    ("sys/xattr.h", include_str!("headers/sys/xattr.h")),
    ("syscall.h", include_str!("headers/syscall.h")),
    ("sysexits.h", include_str!("headers/sysexits.h")),
    ("syslog.h", include_str!("headers/syslog.h")),
    ("termio.h", include_str!("headers/termio.h")),
    ("termios.h", include_str!("headers/termios.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("time.h", include_str!("headers/time.h")),
    ("uchar.h", include_str!("headers/uchar.h")),
    ("ucontext.h", include_str!("headers/ucontext.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
    ("utime.h", include_str!("headers/utime.h")),
    ("utmp.h", include_str!("headers/utmp.h")),
    ("utmpx.h", include_str!("headers/utmpx.h")),
    ("values.h", include_str!("headers/values.h")),
    ("wait.h", include_str!("headers/wait.h")),
    ("wchar.h", include_str!("headers/wchar.h")),
    ("wctype.h", include_str!("headers/wctype.h")),
    ("wordexp.h", include_str!("headers/wordexp.h")),
    ("xlocale.h", include_str!("headers/xlocale.h")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_sorted_and_declare() {
        assert!(HEADERS.is_sorted_by_key(|(n, _)| n));
        assert_eq!(prototype("fabs").as_deref(), Some("double fabs(double);"));
        assert_eq!(prototype("fopen"), None);
        assert_eq!(declaring_type("FILE"), Some("stdio.h"));
        assert_eq!(declaring_type("pthread_mutex_t"), Some("sys/types.h"));
        assert_eq!(declaring_type("nonsense"), None);
        assert_eq!(declaring_type("DWORD"), Some("windows.h"));
        assert_eq!(declaring_tag("_OVERLAPPED"), Some("windows.h"));
        assert_eq!(defining_constant("PATH_MAX"), Some("limits.h"));
        assert_eq!(defining_constant("NULL"), Some("stddef.h"));
        assert_eq!(defining_constant("isdigit"), None);
        // No machine that is configured for has it.
        assert!(!names().chain(types()).any(|n| n == "windows.h" || n == "DWORD"));
    }
}
