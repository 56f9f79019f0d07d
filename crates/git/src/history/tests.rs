//! Versions of real temporary repositories, compared with what git says.

use super::*;
use crate::testing::TempRepo;
use std::path::Path;

mod changes;

fn open_at(repo: &TempRepo, directory: &Path) -> Result<Repository> {
    let ceilings = vec![repo.root()];
    Repository::open(&OpenOptions { ceilings, variables: repo.environment(), ..OpenOptions::at(directory) })
}

fn open(repo: &TempRepo) -> Repository {
    open_at(repo, repo.path()).expect("a repository")
}

fn request(words: &str) -> RangeRequest {
    let (flags, revisions): (Vec<&str>, Vec<&str>) =
        words.split_whitespace().partition(|w| w.starts_with("--"));
    RangeRequest {
        revisions: revisions.into_iter().map(str::to_owned).collect(),
        staged: flags.contains(&"--staged"),
        endpoints: flags.contains(&"--endpoints"),
    }
}

/// Checks the names of a request's versions, and that git resolves each to the same commit.
#[track_caller]
fn check(repo: &TempRepo, words: &str, expected: &str) {
    let range = open(repo).range(&request(words)).expect("a range");
    let names: Vec<&str> = range.versions.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names.join(" "), expected);
    for (version, index) in range.versions.iter().zip(1..) {
        assert_eq!(version.index, index);
        if let Some(commit) = version.commit() {
            assert_eq!(commit, repo.id(&version.name));
        }
    }
}

/// Checks the message of the error that a request gives.
#[track_caller]
fn check_error(repo: &TempRepo, words: &str, expected: &str) -> Error {
    let error = open(repo).range(&request(words)).expect_err("an error");
    assert_eq!(error.to_string(), expected);
    error
}

fn four_commits() -> TempRepo {
    TempRepo::new()
        .file("a.c", "1\n")
        .commit("one")
        .file("a.c", "2\n")
        .commit("two")
        .file("a.c", "3\n")
        .commit("three")
        .file("a.c", "4\n")
        .commit("four")
}

/// `main` with a merge of `side`, and one commit before and after it.
fn merged() -> TempRepo {
    let repo = TempRepo::new().file("a.c", "1\n").commit("base").run(["tag", "base"]).run(["branch", "side"]);
    let repo = repo.file("b.c", "1\n").commit("main 1").run(["checkout", "-q", "side"]);
    let repo = repo.file("c.c", "1\n").commit("side 1").file("c.c", "2\n").commit("side 2");
    let repo = repo.run(["checkout", "-q", "main"]).merge(&["side"], "merge");
    repo.file("a.c", "2\n").commit("main 2")
}

#[test]
fn ranges_are_the_first_parent_way() {
    let repo = four_commits();
    check(&repo, "HEAD~2..HEAD", "HEAD~2 HEAD~1 HEAD");
    check(&repo, "HEAD~2..", "HEAD~2 HEAD~1 HEAD");
    check(&repo, "^HEAD~2 HEAD", "HEAD~2 HEAD~1 HEAD");
    check(&repo, "HEAD~3..HEAD~1", "HEAD~3 HEAD~2 HEAD~1");
    check(&repo, "--endpoints HEAD~3..main", "HEAD~3 main");
    check(&repo, "HEAD~3 HEAD HEAD~1", "HEAD~3 HEAD HEAD~1");
    check(&repo, "HEAD..HEAD", "HEAD");
    check(&repo, "HEAD..HEAD~2", "HEAD HEAD~2");
    check(&repo, "HEAD^!", "HEAD~1 HEAD");
    check(&repo, "HEAD^{/two}..HEAD@{0}", "HEAD^{/two} HEAD@{0}~1 HEAD@{0}");
    check(&repo, "HEAD~2...HEAD~1", "HEAD~2 HEAD~1");
    check(&repo, "HEAD~3^!", "EMPTY HEAD~3");
    check(&repo, "4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD", "EMPTY HEAD");
}

#[test]
fn merges_count_as_one_change() {
    let repo = merged();
    check(&repo, "base..HEAD", "base HEAD~2 HEAD~1 HEAD");
    check(&repo, "side...HEAD", "side HEAD~2 HEAD~1 HEAD");
    let range = open(&repo).range(&request("side..HEAD")).expect("a range");
    let summaries: Vec<&str> = range.versions.iter().map(|v| v.summary.as_str()).collect();
    assert_eq!(summaries, ["side 2", "main 1", "merge", "main 2"]);
    assert_eq!(range.warnings.len(), 1);
    check(&repo, "HEAD~1^!", "HEAD~2 HEAD~1");
}

#[test]
fn versions_carry_times_and_files() {
    let repo = four_commits().file("dir/b.h", "x\n").link("l.c", "a.c").commit("five");
    let range = open(&repo).range(&request("HEAD~1..HEAD")).expect("a range");
    let [old, new] = &range.versions[..] else { panic!("two versions") };
    assert_eq!(old.time.as_deref(), Some("2024-01-01T00:03:00Z"));
    assert_eq!(new.tree.paths().to_vec(), [Path::new("a.c"), Path::new("dir/b.h")]);
    assert_eq!(new.tree.read(Path::new("dir/b.h")).as_deref(), Some(&b"x\n"[..]));
    assert_eq!(new.tree.content_id(Path::new("a.c")), Some(repo.id("HEAD:a.c")));
    for missing in ["dir", "l.c", "none.c", "dir/none.h", "a.c/x"] {
        assert!(new.tree.read(Path::new(missing)).is_none(), "{missing}");
    }
}

#[test]
fn the_index_and_the_working_tree_are_versions() {
    let repo = four_commits().file("staged.c", "s\n").stage().file("a.c", "unstaged\n");
    let repo = repo.file("new.c", "n\n").file("built.o", "o\n").file(".gitignore", "*.o\n");
    check(&repo, "--staged", "HEAD INDEX");
    check(&repo, "", "HEAD WORKTREE");
    check(&repo, "HEAD~2", "HEAD~2 WORKTREE");
    let before = repo.git(["status", "--porcelain"]);
    let opened = open(&repo);
    let index = opened.range(&request("--staged")).expect("a range").versions.remove(1).tree;
    assert_eq!(index.paths().to_vec(), [Path::new("a.c"), Path::new("staged.c")]);
    assert_eq!(index.read(Path::new("a.c")).as_deref(), Some(&b"4\n"[..]));
    let disk = opened.range(&request("")).expect("a range").versions.remove(1).tree;
    assert_eq!(disk.paths().to_vec(), [".gitignore", "a.c", "new.c", "staged.c"].map(Path::new));
    assert_eq!(disk.read(Path::new("a.c")).as_deref(), Some(&b"unstaged\n"[..]));
    assert_eq!(disk.content_id(Path::new("new.c")), Some(repo.git(["hash-object", "new.c"])));
    assert_eq!(repo.git(["status", "--porcelain"]), before);
}

#[test]
fn an_unborn_branch_is_compared_with_nothing_when_staged() {
    let repo = TempRepo::new().file("a.c", "1\n").stage();
    check(&repo, "--staged", "EMPTY INDEX");
    let error = check_error(&repo, "", "your current branch 'main' does not have any commits yet");
    assert!(error.hint().is_some_and(|h| h.contains("--staged")));
    check_error(&repo, "HEAD~1..HEAD", "your current branch 'main' does not have any commits yet");
}

#[test]
fn unknown_revisions_are_named() {
    let repo = four_commits();
    check_error(&repo, "nosuch..HEAD", "unknown revision 'nosuch'");
    check_error(&repo, "HEAD~9", "unknown revision 'HEAD~9'");
    check_error(&repo, "HEAD:a.c", "'HEAD:a.c' names a blob, not a commit");
    check_error(&repo, "HEAD^{tree}", "'HEAD^{tree}' names a tree, not a commit");
    check_error(&repo, "a..b..c", "'a..b..c' is not a range or revision that git invdiff understands");
    check_error(
        &repo,
        "--staged HEAD~1..HEAD",
        "'HEAD~1..HEAD' is not a range or revision that git invdiff understands",
    );
}

#[test]
fn a_short_id_means_the_commit() {
    let repo = four_commits();
    let short = repo.id("HEAD")[..4].to_owned();
    let same = |n: &u32| {
        let id = Oid::hash_object_ext(git2::ObjectType::Blob, n.to_string().as_bytes(), ObjectFormat::Sha1);
        id.is_ok_and(|id| id.to_string().starts_with(&short))
    };
    let mut numbers = (0..2_000_000u32).filter(same);
    let write = |n: u32| {
        repo.write("n", n.to_string());
        repo.git(["hash-object", "-w", "n"]);
    };
    write(numbers.next().expect("a collision of four digits"));
    let range = open(&repo).range(&request(&format!("{short}~1..{short}"))).expect("a range");
    assert_eq!(range.versions[1].commit(), Some(repo.id("HEAD")));
    // A blob is named well, but it is no commit.
    let blob = repo.git(["hash-object", "n"]);
    assert!(open(&repo).range(&request(&format!("{blob}..HEAD"))).is_err());
}

#[test]
fn a_shallow_clone_names_what_it_lacks() {
    let origin = four_commits();
    let repo = origin.shallow(2);
    check(&repo, "HEAD~1..HEAD", "HEAD~1 HEAD");
    let missing = origin.id("HEAD~2");
    let message = format!("this shallow clone lacks commit {missing}, which 'HEAD~3' needs");
    let error = check_error(&repo, "HEAD~3..HEAD", &message);
    assert_eq!(error.hint().as_deref(), Some("get the missing history: git fetch --deepen=2"));
    let message = format!("this shallow clone lacks commit {missing}, which '{missing}' needs");
    check_error(&repo, &format!("{missing}..HEAD"), &message);
    assert!(matches!(open(&repo).change_of("HEAD~1"), Err(Error::Shallow { .. })));
    assert!(open(&repo).change_of("HEAD").is_ok());
}

#[test]
fn repositories_open_as_git_opens_them() {
    let repo = four_commits().file("sub/b.c", "b\n").commit("five");
    let inside = open_at(&repo, &repo.path().join("sub")).expect("from a folder inside");
    assert_eq!(inside.prefix(), Path::new("sub"));
    assert_eq!(inside.work_dir(), Some(repo.path()));
    let error = open_at(&repo, &repo.root()).err().expect("an error");
    assert!(matches!(error, Error::NotARepository(_)), "{error}");

    let bare = repo.bare();
    check(&bare, "HEAD~1..HEAD", "HEAD~1 HEAD");
    assert!(matches!(open(&bare).range(&request("")), Err(Error::NoWorkTree(_))));

    let linked = repo.linked_worktree("linked", "HEAD~1");
    std::fs::write(linked.join("a.c"), "5\n").expect("written");
    let linked = open_at(&repo, &linked).expect("a linked worktree");
    assert_eq!(linked.head().expect("a head").map(|h| h.to_string()), Some(repo.id("HEAD~1")));
    assert_eq!(linked.common_dir(), repo.path().join(".git"));
    let versions = linked.range(&request("")).expect("a range").versions;
    assert_eq!(versions[1].tree.read(Path::new("a.c")).as_deref(), Some(&b"5\n"[..]));

    let variables = |name: &str| match name {
        "GIT_DIR" => Some(repo.path().join(".git").into_os_string()),
        "GIT_WORK_TREE" => Some(repo.path().into()),
        "GIT_INDEX_FILE" => Some(".git/other".into()),
        _ => None,
    };
    repo.command_of("git")
        .args(["read-tree", "HEAD~4"])
        .env("GIT_INDEX_FILE", ".git/other")
        .status()
        .expect("git");
    let named =
        Repository::open(&OpenOptions::from_environment(repo.root(), variables)).expect("a repository");
    let index = named.range(&request("--staged")).expect("a range").versions.remove(1).tree;
    assert_eq!(index.read(Path::new("a.c")).as_deref(), Some(&b"1\n"[..]));
    assert_eq!(index.paths().len(), 1);
}

#[test]
fn repositories_of_others_are_refused() {
    let repo = four_commits();
    let given = repo.command_of("chown").args(["-R", "12345", "."]).status();
    if !given.is_ok_and(|s| s.success()) {
        println!("skipped: only the superuser can give files away");
        return;
    }
    let error = open_at(&repo, repo.path()).err().expect("an error");
    assert!(matches!(&error, Error::DubiousOwnership(path) if path == repo.path()), "{error}");
    assert!(error.hint().is_some_and(|h| h.contains("safe.directory")));
    let top = repo.path().display().to_string();
    repo.git(["config", "--global", "--add", "safe.directory", &top]);
    check(&repo, "HEAD~1..HEAD", "HEAD~1 HEAD");
}

#[test]
fn replaced_objects_are_read_as_git_reads_them() {
    let repo = four_commits();
    let repo = repo.run(["replace", "HEAD:a.c", "HEAD~3:a.c"]);
    let range = open(&repo).range(&request("HEAD~1..HEAD")).expect("a range");
    assert_eq!(range.versions[1].tree.read(Path::new("a.c")).as_deref(), Some(&b"1\n"[..]));
}

#[test]
fn long_ranges_are_walked_once() {
    let repo = TempRepo::new().file("a.c", "1\n").commit("base");
    let mut stream = String::new();
    for n in 0..2000 {
        let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
        stream += &format!("commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nx{from}\n");
    }
    repo.write("stream", stream);
    let file = std::fs::File::open(repo.path().join("stream")).expect("a file");
    let status =
        repo.command_of("git").args(["fast-import", "--quiet"]).stdin(file).status().expect("git runs");
    assert!(status.success());
    let range = open(&repo).range(&request("main~1999..main")).expect("a range");
    assert_eq!(range.versions.len(), 2000);
    assert_eq!(range.versions[1].name, "main~1998");
}

#[test]
fn what_libgit2_cannot_read_is_asked_of_git() {
    let history = |repo: TempRepo| repo.file("a.c", "1\n").commit("one").file("d/a.c", "2\n").commit("two");
    let sha256 = history(TempRepo::sha256());
    assert!(open(&sha256).libgit().is_some());
    let mut repos = vec![sha256];
    repos.extend(TempRepo::reftable().map(history));
    repos.push(history(TempRepo::new()).run(["update-index", "--split-index"]));
    let origin = history(TempRepo::new()).config("uploadpack.allowFilter", "true");
    repos.push(origin.clone_with(&["--filter=blob:none"]));
    for repo in repos {
        check(&repo, "HEAD~1..HEAD", "HEAD~1 HEAD");
        check_error(&repo, "nosuch", "unknown revision 'nosuch'");
        let repo = repo.file("n.c", "new\n").file("a.c", "changed\n");
        let versions = open(&repo).range(&request("")).expect("a range").versions;
        assert_eq!(versions[1].tree.paths().to_vec(), ["a.c", "d/a.c", "n.c"].map(Path::new));
        assert_eq!(versions[1].tree.read(Path::new("a.c")).as_deref(), Some(&b"changed\n"[..]));
        let index = open(&repo).range(&request("--staged")).expect("a range").versions.remove(1).tree;
        assert_eq!(index.paths().to_vec(), ["a.c", "d/a.c"].map(Path::new));
    }
}

#[test]
fn a_partial_clone_is_never_completed_behind_the_users_back() {
    let origin = four_commits().config("uploadpack.allowFilter", "true");
    let repo = origin.clone_with(&["--filter=blob:none", "--no-checkout"]);
    let opened = open(&repo);
    let version = opened.range(&request("HEAD~1..HEAD")).expect("a range").versions.remove(0);
    assert!(version.tree.read(Path::new("a.c")).is_none());
    let missing = opened.objects().unreadable();
    assert_eq!(missing.len(), 1);
    assert_eq!(
        missing[0].1,
        format!("object {} is missing from this partial clone", origin.id("HEAD~1:a.c"))
    );
}

#[test]
fn missing_and_damaged_objects_are_told_apart() {
    let repo = four_commits();
    let file = |revision: &str| {
        let id = repo.id(revision);
        repo.path().join(".git/objects").join(&id[..2]).join(&id[2..])
    };
    std::fs::remove_file(file("HEAD:a.c")).expect("removed");
    let damaged = file("HEAD~1:a.c");
    std::fs::remove_file(&damaged).expect("removed");
    std::fs::write(&damaged, "nonsense").expect("written");
    let opened = open(&repo);
    let read = |revision: &str| {
        let id = Oid::from_str_ext(&repo.id(revision), opened.format()).expect("an id");
        opened.objects().blob(id).expect_err("an error")
    };
    assert!(matches!(read("HEAD:a.c"), Error::MissingObject(_)));
    assert!(matches!(read("HEAD~1:a.c"), Error::Corrupt { .. }));
    assert!(
        opened.range(&request("HEAD~1..HEAD")).expect("a range").versions[1]
            .tree
            .read(Path::new("a.c"))
            .is_none()
    );
}

#[test]
fn the_index_leaves_out_what_would_not_be_committed() {
    let library = four_commits();
    let repo = four_commits().submodule(&library, "lib").commit("sub").file("later.c", "x\n");
    let repo = repo.run(["add", "-N", "later.c"]).file("empty.c", "").run(["add", "-N", "empty.c"]);
    let tree = |words: &str| open(&repo).range(&request(words)).expect("a range").versions.remove(1).tree;
    assert_eq!(tree("--staged").paths().to_vec(), [".gitmodules", "a.c"].map(Path::new));
    assert_eq!(tree("").paths().to_vec(), [".gitmodules", "a.c", "empty.c", "later.c"].map(Path::new));
}

#[test]
fn unmerged_entries_are_refused() {
    let repo =
        four_commits().run(["checkout", "-q", "-b", "other", "HEAD~1"]).file("a.c", "5\n").commit("five");
    assert!(!repo.git_output(["merge", "main"]).status.success());
    check_error(&repo, "--staged", "'a.c' is unmerged in the index");
}

#[test]
fn line_ends_are_those_that_git_stores() {
    let repo =
        TempRepo::new().file(".gitattributes", "*.c text\n*.txt working-tree-encoding=UTF-16LE text\n");
    let repo = repo.file("a.c", "1\r\n2\r\n").file("raw.h", "1\r\n").commit("one");
    let repo = repo
        .file("a.c", "1\r\n3\r\n")
        .file("new.c", "x\r\n")
        .file("raw.h", "2\r\n")
        .file("u.txt", b"h\0\n\0");
    let tree = open(&repo).range(&request("")).expect("a range").versions.remove(1).tree;
    let objects_before = repo.git(["count-objects"]);
    for (path, bytes) in [("a.c", "1\n3\n"), ("new.c", "x\n"), ("raw.h", "2\r\n"), ("u.txt", "h\n")] {
        assert_eq!(tree.read(Path::new(path)).as_deref(), Some(bytes.as_bytes()), "{path}");
    }
    assert_eq!(repo.git(["count-objects"]), objects_before);
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt;
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"d\xff/a\nb \xc3\xbc.c"));
    let repo = TempRepo::new().file(odd, "1\n").commit("one").file(odd, "2\n");
    for words in ["HEAD HEAD", "--staged", ""] {
        let versions = open(&repo).range(&request(words)).expect("a range").versions;
        assert_eq!(versions[1].tree.paths().to_vec(), [odd]);
        assert!(versions[1].tree.read(odd).is_some());
    }
}
