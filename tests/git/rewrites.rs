//! Histories that were rewritten where no hook told us: what `git filter-repo` leaves, and less than that.

use super::state::{Run, divide, program_in, three};
use super::*;
use git_invdiff::store::notes::{Edit, Note, Notes};

/// What a rewrite does, as a filter would.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    Messages,
    /// Takes `lib` out, which the first commit brought.
    Paths,
}

/// Commits of the branch, oldest first.
fn ids(repo: &TempRepo) -> Vec<String> {
    repo.git(["rev-list", "--reverse", "HEAD"]).lines().map(str::to_owned).collect()
}

/// [`three`] with a note on each commit, whose record is marked, so that it is known again.
fn annotated() -> TempRepo {
    let repo = three(TempRepo::new());
    let all = ids(&repo);
    let words: Vec<&str> = ["notes", "add"].into_iter().chain(all.iter().map(String::as_str)).collect();
    assert!(invdiff(&repo, &words).status.success());
    let git = git_of(&repo);
    let mark = |_: &str, payload: Option<&[u8]>| {
        let mut note = Note::parse(payload.unwrap());
        note.records[0].rest.insert("mark".into(), true.into());
        Edit::Set(note.payload())
    };
    assert_eq!(Notes::new(&git, NotesRef::default()).update("mark", &all, mark).unwrap().len(), 3);
    repo
}

/// Writes down what the first of several runs of a filter began with and the last one ended with, as `git
/// filter-repo` does.
fn compose(repo: &TempRepo, first: &[(String, String)], then: &[(String, String)]) {
    let after = |middle: &String| {
        let found = then.iter().find(|(old, _)| old == middle);
        found.map_or(middle.clone(), |(_, new)| new.clone())
    };
    let lines: String = first.iter().map(|(old, middle)| format!("{old} {}\n", after(middle))).collect();
    repo.write(".git/filter-repo/commit-map", format!("{:40} new\n{lines}", "old"));
}

/// Rewrites the branch and forgets the old commits; returns the old and the new ones.
fn rewrite(repo: &TempRepo, filter: Filter, with_map: bool) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for old in ids(repo) {
        repo.git(["read-tree", &old]);
        if filter == Filter::Paths {
            repo.git(["rm", "-q", "-r", "--cached", "--ignore-unmatch", "lib"]);
        }
        let (tree, mut words) = (repo.git(["write-tree"]), vec!["commit-tree".to_owned()]);
        if let Some((_, parent)) = pairs.last() {
            words.extend(["-p".to_owned(), parent.clone()]);
        }
        words.extend(["-m".to_owned(), "rewritten".to_owned(), tree]);
        let new = repo.git(words);
        pairs.push((old, new));
    }
    repo.git(["reset", "-q", "--hard", &pairs.last().unwrap().1]);
    forget(repo);
    if with_map {
        let lines: String = pairs.iter().map(|(old, new)| format!("{old} {new}\n")).collect();
        let dropped = format!("{} {}\n", "d".repeat(40), "0".repeat(40));
        repo.write(".git/filter-repo/commit-map", format!("{:40} new\n{lines}{dropped}", "old"));
    }
    pairs
}

fn forget(repo: &TempRepo) {
    repo.git(["reflog", "expire", "--expire=now", "--all"]);
    repo.git(["gc", "-q", "--prune=now"]);
}

fn doctor(repo: &TempRepo) -> String {
    stdout(&invdiff(repo, &["doctor"]))
}

/// Renews what was left; returns the commits that got a note.
fn renew(repo: &TempRepo) -> Vec<String> {
    let run = Run::of(&mut program_in(repo, repo.path(), &["notes", "add", "--stale"]));
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.out.lines().map(str::to_owned).collect()
}

/// Whether the only record of a commit's note speaks of it, and has the mark of an older note.
fn is_carried(repo: &TempRepo, commit: &str) -> bool {
    let note = Note::parse(&repo.git_bytes(["notes", "--ref=invdiff", "show", commit]));
    let [record] = note.records.as_slice() else { panic!("{:?}", note.records) };
    let tree = repo.id(&format!("{commit}^{{tree}}"));
    assert_eq!((record.commit.as_str(), &record.tree), (commit, &tree));
    record.rest.contains_key("mark")
}

fn listed(repo: &TempRepo) -> Vec<String> {
    let list = stdout(&invdiff(repo, &["notes", "list"]));
    let mut lines: Vec<String> = list.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn states(commits: &[String], state: &str) -> Vec<String> {
    let mut lines: Vec<String> = commits.iter().map(|commit| format!("{commit} {state}")).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn notes_move_with_commits_that_were_rewritten() {
    for filter in [Filter::Messages, Filter::Paths] {
        let repo = annotated();
        let (_, new): (Vec<_>, Vec<_>) = rewrite(&repo, filter, true).into_iter().unzip();
        let said = doctor(&repo);
        assert!(said.contains("3 on commits that were rewritten"), "{said}");
        assert!(said.contains("git invdiff notes add --stale") && !said.contains("prune"), "{said}");
        assert_eq!(renew(&repo).len(), 3);
        assert_eq!(listed(&repo), states(&new, "current"));
        for commit in &new {
            assert_eq!(is_carried(&repo, commit), filter == Filter::Messages);
        }
        let said = doctor(&repo);
        assert!(!said.contains("--stale") && !said.contains("gone"), "{said}");
        assert!(renew(&repo).is_empty());
    }
}

/// Without a map, trees say which commit took the place of another; where they changed, nothing does.
#[test]
fn without_a_map_trees_say_what_became_of_commits() {
    let repo = annotated();
    let (old, new): (Vec<_>, Vec<_>) = rewrite(&repo, Filter::Messages, false).into_iter().unzip();
    assert!(doctor(&repo).contains("3 on commits that were rewritten"));
    assert_eq!(renew(&repo).len(), 3);
    assert!(new.iter().all(|commit| is_carried(&repo, commit)));
    // Whether the old commits are elsewhere still, nobody knows here.
    let all = [states(&new, "current"), states(&old, "gone")].concat();
    assert!(all.iter().all(|line| listed(&repo).contains(line)));
    let said = doctor(&repo);
    assert!(said.contains("3 on commits that are gone") && !said.contains("--stale"), "{said}");

    let repo = annotated();
    let (old, _): (Vec<_>, Vec<_>) = rewrite(&repo, Filter::Paths, false).into_iter().unzip();
    let said = doctor(&repo);
    assert!(said.contains("3 on commits that are gone") && !said.contains("--stale"), "{said}");
    assert!(renew(&repo).is_empty());
    assert_eq!(listed(&repo), states(&old, "gone"));
}

/// The old commits are still here, as after a rewrite without hooks whose reflog remembers them.
#[test]
fn commits_that_no_branch_has_any_more_are_known_as_rewritten() {
    let repo = annotated();
    let old = repo.id("HEAD");
    let repo = repo.run(["commit", "-q", "--amend", "-m", "reworded"]);
    let said = doctor(&repo);
    assert!(said.contains("1 on commits that were rewritten"), "{said}");
    assert_eq!(renew(&repo), [repo.id("HEAD")]);
    assert!(is_carried(&repo, &repo.id("HEAD")) && is_carried(&repo, &old));
    assert!(!doctor(&repo).contains("rewritten"));
    // Another commit is nobody's successor.
    let repo = repo.file("src/a.c", divide("f", 64)).stage().run(["commit", "-q", "--amend", "-m", "other"]);
    assert!(!doctor(&repo).contains("rewritten"));
    assert!(renew(&repo).is_empty());
}

#[test]
fn a_note_with_lines_of_others_is_left_where_it_is() {
    let repo = annotated();
    let old = repo.id("HEAD");
    repo.git(["notes", "--ref=invdiff", "append", "-m", "{\"schema\":\"invdiff/9\"}"]);
    let new = rewrite(&repo, Filter::Messages, true).pop().unwrap().1;
    renew(&repo);
    assert!(is_carried(&repo, &new));
    let left = listed(&repo);
    assert_eq!(left.len(), 4);
    assert!(left.contains(&format!("{old} gone")), "{left:?}");
}

/// The map of a later run does not name the commits between two runs, which have the notes by then: those
/// that were moved, and those that were written in between.
#[test]
fn notes_move_with_every_run_of_a_filter() {
    for written_between in [false, true] {
        let repo = annotated();
        let first = rewrite(&repo, Filter::Messages, true);
        if written_between {
            repo.git(["update-ref", "-d", "refs/notes/invdiff"]);
            assert!(invdiff(&repo, &["notes", "add", "HEAD~2", "HEAD~1", "HEAD"]).status.success());
        } else {
            assert_eq!(renew(&repo).len(), 3);
        }
        let then = rewrite(&repo, Filter::Paths, false);
        compose(&repo, &first, &then);
        let said = doctor(&repo);
        assert!(said.contains("3 on commits that were rewritten"), "{said}");
        assert_eq!(renew(&repo).len(), 3);
        assert_eq!(listed(&repo), states(&ids(&repo), "current"));
        // And once more, with a commit of which the first runs knew nothing.
        let repo = repo.file("src/a.c", divide("f", 64)).commit("four");
        assert!(invdiff(&repo, &["notes", "add"]).status.success());
        let last = rewrite(&repo, Filter::Messages, false);
        compose(
            &repo,
            &first.iter().zip(&then).map(|(a, b)| (a.0.clone(), b.1.clone())).collect::<Vec<_>>(),
            &last,
        );
        let map = repo.path().join(".git/filter-repo/commit-map");
        let (old, new) = last.last().unwrap();
        let text = std::fs::read_to_string(&map).unwrap() + &format!("{old} {new}\n");
        std::fs::write(&map, text).unwrap();
        assert_eq!(renew(&repo).len(), 4);
        assert_eq!(listed(&repo), states(&ids(&repo), "current"));
        assert!(!doctor(&repo).contains("rewritten"));
    }
}

#[test]
fn filter_repo_itself_leaves_what_is_found() {
    let repo = annotated();
    let found = repo.git_output(["filter-repo", "--version"]).status.success();
    if !found {
        eprintln!("skipped: no git-filter-repo");
        return;
    }
    let callback = "return message + b' rewritten'";
    repo.git(["filter-repo", "--quiet", "--force", "--message-callback", callback]);
    assert!(doctor(&repo).contains("3 on commits that were rewritten"));
    assert_eq!(renew(&repo).len(), 3);
    assert!(ids(&repo).iter().all(|commit| is_carried(&repo, commit)));
    // Several runs leave one map, from the first commits to the last.
    let repo = annotated().run(["filter-repo", "--quiet", "--force", "--message-callback", callback]);
    let repo = repo.run(["filter-repo", "--quiet", "--force", "--path", "src"]);
    let said = doctor(&repo);
    assert!(said.contains("3 on commits that were rewritten"), "{said}");
    assert_eq!(renew(&repo).len(), 3);
    assert!(ids(&repo).iter().all(|commit| !is_carried(&repo, commit)));
    assert_eq!(listed(&repo), states(&ids(&repo), "current"));
    // So do runs between which notes were moved.
    let repo = repo.run(["filter-repo", "--quiet", "--force", "--path-rename", "src:source"]);
    let said = doctor(&repo);
    assert!(said.contains("3 on commits that were rewritten"), "{said}");
    assert_eq!(renew(&repo).len(), 3);
    let repo = repo.run(["filter-repo", "--quiet", "--force", "--message-callback", callback]);
    assert_eq!(renew(&repo).len(), 3);
    assert_eq!(listed(&repo), states(&ids(&repo), "current"));
}
