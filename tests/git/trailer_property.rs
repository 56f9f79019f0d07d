//! Trailers in generated messages, as `git interpret-trailers --parse` and `git commit` see them.

use super::random::Random;
use super::*;
use crate::support::tier::rounds;
use git_invdiff::store::trailers::{Style, Trailer};

const OWN: [&str; 3] = ["Invariant-Churn", "Invariant-Kept", "Invariant-Regression"];

const LINES: [&str; 34] = [
    "a title",
    "title: with a colon",
    "prose of a body",
    "more prose: and a colon",
    "",
    "",
    "",
    " ",
    "\t",
    "Signed-off-by: A <a@b>",
    "Fixes: #12",
    "Acked-by: B",
    " folded",
    "\tfolded",
    "(cherry picked from commit 0123456789)",
    "Key : blank before",
    "key with blanks: v",
    "K\u{e9}y: v",
    "under_score: v",
    ": no key",
    "https://example.com",
    "---",
    "--- a.c",
    "# a comment",
    "#",
    "; another comment",
    "// yet another",
    "Conflicts:",
    "\ta.c",
    "Invariant-Churn: old.c:f: x -> y",
    "Invariant-Kept: 9",
    "invariant-kept: 9",
    "Sign=equals",
    "Ref#12",
];

const SETTINGS: [&[(&str, &str)]; 8] = [
    &[],
    &[],
    &[("core.commentChar", ";")],
    &[("core.commentString", "//")],
    &[("trailer.separators", ":=#")],
    &[("trailer.separators", "=:")],
    &[("trailer.fix.key", "Fixes")],
    &[("trailer.ack.key", "Acked-by: "), ("trailer.ifexists", "replace"), ("trailer.where", "start")],
];

fn message(random: &mut Random) -> String {
    let count = 1 + random.below(9);
    let mut lines: Vec<&str> = (0..count).map(|_| random.choose(&LINES)).collect();
    if random.below(2) == 0 {
        lines.insert(0, "");
        lines.insert(0, "a title");
    }
    let end = if random.below(6) == 0 { "\r\n" } else { "\n" };
    let mut text = lines.join(end);
    if random.below(4) > 0 {
        text.push_str(end);
    }
    text
}

fn trailers(random: &mut Random) -> Vec<Trailer> {
    let values = [
        "a.c:f: x -> y (-1 +1)",
        "14",
        "a: b: c",
        "\\result: \"q\" -> 'r'",
        "x = y # z",
        "\u{fc} -> \u{1F600}",
    ];
    (0..random.below(3)).map(|i| Trailer { key: OWN[i], value: random.choose(&values).to_owned() }).collect()
}

/// What git finds in a message, as `(key, value)`.
fn parsed(git: &Git, message: &[u8]) -> Vec<(String, String)> {
    let found = git.run(&["interpret-trailers", "--parse", "--no-divider"], message).unwrap();
    let found = String::from_utf8_lossy(&found).into_owned();
    let split = |line: &str| {
        let at = line.find([':', '=', '#'])?;
        Some((line[..at].trim().to_owned(), line[at + 1..].trim().to_owned()))
    };
    found.lines().filter_map(split).collect()
}

fn is_own(key: &str) -> bool {
    OWN.iter().any(|own| own.eq_ignore_ascii_case(key))
}

#[test]
fn git_parses_what_was_put_into_any_message() {
    let repo = TempRepo::new();
    let mut random = Random::new(1);
    let mut written = 0;
    let messages = rounds("INVDIFF_MESSAGES", 60, 500);
    for round in 0..messages {
        let settings = SETTINGS[random.below(SETTINGS.len())];
        let mut git = git_of(&repo).with_env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (n, (key, value)) in settings.iter().enumerate() {
            git = git
                .with_env(format!("GIT_CONFIG_KEY_{n}"), *key)
                .with_env(format!("GIT_CONFIG_VALUE_{n}"), *value);
        }
        let (message, new) = (message(&mut random), trailers(&mut random));
        let style = Style::read(&git, message.as_bytes()).unwrap();
        let what = format!("round {round} {settings:?} {message:?}");
        let result = style.replace(message.as_bytes(), &OWN, &new);
        if style.is_empty(message.as_bytes()) {
            assert_eq!(result, message.as_bytes(), "{what}");
            continue;
        }
        let shown = format!("{what}\n{}", String::from_utf8_lossy(&result));
        let bare = |text: &str| {
            text.lines().all(|l| {
                l.trim().is_empty() || l.starts_with(['#', ';', '/']) || is_own(l.split(':').next().unwrap())
            })
        };
        if bare(&message) {
            // As a title, or alone: nothing of ours can be put below or taken out.
            continue;
        }
        // Twice is once, but for where lines are that git drops or cuts off.
        let text_of = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let is_text =
                |line: &&str| !line.trim().is_empty() && !line.as_bytes().starts_with(&style.comment);
            text.lines().filter(is_text).map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
        };
        let twice = style.replace(&result, &OWN, &new);
        assert_eq!(text_of(&twice), text_of(&result), "twice: {shown}");
        let without = style.replace(message.as_bytes(), &OWN, &[]);
        let theirs = |text: &[u8]| {
            let mut found = parsed(&git, text);
            found.retain(|(key, _)| !is_own(key));
            found
        };
        // Ours are found by git, each with its value, in order, and nothing else of ours.
        if !new.is_empty() {
            let mut ours = parsed(&git, &result);
            ours.retain(|(key, _)| is_own(key));
            let expected: Vec<_> = new.iter().map(|t| (t.key.to_owned(), t.value.clone())).collect();
            assert_eq!(ours, expected, "{shown}");
            assert_eq!(theirs(&result), theirs(&without), "{shown}");
            written += 1;
        }
        // What a person wrote is there, line by line and in order.
        let kept = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            let own = |line: &&str| {
                !line.trim().is_empty() && !is_own(line.split([':', '=']).next().unwrap_or("").trim())
            };
            text.lines()
                .map(|line| line.trim_end_matches('\r'))
                .filter(own)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (before, after) = (kept(message.as_bytes()), kept(&result));
        let folded = |lines: Vec<String>| {
            lines.into_iter().filter(|l| !l.starts_with([' ', '\t'])).collect::<Vec<_>>()
        };
        assert_eq!(folded(before), folded(after), "{shown}");
    }
    assert!(written * 5 > messages * 2, "{written} of {messages}");
}

/// Commits the same message with and without hooks, and compares: with hooks it is what git itself would
/// make of the other one, or no commit either.
#[test]
fn git_commits_what_git_would_have_written() {
    let hooked = with_hooks(TempRepo::new().file("a.c", "0").commit("first"));
    let plain = TempRepo::new().file("a.c", "0").commit("first");
    let mut random = Random::new(7);
    let (mut made, mut refused) = (0, 0);
    let commits = rounds("INVDIFF_COMMITS", 8, 60);
    for round in 0..commits {
        let (text, message) = (format!("{round}"), message(&mut random));
        let cleanup = random.choose(&["default", "strip", "whitespace", "verbatim", "scissors"]).to_owned();
        let comment = random.choose(&["#", "#", ";", "auto"]).to_owned();
        let how = random.below(4);
        let verbose = random.below(2) == 0;
        let commit = |repo: &TempRepo| {
            repo.write("a.c", &text);
            repo.write(".git/draft", &message);
            let editor = repo.root().join("editor");
            std::fs::write(&editor, "#!/bin/sh\ncat .git/draft \"$1\" >.git/both\ncp .git/both \"$1\"\n")
                .unwrap();
            make_executable(&editor);
            let words = [format!("core.commentChar={comment}"), format!("commit.cleanup={cleanup}")];
            let mut git = command(repo, "git");
            git.args(words.iter().flat_map(|word| ["-c", word]));
            git.args(["commit", "-q", "-a"]).env("GIT_EDITOR", &editor);
            match how {
                0 => git.args(["-F", ".git/draft"]),
                1 => git.args(["-m", &message]),
                _ if verbose => git.arg("-v"),
                _ => &mut git,
            };
            let output = git.output().unwrap();
            let done = output.status.success();
            if !done {
                repo.git(["checkout", "-q", "HEAD", "--", "a.c"]);
            }
            (done, repo.git_bytes(["log", "-1", "--format=%B"]), stderr(&output))
        };
        let what = format!("round {round} {cleanup} {comment:?} {how} {verbose} {message:?}");
        let ((done, ours, said), (expected, theirs, _)) = (commit(&hooked), commit(&plain));
        assert_eq!(done, expected, "{what}: {said}");
        if !done {
            refused += 1;
            continue;
        }
        made += 1;
        let old = hooked.git(["show", "HEAD~1:a.c"]);
        let own = [
            ("Invariant-Churn", format!("a.c:f: text: {old} -> {text}")),
            ("Invariant-Kept", "1".to_owned()),
        ];
        // Where comments stay in the message, which lines are comments is known with the setting only.
        let nothing_else = Style::default().is_empty(&theirs);
        if nothing_else || comment == "auto" && cleanup != "default" {
            continue;
        }
        let character = if comment == "auto" { "#" } else { &comment };
        let git = git_of(&hooked)
            .with_env("GIT_CONFIG_COUNT", "1")
            .with_env("GIT_CONFIG_KEY_0", "core.commentChar");
        let git = git.with_env("GIT_CONFIG_VALUE_0", character);
        let shown = format!(
            "{what}\n{}\n--- without:\n{}",
            String::from_utf8_lossy(&ours),
            String::from_utf8_lossy(&theirs)
        );
        let found = parsed(&git, &ours);
        let mine: Vec<_> = found.iter().filter(|(key, _)| is_own(key)).cloned().collect();
        assert_eq!(mine, own.map(|(key, value)| (key.to_owned(), value)), "{shown}");
        let foreign = |text: &[u8]| {
            let mut found = parsed(&git, text);
            found.retain(|(key, _)| !is_own(key));
            found
        };
        let missing: Vec<_> = foreign(&theirs).into_iter().filter(|t| !foreign(&ours).contains(t)).collect();
        assert!(missing.is_empty(), "{missing:?} {shown}");
    }
    assert!(made * 2 >= commits && refused >= 1, "{made} {refused} of {commits}");
}
