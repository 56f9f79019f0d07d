//! The lines of a file, one at a time and each of bounded length; gzip is inflated on the way.
//!
//! Source: "The Daikon Invariant Detector Developer Manual", appendix "File formats", conventions: records
//! between blank lines, comments. RFC 1952, "GZIP file format specification", 1996: the two bytes that it
//! opens with.

use super::{Error, Fault};
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// Most bytes of a line of which all are needed.
pub(super) const MAX_LINE: usize = 1 << 20;
/// Bytes of a line that only has to be there.
const GLANCE: usize = 64;

/// The text of a file; gzip is known by its first bytes.
fn inflated<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut start = Vec::new();
    input.by_ref().take(2).read_to_end(&mut start)?;
    let is_packed = start == [0x1f, 0x8b];
    let whole = io::Cursor::new(start).chain(input);
    Ok(if is_packed { Box::new(BufReader::new(MultiGzDecoder::new(whole))) } else { Box::new(whole) })
}

/// The lines of a file, one at a time.
pub(super) struct Lines<'a> {
    input: Box<dyn BufRead + 'a>,
    text: String,
    pub(super) number: u64,
    is_kept: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: impl BufRead + 'a) -> Result<Lines<'a>, Error> {
        let input = inflated(input).map_err(|e| Error { line: 1, fault: Fault::Read(e) })?;
        Ok(Lines { input, text: String::new(), number: 0, is_kept: false })
    }

    /// The line, without blanks around it.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    pub(super) fn error(&self, fault: Fault) -> Error {
        Error { line: self.number, fault }
    }

    /// Lets the next step stay at this line.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Goes to the next line; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        if std::mem::take(&mut self.is_kept) {
            return Ok(true);
        }
        let (bytes, length) = self.next(MAX_LINE)?;
        if length > MAX_LINE {
            return Err(self.error(Fault::Long));
        }
        self.text = String::from_utf8(bytes).map_err(|_| self.error(Fault::Encoding))?;
        Ok(length > 0)
    }

    /// Goes to the next line of a record; false where the record has no more.
    pub(super) fn advance_within(&mut self) -> Result<bool, Error> {
        Ok(self.advance()? && !self.text().is_empty())
    }

    /// As [`Lines::advance_within`], where what the line says is not needed.
    pub(super) fn pass(&mut self) -> Result<bool, Error> {
        let (bytes, length) = self.next(GLANCE)?;
        self.text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(length > GLANCE || !self.text().is_empty())
    }

    /// Goes to the first line of the next record; false at the end.
    pub(super) fn advance_to_record(&mut self) -> Result<bool, Error> {
        while self.advance()? {
            if !self.text().is_empty() && !is_comment(self.text()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is there of the lines to come without asking for more; nothing where a line is kept.
    pub(super) fn ahead(&mut self) -> &[u8] {
        match self.is_kept {
            true => &[],
            false => self.input.fill_buf().unwrap_or_default(),
        }
    }

    /// Goes past lines that were looked at ahead: their bytes, and how many there are.
    pub(super) fn skip(&mut self, bytes: usize, lines: u64) {
        self.input.consume(bytes);
        self.number += lines;
    }

    /// The first bytes of the next line, and how many it has; none at the end.
    fn next(&mut self, limit: usize) -> Result<(Vec<u8>, usize), Error> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let mut length = 0usize;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Error { line: self.number + 1, fault: Fault::Read(e) }),
            };
            let end = chunk.iter().position(|b| *b == b'\n');
            let part = chunk.get(..end.map_or(chunk.len(), |end| end + 1)).unwrap_or(chunk);
            let room = limit.saturating_sub(bytes.len()).min(part.len());
            bytes.extend_from_slice(part.get(..room).unwrap_or(part));
            let taken = part.len();
            length = length.saturating_add(taken);
            self.input.consume(taken);
            if end.is_some() || taken == 0 {
                self.number += u64::from(length > 0);
                return Ok((bytes, length));
            }
        }
    }
}

pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8]) -> (Vec<String>, u64) {
        let mut lines = Lines::new(input).unwrap();
        let mut found = Vec::new();
        while lines.advance().unwrap() {
            found.push(lines.text().to_owned());
        }
        (found, lines.number)
    }

    #[test]
    fn lines_end_in_many_ways() {
        let whole = (vec!["a".to_owned(), String::new(), "b".to_owned()], 3);
        assert_eq!(all(b"a\n\nb"), whole);
        assert_eq!(all(b"a\r\n\r\nb\r\n"), whole);
        assert_eq!(all(b" a \n \n\tb\n"), whole);
        assert_eq!(all(b""), (vec![], 0));
        assert_eq!(all(b"\n"), (vec![String::new()], 1));
    }

    #[test]
    fn lines_go_on_over_the_ends_of_buffers() {
        let input = BufReader::with_capacity(2, &b"first\nsecond\n"[..]);
        let mut lines = Lines::new(input).unwrap();
        assert!(lines.advance().unwrap() && lines.text() == "first");
        lines.keep();
        assert!(lines.advance().unwrap() && lines.text() == "first");
        assert!(lines.advance().unwrap() && lines.text() == "second");
        assert!(!lines.advance().unwrap());
    }

    #[test]
    fn a_line_has_an_end() {
        let long = [vec![b'x'; MAX_LINE + 1], b"\nnext\n".to_vec()].concat();
        let mut lines = Lines::new(&long[..]).unwrap();
        assert_eq!(lines.advance().unwrap_err().to_string(), "line 1: more than 1048576 bytes");
        let mut lines = Lines::new(&long[..]).unwrap();
        assert!(lines.pass().unwrap());
        assert!(lines.advance().unwrap() && lines.text() == "next");
    }

    #[test]
    fn other_encodings_matter_only_where_they_are_read() {
        let mut lines = Lines::new(&b"\xff\n\xff\n"[..]).unwrap();
        assert!(lines.pass().unwrap());
        assert_eq!(lines.advance().unwrap_err().to_string(), "line 2: no UTF-8");
    }

    #[test]
    fn comments_stand_between_records() {
        let mut lines = Lines::new(&b"# a\n// b\n\nrecord\n"[..]).unwrap();
        assert!(lines.advance_to_record().unwrap());
        assert_eq!((lines.text(), lines.number), ("record", 4));
        assert!(!lines.advance_to_record().unwrap());
    }
}
