//! Kinds of repositories: the same history gives the same facts in each, or an error that names the reason.
//!
//! The oracle is a plain clone: what `--porcelain` prints there is what must be printed elsewhere.

use super::state::{Run, differing, divide, edits, program_in, state, three, three_and_edits};
use super::*;
use std::ffi::OsString;
use std::path::Path;

const RANGE: &[&str] = &["HEAD~2..HEAD"];
const STAGED: &[&str] = &["--staged"];
const DISK: &[&str] = &[];
const ALL: [&[&str]; 3] = [RANGE, STAGED, DISK];

fn porcelain(words: &[&str]) -> Vec<String> {
    ["--porcelain"].iter().chain(words).map(|w| (*w).to_owned()).collect()
}

/// What the plain repository of this history says.
fn expected(words: &[&str]) -> String {
    let repo = three_and_edits(TempRepo::new());
    let run = Run::of(program_in(&repo, repo.path(), &[]).args(porcelain(words)));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    run.facts()
}

/// Compares what is said in a folder with what the plain repository says.
#[track_caller]
fn check_with(repo: &TempRepo, folder: &Path, env: &[(&str, OsString)], before: &[&str], kinds: &[&[&str]]) {
    for words in kinds {
        let mut command = program_in(repo, folder, before);
        command.args(porcelain(words)).envs(env.iter().map(|(k, v)| (k, v)));
        let run = Run::of(&mut command);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{before:?} {words:?}");
        assert_eq!(run.facts(), expected(words), "{before:?} {words:?}");
    }
}

#[track_caller]
fn check(repo: &TempRepo) {
    check_with(repo, repo.path(), &[], &[], &ALL);
}

/// Checks that a command fails with this exit status, and what it says.
#[track_caller]
fn check_refused(repo: &TempRepo, words: &[&str], code: i32, part: &str) {
    let run = Run::of(&mut program_in(repo, repo.path(), words));
    assert_eq!(run.code, Some(code), "{words:?} {}", run.err);
    assert!(run.err.contains(part), "{words:?} {}", run.err);
}

#[test]
fn hashes_and_refs_of_any_format() {
    check(&three_and_edits(TempRepo::sha256()));
    match TempRepo::reftable() {
        Some(repo) => check(&three_and_edits(repo)),
        None => println!("skipped: this git knows no reftables"),
    }
    let both = TempRepo::init(&["--object-format=sha256", "--initial-branch=other"]);
    check(&three_and_edits(both));
    let packed = three_and_edits(TempRepo::new()).run(["repack", "-adq"]).run(["pack-refs", "--all"]);
    check(&packed.run(["prune-packed"]).run(["commit-graph", "write", "--reachable"]));
    check(&three_and_edits(TempRepo::new()).run(["repack", "-dq"]).run(["multi-pack-index", "write"]));
}

#[test]
fn indexes_of_any_format() {
    for arguments in [
        &["update-index", "--split-index"][..],
        &["update-index", "--index-version", "4"],
        &["update-index", "--index-version", "3"],
        &["update-index", "--force-untracked-cache"],
        &["update-index", "--refresh"],
    ] {
        let repo = three_and_edits(TempRepo::new());
        repo.git_output(arguments);
        check(&repo);
    }
    check(&three_and_edits(TempRepo::new()).config("core.fsmonitor", "true").config("index.threads", "2"));
    // Whole folders are one entry, or are not on disk.
    for how in ["--sparse-index", "--no-sparse-index"] {
        let repo = three_and_edits(TempRepo::new());
        repo.git(["sparse-checkout", "set", how, "src"]);
        assert!(!repo.path().join("lib").exists());
        check(&repo);
    }
}

#[test]
fn an_index_that_the_environment_names() {
    let repo = three(TempRepo::new());
    let other = repo.root().join("other-index");
    let git = |words: &[&str]| {
        assert!(repo.command_of("git").env("GIT_INDEX_FILE", &other).args(words).status().unwrap().success());
    };
    git(&["read-tree", "HEAD"]);
    repo.write("src/a.c", divide("f", 16));
    git(&["add", "src/a.c"]);
    repo.write("src/a.c", divide("f", 8));
    check_with(&repo, repo.path(), &[("GIT_INDEX_FILE", other.clone().into())], &[], &[STAGED]);
    // A relative one is relative to the top, wherever the command runs.
    std::fs::copy(&other, repo.path().join(".git/third")).unwrap();
    let inside = repo.path().join("src");
    check_with(&repo, &inside, &[("GIT_INDEX_FILE", ".git/third".into())], &[], &[STAGED]);
}

#[test]
fn objects_from_elsewhere() {
    let origin = three(TempRepo::new());
    check(&edits(origin.clone_with(&["--shared"])));
    check(&edits(origin.clone_with(&["--reference", &origin.path().display().to_string()])));
    let repo = three_and_edits(TempRepo::new());
    let moved = repo.root().join("objects");
    std::fs::rename(repo.path().join(".git/objects"), &moved).unwrap();
    std::fs::create_dir(repo.path().join(".git/objects")).unwrap();
    let variable = ("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from(&moved));
    check_with(&repo, repo.path(), &[variable], &[], &ALL);
    check_with(&repo, repo.path(), &[("GIT_OBJECT_DIRECTORY", moved.into())], &[], &ALL);
}

#[test]
fn repositories_in_any_place() {
    let repo = three_and_edits(TempRepo::new());
    let (top, root) = (repo.path().to_owned(), repo.root());
    let text = top.display().to_string();
    check_with(&repo, &root, &[], &["-C", &text], &ALL);
    check_with(&repo, &root, &[], &["-C", "repo", "-C", "src"], &ALL);
    check_with(&repo, &top.join("src"), &[], &[], &ALL);
    check_with(&repo, &top, &[], &["--git-dir", ".git"], &ALL);
    check_with(&repo, &root, &[("GIT_WORK_TREE", "repo".into())], &["--git-dir", "repo/.git"], &ALL);
    check_with(&repo, &top, &[("GIT_DIR", ".git".into())], &[], &ALL);
    let both = [("GIT_DIR", OsString::from("repo/.git")), ("GIT_WORK_TREE", OsString::from("repo"))];
    check_with(&repo, &root, &both, &[], &ALL);
    check_with(&repo, &top.join(".git"), &[], &[], &[RANGE, STAGED]);
    std::os::unix::fs::symlink(&top, root.join("link")).unwrap();
    check_with(&repo, &root.join("link/src"), &[], &[], &ALL);
    // The git directory somewhere else, and a work tree that the configuration names.
    let away = root.join("away.git");
    repo.git(["init", "-q", "--separate-git-dir", &away.display().to_string()]);
    check_with(&repo, &top, &[], &[], &ALL);
    repo.git(["config", "core.worktree", &text]);
    check_with(&repo, &away, &[], &[], &[RANGE, STAGED]);
}

#[test]
fn git_finds_the_command_wherever_it_runs() {
    let repo = three_and_edits(TempRepo::new());
    let folder = Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    for (place, words) in [
        ("repo", &["invdiff"][..]),
        ("repo/src", &["invdiff"]),
        (".", &["-C", "repo/src", "invdiff"]),
        (".", &["--git-dir=repo/.git", "--work-tree=repo", "invdiff"]),
        ("repo", &["--git-dir=.git", "invdiff"]),
        ("repo", &["-c", "alias.iv=invdiff --porcelain", "iv"]),
    ] {
        let mut command = repo.command_of("git");
        command.env("PATH", &path).current_dir(repo.root().join(place)).args(words).args(["--staged"]);
        if !words.contains(&"iv") {
            command.arg("--porcelain");
        }
        let run = Run::of(&mut command);
        assert_eq!(
            (run.code, run.err.as_str(), run.facts()),
            (Some(0), "", expected(STAGED)),
            "{place} {words:?}"
        );
    }
}

#[test]
fn linked_worktrees_and_submodules_are_repositories_of_their_own() {
    let origin = three(TempRepo::new());
    let linked = origin.linked_worktree("linked", "HEAD");
    let edit = |folder: &Path| {
        std::fs::write(folder.join("src/a.c"), divide("f", 16)).unwrap();
        assert!(
            origin.command_of("git").current_dir(folder).args(["add", "src/a.c"]).status().unwrap().success()
        );
        std::fs::write(folder.join("src/a.c"), divide("f", 32)).unwrap();
        std::fs::write(folder.join("src/new.c"), divide("h", 5)).unwrap();
    };
    edit(&linked);
    check_with(&origin, &linked, &[], &[], &ALL);
    let outer = three_and_edits(TempRepo::new());
    let outer = outer.submodule(&origin, "deps");
    edit(&outer.path().join("deps"));
    check_with(&outer, &outer.path().join("deps/src"), &[], &[], &ALL);
    // For the outer repository a submodule is left alone, and named.
    let run = Run::of(&mut program_in(&outer, outer.path(), &["--staged", "-v"]));
    assert!(run.out.contains("deps") && run.out.contains("submodule"), "{}", run.out);
    let facts = Run::of(&mut program_in(&outer, outer.path(), &["--porcelain", "--staged"])).facts();
    assert!(facts.contains("\tsubmodule\t") && facts.contains("\\\\result == a / 16"), "{facts}");
}

#[test]
fn bare_repositories_have_history_only() {
    let bare = three(TempRepo::new()).bare();
    check_with(&bare, bare.path(), &[], &[], &[RANGE]);
    check_with(&bare, &bare.root(), &[("GIT_DIR", "repo".into())], &[], &[RANGE]);
    check_refused(&bare, DISK, 128, "must be run in a work tree");
    check_refused(&bare, &["HEAD~1"], 128, "must be run in a work tree");
    assert!(invdiff(&bare, &["notes", "add"]).status.success());
}

#[test]
fn whatever_is_in_progress() {
    // A rebase that stopped for an edit: HEAD is detached, and as in the plain history.
    let repo = three(TempRepo::new()).file("lib/b.c", divide("g", 9)).commit("four");
    let status = repo
        .command_of("git")
        .env("GIT_SEQUENCE_EDITOR", "sed -i 1s/^pick/edit/")
        .args(["rebase", "-q", "-i", "HEAD~2"])
        .status();
    assert!(status.unwrap().success() && repo.path().join(".git/rebase-merge").exists());
    check(&edits(repo));
    check(&edits(three(TempRepo::new()).run(["checkout", "-q", "--detach"])));
    check(&edits(
        three(TempRepo::new()).run(["bisect", "start", "HEAD", "HEAD~2"]).run(["checkout", "-q", "main"]),
    ));
    // A merge with conflicts: its index would not be committed.
    let repo = three(TempRepo::new()).run(["checkout", "-q", "-b", "side", "HEAD~2"]);
    let repo = repo.file("src/a.c", divide("f", 7)).commit("side");
    assert!(!repo.git_output(["merge", "main"]).status.success());
    check_refused(&repo, STAGED, 128, "src/a.c");
    check_refused(&repo, &["check", "--staged"], 128, "src/a.c");
    assert_eq!(Run::of(&mut program_in(&repo, repo.path(), &["HEAD~1..HEAD"])).code, Some(0));
}

#[test]
fn a_branch_without_commits() {
    let repo = TempRepo::new();
    check_refused(&repo, DISK, 128, "does not have any commits yet");
    check_refused(&repo, RANGE, 128, "does not have any commits yet");
    check_refused(&repo, &["notes", "add"], 128, "does not have any commits yet");
    check_refused(&repo, &["notes", "show"], 128, "does not have any commits yet");
    assert_eq!(Run::of(&mut program_in(&repo, repo.path(), STAGED)).code, Some(0));
    let repo = repo.file("a.c", divide("f", 2)).stage();
    let run = Run::of(&mut program_in(&repo, repo.path(), STAGED));
    assert!(run.out.contains("1 function added"), "{}", run.out);
    // A file that is only going to be added has no content yet.
    let intended = TempRepo::new().file("a.c", divide("f", 2)).run(["add", "-N", "a.c"]);
    let run = Run::of(&mut program_in(&intended, intended.path(), STAGED));
    assert_eq!(run.out, "no change; nothing undecided\n");
}

#[test]
fn history_that_was_rewritten_locally_is_seen_as_git_sees_it() {
    let shown = |repo: &TempRepo, words: &[&str]| {
        let run = Run::of(&mut program_in(repo, repo.path(), &[&["--json"], words].concat()));
        let value: serde_json::Value =
            serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
        let names =
            value["versions"].as_array().unwrap().iter().map(|v| v["commit"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let both = |repo: &TempRepo| {
        let parents = repo.git(["rev-list", "--reverse", "HEAD~1..HEAD"]);
        assert_eq!(parents, repo.id("HEAD"));
        let (one, three) = (repo.id("HEAD~1"), repo.id("HEAD"));
        assert_eq!(shown(repo, &["HEAD~1..HEAD"]), [one.clone(), three.clone()]);
        assert_eq!(shown(repo, &["HEAD^!"]), [one.clone(), three.clone()]);
        assert_eq!(shown(repo, &["HEAD~1...HEAD"]), [one, three]);
        check_refused(repo, &["HEAD~2..HEAD"], 128, "unknown revision 'HEAD~2'");
        assert!(invdiff(repo, &["notes", "add"]).status.success());
        let note = repo.git(["notes", "--ref=invdiff", "show", "HEAD"]);
        assert!(note.contains(&repo.id("HEAD~1")), "{note}");
    };
    let grafted = three(TempRepo::new()).config("advice.graftFileDeprecated", "false");
    grafted.write(".git/info/grafts", format!("# joined\n{} {}\n", grafted.id("HEAD"), grafted.id("HEAD~2")));
    both(&grafted);
    both(&three(TempRepo::new()).run(["replace", "--graft", "HEAD", "HEAD~2"]));
    check_graft_file();
    let replaced = three(TempRepo::new()).run(["replace", "HEAD:src/a.c", "HEAD~2:src/a.c"]);
    assert_eq!(Run::of(&mut program_in(&replaced, replaced.path(), &["HEAD~1..HEAD"])).code, Some(0));
    let facts =
        Run::of(&mut program_in(&replaced, replaced.path(), &["--porcelain", "HEAD~1..HEAD"])).facts();
    assert!(facts.contains("\\\\result == a / 2"), "{facts}");
}

/// `GIT_GRAFT_FILE` takes the place of `info/grafts`, from wherever one asks; an empty one has no grafts.
fn check_graft_file() {
    let repo = three(TempRepo::new()).config("advice.graftFileDeprecated", "false");
    let (head, own, grafted) = (repo.id("HEAD"), repo.id("HEAD~1"), repo.id("HEAD~2"));
    let line = format!("{head} {grafted}\n");
    repo.write("grafts", &line);
    let first_version = |folder: &str, value: Option<&str>| {
        let folder = repo.path().join(folder);
        let mut command = program_in(&repo, &folder, &["--porcelain", "HEAD~1..HEAD"]);
        let mut git = repo.command_of("git");
        git.current_dir(&folder).args(["rev-parse", "HEAD~1"]);
        for command in [&mut command, &mut git] {
            value.map(|value| command.env("GIT_GRAFT_FILE", value));
        }
        let (run, git) = (Run::of(&mut command), Run::of(&mut git));
        assert_eq!(run.code, Some(0), "{}", run.err);
        let id = run.out.lines().find_map(|l| l.strip_prefix("version\t1\t")).unwrap().split('\t').next();
        assert_eq!(id, Some(git.out.trim()), "{value:?}");
        id.unwrap().to_owned()
    };
    let absolute = repo.path().join("grafts").display().to_string();
    for value in ["grafts", &absolute] {
        assert_eq!(first_version("", Some(value)), grafted);
        assert_eq!(first_version("src", Some(value)), grafted);
        let mut add = program_in(&repo, &repo.path().join("src"), &["notes", "add", "--force"]);
        assert_eq!(Run::of(add.env("GIT_GRAFT_FILE", value)).code, Some(0));
        let note = repo.git(["notes", "--ref=invdiff", "show", "HEAD"]);
        assert!(note.contains(&format!("\"parent\":\"{grafted}\"")), "{note}");
    }
    assert_eq!(first_version("src", None), own);
    repo.write(".git/info/grafts", line);
    assert_eq!(first_version("src", None), grafted);
    for value in ["", "nowhere"] {
        assert_eq!(first_version("", Some(value)), own);
    }
}

#[test]
fn shallow_clones_name_what_they_lack() {
    let origin = three(TempRepo::new());
    let repo = edits(origin.shallow(2));
    check_with(&repo, repo.path(), &[], &[], &[STAGED, DISK]);
    check_refused(&repo, RANGE, 128, "git fetch --deepen=1");
    let cut = "this shallow clone lacks commit";
    check_refused(&repo, &["HEAD~1^!"], 128, cut);
    check_refused(&repo, &["notes", "add", "HEAD~1"], 128, cut);
    check_refused(&repo, &["trailers", "HEAD~1"], 128, cut);
    let blamed = Run::of(&mut program_in(&repo, repo.path(), &["blame", "src/a.c:f"]));
    assert!(!blamed.out.contains("is new"), "{}{}", blamed.out, blamed.err);
}

#[test]
fn partial_clones_are_never_completed_behind_the_users_back() {
    let origin = three(TempRepo::new()).config("uploadpack.allowFilter", "true");
    let commands: [&[&str]; 10] = [
        &["HEAD~1..HEAD"],
        &["--staged"],
        &[],
        &["check", "HEAD~1..HEAD"],
        &["check", "--staged"],
        &["notes", "add"],
        &["trailers", "HEAD"],
        &["blame", "src/a.c:f"],
        &["hook", "run", "pre-commit"],
        &["bisect", "f:exit:\\result==a/2", "HEAD~2..HEAD"],
    ];
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let repo = edits(origin.clone_with(&[filter]));
        for words in commands {
            let before = state(&repo.path().join(".git/objects/pack"));
            let run = Run::of(&mut program_in(&repo, repo.path(), words));
            assert!(matches!(run.code, Some(0 | 128)), "{words:?} {:?} {}", run.code, run.err);
            let after = state(&repo.path().join(".git/objects/pack"));
            assert!(differing(&before, &after).is_empty(), "{filter} {words:?} fetched");
            assert!(!run.out.contains("is new"), "{filter} {words:?} {}", run.out);
            let needs = words.contains(&"HEAD~1..HEAD") || words.contains(&"blame");
            let said = format!("{}{}", run.out, run.err);
            assert!(!needs || said.contains("partial clone"), "{filter} {words:?} {said}");
        }
        check_with(&repo, repo.path(), &[], &[], &[STAGED, DISK]);
        let run = Run::of(&mut program_in(&repo, repo.path(), &["--strict", "HEAD~1..HEAD"]));
        assert!(matches!(run.code, Some(3 | 128)), "{}", run.err);
        // Asked to, it does.
        let repo = repo.config("invdiff.lazyFetch", "true");
        check_with(&repo, repo.path(), &[], &[], &[RANGE]);
    }
}
