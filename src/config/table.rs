//! All that can be set, in one table: what each key is called in every layer, its default, what it does.
//!
//! `docs/config.md` and the manual page are made from it, and tests hold it against the layers themselves.

use super::settings::{Settings, variables};

/// One thing that can be set; `""` where a layer has no name for it.
pub struct Key {
    /// In `.invdiff.yaml`.
    pub yaml: &'static str,
    /// Below `invdiff.` in git's configuration.
    pub git: &'static str,
    pub environment: &'static str,
    pub option: &'static str,
    pub default: fn(&Settings) -> String,
    pub text: &'static str,
}

const fn key(
    yaml: &'static str,
    git: &'static str,
    default: fn(&Settings) -> String,
    text: &'static str,
) -> Key {
    Key { yaml, git, environment: "", option: "", default, text }
}

impl Key {
    const fn environment(self, environment: &'static str) -> Key {
        Key { environment, ..self }
    }

    const fn option(self, option: &'static str) -> Key {
        Key { option, ..self }
    }
}

fn nothing(_: &Settings) -> String {
    String::new()
}

fn on(value: bool) -> String {
    if value { "on" } else { "off" }.to_owned()
}

/// The table, by subject.
pub fn table() -> Vec<Key> {
    vec![
        key(
            "analysis.templates",
            "templates",
            |s| list_or_all(&s.analysis.templates),
            "templates of facts that are looked for; `git invdiff explain` lists them",
        )
        .option("--templates"),
        key(
            "analysis.points",
            "points",
            |s| s.analysis.points.join(","),
            "points at which facts are looked for: entry, exit, loop, line",
        )
        .option("--points"),
        key(
            "analysis.effort",
            "effort",
            |s| s.analysis.effort.clone(),
            "how much is asked of a range: quick (what changes where the text does), normal (at exits, too, where it costs \
             little or the change is not told), deep (everything)",
        )
        .option("--effort"),
        key(
            "analysis.rlimit",
            "rlimit",
            |s| s.analysis.rlimit.to_string(),
            "limit of one solver query, in resource units of Z3 (about two million a second); unset, an eighth of it at normal effort",
        )
        .environment(variables::RLIMIT)
        .option("--rlimit"),
        key(
            "analysis.unroll",
            "unroll",
            |s| s.analysis.unroll.to_string(),
            "iterations up to which loops without a proved bound are unrolled",
        )
        .option("--unroll"),
        key(
            "analysis.inline_depth",
            "inlineDepth",
            |s| s.analysis.inline_depth.to_string(),
            "calls within calls up to which small callees are inlined",
        ),
        key("c.data_model", "dataModel", |_| "LP64".to_owned(), "sizes of the C types: LP64, ILP32")
            .option("--data-model"),
        key(
            "c.defines",
            "define",
            nothing,
            "macros with their replacement text; in git's configuration `NAME` or `NAME=VALUE`",
        )
        .option("-D, -U"),
        key("c.include_dirs", "includeDir", nothing, "folders for headers, relative to the top of the tree")
            .option("-I"),
        key("c.host_headers", "hostHeaders", |s| on(s.c.host_headers), "headers of this machine may be read"),
        key(
            "c.compdb",
            "compdb",
            nothing,
            "a compile_commands.json with macros and folders of each file, relative to the top of the work tree",
        )
        .option("--compdb"),
        key("configurations.<name>.defines", "", nothing, "named sets of further macros"),
        key("", "configuration", |s| s.c.configuration.join(","), "the set of macros that is analysed"),
        key("paths.include", "include", |_| "everything".to_owned(), "pathspecs of what is analysed"),
        key("paths.exclude", "exclude", nothing, "pathspecs of what is not"),
        key(
            "gate.block",
            "block",
            |s| s.gate.block.join(","),
            "what stops a commit: regressions by kind (assertion, pinned, safety), and weakened: what was asserted or pinned before and fails now",
        ),
        key(
            "gate.warn",
            "warn",
            |s| s.gate.warn.join(","),
            "what is worth a word: version-invariant (a lost fact that callers see), churn (any change that they see)",
        ),
        key(
            "gate.age",
            "age",
            |s| s.gate.age.to_string(),
            "versions that a lost fact must have held for that, where notes know",
        ),
        key(
            "gate.timeout_seconds",
            "timeoutSeconds",
            |s| s.gate.timeout_seconds.to_string(),
            "time of a hook; what is not decided by then only warns; 0: no limit",
        ),
        key(
            "gate.rules[].paths",
            "",
            nothing,
            "pathspecs of the files that a rule is about; the last rule that says something of a file counts",
        ),
        key("gate.rules[].block", "", nothing, "as gate.block, for these files"),
        key("gate.rules[].warn", "", nothing, "as gate.warn, for these files"),
        key("gate.rules[].age", "", nothing, "as gate.age, for these files"),
        key(
            "pinned[].function",
            "",
            nothing,
            "the function that a pinned fact is about: `name` or `file:name`",
        ),
        key("pinned[].at", "", |_| "exit".to_owned(), "where it holds: exit"),
        key("pinned[].holds", "", nothing, "the fact, in C with `\\result` and `\\old(x)`"),
        key(
            "requires[].function",
            "",
            nothing,
            "the function that a requirement is about: `name` or `file:name`",
        ),
        key("requires[].holds", "", nothing, "a condition on its parameters that callers see to"),
        key(
            "protocols[].name",
            "",
            nothing,
            "a protocol of the project's own functions, and what its resource is called where steps have no argument",
        ),
        key("protocols[].start", "", nothing, "the state of a resource that is in use"),
        key("protocols[].final", "", nothing, "the state that a function should leave it in"),
        key(
            "protocols[].words.<state>",
            "",
            |_| "is <state>".to_owned(),
            "what is said of a resource in the state",
        ),
        key("protocols[].create[].call", "", nothing, "a function whose result is a new resource"),
        key(
            "protocols[].create[].unless",
            "",
            nothing,
            "results that are none: zero, nonzero, negative",
        ),
        key("protocols[].steps[].call", "", nothing, "a function that takes a resource to another state"),
        key(
            "protocols[].steps[].argument",
            "",
            |_| "the one resource of the program".to_owned(),
            "which argument the resource is, from 0",
        ),
        key("protocols[].steps[].from", "", nothing, "states from which the step may be taken"),
        key("protocols[].steps[].to", "", nothing, "the state that it leads to"),
        key(
            "protocols[].steps[].unless",
            "",
            nothing,
            "results that say that nothing happened: zero, nonzero, negative",
        ),
        key(
            "protocols[].steps[].ignores",
            "",
            nothing,
            "arguments of which the step does nothing: zero, nonzero, negative",
        ),
        key("protocols[].uses[].call", "", nothing, "a function that needs the resource in its start"),
        key("protocols[].uses[].argument", "", nothing, "as of steps"),
        key("protocols[].dereferenced", "", |_| on(false), "reading and writing through it are uses, too"),
        key("protocols[].takes", "", nothing, "functions that may keep the resource"),
        key("protocols[].twice", "", nothing, "what is said where a step is taken from another state"),
        key("protocols[].late", "", nothing, "what is said of a use in another state"),
        key("suppress[].id", "", nothing, "id of a finding that is known and left alone"),
        key("suppress[].reason", "", nothing, "why"),
        key("suppress[].until", "", nothing, "its last day, as 2027-06-30"),
        key(
            "profiles.<name>.<input>",
            "",
            nothing,
            "a usage profile with a name: `{uniform: [-10, 9]}`, or `{histogram: {\"0..10\": 0.7, \"11..80\": 0.3}}` with exact probabilities",
        ),
        key(
            "quantify.domain.<input>",
            "",
            |_| "-10..9, 0..19 without a sign".to_owned(),
            "values of an input that `quantify` and `rank` count, as `0..99`; of a float also in steps, `-1.5..1.5:0.25`",
        )
        .option("--domain"),
        key(
            "quantify.profile",
            "",
            nothing,
            "the usage profile of `quantify` and `rank`: a name below `profiles`, or a file of the tree",
        )
        .option("--profile"),
        key(
            "templates",
            "",
            nothing,
            "facts in C that are tried wherever all of their names are, as `p->len <= p->cap`",
        )
        .option("--template"),
        key("version", "", |_| "1".to_owned(), "version of the file's format"),
        key("", "hooks", |s| on(s.hooks), "hooks do something when they run").environment(variables::SKIP),
        key("", "hooks.commit-msg", |_| on(true), "this hook does"),
        key("", "hooks.post-commit", |_| on(true), "this hook does"),
        key("", "hooks.post-rewrite", |_| on(true), "this hook does"),
        key("", "hooks.pre-commit", |_| on(true), "this hook does"),
        key("", "hooks.pre-push", |_| on(true), "this hook does"),
        key("", "hooks.prepare-commit-msg", |_| on(true), "this hook does"),
        key("", "trailers", |s| on(s.notes.trailers), "the commit-msg hook appends trailers"),
        key("", "maxTrailers", |s| s.notes.max_trailers.to_string(), "most trailers of a message"),
        key("", "notesRef", |s| s.notes.notes_ref.clone(), "where notes live, below refs/notes/").option("--ref"),
        key(
            "",
            "noteLimit",
            |_| crate::report::note::DEFAULT_LIMIT.to_string(),
            "bytes of one record of a note; what is longer leaves out details and says so",
        ),
        key("", "jobs", |_| "one a core".to_owned(), "worker threads; the result does not depend on them")
            .environment(variables::JOBS)
            .option("-j"),
        key(
            "",
            "cacheDir",
            |_| "in the git directory".to_owned(),
            "folder of the cache; a relative one is in the git directory",
        )
        .environment(variables::CACHE_DIR),
        key("", "cacheLimit", |s| s.cache.limit.to_string(), "bytes that the cache may hold"),
        key("", "cache.remote", nothing, "address of a cache that machines share, as docs/manual/cache.md describes it"),
        key("", "cache.key", nothing, "what its values are proved with, 16 characters or more; never printed"),
        key("", "cache.trust", |s| on(s.cache.remote.trust), "its values are believed without a key"),
        key("", "cache.write", |s| on(s.cache.remote.write), "what is computed is put there"),
        key("", "cache.hooksWrite", |s| on(s.cache.remote.hooks_write), "by hooks, too"),
        key("", "", nothing, "who asks a shared cache over HTTP or Redis").environment(variables::CACHE_USER),
        key("", "", nothing, "and with which password").environment(variables::CACHE_PASSWORD),
        key("", "", nothing, "a bearer token instead, over HTTP").environment(variables::CACHE_TOKEN),
        key("", "", |s| on(!s.cache.is_used), "the cache is neither read nor written")
            .environment(variables::NO_CACHE)
            .option("--no-cache"),
        key("", "lazyFetch", |s| on(s.lazy_fetch), "objects that a partial clone lacks may be fetched"),
        key("", "strict", |s| on(s.strict), "what could not be decided is an exit status of its own, 3")
            .option("--strict"),
        key("", "", |_| ".invdiff.yaml of the newest version".to_owned(), "the project's file")
            .environment(variables::CONFIG)
            .option("--config"),
    ]
}

fn list_or_all(names: &[String]) -> String {
    if names == Settings::default().analysis.templates { "all".to_owned() } else { names.join(",") }
}

/// The table as Markdown.
pub fn markdown() -> String {
    let settings = Settings::default();
    let mut text = String::from(
        "| `.invdiff.yaml` | `git config invdiff.` | environment | option | default | |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for key in table() {
        let code = |name: &str| if name.is_empty() { String::new() } else { format!("`{name}`") };
        let cells = [
            code(key.yaml),
            code(key.git),
            code(key.environment),
            code(key.option),
            code(&(key.default)(&settings)),
            key.text.to_owned(),
        ];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// The table as lines for a manual page.
pub fn plain() -> String {
    let settings = Settings::default();
    let mut text = String::new();
    for key in table() {
        let git = if key.git.is_empty() { String::new() } else { format!("invdiff.{}", key.git) };
        let names = [key.yaml, &git, key.environment, key.option];
        let names: Vec<&str> = names.into_iter().filter(|n| !n.is_empty()).collect();
        let default = (key.default)(&settings);
        let default = if default.is_empty() { String::new() } else { format!(" (default: {default})") };
        text.push_str(&format!("{}\n    {}{default}\n", names.join(", "), key.text.replace('`', "")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, KEYS};
    use std::collections::BTreeSet;

    #[test]
    fn every_key_of_git_is_there_once() {
        let named: Vec<&str> = table().iter().map(|k| k.git).filter(|k| !k.is_empty()).collect();
        let set: BTreeSet<&str> = named.iter().copied().collect();
        assert_eq!(set.len(), named.len());
        assert_eq!(set, KEYS.into_iter().collect());
    }

    /// Asks the reader of the file which keys it knows: the error of an unknown one lists or nears them.
    #[test]
    fn every_key_of_the_file_is_there() {
        let known = |section: &str, wrap: &dyn Fn(&str) -> String| -> BTreeSet<String> {
            let error = ConfigFile::parse("f", wrap("zzzzzzzzzzzz: 1").as_bytes()).expect_err(section);
            let hint = error.hint.unwrap_or_default();
            let names = hint.strip_prefix("known names: ").unwrap_or_else(|| panic!("{section}: {hint}"));
            names.split(", ").map(str::to_owned).collect()
        };
        let of_table = |prefix: &str| -> BTreeSet<String> {
            let rest = |k: &Key| {
                k.yaml.strip_prefix(prefix).map(|r| r.split(['.', '[']).next().unwrap_or(r).to_owned())
            };
            table().iter().filter_map(rest).filter(|r| !r.is_empty() && !r.starts_with('<')).collect()
        };
        assert_eq!(known("top", &|k| k.to_owned()), of_table(""));
        for section in ["paths", "c", "analysis", "gate", "quantify"] {
            let found = known(section, &|k| format!("{section}: {{{k}}}"));
            assert_eq!(found, of_table(&format!("{section}.")), "{section}");
        }
        for section in ["pinned", "requires", "suppress", "protocols"] {
            let found = known(section, &|k| format!("{section}: [{{{k}}}]"));
            assert_eq!(found, of_table(&format!("{section}[].")), "{section}");
        }
        let found = known("gate.rules", &|k| format!("gate: {{rules: [{{{k}}}]}}"));
        assert_eq!(found, of_table("gate.rules[]."));
        for part in ["create", "steps", "uses"] {
            let found = known(part, &|k| format!("protocols: [{{name: a, {part}: [{{{k}}}]}}]"));
            assert_eq!(found, of_table(&format!("protocols[].{part}[].")), "{part}");
        }
    }

    #[test]
    fn the_documentation_has_the_table() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.md");
        let text = std::fs::read_to_string(path).expect("docs/config.md");
        let table = markdown();
        assert!(text.contains(&table), "docs/config.md is to contain:\n{table}");
    }

    #[test]
    fn variables_are_those_that_are_read() {
        let named: BTreeSet<&str> = table().iter().map(|k| k.environment).filter(|v| !v.is_empty()).collect();
        let read = [
            variables::CONFIG,
            variables::JOBS,
            variables::RLIMIT,
            variables::CACHE_DIR,
            variables::NO_CACHE,
            variables::CACHE_USER,
            variables::CACHE_PASSWORD,
            variables::CACHE_TOKEN,
            variables::SKIP,
        ];
        assert_eq!(named, read.into_iter().collect());
    }
}
