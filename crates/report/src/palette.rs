//! Colours of the text output, with git's names for them.

use colored::{Color, ColoredString, Style, Styles};
use std::fmt;

/// What a piece of text is; `color.invdiff.<slot>` names each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Commit,
    File,
    Hunk,
    Removed,
    Added,
    Status,
    Heading,
    Warning,
}

impl Slot {
    pub const ALL: [Slot; 8] = [
        Slot::Commit,
        Slot::File,
        Slot::Hunk,
        Slot::Removed,
        Slot::Added,
        Slot::Status,
        Slot::Heading,
        Slot::Warning,
    ];

    /// Name in `color.invdiff.<name>`.
    pub fn name(self) -> &'static str {
        match self {
            Slot::Commit => "commit",
            Slot::File => "file",
            Slot::Hunk => "hunk",
            Slot::Removed => "removed",
            Slot::Added => "added",
            Slot::Status => "status",
            Slot::Heading => "heading",
            Slot::Warning => "warning",
        }
    }

    fn default_paint(self) -> Paint {
        let (foreground, style) = match self {
            Slot::Commit => (Some(Color::Yellow), None),
            Slot::File => (None, Some(Styles::Bold)),
            Slot::Hunk => (Some(Color::Cyan), None),
            Slot::Removed => (Some(Color::Red), None),
            Slot::Added => (Some(Color::Green), None),
            Slot::Status => (None, Some(Styles::Dimmed)),
            Slot::Heading => (None, Some(Styles::Bold)),
            Slot::Warning => (Some(Color::Yellow), None),
        };
        Paint { foreground, background: None, styles: style.into_iter().collect() }
    }
}

/// A colour as git's configuration spells it (`bold red black`, `#ff8000`, `245`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    foreground: Option<Color>,
    background: Option<Color>,
    styles: Vec<Styles>,
}

impl Paint {
    /// Reads a colour in git's syntax; `None` if it is none. `reset` and the `no` forms of
    /// attributes are understood and add nothing, since every text here starts from plain.
    pub fn parse(text: &str) -> Option<Paint> {
        let mut paint = Paint::default();
        let mut colours = 0;
        for word in text.split_ascii_whitespace() {
            let word = word.to_ascii_lowercase();
            if let Some(style) = attribute(&word) {
                paint.styles.extend(style);
                continue;
            }
            let colour = colour(&word)?;
            match colours {
                0 => paint.foreground = colour,
                1 => paint.background = colour,
                _ => return None,
            }
            colours += 1;
        }
        Some(paint)
    }
}

fn attribute(word: &str) -> Option<Option<Styles>> {
    if let Some(negated) = word.strip_prefix("no") {
        return attribute(negated.strip_prefix('-').unwrap_or(negated)).map(|_| None);
    }
    Some(Some(match word {
        "bold" => Styles::Bold,
        "dim" => Styles::Dimmed,
        "italic" => Styles::Italic,
        "ul" => Styles::Underline,
        "blink" => Styles::Blink,
        "reverse" => Styles::Reversed,
        "strike" => Styles::Strikethrough,
        "reset" => return Some(None),
        _ => return None,
    }))
}

fn colour(word: &str) -> Option<Option<Color>> {
    if let Some(hex) = word.strip_prefix('#') {
        let digit = |i: usize, n: usize| u8::from_str_radix(hex.get(i..i + n)?, 16).ok();
        let (r, g, b) = match hex.len() {
            6 => (digit(0, 2)?, digit(2, 2)?, digit(4, 2)?),
            3 => (digit(0, 1)? * 17, digit(1, 1)? * 17, digit(2, 1)? * 17),
            _ => return None,
        };
        return Some(Some(Color::TrueColor { r, g, b }));
    }
    if let Ok(number) = word.parse::<i16>() {
        return match number {
            -1 => Some(None),
            0..=255 => Some(Some(Color::AnsiColor(number as u8))),
            _ => None,
        };
    }
    Some(Some(match word {
        "normal" | "default" => return Some(None),
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::White,
        "brightblack" => Color::BrightBlack,
        "brightred" => Color::BrightRed,
        "brightgreen" => Color::BrightGreen,
        "brightyellow" => Color::BrightYellow,
        "brightblue" => Color::BrightBlue,
        "brightmagenta" => Color::BrightMagenta,
        "brightcyan" => Color::BrightCyan,
        "brightwhite" => Color::BrightWhite,
        _ => return None,
    }))
}

/// The colours of one output.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// Empty: no colours at all.
    paints: Vec<Paint>,
}

impl Palette {
    /// No colours.
    pub fn plain() -> Palette {
        Palette::default()
    }

    /// The colours of a terminal, before configuration.
    pub fn coloured() -> Palette {
        // Whether to colour is decided here, not by the crate's own look at the environment.
        colored::control::set_override(true);
        Palette { paints: Slot::ALL.iter().map(|s| s.default_paint()).collect() }
    }

    pub fn is_coloured(&self) -> bool {
        !self.paints.is_empty()
    }

    /// Gives a slot another colour; nothing happens in a plain palette.
    pub fn set(&mut self, slot: Slot, paint: Paint) {
        if let Some(place) = self.paints.get_mut(slot as usize) {
            *place = paint;
        }
    }

    /// Returns `text` in the colour of `slot`, to be written by `{}`.
    pub fn paint(&self, slot: Slot, text: impl Into<String>) -> Painted {
        Painted { text: text.into(), paint: self.paints.get(slot as usize).cloned().unwrap_or_default() }
    }
}

/// A text with its colour.
pub struct Painted {
    text: String,
    paint: Paint,
}

impl fmt::Display for Painted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() || self.paint == Paint::default() {
            return out.write_str(&self.text);
        }
        let mut styled = ColoredString::from(self.text.as_str());
        styled.fgcolor = self.paint.foreground;
        styled.bgcolor = self.paint.background;
        styled.style = self.paint.styles.iter().fold(Style::default(), |style, one| style | *one);
        write!(out, "{styled}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut palette = Palette::coloured();
        palette.set(Slot::File, Paint::parse(text).expect(text));
        assert_eq!(palette.paint(Slot::File, "x").to_string(), expected, "{text}");
    }

    #[test]
    fn git_colour_names_are_known() {
        check("red", "\x1b[31mx\x1b[0m");
        check("bold brightblue", "\x1b[1;94mx\x1b[0m");
        check("normal red", "\x1b[41mx\x1b[0m");
        check("245", "\x1b[38;5;245mx\x1b[0m");
        check("nobold no-dim reset", "x");
        check("normal", "x");
        for wrong in ["rot", "red green blue", "#12", "256"] {
            assert_eq!(Paint::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_plain_palette_paints_nothing() {
        assert_eq!(Palette::plain().paint(Slot::Removed, "x").to_string(), "x");
    }
}
