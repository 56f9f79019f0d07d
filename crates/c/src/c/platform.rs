//! What a configure script would have found: `HAVE_*` and `SIZEOF_*` as the embedded headers know them.
//!
//! A project asks by such macros what its system has. The file that answers is made by a build and no part of a
//! revision; without answers the code of a system that has nothing would be read, if it is C at all. Only macros
//! that a unit asks for in a condition are answered, by the names that autoconf's checks, and most others after
//! them, give: functions, headers, types, structures and their members, declarations. What the user defines or
//! undefines comes first, and what is not known stays undefined.

use super::headers;
use crate::ir::DataModel;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::OnceLock;

/// Whether a name may be a question to the system.
pub fn is_question(name: &str) -> bool {
    name.starts_with("HAVE_") || name.starts_with("SIZEOF_") || STANDARD.contains(&name)
}

/// What every hosted C system of today has.
const STANDARD: [&str; 5] =
    ["HAVE_STDBOOL_H", "HAVE__BOOL", "HAVE_LONG_LONG_INT", "STDC_HEADERS", "TIME_WITH_SYS_TIME"];

/// Returns what a macro stands for on x86-64 Linux, or 32-bit x86, with the embedded headers; `None`: it is not
/// defined there, or not known.
pub fn answer(name: &str, data_model: DataModel) -> Option<String> {
    if STANDARD.contains(&name) {
        return Some("1".to_owned());
    }
    if let Some(ty) = name.strip_prefix("SIZEOF_") {
        return size(ty, data_model).map(|n| n.to_string());
    }
    let asked = name.strip_prefix("HAVE_")?;
    let declared = asked.strip_prefix("DECL_").is_some_and(|n| known().contains(n) || macros().contains(n));
    (declared || known().contains(asked)).then(|| "1".to_owned())
}

/// The size of a type by the name that a check gives it, in bytes.
fn size(ty: &str, data_model: DataModel) -> Option<u32> {
    let word = match data_model {
        DataModel::Lp64 => 8,
        DataModel::Ilp32 => 4,
    };
    Some(match ty {
        "CHAR" | "UNSIGNED_CHAR" | "SIGNED_CHAR" | "INT8_T" | "UINT8_T" | "_BOOL" | "BOOL" => 1,
        "SHORT" | "SHORT_INT" | "UNSIGNED_SHORT" | "INT16_T" | "UINT16_T" => 2,
        "INT" | "UNSIGNED_INT" | "UNSIGNED" | "FLOAT" | "INT32_T" | "UINT32_T" | "WCHAR_T" | "PID_T"
        | "UID_T" | "GID_T" | "MODE_T" => 4,
        "LONG_LONG" | "LONG_LONG_INT" | "UNSIGNED_LONG_LONG" | "DOUBLE" | "INT64_T" | "UINT64_T" => 8,
        "LONG" | "LONG_INT" | "UNSIGNED_LONG" | "SIZE_T" | "SSIZE_T" | "VOID_P" | "VOIDP" | "CHAR_P"
        | "PTRDIFF_T" | "INTPTR_T" | "UINTPTR_T" | "TIME_T" | "OFF_T" => word,
        "LONG_DOUBLE" if word == 8 => 16,
        "LONG_DOUBLE" => 12,
        _ => return None,
    })
}

/// Whether a macro says that the system is Windows.
pub fn is_windows(name: &str) -> bool {
    ["_WIN32", "_WIN64", "WIN32", "__WIN32__", "_WINDOWS", "_MSC_VER", "__MINGW32__", "__MINGW64__"]
        .contains(&name)
}

/// Words of compilers for Windows that are types without being declared.
pub const WINDOWS_TYPES: [(&str, &str); 4] =
    [("__int8", "char"), ("__int16", "short"), ("__int32", "int"), ("__int64", "long long")];

/// Names of the embedded headers in the capitals of checks: headers (`SYS_STAT_H`), functions, types, and structures
/// with their members (`STRUCT_STAT_ST_MTIM`).
fn known() -> &'static HashSet<String> {
    static KNOWN: OnceLock<HashSet<String>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let capitals = |name: &str| -> String {
            name.chars()
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                .collect()
        };
        let mut names: HashSet<String> = headers::names().map(capitals).collect();
        names.extend(headers::functions().map(capitals));
        names.extend(headers::types().map(capitals));
        for (tag, members) in headers::structures() {
            let of = format!("STRUCT_{}", capitals(tag));
            names.extend(members.iter().map(|m| format!("{of}_{}", capitals(m))));
            names.insert(of);
        }
        names
    })
}

/// The macros of the embedded headers, of which few units ask.
fn macros() -> &'static BTreeSet<&'static str> {
    static MACROS: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    MACROS.get_or_init(headers::macros)
}

/// The answers to what a unit asks, but for what the user says: name and value.
pub fn answers<'n>(
    asked: impl IntoIterator<Item = &'n String>,
    said: &BTreeSet<&str>,
    data_model: DataModel,
) -> BTreeMap<String, String> {
    let open = asked.into_iter().filter(|name| !said.contains(name.as_str()));
    open.filter_map(|name| Some((name.clone(), answer(name, data_model)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_checks() {
        let yes = [
            "HAVE_STRING_H",
            "HAVE_SYS_STAT_H",
            "HAVE_MEMMOVE",
            "HAVE_SIZE_T",
            "HAVE_PID_T",
            "HAVE_STRUCT_STAT",
            "HAVE_STRUCT_STAT_ST_MTIM",
            "HAVE_STRUCT_TIMESPEC",
            "HAVE_DECL_STRERROR",
            "HAVE_DECL_O_NONBLOCK",
            "STDC_HEADERS",
        ];
        for name in yes {
            assert_eq!(answer(name, DataModel::Lp64).as_deref(), Some("1"), "{name}");
        }
        for name in
            ["HAVE_WINDOWS_H", "HAVE_PLEDGE", "HAVE_O_NONBLOCK", "HAVE_", "USE_PAM", "HAVE_STRUCT_STAT_ST_X"]
        {
            assert_eq!(answer(name, DataModel::Lp64), None, "{name}");
        }
        assert_eq!(answer("SIZEOF_LONG", DataModel::Lp64).as_deref(), Some("8"));
        assert_eq!(answer("SIZEOF_LONG", DataModel::Ilp32).as_deref(), Some("4"));
        assert_eq!(answer("SIZEOF_SHORT_INT", DataModel::Lp64).as_deref(), Some("2"));
    }

    #[test]
    fn what_the_user_says_comes_first() {
        let asked = ["HAVE_STRING_H".to_owned(), "HAVE_MMAP".to_owned()];
        let found = answers(&asked, &BTreeSet::from(["HAVE_MMAP"]), DataModel::Lp64);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["HAVE_STRING_H"]);
    }
}
