//! What the commands claim of a pair, held against its runs.
//!
//! A *wrong* claim is one that a compiled run refutes: "nothing changed", "harmless", "kept", a predicted
//! output, a proved fact, a condition that is said to hold. *Open* answers are none, and are counted apart.

use super::oracle::{self, Built, Ran};
use super::template::Files;
use crate::kit::Pair;
use serde_json::Value;
use std::path::Path;

/// What `git invdiff` says of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// A change that callers see, with a replayed input.
    Shown,
    /// A change without an input.
    Told,
    /// Something was not decided or not looked at, and that is said.
    Open,
    /// That nothing changed.
    Same,
}

/// A claim that a run refutes, or silence about what a run shows.
pub struct Wrong {
    pub command: &'static str,
    pub what: String,
}

/// A pair with its runs.
pub struct Judged<'a> {
    pub pair: &'a Pair,
    pub files: &'a [Files; 2],
    /// By input: how both versions ran, where both runs are defined.
    pub runs: &'a [(String, Ran, Ran)],
    pub built: [&'a Built; 2],
    pub folder: &'a Path,
    /// The function that the change reaches.
    pub function: &'a str,
    /// The largest result of `work` in runs of the old version, where results are all that is printed.
    pub bound: Option<i64>,
    /// The condition of the assertion in both versions, where they have one; the old one keeps it.
    pub asserted: Option<String>,
}

impl Judged<'_> {
    pub fn differs(&self) -> bool {
        self.runs.iter().any(|(_, old, new)| old != new)
    }

    /// An input on which the old version keeps its assertions and the new one does not.
    fn breaking(&self) -> Option<(&str, &Ran)> {
        let breaks = |(_, old, new): &&(String, Ran, Ran)| !old.is_failure() && new.is_failure();
        self.runs.iter().find(breaks).map(|(input, _, new)| (input.as_str(), new))
    }

    /// What `diff` answers, and what is wrong with it.
    pub fn diff(&self, wrong: &mut Vec<Wrong>) -> Answer {
        let (status, text, err) = self.pair.run("diff --json HEAD~1..HEAD");
        if status != Some(0) {
            wrong.push(Wrong { command: "diff", what: format!("diff ends with {status:?}: {err}") });
        }
        let report: Value = serde_json::from_str(&text).unwrap_or_default();
        let answer = answer(&report);
        if answer == Answer::Same && self.differs() {
            wrong.push(Wrong { command: "diff", what: "diff says that nothing changed".to_owned() });
        }
        for churn in churns(&report) {
            self.replay(&churn["witness"], wrong);
        }
        answer
    }

    /// What the local view answers by itself, which rests on no run of a whole program, and what is wrong with it.
    pub fn quick(&self, wrong: &mut Vec<Wrong>) -> Answer {
        let (status, text, err) = self.pair.run("diff --effort quick --json HEAD~1..HEAD");
        if status != Some(0) {
            wrong.push(Wrong { command: "quick", what: format!("diff ends with {status:?}: {err}") });
        }
        let answer = answer(&serde_json::from_str(&text).unwrap_or_default());
        if answer == Answer::Same && self.differs() {
            wrong.push(Wrong {
                command: "quick",
                what: "every hunk is neutral, says the local view".to_owned(),
            });
        }
        answer
    }

    /// A witness of the whole program predicts what the compiled versions print.
    fn replay(&self, witness: &Value, wrong: &mut Vec<Wrong>) {
        if witness["kind"] != "program" || witness["stdin"].is_null() || !list(&witness["calls"]).is_empty() {
            return;
        }
        let stdin = witness["stdin"].as_str().unwrap_or_default();
        for (side, built) in ["old", "new"].into_iter().zip(self.built) {
            let run = &witness[side];
            if !matches!(run["end"].as_str(), Some("return" | "exit")) || run["stdout"].is_null() {
                continue;
            }
            let ran = built.run(stdin);
            let predicted = run["stdout"].as_str().unwrap_or_default();
            let status = run["exit"].as_i64().map(|s| s & 0xff);
            let same_end = match (&ran.ended, status) {
                (oracle::Ended::Status(s), Some(predicted)) => i64::from(*s) == predicted,
                (oracle::Ended::Status(_), None) => true,
                _ => false,
            };
            if ran.stdout != predicted || !same_end {
                wrong.push(Wrong {
                    command: "diff",
                    what: format!(
                        "the {side} version on {stdin:?}: predicted {predicted:?} {status:?}, ran {ran:?}"
                    ),
                });
            }
        }
    }

    /// What is wrong with what `check` says, and whether it is silent where a run breaks an assertion.
    pub fn check(&self, wrong: &mut Vec<Wrong>) {
        let (status, text, _) = self.pair.run("check HEAD~1..HEAD");
        if self.differs() && text.contains("no function changed") {
            wrong.push(Wrong { command: "check", what: text.trim().to_owned() });
        }
        let Some((input, ran)) = self.breaking() else { return };
        let report = self.pair.json("check HEAD~1..HEAD");
        let outcome = |a: &Value| a["outcome"]["2"].as_str().unwrap_or_default().to_owned();
        let asserted = list(&report["assertions"]).iter().filter(|a| a["kind"] == "assertion");
        let own: Vec<&Value> = asserted.filter(|a| a["function"] == self.function).collect();
        let failed = |a: &&&Value| ran.failed.as_deref().is_none_or(|text| a["text"] == text);
        for a in own.iter().filter(|a| outcome(a) == "not-fail").filter(failed) {
            wrong.push(Wrong {
                command: "check",
                what: format!("check: {} does not fail, says it; on {input:?} it does", a["text"]),
            });
        }
        // That it fails is said, here or for what it is part of, though it may have failed on other inputs before.
        let same =
            |a: &&Value| self.asserted.as_deref() == a["text"].as_str() || a["function"] == self.function;
        if list(&report["assertions"]).iter().filter(same).any(|a| outcome(a) == "fail") {
            return;
        }
        let (strict, ..) = self.pair.run("check --strict HEAD~1..HEAD");
        if status == Some(0) && strict == Some(0) {
            wrong.push(Wrong {
                command: "check",
                what: format!("check --strict is content, but {input:?} breaks it: {}", text.trim()),
            });
        }
    }

    /// What is wrong with what `condition` says.
    pub fn condition(&self, wrong: &mut Vec<Wrong>) {
        let (status, text, _) = self.pair.run("condition --exit-code HEAD~1..HEAD");
        if self.differs() && text.contains("no function differs") {
            wrong.push(Wrong { command: "condition", what: text.trim().to_owned() });
        }
        if let (Some((input, _)), Some(0)) = (self.breaking(), status) {
            wrong.push(Wrong {
                command: "condition",
                what: format!("condition --exit-code is content, but {input:?} breaks it: {}", text.trim()),
            });
        }
    }

    /// Whether only lines of destructors differ: these are the program's matter, not that of `work`.
    fn is_after_main(&self) -> bool {
        let [old, new] = self.files;
        let lines = old.iter().zip(new).flat_map(|((_, a), (_, b))| a.lines().zip(b.lines()));
        lines
            .filter(|(a, b)| a != b)
            .all(|(a, b)| a.contains("((destructor))") && b.contains("((destructor))"))
    }

    /// Whether `blame` leaves out the commit that changed what `work` does.
    pub fn blame(&self, wrong: &mut Vec<Wrong>) {
        let function = if self.is_after_main() { "main" } else { self.function };
        let (_, text, _) = self.pair.run(&format!("blame a.c:{function}"));
        let is_open = ["not looked at", "open", "undecided", "not analysed"].iter().any(|w| text.contains(w));
        if self.differs() && !text.contains(" two") && !is_open {
            wrong.push(Wrong { command: "blame", what: text.trim().to_owned() });
        }
    }

    /// Whether `bisect` says of `work` what runs refute.
    pub fn bisect(&self, wrong: &mut Vec<Wrong>) {
        let Some(bound) = self.bound else { return };
        let condition = format!("a.c:work: \\result <= {bound}");
        let (_, out, _) = self.pair.run_words(&["bisect", "--json", &condition, "HEAD~1..HEAD"]);
        let Ok(found) = serde_json::from_str::<Value>(&out) else { return };
        let broken = self.runs.iter().find(|(_, _, new)| {
            new.ended == oracle::Ended::Status(0) && new.stdout.trim().parse().is_ok_and(|n: i64| n > bound)
        });
        if let (Some((input, ..)), true) = (broken, found["outcome"] == "holds") {
            wrong.push(Wrong {
                command: "bisect",
                what: format!("bisect: {condition} holds, says it; {input:?} refutes it"),
            });
        }
    }

    /// Facts that are said to be proved hold in compiled copies with assertions.
    pub fn asserted(&self, wrong: &mut Vec<Wrong>) {
        for (revision, version, files) in [("HEAD~1", "old", &self.files[0]), ("HEAD", "new", &self.files[1])]
        {
            let folder = self.folder.join(format!("asserted-{version}"));
            let into = folder.to_string_lossy().into_owned();
            let (status, _, err) = self.pair.run_words(&["assert", revision, "--output-dir", &into]);
            if status != Some(0) {
                wrong.push(Wrong { command: "assert", what: format!("assert ends with {status:?}: {err}") });
                continue;
            }
            let copied: Files = files
                .iter()
                .map(|(p, t)| {
                    (p.clone(), std::fs::read_to_string(folder.join(p)).unwrap_or_else(|_| t.clone()))
                })
                .collect();
            if copied == *files {
                continue;
            }
            let built = match oracle::sanitized(&copied, &folder.join("build")) {
                Ok(built) => built,
                Err(why) => {
                    wrong.push(Wrong {
                        command: "assert",
                        what: format!("the copy with assertions of the {version} version: {why}"),
                    });
                    continue;
                }
            };
            for (input, old, new) in self.runs {
                let plain = if version == "old" { old } else { new };
                let ran = oracle::run(&built, input);
                if ran != *plain {
                    wrong.push(Wrong {
                        command: "assert",
                        what: format!(
                            "with assertions, the {version} version on {input:?}: {ran:?}, not {plain:?}"
                        ),
                    });
                    break;
                }
            }
        }
    }

    /// Witness tests tell the versions apart.
    pub fn witnesses(&self, wrong: &mut Vec<Wrong>) {
        let folder = self.folder.join("witnesses");
        let into = folder.to_string_lossy().into_owned();
        let (status, _, err) = self.pair.run_words(&["witness", "HEAD~1..HEAD", "--output-dir", &into]);
        if status != Some(0) {
            wrong.push(Wrong { command: "witness", what: format!("witness ends with {status:?}: {err}") });
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { return };
        let mut tests: Vec<_> =
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some()).collect();
        tests.sort();
        for test in tests {
            let text = std::fs::read_to_string(&test).unwrap_or_default();
            for ((side, expected), built) in [("old", 0), ("new", 1)].into_iter().zip(self.built) {
                if text.contains(&format!("What {side} does there is undefined")) {
                    continue;
                }
                let version = built.folder.path();
                let program = match oracle::built(std::slice::from_ref(&test), version, "witness", &["-I."]) {
                    Ok(program) => program,
                    Err(why) => {
                        wrong.push(Wrong { command: "witness", what: format!("a witness test: {why}") });
                        continue;
                    }
                };
                let ran = oracle::run(&program, "");
                if ran.ended != oracle::Ended::Status(expected) {
                    wrong.push(Wrong {
                        command: "witness",
                        what: format!("a witness test of {side}: {ran:?}\n{}", head(&text)),
                    });
                }
            }
        }
    }
}

/// The comment that a witness test opens with.
fn head(text: &str) -> &str {
    text.split("*/").next().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn churns(report: &Value) -> impl Iterator<Item = &Value> {
    let points = list(&report["functions"]).iter().flat_map(|f| list(&f["points"]));
    points.flat_map(|p| list(&p["churns"]))
}

/// What a report says of a change.
fn answer(report: &Value) -> Answer {
    let mut best = None;
    for churn in churns(report) {
        let shown = churn["observable"] == true && !churn["witness"].is_null();
        let one = if shown { Answer::Shown } else { Answer::Told };
        best = Some(best.map_or(one, |b: Answer| b.min(one)));
    }
    if let Some(best) = best {
        return best;
    }
    let changes = list(&report["functions"]).iter().flat_map(|f| list(&f["changes"]));
    let told = changes.clone().any(|c| !list(&c["deltas"]).is_empty());
    let left = changes.clone().any(|c| c["verdict"] == "open" || c["else"] == "open");
    let points = list(&report["functions"]).iter().flat_map(|f| list(&f["points"]));
    let undecided = points.flat_map(|p| list(&p["undecided"])).count();
    let partly = list(&report["functions"]).iter().any(|f| f["complete"] == false);
    let unread = report["complete"] == false || report["summary"]["hunks_not_analysed"] != 0;
    // A function that is new or gone is told as such.
    let named =
        list(&report["functions"]).iter().any(|f| f["outcome"] == "added" || f["outcome"] == "removed");
    // So is what an object begins with.
    let named = named || told || !list(&report["objects"]).is_empty();
    match (named, left || undecided > 0 || partly || unread) {
        (true, _) => Answer::Told,
        (_, true) => Answer::Open,
        _ => Answer::Same,
    }
}
