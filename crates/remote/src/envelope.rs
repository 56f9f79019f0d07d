//! How a value lies in a shared cache: what it is, whose it is, and what it answers.
//!
//! An envelope is, in this order: the word `invdiff cache 1` and a line end; the schema of the value and the engine's
//! version, each behind a byte with its length; 32 bytes of a checksum; 32 bytes of a MAC, zeros where there is none;
//! the length of the value, eight bytes, the lowest first; the value. Checksum and MAC are BLAKE3 over the entry's
//! name, schema, version and value, each with its length, so that no two of them run together and no entry can be moved
//! to another name. The MAC is keyed with what `derive_key` makes of the user's key (the BLAKE3 paper, 5.5 and 7.8), so
//! that only who knows the key can make it; the checksum tells damage from foreign writing.

use crate::Secret;

/// What every envelope begins with: the format, and its version.
const MAGIC: &[u8] = b"invdiff cache 1\n";
/// What the user's key is made into.
const KEY_CONTEXT: &str = "git-invdiff 2026-11-29 shared cache MAC";
/// What the checksum is of; no key makes this one.
const CHECKSUM_CONTEXT: &str = "git-invdiff 2026-11-29 shared cache checksum";
/// Bytes of checksum and MAC.
const HASH: usize = blake3::OUT_LEN;
/// Bytes of the shortest key: one that can be guessed proves nothing.
pub const SHORTEST_KEY: usize = 16;

/// Why the content of an envelope is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejected {
    /// No envelope, or one that was cut, changed, or moved from another entry.
    Damaged,
    /// Another schema or another engine.
    Foreign,
    /// Nobody with our key has written it.
    Unproved,
    /// Larger than what is read.
    TooLarge,
}

impl Rejected {
    /// The reason, behind a number of values.
    pub fn words(self) -> &'static str {
        match self {
            Rejected::Damaged => "cut, changed or moved",
            Rejected::Foreign => "of another schema or engine",
            Rejected::Unproved => "with a MAC that the key does not make",
            Rejected::TooLarge => "too large",
        }
    }
}

/// What is sealed and what is believed.
#[derive(Clone)]
pub struct Seal {
    schema: &'static str,
    engine: &'static str,
    key: Option<[u8; HASH]>,
}

impl Seal {
    /// A seal for values of a schema, by a version of the engine. Without a key nothing is proved, neither by what
    /// is sealed nor of what is opened.
    pub fn new(schema: &'static str, engine: &'static str, key: Option<&Secret>) -> Seal {
        let key = key.map(|key| blake3::derive_key(KEY_CONTEXT, key.reveal().as_bytes()));
        Seal { schema, engine, key }
    }

    /// Puts a value into an envelope.
    pub fn seal(&self, name: &str, value: &[u8]) -> Vec<u8> {
        let parts = [name.as_bytes(), self.schema.as_bytes(), self.engine.as_bytes(), value];
        let mut bytes = MAGIC.to_vec();
        for word in [self.schema, self.engine] {
            // Both are short words of this program.
            let word = &word.as_bytes()[..word.len().min(usize::from(u8::MAX))];
            bytes.push(u8::try_from(word.len()).unwrap_or(u8::MAX));
            bytes.extend_from_slice(word);
        }
        bytes.extend_from_slice(checksum(&parts).as_bytes());
        match &self.key {
            Some(key) => bytes.extend_from_slice(mac(key, &parts).as_bytes()),
            None => bytes.extend_from_slice(&[0; HASH]),
        }
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(value);
        bytes
    }

    /// Takes the value of the entry `name` out of its envelope.
    ///
    /// Errors: why it is not to be used.
    pub fn open<'b>(&self, name: &str, bytes: &'b [u8]) -> Result<&'b [u8], Rejected> {
        let parsed = Parsed::of(bytes).ok_or(Rejected::Damaged)?;
        if parsed.schema != self.schema.as_bytes() || parsed.engine != self.engine.as_bytes() {
            return Err(Rejected::Foreign);
        }
        let parts = [name.as_bytes(), parsed.schema, parsed.engine, parsed.value];
        if checksum(&parts) != parsed.checksum {
            return Err(Rejected::Damaged);
        }
        // Hashes are compared in constant time.
        if self.key.as_ref().is_some_and(|key| mac(key, &parts) != parsed.mac) {
            return Err(Rejected::Unproved);
        }
        Ok(parsed.value)
    }
}

/// The fields of an envelope, of which nothing is known yet.
struct Parsed<'b> {
    schema: &'b [u8],
    engine: &'b [u8],
    checksum: [u8; HASH],
    mac: [u8; HASH],
    value: &'b [u8],
}

impl<'b> Parsed<'b> {
    /// Reads the fields; `None` if one is missing or anything is left over.
    fn of(bytes: &'b [u8]) -> Option<Parsed<'b>> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (schema, rest) = word(rest)?;
        let (engine, rest) = word(rest)?;
        let (checksum, rest) = rest.split_first_chunk::<HASH>()?;
        let (mac, rest) = rest.split_first_chunk::<HASH>()?;
        let (length, value) = rest.split_first_chunk::<8>()?;
        let is_whole = u64::from_le_bytes(*length) == value.len() as u64;
        is_whole.then_some(Parsed { schema, engine, checksum: *checksum, mac: *mac, value })
    }
}

/// Splits off what stands behind a byte with its length.
fn word(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(*length))
}

fn checksum(parts: &[&[u8]]) -> blake3::Hash {
    hashed(blake3::Hasher::new_derive_key(CHECKSUM_CONTEXT), parts)
}

fn mac(key: &[u8; HASH], parts: &[&[u8]]) -> blake3::Hash {
    hashed(blake3::Hasher::new_keyed(key), parts)
}

fn hashed(mut hasher: blake3::Hasher, parts: &[&[u8]]) -> blake3::Hash {
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "v1-00ff";

    fn seal(key: &str) -> Seal {
        Seal::new("report/1", "0.1.0", Some(&Secret::new(key)).filter(|k| !k.reveal().is_empty()))
    }

    #[track_caller]
    fn check(reader: &Seal, name: &str, bytes: &[u8], expected: Result<&[u8], Rejected>) {
        assert_eq!(reader.open(name, bytes), expected);
    }

    #[test]
    fn what_was_sealed_is_opened_by_who_has_the_key() {
        let ours = seal("a key of the team");
        for value in [&b""[..], b"value", &[0; 1000]] {
            let bytes = ours.seal(NAME, value);
            check(&ours, NAME, &bytes, Ok(value));
            check(&seal("another key"), NAME, &bytes, Err(Rejected::Unproved));
            // Who asks for no proof sees damage only.
            check(&seal(""), NAME, &bytes, Ok(value));
            check(&ours, NAME, &seal("").seal(NAME, value), Err(Rejected::Unproved));
        }
    }

    #[test]
    fn an_entry_cannot_be_moved_or_be_of_another_version() {
        let ours = seal("a key of the team");
        let bytes = ours.seal(NAME, b"value");
        check(&ours, "v1-00fe", &bytes, Err(Rejected::Damaged));
        let key = Secret::new("a key of the team");
        let schema = Seal::new("report/2", "0.1.0", Some(&key));
        let engine = Seal::new("report/1", "0.1.1", Some(&key));
        for other in [&schema, &engine] {
            check(&ours, NAME, &other.seal(NAME, b"value"), Err(Rejected::Foreign));
            check(other, NAME, &bytes, Err(Rejected::Foreign));
        }
        // Whoever moves one can mend the checksum, and not the MAC.
        let parts: [&[u8]; 4] = [b"v1-00fe", b"report/1", b"0.1.0", b"value"];
        let at = MAGIC.len() + 1 + 8 + 1 + 5;
        let mut moved = bytes.clone();
        moved[at..at + HASH].copy_from_slice(checksum(&parts).as_bytes());
        check(&ours, "v1-00fe", &moved, Err(Rejected::Unproved));
        check(&seal(""), "v1-00fe", &moved, Ok(b"value"));
    }

    #[test]
    fn the_words_of_an_envelope_do_not_run_together() {
        let key = Secret::new("a key of the team");
        let one = Seal::new("ab", "c", Some(&key)).seal(NAME, b"value");
        let two = Seal::new("a", "bc", Some(&key)).seal(NAME, b"value");
        let sums = |bytes: &[u8]| Parsed::of(bytes).map(|p| (p.checksum, p.mac)).expect("an envelope");
        assert_ne!(sums(&one).0, sums(&two).0);
        assert_ne!(sums(&one).1, sums(&two).1);
    }

    #[test]
    fn every_cut_and_every_changed_bit_is_seen() {
        let ours = seal("a key of the team");
        let bytes = ours.seal(NAME, b"a value");
        for end in 0..bytes.len() {
            check(&ours, NAME, &bytes[..end], Err(Rejected::Damaged));
        }
        check(&ours, NAME, &[&bytes[..], b"x"].concat(), Err(Rejected::Damaged));
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            assert!(ours.open(NAME, &changed).is_err(), "bit {at}");
        }
    }
}
