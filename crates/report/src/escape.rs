//! Text from repositories made safe to show.
//!
//! File names, commit subjects, source lines and program output are written by strangers: an escape
//! sequence in them could repaint a terminal, and a bidirectional override could make a line read
//! differently from what it says ("Trojan Source", CVE-2021-42574). [`visible`] is for people;
//! [`c_quoted`] is git's lossless quoting of paths (`quote_c_style` with `core.quotePath` on), which
//! [`c_unquoted`] reverses.

use std::fmt::Write as _;

/// Returns `bytes` with nothing in it that a terminal would act on.
///
/// Printable text stays. Control characters and invalid bytes become `\n`, `\t`, `\x1b`; invisible
/// or reordering characters become `\u{202e}`. Backslashes stay as they are, so this is not
/// reversible.
pub fn visible(bytes: impl AsRef<[u8]>) -> String {
    let mut out = String::new();
    for chunk in bytes.as_ref().utf8_chunks() {
        for c in chunk.valid().chars() {
            push_visible(&mut out, c);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Returns a line of source as shown in a terminal: as [`visible`], but a tab is a few blanks and
/// white space around the line is dropped.
pub fn source_line(text: &str) -> String {
    visible(text.trim().replace('\t', "    "))
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() && u32::from(c) < 0x80 => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if c.is_control() || is_deceptive(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Characters that show nothing, or that reorder the text around them.
pub(super) fn is_deceptive(c: char) -> bool {
    matches!(u32::from(c),
        0x00ad | 0x034f | 0x061c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

/// Returns a path as git prints it without `-z`: as it is if plain, else in double quotes with C
/// escapes, bytes outside ASCII in octal (`"b \303\274\nx.c"`).
pub fn c_quoted(path: &[u8]) -> String {
    let plain = path.iter().all(|b| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\'));
    if plain { path.iter().map(|b| char::from(*b)).collect() } else { force_c_quoted(path) }
}

/// Returns a path in double quotes with C escapes, even if it needs none.
pub fn force_c_quoted(path: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in path {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x07 => out.push_str("\\a"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0b => out.push_str("\\v"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    out
}

/// Reads back what [`c_quoted`] or [`force_c_quoted`] wrote; `None` if `text` begins with a double
/// quote but is not well formed.
pub fn c_unquoted(text: &str) -> Option<Vec<u8>> {
    let Some(rest) = text.strip_prefix('"') else { return Some(text.as_bytes().to_vec()) };
    let mut bytes = rest.strip_suffix('"')?.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        let value = match byte {
            b'"' => return None,
            b'\\' => match bytes.next()? {
                b'a' => 0x07,
                b'b' => 0x08,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 0x0b,
                b'f' => 0x0c,
                b'r' => b'\r',
                c @ (b'"' | b'\\') => c,
                first @ b'0'..=b'3' => {
                    let mut octal = first - b'0';
                    for _ in 0..2 {
                        let digit = bytes.next().filter(|d| matches!(d, b'0'..=b'7'))?;
                        octal = octal * 8 + (digit - b'0');
                    }
                    octal
                }
                _ => return None,
            },
            plain => plain,
        };
        out.push(value);
    }
    Some(out)
}

/// Returns at most `width` characters of `text`, the last one `…` if something was cut.
pub fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(width.saturating_sub(1)).collect();
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_see_no_control_characters() {
        for (bytes, expected) in [
            (&b"plain text"[..], "plain text"),
            (b"\x1b[31mred\x07", "\\x1b[31mred\\x07"),
            (b"a\tb\r\nc", "a\\tb\\r\\nc"),
            (b"caf\xc3\xa9 \xff\xfe", "café \\xff\\xfe"),
            ("\u{202e}gnp.exe\u{2066}\u{200b}".as_bytes(), "\\u{202e}gnp.exe\\u{2066}\\u{200b}"),
            ("\u{9b}31m\u{7f}".as_bytes(), "\\u{9b}31m\\x7f"),
        ] {
            assert_eq!(visible(bytes), expected);
        }
        assert_eq!(source_line("\tif (a)\tb();  "), "if (a)    b();");
    }

    #[test]
    fn paths_are_quoted_as_git_does() {
        for (path, expected) in [
            (&b"src/a b.c"[..], "src/a b.c"),
            (b"b \xc3\xbc\nx.c", "\"b \\303\\274\\nx.c\""),
            (b"say \"hi\"\\", "\"say \\\"hi\\\"\\\\\""),
            (b"\x01\x7f", "\"\\001\\177\""),
        ] {
            assert_eq!(c_quoted(path), expected);
            assert_eq!(c_unquoted(expected).as_deref(), Some(path));
        }
        for malformed in ["\"", "\"a", "\"\\", "\"\\9\"", "\"\\40\"", "\"a\"b\""] {
            assert_eq!(c_unquoted(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn every_byte_string_survives_quoting() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(c_unquoted(&force_c_quoted(&all)), Some(all));
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
    }
}
