//! One line of text in the making: coloured pieces, and the column that has been reached.

use crate::palette::{Palette, Slot};
use std::io::{self, Write};

pub(super) struct Line<'a> {
    palette: &'a Palette,
    text: String,
    column: usize,
}

impl<'a> Line<'a> {
    pub fn new(palette: &'a Palette) -> Line<'a> {
        Line { palette, text: String::new(), column: 0 }
    }

    pub fn plain(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self.column += text.chars().count();
        self
    }

    pub fn paint(&mut self, slot: Slot, text: &str) -> &mut Self {
        self.text.push_str(&self.palette.paint(slot, text).to_string());
        self.column += text.chars().count();
        self
    }

    /// Adds blanks up to `column`; none if it is passed already.
    pub fn pad_to(&mut self, column: usize) -> &mut Self {
        let blanks = column.saturating_sub(self.column);
        self.plain(&" ".repeat(blanks))
    }

    pub fn column(&self) -> usize {
        self.column
    }

    /// Writes the line without blanks at its end.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.text.trim_end())
    }
}
