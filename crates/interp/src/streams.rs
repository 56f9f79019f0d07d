//! Standard streams of a run.
//!
//! Output is buffered as glibc buffers a pipe or file: 4096 bytes, whole blocks written past the
//! buffer when a piece overflows it, nothing flushed on an abnormal end. Standard input is one byte
//! string; a plan may extend it while the program asks for more. Streams that the program makes itself are
//! in [`super::own`].

use super::generate::{Request, StdinPlan};
use super::own::OwnStream;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

const BUFFER: usize = 4096;

/// What standard input goes on with.
struct Planned<'p> {
    plan: &'p StdinPlan,
    /// It was asked for more.
    is_asked: bool,
}

/// State of stdin, stdout and stderr.
pub(crate) struct Streams<'p> {
    stdin: Cow<'p, [u8]>,
    pub position: usize,
    /// A read has met the end; what `feof` tells.
    pub end_seen: bool,
    pub closed: bool,
    plan: Option<Planned<'p>>,
    pub stdout: Vec<u8>,
    pending: Vec<u8>,
    buffer_ready: bool,
    unbuffered: bool,
    pub stderr: Vec<u8>,
    /// Other streams, by address.
    pub files: BTreeMap<u64, Vec<u8>>,
    /// Streams that the program made itself, by address.
    pub own: BTreeMap<u64, OwnStream>,
    /// Those of them that were closed.
    pub own_closed: BTreeSet<u64>,
    /// One of them could not be made: what is asked of null stands for it, and is undefined.
    pub own_refused: bool,
    /// Bytes of stdin that `ungetc` overwrote with others, to be put back in the end.
    overwritten: Vec<(usize, u8)>,
    /// Bytes that `ungetc` put before the first.
    inserted: usize,
}

impl<'p> Streams<'p> {
    pub fn new(stdin: &'p [u8], plan: Option<&'p StdinPlan>) -> Streams<'p> {
        Streams {
            stdin: Cow::Borrowed(stdin),
            position: 0,
            end_seen: false,
            closed: plan.is_none(),
            plan: plan.map(|plan| Planned { plan, is_asked: false }),
            stdout: Vec::new(),
            pending: Vec::new(),
            buffer_ready: false,
            unbuffered: false,
            stderr: Vec::new(),
            files: BTreeMap::new(),
            own: BTreeMap::new(),
            own_closed: BTreeSet::new(),
            own_refused: false,
            overwritten: Vec::new(),
            inserted: 0,
        }
    }

    /// Returns the bytes of standard input that have not been read.
    pub fn unread(&self) -> &[u8] {
        self.stdin.get(self.position..).unwrap_or(&[])
    }

    /// Whether the plan was asked for more input.
    pub fn is_planned(&self) -> bool {
        self.plan.as_ref().is_some_and(|planned| planned.is_asked)
    }

    /// Asks the plan for more input if what is left cannot serve the request.
    pub fn prepare(&mut self, request: &Request) {
        while !self.closed && request.is_starved(self.unread()) {
            let Some(planned) = &mut self.plan else { return };
            planned.is_asked = true;
            match planned.plan.extend(self.stdin.len(), request) {
                Some(text) => self.stdin.to_mut().extend_from_slice(&text),
                None => self.closed = true,
            }
            // A format may ask for more than input ever gives.
            if !matches!(request, Request::Bytes(_)) {
                break;
            }
        }
    }

    /// Asks the plan for more input after a conversion that went to the end of what there is. Returns
    /// whether there is more.
    pub fn goes_on(&mut self) -> bool {
        let before = self.stdin.len();
        self.prepare(&Request::Bytes(self.unread().len() as u64 + 1));
        self.stdin.len() > before
    }

    /// Reads one byte; `None` at the end.
    pub fn get(&mut self) -> Option<u8> {
        self.prepare(&Request::Char);
        let byte = self.unread().first().copied();
        match byte {
            Some(_) => self.position += 1,
            None => self.end_seen = true,
        }
        byte
    }

    /// Pushes a byte back.
    pub fn unget(&mut self, byte: u8) {
        self.end_seen = false;
        if let Some(before) = self.position.checked_sub(1) {
            if self.stdin.get(before) != Some(&byte)
                && let Some(place) = self.stdin.to_mut().get_mut(before)
            {
                self.overwritten.push((before, *place));
                *place = byte;
            }
            self.position = before;
        } else {
            self.stdin.to_mut().insert(0, byte);
            self.overwritten.iter_mut().for_each(|(at, _)| *at += 1);
            self.inserted += 1;
        }
    }

    /// Returns standard input as it was before `ungetc` changed it.
    pub fn into_stdin(self) -> Vec<u8> {
        let mut bytes = self.stdin.into_owned();
        for (at, byte) in self.overwritten.into_iter().rev() {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        bytes.drain(..self.inserted.min(bytes.len()));
        bytes
    }

    /// Writes to stdout through the buffer.
    pub fn put(&mut self, bytes: &[u8]) {
        if self.unbuffered {
            self.stdout.extend_from_slice(bytes);
            return;
        }
        let room = if self.buffer_ready { BUFFER.saturating_sub(self.pending.len()) } else { 0 };
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.pending.extend_from_slice(first);
        if rest.is_empty() {
            return;
        }
        self.buffer_ready = true;
        self.flush();
        let (blocks, tail) = rest.split_at(rest.len() - rest.len() % BUFFER);
        self.stdout.extend_from_slice(blocks);
        self.pending.extend_from_slice(tail);
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) {
        self.stdout.append(&mut self.pending);
    }

    /// Stops buffering (`setbuf(stdout, NULL)`).
    pub fn unbuffer(&mut self) {
        self.flush();
        self.unbuffered = true;
    }

    pub fn take_pending(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    pub fn output_len(&self) -> usize {
        let files: usize = self.files.values().map(Vec::len).sum();
        let own: usize = self.own.values().map(OwnStream::file_len).sum();
        self.stdout.len() + self.pending.len() + self.stderr.len() + files + own
    }
}
