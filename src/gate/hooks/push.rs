//! `pre-push`: whether what is pushed breaks what held in what the remote has.
//!
//! Of each ref that is pushed, the newest version is compared with the newest one that the remote already
//! has: where the ref is now, if the push only adds to it, else (a new branch or tag, a forced push) where
//! the first-parent way leaves what is new. Commits that the remote has were looked at when they came
//! there. Deletions, notes and histories that share nothing with the remote are none of our business.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::{ComparedTree, GRACE, Hook, HookError, HookOutcome, say, within};
use crate::gate::policy::judge;
use crate::report::escape::visible;
use crate::store::{Git, GitError};

/// One line of git's standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Update {
    /// The ref of the remote.
    name: String,
    /// What it becomes.
    new: String,
    /// What it was; `None` for a new one.
    old: Option<String>,
}

/// What to compare for a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    name: String,
    base: String,
    tip: String,
}

/// Looks at each ref as long as there is time, and stops for the first that breaks something.
pub(super) fn run(hook: &mut Hook<'_>, remote: &str, stdin: &[u8]) -> Result<HookOutcome, HookError> {
    let begin = Instant::now();
    let pairs = pairs(hook.git, remote, &updates(stdin))?;
    for (done, pair) in pairs.iter().enumerate() {
        let left = hook.settings.timeout.map(|limit| limit.saturating_sub(begin.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            let (open, all) = (pairs.len() - done, pairs.len());
            say(
                hook,
                &format!(
                    "warning: invdiff pre-push: not finished in time: {open} of {all} refs were not looked at"
                ),
            );
            break;
        }
        let (check, policy) = (hook.check.clone(), hook.policy.clone());
        let (old, new) = (ComparedTree::Commit(pair.base.clone()), ComparedTree::Commit(pair.tip.clone()));
        let limit = left.map(|left| left + GRACE);
        let verdict = within(limit, move || {
            let report = check(&old, &new)?;
            Ok::<_, crate::gate::Failure>(judge(&report, &policy(&old, &new)?))
        })??;
        if verdict.blocked.is_empty() {
            continue;
        }
        let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
        let range = format!("{}..{}", short(&pair.base), short(&pair.tip));
        say(hook, &format!("error: this push breaks what held before ({}, {range})", visible(&pair.name)));
        verdict.blocked.iter().for_each(|line| say(hook, &format!("  {line}")));
        say(hook, &format!("hint: look closer with 'git invdiff check {range}'"));
        say(hook, "hint: push anyway with 'git push --no-verify' or INVDIFF_SKIP=1");
        return Ok(HookOutcome::Stop);
    }
    Ok(HookOutcome::Continue)
}

/// Reads lines `<local ref> <new id> <remote ref> <old id>`; leaves out deletions and notes.
fn updates(stdin: &[u8]) -> Vec<Update> {
    let is_id = |word: &str| matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let exists = |id: &str| id.bytes().any(|digit| digit != b'0');
    let update = |line: &str| {
        let mut words = line.rsplitn(3, ' ');
        let (old, name, rest) = (words.next()?, words.next()?, words.next()?);
        let new = rest.rsplit(' ').next()?;
        (is_id(old) && is_id(new) && exists(new) && !name.starts_with("refs/notes/")).then(|| Update {
            name: name.to_string(),
            new: new.to_string(),
            old: Some(old.to_string()).filter(|old| exists(old)),
        })
    };
    String::from_utf8_lossy(stdin).lines().filter_map(update).collect()
}

/// Finds what to compare, each comparison once. Costs four git processes, whatever the number of refs.
fn pairs(git: &Git, remote: &str, updates: &[Update]) -> Result<Vec<Pair>, HookError> {
    if updates.is_empty() {
        return Ok(Vec::new());
    }
    let news = commits(git, updates.iter().map(|update| update.new.as_str()))?;
    let olds = commits(git, updates.iter().filter_map(|update| update.old.as_deref()))?;
    let unseen = unseen(git, remote, &news, &olds)?;
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::new();
    for update in updates {
        let Some(tip) = news.get(&update.new) else { continue };
        let old = update.old.as_ref().and_then(|old| olds.get(old));
        let Some(base) = base(&unseen, tip, old) else { continue };
        if seen.insert((base.clone(), tip.clone())) {
            pairs.push(Pair { name: update.name.clone(), base, tip: tip.clone() });
        }
    }
    Ok(pairs)
}

/// Returns the commits that ids stand for, as far as they are here; a tag stands for what it is on.
fn commits<'i>(git: &Git, ids: impl Iterator<Item = &'i str>) -> Result<BTreeMap<String, String>, HookError> {
    let ids: Vec<&str> = ids.collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let input: String = ids.iter().map(|id| format!("{id}^{{commit}}\n")).collect();
    let answer = git.run(&["cat-file", "--batch-check=%(objectname) %(objecttype)"], input.as_bytes())?;
    let answer = String::from_utf8_lossy(&answer);
    let known = ids.iter().zip(answer.lines());
    Ok(known
        .filter_map(|(id, line)| Some((id.to_string(), line.strip_suffix(" commit")?.to_string())))
        .collect())
}

/// Returns the commits that the remote does not have, with their parents.
fn unseen(
    git: &Git,
    remote: &str,
    news: &BTreeMap<String, String>,
    olds: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Vec<String>>, HookError> {
    let has_refs =
        |folder: &str| Ok::<_, GitError>(!git.line(&["for-each-ref", "--count=1", folder])?.is_empty());
    let is_known = has_refs(&format!("refs/remotes/{remote}/"))?;
    if !is_known && olds.is_empty() && !has_refs("refs/remotes/")? {
        // Everything is new, so there is nothing to compare it with, however long the history is.
        return Ok(BTreeMap::new());
    }
    // A remote that has no name, or that nothing was fetched from: what other remotes have is known too.
    let remotes = if is_known { format!("--remotes={remote}") } else { "--remotes".to_string() };
    let mut input: String = news.values().map(|id| format!("{id}\n")).collect();
    olds.values().for_each(|id| input.push_str(&format!("^{id}\n")));
    let listing = git.run(&["rev-list", "--parents", "--stdin", "--not", &remotes], input.as_bytes())?;
    let commit = |line: &str| {
        let mut ids = line.split(' ').map(str::to_string);
        Some((ids.next()?, ids.collect()))
    };
    Ok(String::from_utf8_lossy(&listing).lines().filter_map(commit).collect())
}

/// Returns the newest version that the remote has before `tip`; `None` if it has the tip, or nothing.
fn base(unseen: &BTreeMap<String, Vec<String>>, tip: &String, old: Option<&String>) -> Option<String> {
    unseen.get(tip)?;
    if let Some(old) = old.filter(|old| leads_to(unseen, tip, old)) {
        return Some(old.clone());
    }
    let mut commit = tip;
    while let Some(parents) = unseen.get(commit) {
        commit = parents.first()?;
    }
    Some(commit.clone())
}

/// Whether a commit is a parent of something new behind `tip`.
fn leads_to(unseen: &BTreeMap<String, Vec<String>>, tip: &String, wanted: &String) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([tip]), vec![tip]);
    while let Some(commit) = open.pop() {
        for parent in unseen.get(commit).into_iter().flatten() {
            if parent == wanted {
                return true;
            }
            if seen.insert(parent) {
                open.push(parent);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_git_are_read() {
        let (a, b, zero) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let lines = format!(
            "refs/heads/x {a} refs/heads/x {b}\nHEAD~1 {a} refs/heads/y {zero}\n(delete) {zero} refs/heads/z {b}\n\
             refs/notes/n {a} refs/notes/n {b}\nnonsense\n\n"
        );
        let update = |name: &str, old: Option<&String>| Update {
            name: name.into(),
            new: a.clone(),
            old: old.cloned(),
        };
        assert_eq!(
            updates(lines.as_bytes()),
            [update("refs/heads/x", Some(&b)), update("refs/heads/y", None)]
        );
    }

    /// Commits are letters: `c:ba` has the parents `b` and `a`.
    fn check(commits: &str, old: Option<&str>, expected: Option<&str>) {
        let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let unseen =
            commits.split(' ').filter_map(|c| c.split_once(':')).map(|(c, p)| (c.to_owned(), letters(p)));
        let found = base(&unseen.collect(), &"t".to_owned(), old.map(str::to_owned).as_ref());
        assert_eq!(found.as_deref(), expected, "{commits}");
    }

    #[test]
    fn a_push_begins_at_what_the_remote_has() {
        check("t:c c:b", Some("b"), Some("b"));
        check("t:c c:b", None, Some("b"));
        // The remote's side was merged: what it had is what the push is compared with.
        check("t:co c:b", Some("o"), Some("o"));
        // Forced: the old one is not behind the new one.
        check("t:c c:b", Some("x"), Some("b"));
        check("t:cd c:b d:x", Some("y"), Some("b"));
        check("s:b", Some("b"), None);
        check("t:c c:", None, None);
    }
}
