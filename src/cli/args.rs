//! The command line: the commands, each with the arguments that its file defines.

use super::{
    GlobalArgs, assert, bisect, blame, bugreport, cache, check, completions, condition, demo, diff_args,
    discover, doctor, explain, graph, hook, man, notes, quantify, suppress, trailers, witness,
};
use clap::{Parser, Subcommand};

/// Shows which facts about a C program a range of commits changed, and which stayed
///
/// A source diff says which lines changed. This says which conditions hold in every version of a
/// range (version invariants), and which ones held before a commit and no longer hold after it
/// (invariant churns), each tied to the hunks and lines that cause it, with an input that shows the
/// difference.
///
/// Without a command, `diff` is meant: `git invdiff HEAD~3..HEAD`.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "git-invdiff",
    bin_name = "git invdiff",
    version,
    override_usage = "git invdiff [<options>] [<range> | <rev>...] [-- <path>...]\n       \
                      git invdiff [<options>] <command> [<args>]",
    subcommand_required = true,
    disable_help_subcommand = true,
    infer_subcommands = false,
    after_help = "See 'git invdiff <command> -h' for the options of a command; \
                  'git invdiff diff -h' for those of 'git invdiff <range>'."
)]
pub struct Cli {
    #[command(flatten)]
    pub globals: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    Diff(diff_args::DiffArgs),
    Check(check::CheckArgs),
    Assert(assert::AssertArgs),
    Witness(witness::WitnessArgs),
    Graph(graph::GraphArgs),
    Condition(condition::ConditionArgs),
    Discover(discover::DiscoverArgs),
    Quantify(quantify::QuantifyArgs),
    Rank(quantify::RankArgs),
    Blame(blame::BlameArgs),
    Bisect(bisect::BisectArgs),
    Suppress(suppress::SuppressArgs),
    Notes(notes::NotesArgs),
    Trailers(trailers::TrailersArgs),
    Hook(hook::HookArgs),
    Cache(cache::CacheArgs),
    Doctor(doctor::DoctorArgs),
    Explain(explain::ExplainArgs),
    Bugreport(bugreport::BugreportArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Puts `diff` into `words` (without the program's name) where no command is named, so that
/// `git invdiff HEAD~3..HEAD` works. A command's name wins over a revision of the same name, which
/// `git invdiff diff <name>` reaches.
pub fn with_default_command(words: Vec<std::ffi::OsString>, root: &clap::Command) -> Vec<std::ffi::OsString> {
    let at = match command_position(&words, root) {
        Position::Named => return words,
        Position::Insert(at) => at,
    };
    let mut words = words;
    // Past the end: the last option lacks its value, which is for the parser to say.
    if at <= words.len() {
        words.insert(at, "diff".into());
    }
    words
}

enum Position {
    /// A command is named, or help or the version is asked for.
    Named,
    Insert(usize),
}

fn command_position(words: &[std::ffi::OsString], root: &clap::Command) -> Position {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(word) = word.to_str() else { return Position::Insert(at) };
        if matches!(word, "-h" | "--help" | "-V" | "--version") {
            return Position::Named;
        }
        match global_option(word, root) {
            Some(OptionShape::Whole) => at += 1,
            Some(OptionShape::ValueFollows) => at += 2,
            None if root.find_subcommand(word).is_some() => return Position::Named,
            None => return Position::Insert(at),
        }
    }
    Position::Insert(at)
}

enum OptionShape {
    Whole,
    ValueFollows,
}

/// Recognises an option of the root command; `None` for options of `diff`, `--` and plain words.
fn global_option(word: &str, root: &clap::Command) -> Option<OptionShape> {
    let shape = |arg: &clap::Arg, value_attached: bool| {
        let needs_value = arg.get_action().takes_values()
            && !arg.is_require_equals_set()
            && arg.get_num_args().is_none_or(|n| n.min_values() > 0);
        if needs_value && !value_attached { OptionShape::ValueFollows } else { OptionShape::Whole }
    };
    if let Some(long) = word.strip_prefix("--") {
        let (name, attached) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
        let arg = root.get_arguments().find(|a| a.get_long() == Some(name))?;
        return Some(shape(arg, attached));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    loop {
        let letter = letters.next()?;
        let arg = root.get_arguments().find(|a| a.get_short() == Some(letter))?;
        let rest_is_empty = letters.as_str().is_empty();
        if arg.get_action().takes_values() || rest_is_empty {
            return Some(shape(arg, !rest_is_empty));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(words: &str, expected: &str) {
        let words = words.split_whitespace().map(Into::into).collect();
        let got = with_default_command(words, &Cli::command());
        let got: Vec<_> = got.iter().map(|w| w.to_string_lossy()).collect();
        assert_eq!(got.join(" "), expected);
    }

    #[test]
    fn diff_is_the_default_command() {
        check("", "diff");
        check("HEAD~3..HEAD", "diff HEAD~3..HEAD");
        check("--json HEAD", "--json diff HEAD");
        check("-C dir A B", "-C dir diff A B");
        check("-Cdir -qj4 A", "-Cdir -qj4 diff A");
        check("-j 4 --format json A", "-j 4 --format json diff A");
        check("--color A", "--color diff A");
        check("--staged", "diff --staged");
        check("-- a.c", "diff -- a.c");
        check("-C", "-C");
    }

    #[test]
    fn a_named_command_stays() {
        for words in
            ["diff A", "-C dir doctor --coverage", "-h", "--version", "--json notes show", "-q check"]
        {
            check(words, words);
        }
        check("doctors", "diff doctors");
    }

    /// Splits what a document shows as a shell would, up to a comment, another command or a gap.
    fn words_of(text: &str) -> Vec<std::ffi::OsString> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        let mut before = ' ';
        for c in text.chars() {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None, ' ') if before == ' ' => break,
                (None, '#' | '|' | '&' | ';' | '`' | ')') if quote.is_none() => break,
                (None, ' ') => words.push(std::mem::take(&mut word).into()),
                _ => word.push(c),
            }
            before = c;
        }
        if !word.is_empty() {
            words.push(word.into());
        }
        words
    }

    /// Every command line that a document shows is one that the program takes.
    #[test]
    fn documented_commands_are_understood() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut looked = 0;
        let manual = std::fs::read_dir(root.join("docs/manual")).expect("docs/manual");
        let manual = manual.map(|e| format!("docs/manual/{}", e.expect("entry").file_name().display()));
        let others = [
            "README.md",
            "docs/ci.md",
            "docs/git.md",
            "docs/porcelain.md",
            "docs/scale.md",
            ".pre-commit-hooks.yaml",
        ];
        for file in others.map(str::to_owned).into_iter().chain(manual) {
            let file = file.as_str();
            let text = std::fs::read_to_string(root.join(file)).expect(file);
            for line in text.lines() {
                let shown = line.split("git invdiff ").skip(1).filter(|_| {
                    line.starts_with("    ") || line.contains("`git invdiff ") || line.contains("entry: ")
                });
                for command in shown {
                    // Placeholders and optional words stand for themselves.
                    let command = command.replace(['[', ']'], "").replace("...", "..");
                    let words = with_default_command(words_of(&command), &Cli::command());
                    let all = std::iter::once("git-invdiff".into()).chain(words.clone());
                    let parsed = Cli::try_parse_from(all);
                    let shows_help = parsed.as_ref().err().is_some_and(|e| e.exit_code() == 0);
                    assert!(parsed.is_ok() || shows_help, "{file}: {line}\n{words:?} {:?}", parsed.err());
                    looked += 1;
                }
            }
        }
        assert!(looked > 60, "{looked}");
    }

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    /// Clap silently takes two arguments of one name as one.
    #[test]
    fn no_command_reuses_the_name_of_a_common_option() {
        fn visit(command: &clap::Command, common: &[&clap::Id]) {
            for argument in command.get_subcommands().flat_map(clap::Command::get_arguments) {
                assert!(!common.contains(&argument.get_id()), "{} of {}", argument, command.get_name());
            }
            command.get_subcommands().for_each(|c| visit(c, common));
        }
        let root = Cli::command();
        let common: Vec<_> = root.get_arguments().map(clap::Arg::get_id).collect();
        visit(&root, &common);
    }
}
