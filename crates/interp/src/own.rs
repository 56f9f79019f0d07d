//! Streams that the program makes itself and whose content nobody else can see or change: a nameless
//! file (`tmpfile`), memory of the program (`fmemopen`), memory that grows (`open_memstream`).
//!
//! Each is followed as glibc does it: when what was written comes to be in memory, where a zero is put
//! behind it, and what a buffer holds that the program lends. What C leaves undefined (to read what was
//! just written, without going there), what rests on how glibc fills its buffers, and what fails ends the
//! run without an answer.

use super::memory::Memory;
use super::stop::{Run, Stop};

/// What is read or written of memory at once; above it, it matters how large glibc's buffers are.
const WHOLE: u64 = 4096;
/// Size of the memory that a growing stream begins with, and how much of that is used before glibc may
/// look for more.
const FIRST_MEMORY: u64 = 8192;
const USED_MEMORY: u64 = 8000;
/// How far a file may be made.
const LONGEST: u64 = 1 << 20;
/// Bytes that `ungetc` may put before what is read.
const MOST_PUSHED: usize = 64;

/// What was done last: reading and writing do not mix.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Fresh,
    Reading,
    Writing,
}

/// A buffer that the program gave to a stream.
#[derive(Debug)]
enum Lent {
    Nothing,
    /// Holds the bytes that were written last, and beyond them what the program left there.
    Exact {
        address: u64,
        size: u64,
        pending: Vec<u8>,
    },
    /// Holds what nobody knows: its bytes are indeterminate.
    Unknown {
        address: u64,
        size: u64,
    },
}

/// Where a stream leads.
#[derive(Debug)]
enum StreamTarget {
    File { bytes: Vec<u8>, lent: Lent },
    Fixed(Fixed),
    Growing(Growing),
}

/// Memory of a size that does not change.
#[derive(Debug)]
struct Fixed {
    base: u64,
    size: u64,
    /// How much of it is content.
    limit: u64,
    /// The content as a buffer of the library may have it: a program that changes it by itself since then
    /// may find either.
    seen: Option<Vec<u8>>,
    pending: Vec<u8>,
    appends: bool,
    /// The library asked for it, and gives it back.
    is_private: bool,
}

#[derive(Debug)]
struct Growing {
    memory: u64,
    len: u64,
    /// Where the address and the size are stored when the stream is flushed or closed.
    told: [u64; 2],
}

/// One stream.
#[derive(Debug)]
pub(crate) struct OwnStream {
    place: StreamTarget,
    phase: Phase,
    position: u64,
    /// What `ungetc` put before the position; the last one is read first.
    pushed: Vec<u8>,
    /// A read has met the end; what `feof` tells.
    pub end_seen: bool,
    reads: bool,
    writes: bool,
}

fn open<T>(what: &str) -> Run<T> {
    Err(Stop::Unsupported(format!("{what} that is not followed")))
}

impl OwnStream {
    fn new(place: StreamTarget, reads: bool, writes: bool) -> OwnStream {
        let (phase, pushed) = (Phase::Fresh, Vec::new());
        OwnStream { place, phase, position: 0, pushed, end_seen: false, reads, writes }
    }

    /// A file that nobody else sees.
    pub fn file() -> OwnStream {
        OwnStream::new(StreamTarget::File { bytes: Vec::new(), lent: Lent::Nothing }, true, true)
    }

    /// Memory of the program (`fmemopen`), or of the library's own where there is none.
    ///
    /// Errors: where what that means is not followed.
    pub fn fixed(memory: &mut Memory<'_>, address: u64, size: u64, mode: &[u8]) -> Run<OwnStream> {
        // The standard's words only: what glibc makes of others is its own matter.
        let plain: Vec<u8> = mode.iter().copied().filter(|b| *b != b'b').collect();
        let known = [&b"r"[..], b"w", b"a", b"r+", b"w+"].contains(&plain.as_slice());
        if !known || mode.len() > plain.len() + 1 || size == 0 {
            return open("a stream on memory");
        }
        let is_private = address == 0;
        let base = match is_private {
            // What is not written is whatever the allocation found.
            true => {
                memory.allocate_kept(size, false).ok_or_else(|| Stop::Unsupported("memory limit".into()))?
            }
            false => address,
        };
        if is_private || mode.starts_with(b"w+") {
            memory.write(base, &[0])?;
        }
        let limit = match plain.first() {
            Some(b'r') => size,
            Some(b'a') => memory.string(base, size)?.len() as u64,
            _ => 0,
        };
        let appends = plain == b"a";
        let fixed = Fixed { base, size, limit, seen: None, pending: Vec::new(), appends, is_private };
        let updates = plain.contains(&b'+');
        let (reads, writes) = (updates || plain == b"r", updates || plain != b"r");
        let mut made = OwnStream::new(StreamTarget::Fixed(fixed), reads, writes);
        made.position = if appends { limit } else { 0 };
        Ok(made)
    }

    /// Memory that grows (`open_memstream`); its address and size are stored at these places.
    pub fn growing(memory: &mut Memory<'_>, told: [u64; 2]) -> Run<OwnStream> {
        let made = memory.allocate_kept(FIRST_MEMORY, true);
        let address = made.ok_or_else(|| Stop::Unsupported("memory limit".into()))?;
        Ok(OwnStream::new(StreamTarget::Growing(Growing { memory: address, len: 0, told }), false, true))
    }

    /// Bytes of a file, which count as output.
    pub fn file_len(&self) -> usize {
        match &self.place {
            StreamTarget::File { bytes, .. } => bytes.len(),
            StreamTarget::Fixed(_) | StreamTarget::Growing(_) => 0,
        }
    }

    /// Whether flushing all streams is no flushing of this one.
    pub fn is_growing(&self) -> bool {
        matches!(self.place, StreamTarget::Growing(_))
    }

    /// Writes; `alone`: a byte by itself, which goes to a buffer in another way than others.
    pub fn write(&mut self, memory: &mut Memory<'_>, text: &[u8], alone: bool) -> Run<()> {
        if !self.writes || self.phase == Phase::Reading || !self.pushed.is_empty() {
            return open("writing to a stream");
        }
        if text.is_empty() {
            return Ok(());
        }
        self.phase = Phase::Writing;
        memory.add_work(text.len() as u64);
        match &mut self.place {
            StreamTarget::File { bytes, lent } => {
                lent.write(memory, text, alone)?;
                let (at, end) = (self.position as usize, self.position as usize + text.len());
                if end as u64 > LONGEST {
                    return Err(Stop::Fuel);
                }
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                if let Some(part) = bytes.get_mut(at..end) {
                    part.copy_from_slice(text);
                }
                self.position = end as u64;
            }
            StreamTarget::Fixed(f) => {
                f.pending.extend_from_slice(text);
                if f.pending.len() as u64 > WHOLE {
                    return open("a stream on much memory");
                }
            }
            StreamTarget::Growing(g) => {
                let end = g.len + text.len() as u64;
                if end > USED_MEMORY {
                    return open("a stream on much memory");
                }
                memory.write(g.memory + g.len, text)?;
                g.len = end;
            }
        }
        Ok(())
    }

    /// Makes ready to read.
    fn read_on(&mut self, memory: &mut Memory<'_>) -> Run<()> {
        if !self.reads || self.phase == Phase::Writing {
            return open("reading a stream");
        }
        self.phase = Phase::Reading;
        match &mut self.place {
            StreamTarget::File { lent, .. } => lent.forget(memory),
            StreamTarget::Fixed(f) => f.see(memory),
            StreamTarget::Growing(_) => open("reading a stream"),
        }
    }

    /// Returns all that is still to be read, without taking it.
    pub fn unread(&mut self, memory: &mut Memory<'_>) -> Run<Vec<u8>> {
        self.read_on(memory)?;
        let mut all: Vec<u8> = self.pushed.iter().rev().copied().collect();
        let end = match &self.place {
            StreamTarget::File { bytes, .. } => bytes.len() as u64,
            StreamTarget::Fixed(f) => f.limit,
            StreamTarget::Growing(g) => g.len,
        };
        all.extend(self.content(memory, self.position..end)?);
        memory.add_work(all.len() as u64);
        Ok(all)
    }

    /// Takes bytes that [`OwnStream::unread`] returned.
    pub fn take(&mut self, n: usize) {
        let old = n.min(self.pushed.len());
        self.pushed.truncate(self.pushed.len() - old);
        self.position += (n - old) as u64;
    }

    /// Reads up to `n` bytes, no further than behind a line's end where that is asked for.
    pub fn read(&mut self, memory: &mut Memory<'_>, n: u64, lines: bool) -> Run<Vec<u8>> {
        self.read_on(memory)?;
        let mut got = Vec::new();
        let is_full = |got: &[u8]| got.len() as u64 >= n || lines && got.last() == Some(&b'\n');
        while !is_full(&got)
            && let Some(byte) = self.pushed.pop()
        {
            got.push(byte);
        }
        // Pieces, so that a line costs what a line is long.
        while !is_full(&got) {
            let most = n - got.len() as u64;
            let piece = self.content(memory, self.position..self.position.saturating_add(most.min(256)))?;
            if piece.is_empty() {
                self.end_seen = true;
                break;
            }
            let newline = piece.iter().position(|b| lines && *b == b'\n');
            let taken = newline.map_or(piece.len(), |at| at + 1);
            got.extend_from_slice(piece.get(..taken).unwrap_or(&piece));
            self.position += taken as u64;
        }
        memory.add_work(got.len() as u64);
        Ok(got)
    }

    /// Returns what is there of this part.
    fn content(&self, memory: &mut Memory<'_>, part: std::ops::Range<u64>) -> Run<Vec<u8>> {
        let all = match &self.place {
            StreamTarget::File { bytes, .. } => bytes.as_slice(),
            StreamTarget::Fixed(f) => f.seen.as_deref().unwrap_or(&[]),
            StreamTarget::Growing(_) => return open("reading a stream"),
        };
        let end = (part.end as usize).min(all.len());
        let found = all.get(part.start as usize..end).unwrap_or(&[]);
        if let StreamTarget::Fixed(f) = &self.place
            && !found.is_empty()
        {
            let now = memory.read(f.base + part.start, found.len() as u64);
            if now.ok() != Some(found) {
                return open("memory below a stream");
            }
        }
        Ok(found.to_vec())
    }

    /// Puts a byte before what is read next.
    pub fn unget(&mut self, memory: &mut Memory<'_>, byte: u8) -> Run<()> {
        self.read_on(memory)?;
        if self.pushed.len() >= MOST_PUSHED {
            return open("bytes put back");
        }
        self.pushed.push(byte);
        self.end_seen = false;
        Ok(())
    }

    /// Writes what is buffered to where it belongs (`fflush`).
    pub fn flush(&mut self, memory: &mut Memory<'_>) -> Run<()> {
        if !self.pushed.is_empty() {
            return open("bytes put back");
        }
        if self.phase == Phase::Writing {
            self.phase = Phase::Fresh;
        }
        match &mut self.place {
            StreamTarget::File { lent, .. } => lent.flush(memory),
            StreamTarget::Fixed(f) => {
                self.position += f.flush(memory, self.position)?;
                Ok(())
            }
            StreamTarget::Growing(g) => g.tell(memory),
        }
    }

    /// Goes to another place.
    pub fn seek(&mut self, memory: &mut Memory<'_>, offset: i128, whence: i32) -> Run<()> {
        if !self.pushed.is_empty() && whence == 1 {
            return open("bytes put back");
        }
        self.pushed.clear();
        self.flush(memory)?;
        let (end, most) = match &mut self.place {
            StreamTarget::File { bytes, lent } => {
                lent.forget(memory)?;
                (bytes.len() as u64, LONGEST)
            }
            StreamTarget::Fixed(f) if !f.appends => {
                if self.reads && f.limit > 0 {
                    f.see(memory)?;
                }
                (f.limit, f.size)
            }
            StreamTarget::Fixed(_) | StreamTarget::Growing(_) => return open("a place in a stream"),
        };
        let from = match whence {
            0 => 0,
            1 => self.position,
            2 => end,
            _ => return open("a place in a stream"),
        };
        let to = offset.checked_add(i128::from(from)).and_then(|to| u64::try_from(to).ok());
        match to.filter(|to| *to <= most) {
            Some(to) => self.position = to,
            None => return open("a place outside of a stream"),
        }
        self.end_seen = false;
        self.phase = Phase::Fresh;
        Ok(())
    }

    /// Returns the place (`ftell`).
    pub fn tell(&self) -> Run<u64> {
        if !self.pushed.is_empty() {
            return open("bytes put back");
        }
        Ok(match &self.place {
            StreamTarget::File { .. } => self.position,
            StreamTarget::Fixed(f) => self.position + f.pending.len() as u64,
            StreamTarget::Growing(g) => g.len,
        })
    }

    /// Ends the stream.
    pub fn close(mut self, memory: &mut Memory<'_>) -> Run<()> {
        self.pushed.clear();
        self.flush(memory)?;
        match &self.place {
            StreamTarget::Fixed(f) if f.is_private => memory.retire(f.base),
            StreamTarget::Growing(g) => {
                memory.write(g.memory + g.len, &[0])?;
                memory.hand_over(g.memory, g.len + 1);
            }
            _ => {}
        }
        Ok(())
    }

    /// Gives it a buffer (`setvbuf`); returns whether what the buffer holds is not known.
    pub fn lend(&mut self, memory: &mut Memory<'_>, address: u64, size: u64, mode: i32) -> Run<bool> {
        let is_new = self.phase == Phase::Fresh && self.position == 0 && self.pushed.is_empty();
        match (&mut self.place, mode) {
            // The buffer that there is stays.
            (StreamTarget::File { .. } | StreamTarget::Fixed(_), 0) if address == 0 => Ok(false),
            (StreamTarget::File { lent, .. }, 2) if self.pushed.is_empty() => {
                lent.flush(memory)?;
                *lent = Lent::Nothing;
                Ok(false)
            }
            (StreamTarget::File { lent, bytes }, 0) if address != 0 && size > 0 && self.pushed.is_empty() => {
                lent.flush(memory)?;
                *lent = Lent::Exact { address, size, pending: Vec::new() };
                if !is_new || !bytes.is_empty() {
                    lent.forget(memory)?;
                }
                Ok(true)
            }
            _ => open("a buffer of a stream"),
        }
    }
}

impl Lent {
    /// Takes down what is written.
    fn write(&mut self, memory: &mut Memory<'_>, text: &[u8], alone: bool) -> Run<()> {
        match self {
            Lent::Exact { address, size, pending } => {
                let room = size.saturating_sub(pending.len() as u64);
                // Several bytes find the buffer only once it is in use, and where they do not fill it.
                if alone && room > 0 || !pending.is_empty() && (text.len() as u64) < room {
                    memory.write(*address + pending.len() as u64, text)?;
                    pending.extend_from_slice(text);
                    return Ok(());
                }
                self.forget(memory)
            }
            _ => self.flush(memory),
        }
    }

    /// What it holds goes out: it has to be what was written.
    fn flush(&mut self, memory: &mut Memory<'_>) -> Run<()> {
        match self {
            Lent::Nothing => Ok(()),
            Lent::Exact { address, pending, .. } => {
                if memory.read(*address, pending.len() as u64)? != pending.as_slice() {
                    return open("a buffer of a stream");
                }
                pending.clear();
                Ok(())
            }
            Lent::Unknown { address, size } => match memory.is_undefined(*address, *size) {
                true => Ok(()),
                false => open("a buffer of a stream"),
            },
        }
    }

    /// From now on nobody knows what it holds.
    fn forget(&mut self, memory: &mut Memory<'_>) -> Run<()> {
        self.flush(memory)?;
        if let Lent::Exact { address, size, .. } = *self {
            memory.undefine(address, size)?;
            *self = Lent::Unknown { address, size };
        }
        Ok(())
    }
}

impl Fixed {
    /// Writes what is buffered at this place; returns how much that is.
    fn flush(&mut self, memory: &mut Memory<'_>, position: u64) -> Run<u64> {
        let Some(last) = self.pending.last().copied() else { return Ok(0) };
        let written = self.pending.len() as u64;
        let end = position + written;
        // What fills all of it may lose its last byte to the zero.
        if end >= self.size {
            return open("a stream on memory that is full");
        }
        // What the program changed by itself may be in a buffer of the library as it was.
        if let Some(seen) = &self.seen
            && memory.read(self.base, seen.len() as u64).ok() != Some(seen.as_slice())
        {
            return open("memory below a stream");
        }
        memory.write(self.base + position, &self.pending)?;
        self.pending.clear();
        if end > self.limit {
            self.limit = end;
            if last != 0 {
                memory.write(self.base + end, &[0])?;
            }
        }
        self.seen = None;
        if self.limit <= WHOLE {
            self.seen = memory.read(self.base, self.limit).ok().map(<[u8]>::to_vec);
        }
        Ok(written)
    }

    /// Looks at the content, as one who fills a buffer with it.
    fn see(&mut self, memory: &mut Memory<'_>) -> Run<()> {
        if self.seen.is_some() {
            return Ok(());
        }
        match memory.read(self.base, self.limit) {
            Ok(bytes) if self.limit <= WHOLE => self.seen = Some(bytes.to_vec()),
            _ => return open("memory below a stream"),
        }
        Ok(())
    }
}

impl Growing {
    /// Stores the address and the size.
    fn tell(&self, memory: &mut Memory<'_>) -> Run<()> {
        let width = memory.pointer_bytes();
        let [address, size] = self.told;
        memory.store(address, width, self.memory.into())?;
        memory.store(size, width, self.len.into())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;

    /// Does this with memory that holds a text, and returns what the memory holds then.
    fn on_memory(text: &[u8], what: impl FnOnce(&mut Memory<'_>, u64) -> Run<()>) -> Run<Vec<u8>> {
        let program = Program::new(Vec::new());
        let mut memory = Memory::new(&program, 1 << 20);
        let addr = memory.add_input(text.to_vec(), &[], false).expect("there is room");
        what(&mut memory, addr)?;
        Ok(memory.read(addr, text.len() as u64)?.to_vec())
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let read = on_memory(b"", |memory, _| {
            let mut s = OwnStream::file();
            s.write(memory, b"one\ntwo", false)?;
            assert!(s.read(memory, 1, false).is_err());
            s.seek(memory, 0, 0)?;
            assert_eq!(s.read(memory, 9, true)?, b"one\n");
            assert_eq!((s.read(memory, 9, true)?, s.end_seen), (b"two".to_vec(), true));
            s.unget(memory, b'x')?;
            assert_eq!((s.end_seen, s.tell().is_err()), (false, true));
            assert_eq!(s.read(memory, 1, false)?, b"x");
            assert!(s.write(memory, b"y", true).is_err());
            s.seek(memory, 2, 2)?;
            s.write(memory, b"!", true)?;
            s.seek(memory, -4, 1)?;
            assert_eq!(s.read(memory, 9, false)?, b"wo\0\0!"[1..]);
            Ok(())
        });
        assert_eq!(read, Ok(Vec::new()));
    }

    #[test]
    fn memory_is_written_when_it_is_flushed() {
        let left = on_memory(b"zzzzzzzz", |memory, addr| {
            let mut s = OwnStream::fixed(memory, addr, 8, b"w")?;
            s.write(memory, b"ab", false)?;
            assert_eq!(memory.read(addr, 3)?, b"zzz");
            s.flush(memory)?;
            assert_eq!(memory.read(addr, 4)?, b"ab\0z");
            s.write(memory, b"c\0", false)?;
            s.close(memory)
        });
        assert_eq!(left, Ok(b"abc\0zzzz".to_vec()));
        let full = on_memory(b"zzz", |memory, addr| {
            let mut s = OwnStream::fixed(memory, addr, 3, b"w")?;
            s.write(memory, b"abc", false)?;
            s.close(memory)
        });
        assert!(matches!(full, Err(Stop::Unsupported(_))));
    }

    #[test]
    fn memory_that_changes_below_a_stream_is_not_read() {
        let changed = on_memory(b"12345678", |memory, addr| {
            let mut s = OwnStream::fixed(memory, addr, 8, b"r")?;
            assert_eq!(s.read(memory, 2, false)?, b"12");
            memory.write(addr + 5, b"x")?;
            assert_eq!(s.read(memory, 3, false)?, b"345");
            assert!(s.read(memory, 1, false).is_err());
            Ok(())
        });
        assert_eq!(changed, Ok(b"12345x78".to_vec()));
    }

    #[test]
    fn memory_that_grows_is_told_and_handed_over() {
        let told = on_memory(&[7; 16], |memory, addr| {
            let mut s = OwnStream::growing(memory, [addr, addr + 8])?;
            s.write(memory, b"abc", false)?;
            assert_eq!(memory.load(addr + 8, 1)?, 7);
            s.flush(memory)?;
            let at = memory.load(addr, 8)? as u64;
            assert!(memory.free(at).is_err());
            s.write(memory, b"d", true)?;
            s.close(memory)?;
            assert_eq!((memory.load(addr, 8)? as u64, memory.load(addr + 8, 8)?), (at, 4));
            assert_eq!((memory.string(at, 9)?, memory.remaining(at)), (b"abcd".to_vec(), Some(5)));
            memory.free(at)?;
            memory.write(addr, &[0; 16])?;
            Ok(())
        });
        assert_eq!(told, Ok(vec![0; 16]));
    }

    #[test]
    fn a_lent_buffer_holds_what_went_to_it_byte_by_byte() {
        let left = on_memory(b"........", |memory, addr| {
            let mut s = OwnStream::file();
            assert_eq!(s.lend(memory, addr, 8, 0), Ok(true));
            s.write(memory, b"a", true)?;
            s.write(memory, b"bc", false)?;
            assert_eq!(memory.read(addr, 8)?, b"abc.....");
            s.flush(memory)?;
            s.write(memory, b"d", true)?;
            assert_eq!(memory.read(addr, 8)?, b"dbc.....");
            s.write(memory, b"1234567", false)?;
            assert!(memory.is_undefined(addr, 8));
            memory.write(addr, b"!")?;
            assert!(s.flush(memory).is_err());
            memory.write(addr, b"........")?;
            Ok(())
        });
        assert_eq!(left, Ok(b"........".to_vec()));
    }
}
