//! `git config invdiff.*`: the keys, and values typed as git types them (git-config, "Values").

use super::error::ConfigError;
use crate::history::Renames;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Keys below `invdiff.`, as documentation spells them. Git itself ignores case.
pub const KEYS: [&str; 39] = [
    "age",
    "block",
    "cache.hooksWrite",
    "cache.key",
    "cache.remote",
    "cache.trust",
    "cache.write",
    "cacheDir",
    "cacheLimit",
    "compdb",
    "configuration",
    "dataModel",
    "define",
    "effort",
    "exclude",
    "hooks",
    "hooks.commit-msg",
    "hooks.post-commit",
    "hooks.post-rewrite",
    "hooks.pre-commit",
    "hooks.pre-push",
    "hooks.prepare-commit-msg",
    "hostHeaders",
    "include",
    "includeDir",
    "inlineDepth",
    "jobs",
    "lazyFetch",
    "maxTrailers",
    "noteLimit",
    "notesRef",
    "points",
    "rlimit",
    "strict",
    "templates",
    "timeoutSeconds",
    "trailers",
    "unroll",
    "warn",
];

/// Keys of other sections that are read.
const FOREIGN: [&str; 2] = ["diff.renames", "diff.renameLimit"];

/// All that git's configuration says, as `git config --null --list --show-origin` prints it.
#[derive(Clone, Debug, Default)]
pub struct Listing(Vec<u8>);

/// One line of git's configuration.
pub struct Entry {
    pub origin: String,
    /// Section and name in lower case.
    pub key: String,
    /// A key without `=` has none, which stands for true.
    pub value: Option<String>,
}

impl Listing {
    /// What makes git print it.
    pub const ARGUMENTS: [&str; 4] = ["config", "--null", "--list", "--show-origin"];

    /// Takes what git has printed: origin NUL key LF value NUL, or origin NUL key NUL.
    pub fn new(printed: Vec<u8>) -> Listing {
        Listing(printed)
    }

    /// What it says, in the order that git reads it.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let mut fields = self.0.split(|&b| b == 0).map(String::from_utf8_lossy);
        std::iter::from_fn(move || {
            let (origin, entry) = (fields.next()?, fields.next()?);
            // Git ends "command line:" with what stands before a file's name.
            let origin = origin.strip_suffix(':').unwrap_or(&origin).to_owned();
            let (key, value) = match entry.split_once('\n') {
                Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
                None => (entry.into_owned(), None),
            };
            Some(Entry { origin, key, value })
        })
    }

    /// Whether a key, in lower case, is clearly true.
    pub fn is_true(&self, key: &str) -> bool {
        self.entries()
            .filter(|entry| entry.key == key)
            .last()
            .is_some_and(|entry| truth(entry.value.as_deref()) == Some(true))
    }
}

/// Values of one key, in the order that git reads them, each with its origin.
type Values = Vec<(String, Option<String>)>;

/// All `invdiff.*` settings of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitConfig {
    values: BTreeMap<String, Values>,
}

impl GitConfig {
    /// Takes what is ours out of a listing. Other sections are passed over; an unknown key of ours is an error.
    pub fn of(listing: &Listing) -> Result<GitConfig, ConfigError> {
        let mut config = GitConfig::default();
        for Entry { origin, key, value } in listing.entries() {
            // Keys of git's own that count for us too, under their whole name.
            let foreign = FOREIGN.into_iter().find(|k| k.eq_ignore_ascii_case(&key));
            if let Some(known) = foreign {
                config.values.entry(known.to_owned()).or_default().push((origin, value));
                continue;
            }
            let Some(name) = key.strip_prefix("invdiff.") else { continue };
            let Some(known) = KEYS.into_iter().find(|k| k.eq_ignore_ascii_case(name)) else {
                let error = ConfigError::new(origin, format!("unknown key 'invdiff.{name}'"));
                return Err(error.or_known(name, KEYS));
            };
            config.values.entry(known.to_owned()).or_default().push((origin, value));
        }
        Ok(config)
    }

    /// Returns the keys that are set, as documentation spells them.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    fn last(&self, key: &str) -> Option<&(String, Option<String>)> {
        debug_assert!(KEYS.contains(&key) || FOREIGN.contains(&key), "{key}");
        self.values.get(key)?.last()
    }

    /// Reads a truth value: `true yes on`, any number but 0 and the bare key are true; `false no off`,
    /// 0 and the empty value are false.
    pub fn bool(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        let Some((origin, value)) = self.last(key) else { return Ok(None) };
        let text = value.as_deref();
        match truth(text) {
            Some(value) => Ok(Some(value)),
            None => Err(bad(origin, key, text.unwrap_or_default(), "a boolean")),
        }
    }

    /// Reads a number that is not negative; `k`, `m` and `g` multiply by powers of 1024.
    pub fn number(&self, key: &str) -> Result<Option<u64>, ConfigError> {
        let Some((origin, value)) = self.last(key) else { return Ok(None) };
        let text = value.as_deref().unwrap_or_default();
        match parse_int(text).and_then(|n| u64::try_from(n).ok()) {
            Some(n) => Ok(Some(n)),
            None => Err(bad(origin, key, text, "a number that is not negative, with k, m or g if need be")),
        }
    }

    /// As [`GitConfig::number`], for what must fit 32 bits.
    pub fn small(&self, key: &str) -> Result<Option<u32>, ConfigError> {
        let Some(n) = self.number(key)? else { return Ok(None) };
        match u32::try_from(n) {
            Ok(n) => Ok(Some(n)),
            Err(_) => {
                let origin = self.last(key).map_or("", |(origin, _)| origin);
                Err(bad(origin, key, &n.to_string(), "a number below 4294967296"))
            }
        }
    }

    /// Reads a text.
    pub fn text(&self, key: &str) -> Result<Option<(String, String)>, ConfigError> {
        match self.last(key) {
            None => Ok(None),
            Some((origin, Some(text))) => Ok(Some((origin.clone(), text.clone()))),
            Some((origin, None)) => Err(ConfigError::new(origin, format!("'invdiff.{key}' has no value"))),
        }
    }

    /// Reads a path; `~/` stands for the home folder, as in git.
    pub fn path(&self, key: &str) -> Result<Option<PathBuf>, ConfigError> {
        let Some((origin, text)) = self.text(key)? else { return Ok(None) };
        if !text.starts_with('~') {
            return Ok(Some(PathBuf::from(text)));
        }
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        match text.strip_prefix("~/").zip(home) {
            Some((rest, home)) => Ok(Some(home.join(rest))),
            None => Err(bad(&origin, key, &text, "a path from the root or from '~/'")),
        }
    }

    /// Reads a list: values add up over all files, an empty one starts anew, and commas separate too.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        let values = self.values.get(key)?;
        let mut list = Vec::new();
        for (_, value) in values {
            match value.as_deref() {
                None | Some("") => list.clear(),
                Some(text) => {
                    list.extend(text.split(',').map(|w| w.trim().to_owned()).filter(|w| !w.is_empty()))
                }
            }
        }
        Some(list)
    }

    /// As [`GitConfig::list`] for values that may hold commas.
    pub fn lines(&self, key: &str) -> Option<Vec<String>> {
        let mut list = Vec::new();
        for (_, value) in self.values.get(key)? {
            match value.as_deref() {
                None | Some("") => list.clear(),
                Some(text) => list.push(text.to_owned()),
            }
        }
        Some(list)
    }

    /// Reads how renames are looked for, as `diff.renames` says it.
    pub fn renames(&self) -> Result<Option<Renames>, ConfigError> {
        match self.last("diff.renames") {
            Some((_, Some(text))) if matches!(text.as_str(), "copies" | "copy") => Ok(Some(Renames::Copies)),
            _ => Ok(self.bool("diff.renames")?.map(|on| if on { Renames::Renames } else { Renames::Off })),
        }
    }

    /// Returns where a key's last value was set, for messages.
    pub fn origin(&self, key: &str) -> String {
        self.last(key).map_or_else(String::new, |(origin, _)| format!("{origin}: invdiff.{key}"))
    }
}

/// Reads a truth value as git does; `None` if the text is none. A key without a value is true.
pub fn truth(text: Option<&str>) -> Option<bool> {
    let Some(text) = text else { return Some(true) };
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" | "" => Some(false),
        number => parse_int(number).map(|n| n != 0),
    }
}

fn bad(origin: &str, key: &str, text: &str, wanted: &str) -> ConfigError {
    ConfigError::new(origin, format!("bad value '{text}' for 'invdiff.{key}': not {wanted}"))
}

/// Reads a number as C's `strtoimax` does with base 0 (`0x10`, `010`), and a unit right after it.
fn parse_int(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (base, text) = match hexadecimal.filter(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit())) {
        Some(rest) => (16, rest),
        None if text.starts_with('0') => (8, text),
        None => (10, text),
    };
    let end = text.find(|c: char| !c.is_digit(base)).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return None,
    };
    let value = i64::from_str_radix(digits, base).ok()?.checked_mul(factor)?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(entries: &[&str]) -> Result<GitConfig, ConfigError> {
        let list: String = entries.iter().map(|e| format!("file:x\0{e}\0")).collect();
        GitConfig::of(&Listing::new(list.into_bytes()))
    }

    #[test]
    fn values_are_typed_as_git_types_them() {
        let booleans = [
            ("yes", true),
            ("On", true),
            ("1", true),
            ("2k", true),
            ("0", false),
            ("off", false),
            ("", false),
        ];
        for (text, expected) in booleans {
            let read = config(&[&format!("invdiff.hooks\n{text}")]).expect("keys").bool("hooks");
            assert_eq!(read, Ok(Some(expected)), "{text}");
        }
        assert_eq!(config(&["invdiff.hooks"]).expect("keys").bool("hooks"), Ok(Some(true)));
        for (text, expected) in [("5m", 5 << 20), ("7", 7), ("2K", 2048), ("1g", 1 << 30)] {
            let read = config(&[&format!("invdiff.rlimit\n{text}")]).expect("keys").number("rlimit");
            assert_eq!(read, Ok(Some(expected)), "{text}");
        }
        let error = config(&["invdiff.rlimit\n-1"]).expect("keys").number("rlimit").expect_err("an error");
        assert!(error.to_string().starts_with("file:x: bad value '-1' for 'invdiff.rlimit'"), "{error}");
    }

    #[test]
    fn lists_add_up_and_an_empty_value_starts_anew() {
        let read =
            config(&["invdiff.points\na", "core.x\ny", "invdiff.points\n", "invdiff.points\nexit, loop"]);
        assert_eq!(read.expect("keys").list("points"), Some(vec!["exit".to_owned(), "loop".to_owned()]));
    }

    #[test]
    fn unknown_keys_are_errors() {
        let error = config(&["invdiff.maxtrailer\n3"]).expect_err("an error");
        assert_eq!(error.to_string(), "file:x: unknown key 'invdiff.maxtrailer'");
        assert_eq!(error.hint.as_deref(), Some("did you mean 'maxTrailers'?"));
        assert!(config(&["invdiff.maxtrailers\n3"]).is_ok());
        let renames = |text: &str| config(&[&format!("diff.renames\n{text}")]).expect("keys").renames();
        assert_eq!(renames("copies"), Ok(Some(Renames::Copies)));
        assert_eq!(renames("false"), Ok(Some(Renames::Off)));
        assert!(renames("some").is_err());
    }
}
