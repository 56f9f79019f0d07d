//! The two hooks on the commit message: `prepare-commit-msg` previews, `commit-msg` writes.
//!
//! Trailers are written last, into the message the person has finished: written earlier they would turn
//! a message that was left empty on purpose into one that is not.
//!
//! Git does not tell `commit-msg` that a commit is being amended, and then HEAD is not the parent. Where
//! the message comes from HEAD, git tells `prepare-commit-msg`, which runs before on every commit and
//! leaves a marker. Where it comes from the command line (`--amend -m`), what is left is the author date
//! that git exports, which is that of HEAD; see [`seems_to_amend`].

use std::path::{Path, PathBuf};

use super::{ComparedTree, Hook, HookError, analysed, head, read, say, write};
use crate::report::trailer;
use crate::store::Git;
use crate::store::trailers::{Style, Trailer};

/// File in the git directory that holds the id of the commit that is being amended.
const AMEND_MARKER: &str = "invdiff-amending";

/// `prepare-commit-msg <file> [<source> [<object>]]`: shows the trailers as comments, for a message that is
/// written in an editor from nothing or from a template.
pub(super) fn prepare(
    hook: &mut Hook<'_>,
    file: Option<&Path>,
    source: Option<&str>,
    object: Option<&str>,
) -> Result<(), HookError> {
    let path = message_file(hook.git, file)?;
    let amended = mark_amend(hook.git, source, object)?;
    if melding(hook.git)? {
        // A rebase that melds commits joins their messages and does not run commit-msg. No trailers are
        // better than those of the parts.
        let message = read(&path)?;
        let stripped = Style::read(hook.git, &message)?.replace(&message, &trailer::KEYS, &[]);
        return if stripped == message { Ok(()) } else { write(&path, &stripped) };
    }
    if hook.git.own_dir()?.join("rebase-merge/stopped-sha").exists() && renew(hook, &path, amended)? {
        return Ok(());
    }
    if amended || !matches!(source, None | Some("" | "template")) || !comments_are_cut(hook.git)? {
        return Ok(());
    }
    let message = read(&path)?;
    let style = Style::read(hook.git, &message)?;
    let trailers = trailers(hook, head(hook.git)?)?;
    let previewed = preview(&message, &style.comment, &trailers);
    if previewed != message {
        write(&path, &previewed)?;
    }
    Ok(())
}

/// Puts new trailers in the place of those that the message has, if it has any; tells whether it had. A rebase
/// that had stopped, for a conflict or to edit, goes on with the message that the commit had and with other
/// content, and does not run commit-msg.
fn renew(hook: &mut Hook<'_>, path: &Path, amended: bool) -> Result<bool, HookError> {
    let message = read(path)?;
    let style = Style::read(hook.git, &message)?;
    let stripped = style.replace(&message, &trailer::KEYS, &[]);
    if stripped == message {
        return Ok(false);
    }
    let amended = amended || seems_to_amend(hook.git)?;
    let base = if amended { parent_of_head(hook.git)? } else { head(hook.git)? };
    match trailers(hook, base) {
        Ok(trailers) => write(path, &style.replace(&message, &trailer::KEYS, &trailers))?,
        Err(error) => {
            write(path, &stripped)?;
            return Err(error);
        }
    }
    Ok(true)
}

/// `commit-msg <file>`: puts the trailers into the message. Leaves alone what is empty, what a later
/// `--autosquash` will take apart, merges and reverts.
pub(super) fn finish(hook: &mut Hook<'_>, file: Option<&Path>) -> Result<(), HookError> {
    let path = message_file(hook.git, file)?;
    let message = read(&path)?;
    let style = Style::read(hook.git, &message)?;
    let Some(subject) = style.subject(&message) else { return Ok(()) };
    let passing: [&[u8]; 4] = [b"fixup! ", b"squash! ", b"amend! ", b"Revert \""];
    let state = |name: &str| hook.git.own_dir().map(|folder| folder.join(name).exists());
    if passing.iter().any(|prefix| subject.starts_with(prefix))
        || state("MERGE_HEAD")?
        || state("REVERT_HEAD")?
    {
        return Ok(());
    }
    let base = if amending(hook.git)? { parent_of_head(hook.git)? } else { head(hook.git)? };
    let trailers = trailers(hook, base)?;
    let replaced = style.replace(&message, &trailer::KEYS, &trailers);
    if replaced != message {
        write(&path, &replaced)?;
    }
    Ok(())
}

fn trailers(hook: &mut Hook<'_>, base: ComparedTree) -> Result<Vec<Trailer>, HookError> {
    let report = analysed(hook, base)?;
    if !report.notices.is_empty() && report.functions.is_empty() {
        say(
            hook,
            "warning: invdiff: nothing could be analysed; see 'git invdiff HEAD^!' when the commit is made",
        );
    }
    Ok(trailer::compose(&report, hook.settings.max_trailers))
}

/// The message file; git names it relative to the directory that the hook runs in.
fn message_file(git: &Git, file: Option<&Path>) -> Result<PathBuf, HookError> {
    let file = file.ok_or(HookError::NoMessageFile)?;
    Ok(git.dir().map_or_else(|| file.to_path_buf(), |dir| dir.join(file)))
}

/// Remembers whether HEAD is being amended: its message is the source.
fn mark_amend(git: &Git, source: Option<&str>, object: Option<&str>) -> Result<bool, HookError> {
    let marker = git.own_dir()?.join(AMEND_MARKER);
    let head = git.object("HEAD^{commit}")?;
    let source_object = match (source, object) {
        (Some("commit"), Some(object)) => git.object(&format!("{object}^{{commit}}"))?,
        _ => None,
    };
    match head.filter(|head| source_object.as_ref() == Some(head)) {
        Some(head) => write(&marker, head.as_bytes()).map(|()| true),
        None => {
            let _ = std::fs::remove_file(&marker);
            Ok(false)
        }
    }
}

/// Tells whether a rebase is melding commits into one.
fn melding(git: &Git) -> Result<bool, HookError> {
    Ok(git.own_dir()?.join("rebase-merge/message-squash").exists())
}

/// Tells whether HEAD is being amended: by the marker, or as far as it seems.
fn amending(git: &Git) -> Result<bool, HookError> {
    let marker = git.own_dir()?.join(AMEND_MARKER);
    let marked = std::fs::read_to_string(&marker).ok();
    let _ = std::fs::remove_file(&marker);
    let head = git.object("HEAD^{commit}")?;
    if head.is_none() || marked == head {
        return Ok(head.is_some());
    }
    seems_to_amend(git)
}

/// Tells whether HEAD is being amended by the author date that git exports to hooks and that only an amend
/// takes from HEAD. A commit made within the same second as HEAD has that date too, so the command line of
/// `git commit` is asked as well, where the system shows it.
fn seems_to_amend(git: &Git) -> Result<bool, HookError> {
    let Ok(date) = std::env::var("GIT_AUTHOR_DATE") else { return Ok(false) };
    let of_head = git.line(&["log", "-1", "--no-show-signature", "--date=raw", "--format=@%ad", "HEAD"])?;
    Ok(date == of_head && commit_says_amend() != Some(false))
}

/// Returns whether the nearest `git commit` above this process was given `--amend`; `None` when there is
/// none to be seen (another system, an alias).
fn commit_says_amend() -> Option<bool> {
    let mut process = "self".to_string();
    for _ in 0..16 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        process = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().to_string();
        let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
        let is_git = words.first().is_some_and(|program| program.ends_with(b"git"));
        if let (true, Some(at)) = (is_git, words.iter().position(|word| word == b"commit")) {
            let options = words.get(at..).unwrap_or_default().iter().take_while(|word| **word != b"--");
            // Git takes any unambiguous beginning of an option.
            return Some(options.into_iter().any(|word| word.starts_with(b"--am")));
        }
    }
    None
}

fn parent_of_head(git: &Git) -> Result<ComparedTree, HookError> {
    Ok(git.object("HEAD^1^{commit}")?.map_or(ComparedTree::Nothing, ComparedTree::Commit))
}

/// Comment lines may only be added where git takes them out again.
fn comments_are_cut(git: &Git) -> Result<bool, HookError> {
    let no_editor = std::env::var_os("GIT_EDITOR").is_some_and(|editor| editor == ":");
    let cleanup = git.config("commit.cleanup")?;
    Ok(!no_editor && !matches!(cleanup.as_deref(), Some("verbatim" | "whitespace")))
}

/// Returns the message with the trailers as comments: below the scissors if there are any (above them
/// comments may be kept), else at the end; only if git has put comments there too.
fn preview(message: &[u8], comment: &[u8], trailers: &[Trailer]) -> Vec<u8> {
    let lines: Vec<&[u8]> = message.split_inclusive(|&byte| byte == b'\n').collect();
    let is_comment = |line: &[u8]| line.starts_with(comment);
    if trailers.is_empty() || !lines.iter().any(|line| is_comment(line)) {
        return message.to_vec();
    }
    let scissors = lines.iter().position(|line| is_comment(line) && line.windows(4).any(|w| w == b" >8 "));
    let at = match scissors {
        Some(at) => {
            at + lines.get(at..).unwrap_or_default().iter().take_while(|line| is_comment(line)).count()
        }
        None => lines.len(),
    };
    let (above, below) = lines.split_at(at);
    let mut result = above.concat();
    if !result.ends_with(b"\n") {
        result.push(b'\n');
    }
    let mut comment_line = |text: &str| {
        result.extend_from_slice(comment);
        if !text.is_empty() {
            result.push(b' ');
        }
        result.extend_from_slice(text.as_bytes());
        result.push(b'\n');
    };
    comment_line("");
    comment_line("Invariants; these lines will be added to the message:");
    trailers.iter().for_each(|t| comment_line(&format!("  {}: {}", t.key, t.value)));
    comment_line("");
    result.extend(below.concat());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: &str) {
        let trailers = [Trailer { key: "Invariant-Kept", value: "3".into() }];
        let result = preview(message.as_bytes(), b"#", &trailers);
        let shown = "#\n# Invariants; these lines will be added to the message:\n#   Invariant-Kept: 3\n#\n";
        assert_eq!(String::from_utf8_lossy(&result), expected.replace("<>", shown));
    }

    #[test]
    fn a_preview_is_comments_where_git_cuts_them() {
        check("\n# Please enter\n#\n", "\n# Please enter\n#\n<>");
        check("# kept\n# --- >8 ---\n# Do not\ndiff\n+x\n", "# kept\n# --- >8 ---\n# Do not\n<>diff\n+x\n");
        check("written\n", "written\n");
        check("", "");
    }
}
