//! `.invdiff.yaml`: what a project asks for, as it is written.
//!
//! The file comes with the revisions under analysis, so it is untrusted: sizes, nesting and aliases are
//! limited, unknown keys are errors, and nothing in it names a command.

use super::error::ConfigError;
use super::quantify::{Distribution, QuantifySection};
use crate::fact::{self, Expression, Postcondition};
use crate::invariant::{MOST_TEMPLATES, Protocol, WrittenTemplate, protocol_file};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use serde_yaml::options::MergeKeyPolicy;
use serde_yaml::{Error as YamlError, Spanned};
use std::collections::BTreeMap;
use std::fmt;

/// Name of the file, at the top of the tree.
pub const FILE_NAME: &str = ".invdiff.yaml";

/// Version of the format that is understood.
const VERSION: u64 = 1;

/// Bytes of the largest file that is read.
const LARGEST: usize = 1 << 20;

/// The file's content; what it does not say is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    pub version: Option<u64>,
    pub paths: Paths,
    pub c: CSection,
    pub configurations: BTreeMap<String, ConfigurationSection>,
    pub analysis: AnalysisSection,
    pub gate: GateSection,
    pub pinned: Vec<PinnedSection>,
    pub requires: Vec<RequiresSection>,
    pub quantify: QuantifySection,
    /// Usage profiles by name.
    pub profiles: BTreeMap<String, BTreeMap<String, Distribution>>,
    pub suppress: Vec<Suppression>,
    /// Automata of the project's own functions.
    #[serde(skip)]
    pub protocols: Vec<Protocol>,
    /// Facts that are tried wherever all of their names are.
    #[serde(skip)]
    pub templates: Vec<WrittenTemplate>,
    #[serde(rename = "templates")]
    written_templates: Vec<Spanned<String>>,
    /// The same as they are written, until they are checked.
    #[serde(rename = "protocols")]
    written: Vec<protocol_file::Written>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CSection {
    pub defines: BTreeMap<String, DefineValue>,
    pub include_dirs: Vec<String>,
    pub data_model: Option<String>,
    pub host_headers: Option<bool>,
    /// A compilation database, relative to the top of the work tree.
    pub compdb: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigurationSection {
    pub defines: BTreeMap<String, DefineValue>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisSection {
    pub templates: Option<Vec<String>>,
    pub points: Option<Vec<String>>,
    pub effort: Option<String>,
    pub rlimit: Option<u64>,
    pub unroll: Option<u32>,
    pub inline_depth: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateSection {
    pub block: Option<Vec<String>>,
    pub warn: Option<Vec<String>>,
    pub age: Option<u32>,
    pub timeout_seconds: Option<u64>,
    /// What is different for some paths; of several rules for a path the last one that says something counts.
    pub rules: Vec<GateRule>,
    /// The gate of the base, where a change is judged by both.
    #[serde(skip)]
    pub base: Option<Box<GateSection>>,
}

/// What the gate does for the files that match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRule {
    pub paths: Vec<String>,
    #[serde(default)]
    pub block: Option<Vec<String>>,
    #[serde(default)]
    pub warn: Option<Vec<String>>,
    #[serde(default)]
    pub age: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedSection {
    pub function: String,
    #[serde(default)]
    pub at: Option<String>,
    pub holds: String,
}

impl PinnedSection {
    /// Reads the fact.
    ///
    /// Errors: what is wrong with it, with the column, or a point where pinned facts are not checked.
    pub fn fact(&self) -> Result<Postcondition, String> {
        fact::parse_postcondition(&self.holds).map_err(|error| format!("'{}': {error}", self.holds))
    }

    fn check(&self) -> Result<(), String> {
        match self.at.as_deref() {
            None | Some("exit") => self.fact().map(|_| ()),
            Some(other) => Err(format!("at '{other}': pinned facts are checked at 'exit' only")),
        }
    }
}

/// A condition on a function's parameters that its callers see to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiresSection {
    pub function: String,
    pub holds: String,
}

impl RequiresSection {
    /// Reads the condition.
    ///
    /// Errors: what is wrong with it, with the column.
    pub fn condition(&self) -> Result<Expression, String> {
        fact::parse(&self.holds).map_err(|error| format!("'{}': {error}", self.holds))
    }
}

/// A finding that is known and left alone, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// Id of the churn or assertion.
    pub id: String,
    pub reason: String,
    /// The last day on which it counts, `2027-01-31`; none: it always does.
    #[serde(default)]
    pub until: Option<String>,
}

impl Suppression {
    /// Whether it no longer counts on a day.
    pub fn is_over(&self, today: &str) -> bool {
        self.until.as_deref().is_some_and(|until| until < today)
    }

    fn check(&self) -> Result<(), String> {
        match &self.until {
            Some(day) if !is_day(day) => Err(format!("until '{day}' is not a day, as 2027-01-31")),
            _ if self.reason.trim().is_empty() => Err("the reason is empty".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Whether a text is a day of the calendar as `2027-01-31`.
pub fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, digits: usize| {
        let plain = part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| part.parse::<u32>().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// A macro's replacement text. YAML numbers and booleans are taken as they are written; `null` and a
/// bare key mean the empty text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefineValue(pub String);

impl<'de> Deserialize<'de> for DefineValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DefineValue, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = DefineValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the replacement text of a macro")
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<DefineValue, E> {
                Ok(DefineValue(v.to_owned()))
            }
            fn visit_bool<E: de::Error>(self, v: bool) -> Result<DefineValue, E> {
                Ok(DefineValue(u8::from(v).to_string()))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<DefineValue, E> {
                Ok(DefineValue(v.to_string()))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<DefineValue, E> {
                Ok(DefineValue(v.to_string()))
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<DefineValue, E> {
                Ok(DefineValue(format!("{v:?}")))
            }
            fn visit_unit<E: de::Error>(self) -> Result<DefineValue, E> {
                Ok(DefineValue::default())
            }
            fn visit_none<E: de::Error>(self) -> Result<DefineValue, E> {
                Ok(DefineValue::default())
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl ConfigFile {
    /// Parses a file; `name` is what errors call it.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<ConfigFile, ConfigError> {
        if bytes.len() > LARGEST {
            return Err(ConfigError::new(name, format!("larger than {LARGEST} bytes")));
        }
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = 1 + bytes.iter().take(e.valid_up_to()).filter(|&&b| b == b'\n').count();
            ConfigError::new(format!("{name}:{line}"), "not UTF-8")
        })?;
        if text.lines().all(|l| l.trim().is_empty() || l.trim_start().starts_with('#')) {
            return Ok(ConfigFile::default());
        }
        let options = serde_yaml::options! {
            budget: serde_yaml::budget! {
                max_events: 100_000,
                max_nodes: 50_000,
                max_depth: 16,
                max_documents: 1,
                max_anchors: 100,
                max_aliases: 100,
                max_total_scalar_bytes: LARGEST,
                max_merge_keys: 0,
            },
            merge_keys: MergeKeyPolicy::Error,
            with_snippet: false,
        };
        let mut file: ConfigFile =
            serde_yaml::from_str_with_options(text, options).map_err(|e| describe(name, text, &e))?;
        file.protocols =
            protocol_file::own(std::mem::take(&mut file.written)).map_err(|m| no_automaton(name, m))?;
        file.templates = templates(name, std::mem::take(&mut file.written_templates))?;
        for (i, pin) in file.pinned.iter().enumerate() {
            pin.check().map_err(|text| {
                ConfigError::new(name, format!("pinned[{i}], of function '{}': {text}", pin.function))
            })?;
        }
        for (i, section) in file.requires.iter().enumerate() {
            section.condition().map_err(|text| {
                ConfigError::new(name, format!("requires[{i}], of function '{}': {text}", section.function))
            })?;
        }
        for (i, known) in file.suppress.iter().enumerate() {
            known
                .check()
                .map_err(|text| ConfigError::new(name, format!("suppress[{i}], of {}: {text}", known.id)))?;
        }
        match file.version {
            None | Some(VERSION) => Ok(file),
            Some(other) => {
                let mut error = ConfigError::new(name, format!("version {other} is not supported"));
                error.hint = Some(format!("this git-invdiff reads version {VERSION}"));
                Err(error)
            }
        }
    }
}

/// What is wrong with a template is told with the place of the template, and the column in it.
fn templates(name: &str, written: Vec<Spanned<String>>) -> Result<Vec<WrittenTemplate>, ConfigError> {
    let mut found: Vec<WrittenTemplate> = Vec::new();
    for (i, text) in written.into_iter().enumerate() {
        let origin = format!("{name}:{}:{}", text.referenced.line(), text.referenced.column());
        if i >= MOST_TEMPLATES {
            let message = format!("there are more than {MOST_TEMPLATES} templates");
            return Err(ConfigError {
                hint: Some("leave some out".into()),
                ..ConfigError::new(origin, message)
            });
        }
        let text = text.value;
        let template = WrittenTemplate::parse(&text)
            .map_err(|error| ConfigError::new(origin, format!("template '{text}': {error}")))?;
        found.push(template);
    }
    Ok(found)
}

fn no_automaton(name: &str, mistake: protocol_file::Mistake) -> ConfigError {
    let protocol_file::Mistake { line, column, message, hint } = mistake;
    ConfigError { hint: Some(hint), ..ConfigError::new(format!("{name}:{line}:{column}"), message) }
}

fn describe(name: &str, source: &str, error: &YamlError) -> ConfigError {
    let place = error.location().filter(|place| place.line() > 0);
    let place = place.map(|place| (place.line() as usize, place.column() as usize));
    let origin = match place {
        Some((line, column)) => format!("{name}:{line}:{column}"),
        None => name.to_owned(),
    };
    match error {
        YamlError::WithSnippet { error, .. } => describe(name, source, error),
        // It comes with the code, whose author must not say what is believed of the code.
        YamlError::SerdeUnknownField { field, .. } if field.to_ascii_lowercase().contains("cache") => {
            let mut error = ConfigError::new(origin, format!("unknown key '{field}'"));
            error.hint = Some(
                "caches are the user's own matter: git config invdiff.cache.remote, and so on (docs/manual/cache.md)"
                    .to_owned(),
            );
            error
        }
        YamlError::SerdeUnknownField { field, expected, .. } => {
            ConfigError::new(origin, format!("unknown key '{field}'"))
                .or_known(field, expected.iter().copied())
        }
        YamlError::SerdeUnknownVariant { variant, expected, .. } => {
            ConfigError::new(origin, format!("unknown name '{variant}'"))
                .or_known(variant, expected.iter().copied())
        }
        YamlError::DuplicateMappingKey { key: Some(key), .. } => {
            ConfigError::new(origin, format!("key '{key}' is given twice"))
        }
        other => {
            let text = other.to_string();
            let text = text.lines().next().unwrap_or("malformed");
            match place.and_then(|(line, column)| key_before(source, line, column)) {
                Some(key) => ConfigError::new(origin, format!("bad value for '{key}': {text}")),
                None => ConfigError::new(origin, text.to_owned()),
            }
        }
    }
}

/// Returns the key that the value at a place belongs to, if they stand beside each other.
fn key_before(source: &str, line: usize, column: usize) -> Option<String> {
    let line = source.lines().nth(line.checked_sub(1)?)?;
    let before: String = line.chars().take(column.checked_sub(1)?).collect();
    let head = before.trim_end().strip_suffix(':')?;
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let key = head.rsplit(|c: char| !is_part(c)).next()?;
    (!key.is_empty()).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(text: &str, expected: &str, hint: &str) {
        let error = ConfigFile::parse(FILE_NAME, text.as_bytes()).expect_err("an error");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.hint.unwrap_or_default(), hint);
    }

    #[test]
    fn everything_in_the_contract_is_read() {
        let text = r#"
version: 1
paths: {include: ["src/**"], exclude: ["third_party/**"]}
c: {defines: {NDEBUG: 1, NAME: abc, EMPTY: }, include_dirs: [include], data_model: LP64, host_headers: false}
configurations: {default: {}, windows: {defines: {_WIN32: 1}}}
analysis: {templates: [constant, range, relation, functional], points: [exit, loop], rlimit: 5000000, unroll: 8, inline_depth: 2}
gate:
  block: [assertion, pinned, safety]
  warn: [version-invariant]
  age: 10
  timeout_seconds: 20
pinned:
  - {function: area, at: exit, holds: "\\result >= 0"}
profiles:
  normal: {x: {uniform: [-10, 9]}, speed: {histogram: {"0..10": 0.7, "11..80": 0.3}}}
"#;
        let file = ConfigFile::parse(FILE_NAME, text.as_bytes()).expect("a file");
        assert_eq!(file.c.defines["NDEBUG"].0, "1");
        assert_eq!(file.c.defines["NAME"].0, "abc");
        assert_eq!(file.c.defines["EMPTY"].0, "");
        assert_eq!(file.configurations["windows"].defines["_WIN32"].0, "1");
        assert_eq!(file.analysis.rlimit, Some(5_000_000));
        assert_eq!(file.pinned[0].holds, "\\result >= 0");
        assert_eq!(file.profiles["normal"]["x"], Distribution::Uniform([-10, 9]));
        assert_eq!(file.profiles["normal"]["speed"].lines("speed"), ["speed,0,10,0.7", "speed,11,80,0.3"]);
        assert_eq!(ConfigFile::parse(FILE_NAME, b"# nothing\n").expect("a file"), ConfigFile::default());
    }

    #[test]
    fn errors_name_the_place_and_the_nearest_key() {
        check_error(
            "version: 1\nanalysis:\n  rlimt: 5\n",
            ".invdiff.yaml:3:3: unknown key 'rlimt'",
            "did you mean 'rlimit'?",
        );
        check_error(
            "quantify: {domian: {x: 0..3}}\n",
            ".invdiff.yaml:1:12: unknown key 'domian'",
            "did you mean 'domain'?",
        );
        let hint = "caches are the user's own matter: git config invdiff.cache.remote, and so on (docs/manual/cache.md)";
        for key in ["cache", "cache.remote", "invdiff.cache.key", "cacheDir"] {
            let text = format!("version: 1\n{key}: {{remote: x}}\n");
            check_error(&text, &format!(".invdiff.yaml:2:1: unknown key '{key}'"), hint);
        }
        let error = ConfigFile::parse(FILE_NAME, b"quantify: {domain: {x: 9..3}}").expect_err("an error");
        assert!(error.to_string().contains("the range '9..3' is empty"), "{error}");
        check_error(
            "version: 2\n",
            ".invdiff.yaml: version 2 is not supported",
            "this git-invdiff reads version 1",
        );
        check_error("gate: {age: 1, age: 2}\n", ".invdiff.yaml:1:16: key 'age' is given twice", "");
        check_error(
            "pinned:\n  - {function: f, holds: x > 0}\n  - {function: area, holds: \"x = 0\"}\n",
            ".invdiff.yaml: pinned[1], of function 'area': 'x = 0': Assignment in a fact; write `==` to compare at column 3",
            "",
        );
        check_error(
            "pinned: [{function: f, at: loop, holds: x}]",
            ".invdiff.yaml: pinned[0], of function 'f': at 'loop': pinned facts are checked at 'exit' only",
            "",
        );
        let error = ConfigFile::parse(FILE_NAME, b"version: 1\n\xff").expect_err("an error");
        assert_eq!(error.to_string(), ".invdiff.yaml:2: not UTF-8");
        let error = ConfigFile::parse(FILE_NAME, b"gate: {age: -3}").expect_err("an error");
        assert!(error.to_string().starts_with(".invdiff.yaml:1:13: bad value for 'age': "), "{error}");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, expected) in [
            ("2027-01-31", true),
            ("2028-02-29", true),
            ("2027-02-29", false),
            ("2100-02-29", false),
            ("2000-02-29", true),
            ("2027-13-01", false),
            ("2027-00-10", false),
            ("2027-04-31", false),
            ("2027-1-31", false),
            ("tomorrow", false),
            ("2027-01-31T00:00", false),
            ("+027-01-31", false),
        ] {
            assert_eq!(is_day(text), expected, "{text}");
        }
        let known = Suppression { id: "x".into(), reason: "r".into(), until: Some("2027-01-31".into()) };
        assert!(!known.is_over("2027-01-31") && known.is_over("2027-02-01"));
        check_error(
            "suppress: [{id: x, reason: r, until: soon}]",
            ".invdiff.yaml: suppress[0], of x: until 'soon' is not a day, as 2027-01-31",
            "",
        );
    }

    #[test]
    fn hostile_files_are_refused_quickly() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let bomb =
            "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b]\n";
        let large = format!("pinned: [{}]", "{function: f, holds: x},".repeat(50_000));
        for text in
            [deep.as_str(), bomb, &large, "{", "- a", "\t- x", "%YAML 9.9\n--- !!x", "a: b\n---\nc: d"]
        {
            assert!(
                ConfigFile::parse(FILE_NAME, text.as_bytes()).is_err(),
                "{}",
                &text[..text.len().min(40)]
            );
        }
    }
}
