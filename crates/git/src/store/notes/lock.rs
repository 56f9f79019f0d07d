//! Lock files of git that keep notes from being written.
//!
//! Git makes `<file>.lock` before it changes a file of the repository, and takes it away when it is done; a
//! git that was killed leaves it behind. Nobody can tell a lock that is in use from one that was left, so
//! we wait for a while, and then say which file it is. It is never ours to remove.
//!
//! `packed-refs.lock` is not one of them: a ref that moves is written to a file of its own.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use super::{ATTEMPTS, GitError, Notes, NotesError, pause};

/// How long a lock is waited for while nothing moves. Git itself waits a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often git may speak of a lock that is not there: somebody else took it away meanwhile.
const GHOSTS: u32 = 8;

/// What came of an attempt to move the notes ref.
#[derive(Debug)]
pub(super) enum Attempt {
    Done,
    /// Another writer was faster.
    Overtaken,
    /// Git could not lock what it had to change.
    Locked(GitError),
}

impl Attempt {
    /// What an error of git means, if the ref is where it was before.
    pub fn refused(error: GitError) -> Result<Attempt, NotesError> {
        // Of reftables git names no file, so `.lock` is too much to ask for.
        let is_lock = matches!(&error, GitError::Failed { message, .. } if message.contains("lock"));
        if is_lock { Ok(Attempt::Locked(error)) } else { Err(error.into()) }
    }
}

/// Waiting between attempts.
#[derive(Debug, Default)]
pub(super) struct Wait {
    attempts: u32,
    ghosts: u32,
    /// The lock, the tip that the notes had, and since when that is so.
    seen: Option<(PathBuf, Option<String>, Instant)>,
}

impl Wait {
    /// Tells whether an attempt at the notes of `tip` is done. If not, waits before another one, and fails
    /// when the same lock was in the way for too long or too many attempts were overtaken.
    pub fn is_over(
        &mut self,
        attempt: Attempt,
        tip: Option<&str>,
        notes: &Notes<'_>,
    ) -> Result<bool, NotesError> {
        let error = match attempt {
            Attempt::Done => return Ok(true),
            Attempt::Overtaken => None,
            Attempt::Locked(error) => Some(error),
        };
        pause(self.attempts);
        self.attempts += 1;
        let lock = notes.locks()?.into_iter().next();
        match (lock, error) {
            (Some(lock), _) => self.meet(lock, tip)?,
            (None, Some(error)) if self.ghosts >= GHOSTS => return Err(error.into()),
            (None, error) => {
                self.ghosts += u32::from(error.is_some());
                self.seen = None;
            }
        }
        if self.attempts < ATTEMPTS { Ok(false) } else { Err(NotesError::Contended(notes.name.clone())) }
    }

    /// Fails if the lock was there for too long while nothing moved.
    fn meet(&mut self, lock: PathBuf, tip: Option<&str>) -> Result<(), NotesError> {
        let begin = match self.seen.take() {
            Some((seen, at, since)) if seen == lock && at.as_deref() == tip => since,
            _ => Instant::now(),
        };
        if begin.elapsed() > PATIENCE || self.attempts >= ATTEMPTS {
            return Err(NotesError::Locked(lock));
        }
        self.seen = Some((lock, tip.map(str::to_owned), begin));
        Ok(())
    }
}

impl Notes<'_> {
    /// The locks that are there now and stand for the notes: of their ref, and of all reftables.
    fn locks(&self) -> Result<Vec<PathBuf>, NotesError> {
        let common = self.git.common_dir()?;
        let all = [common.join(format!("{}.lock", self.name)), common.join("reftable/tables.list.lock")];
        Ok(all.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect())
    }

    /// A lock that has been there longer than a writer waits for it, and for how long.
    pub fn old_lock(&self) -> Result<Option<(PathBuf, Duration)>, NotesError> {
        let age = |path: PathBuf| {
            let made = path.symlink_metadata().and_then(|data| data.modified()).ok()?;
            let age = SystemTime::now().duration_since(made).ok()?;
            (age > PATIENCE).then_some((path, age))
        };
        Ok(self.locks()?.into_iter().find_map(age))
    }
}
