//! Standard input that is made up while the program reads it.
//!
//! What is added at a position depends on the plan's seed, the position and the request only. So a
//! second version that runs on what the first one was given, and reads further, goes on in the same
//! stream; and the first version, run again on the longer stream, does what it did before, because
//! it had been given everything that it asked for.

use super::pool::Pool;
use super::random::SplitMix;
use crate::format::{ScanConversion, ScanDirective};
use std::sync::Arc;

/// What a program asks of standard input.
#[derive(Clone, Debug)]
pub(crate) enum Request<'a> {
    Char,
    Line,
    /// So many bytes: fewer are read at the end only, as from a file.
    Bytes(u64),
    /// A whole `scanf` format.
    Format(&'a [ScanDirective]),
}

fn is_space(b: u8) -> bool {
    matches!(b, 9..=13 | 32)
}

impl Request<'_> {
    /// Returns whether what is left of the input cannot serve the request.
    pub fn is_starved(&self, unread: &[u8]) -> bool {
        let directives = match self {
            Request::Char | Request::Line => return unread.is_empty(),
            Request::Bytes(n) => return (unread.len() as u64) < *n,
            Request::Format(directives) => directives,
        };
        let conversions = || {
            directives
                .iter()
                .filter_map(|d| if let ScanDirective::Conversion(c) = d { Some(c) } else { None })
        };
        let skips = conversions().all(ScanConversion::skips_whitespace);
        if !skips {
            return unread.is_empty() || (unread.iter().all(|b| is_space(*b)) && directives.len() > 1);
        }
        let tokens = unread.split(|b| is_space(*b)).filter(|t| !t.is_empty()).count();
        tokens < conversions().count()
    }
}

/// How often, of a hundred, a byte above ASCII is among those that are read one by one.
const HIGH: u64 = 12;

/// How a plan's text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    WellFormed,
    /// Now and then something that does not convert.
    Malformed,
}

/// How standard input is extended while a program runs.
#[derive(Clone, Debug, PartialEq)]
pub struct StdinPlan {
    seed: u64,
    pool: Arc<Pool>,
    style: Style,
    /// Input ends when the program asks for more at or after this position.
    limit: usize,
}

impl StdinPlan {
    pub(crate) fn new(seed: u64, pool: Arc<Pool>) -> StdinPlan {
        let mut rng = SplitMix::at(seed, u64::MAX);
        let style = if rng.chance(6) { Style::Malformed } else { Style::WellFormed };
        let limit = match rng.below(16) {
            0 => rng.below(12),
            1..4 => 8 + rng.below(40),
            _ => 64 + rng.below(400),
        };
        StdinPlan { seed, pool, style, limit: limit as usize }
    }

    /// Returns the text that follows the `at` bytes that are there; `None` when input ends.
    pub(crate) fn extend(&self, at: usize, request: &Request) -> Option<Vec<u8>> {
        if at >= self.limit {
            return None;
        }
        let mut rng = SplitMix::at(self.seed, at as u64);
        let mut text = Vec::new();
        match request {
            Request::Format(directives) => {
                directives.iter().for_each(|d| self.directive(d, &mut rng, &mut text))
            }
            Request::Char | Request::Line | Request::Bytes(_) => {
                // Streams of bytes or lines are usually read to their end.
                if at > 0 && rng.chance(25) {
                    return None;
                }
                text = self.line(&mut rng);
                let mut high = SplitMix::at(!self.seed, at as u64);
                if !matches!(request, Request::Line) && high.chance(HIGH) {
                    // What a `char` takes for the end of input is a byte like any other.
                    let place = high.below(text.len() as u64 + 1) as usize;
                    text.insert(place, *high.pick(&[0xff, 0xff, 0x80, 0xe9]).unwrap_or(&0xff));
                }
            }
        }
        text.push(b'\n');
        Some(text)
    }

    fn line(&self, rng: &mut SplitMix) -> Vec<u8> {
        let words = match rng.below(6) {
            0 => 0,
            1..4 => 1,
            _ => 1 + rng.below(4),
        };
        let words: Vec<Vec<u8>> = (0..words).map(|_| self.pool.text(rng)).collect();
        words.join(&b' ')
    }

    fn directive(&self, directive: &ScanDirective, rng: &mut SplitMix, text: &mut Vec<u8>) {
        match directive {
            ScanDirective::Whitespace => text.push(b' '),
            ScanDirective::Literal(bytes) => text.extend_from_slice(bytes),
            ScanDirective::Conversion(c) => {
                // Neighbouring numbers need something between them.
                if c.skips_whitespace() && text.last().is_some_and(|b| !is_space(*b)) && c.specifier != '%' {
                    text.push(b' ');
                }
                if self.style == Style::Malformed && rng.chance(30) {
                    text.extend_from_slice(
                        rng.pick(&[&b"x"[..], b"", b"1e", b"--1", b"1.5", b"999999999999"])
                            .unwrap_or(&&b"x"[..]),
                    );
                    return;
                }
                text.extend(self.conversion(c, rng));
            }
        }
    }

    fn conversion(&self, c: &ScanConversion, rng: &mut SplitMix) -> Vec<u8> {
        let width = c.width.unwrap_or(u32::MAX) as usize;
        let mut out = match c.specifier {
            'd' | 'i' => self.integer(rng, true).to_string().into_bytes(),
            'u' => self.integer(rng, false).to_string().into_bytes(),
            'x' | 'X' => format!("{:x}", self.integer(rng, false)).into_bytes(),
            'o' => format!("{:o}", self.integer(rng, false)).into_bytes(),
            'p' => b"0x0".to_vec(),
            'c' => (0..width.min(c.width.map_or(1, |w| w as usize))).map(|_| self.pool.byte(rng)).collect(),
            's' => self.word(rng, |b| !is_space(b)),
            '[' => self.word(rng, |b| c.set.as_ref().is_some_and(|s| s.contains(b))),
            '%' => b"%".to_vec(),
            'n' => Vec::new(),
            _ => self.float(rng),
        };
        out.truncate(width);
        out
    }

    /// Draws from the numbers that this plan likes (so that values meet each other), or anew.
    fn favourite(&self, rng: &mut SplitMix) -> SplitMix {
        if rng.chance(30) {
            SplitMix::at(self.seed, u64::MAX - 1 - rng.below(3))
        } else {
            SplitMix::new(rng.next())
        }
    }

    fn integer(&self, rng: &mut SplitMix, signed: bool) -> i128 {
        let mut draw = self.favourite(rng);
        // Counts and sizes are read often: most numbers are small.
        if draw.chance(45) {
            return draw.range(if signed { -4 } else { 0 }, 12);
        }
        self.pool.integer(&mut draw, 32, signed, &[])
    }

    fn float(&self, rng: &mut SplitMix) -> Vec<u8> {
        let mut draw = self.favourite(rng);
        let v = self.pool.float(&mut draw, &[]) as f32;
        let plain = v == 0.0 || (1e-7..1e9).contains(&v.abs());
        if plain { format!("{v}").into_bytes() } else { format!("{v:e}").into_bytes() }
    }

    fn word(&self, rng: &mut SplitMix, allowed: impl Fn(u8) -> bool) -> Vec<u8> {
        let mut text: Vec<u8> = self.pool.text(rng).into_iter().filter(|b| allowed(*b) && *b != 0).collect();
        if text.is_empty() {
            text.extend((0..=127u8).rev().filter(|b| b.is_ascii_graphic() && allowed(*b)).take(1));
        }
        text
    }
}
