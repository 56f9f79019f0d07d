//! What else is known of unknown names that are used as numbers: some are lengths, some texts, most are constants.

use super::records::is_followed;
use super::{Evidence, Guesses, Kind, MISMATCH, UNDECLARED, tokens};
use crate::c::scan::ItemKind;
use std::collections::{BTreeMap, BTreeSet};

impl Evidence<'_> {
    /// Unknown names among the lengths of arrays that no function declares: a parser wants numbers there.
    pub(super) fn lengths(&self, out: &mut Guesses) {
        let text = &self.text;
        let undeclared = self.named(UNDECLARED);
        let is_unknown = |name: &str| {
            undeclared.contains(name) || out.objects.get(name).is_some_and(|kind| kind.is_number())
        };
        let outside = self.items.iter().filter(|i| !matches!(i.kind, ItemKind::Function { .. }));
        let inside = outside.flat_map(|item| tokens::lengths(text.text, item));
        let found: Vec<String> =
            inside.filter_map(|i| text.name(i)).filter(|n| is_unknown(n)).map(str::to_owned).collect();
        out.lengths.extend(found);
    }

    /// Guessed numbers that stand where a conditional else gives a pointer are texts.
    pub(super) fn texts(&self, out: &mut Guesses) {
        if !self.diagnostics.iter().any(|d| d.message.contains(MISMATCH)) {
            return;
        }
        let numbers = out.objects.iter().filter(|(_, kind)| kind.is_number());
        let texts: Vec<String> = numbers
            .map(|(name, _)| name)
            .filter(|name| self.stands_for_pointer(name, false))
            .cloned()
            .collect();
        for name in texts {
            out.objects.remove(&name);
            out.strings.insert(name, false);
        }
    }

    /// Numbers with names of macros or enumerators that nothing writes: a call leaves these as they are. Enumerators
    /// that are written in small letters begin with the name of a type, see [`Self::namesakes`].
    pub(super) fn constants(&self, out: &mut Guesses) {
        let text = &self.text;
        let steps = |word: &str| matches!(word, "++" | "--");
        let is_written = |i: &usize| {
            let (before, next) = (text.at(i.wrapping_sub(1)), text.at(i + 1));
            let assigns = next.ends_with('=') && !matches!(next, "==" | "!=" | "<=" | ">=");
            assigns || steps(before) || steps(next) || self.is_address(*i)
        };
        let is_followed = |i: &usize| is_followed(text.text, *i);
        let is_capital =
            |name: &str| name.chars().any(char::is_alphabetic) && !name.chars().any(char::is_lowercase);
        let types = self.namesakes(&out.types);
        let begins_with_type = |name: &str| {
            name.match_indices('_').any(|(at, _)| name.get(..at).is_some_and(|n| types.contains(n)))
        };
        for (name, kind) in out.objects.iter_mut().filter(|(_, kind)| kind.is_number()) {
            let places = text.places(name);
            let is_named = is_capital(name) || begins_with_type(name) && !places.iter().any(is_followed);
            let is_constant = is_named && !places.iter().any(is_written);
            *kind = if is_constant { Kind::Constant } else { Kind::Number };
        }
    }

    /// Types that enumerators may be named after, `json_type_null` after `json_type`: enumerations, and numbers whose names
    /// say no width. Objects are called so where the type is a structure (`sqlite3_temp_directory`), or has a `_t` more
    /// (`error_one_per_line`).
    fn namesakes<'t>(&'t self, types: &'t BTreeMap<String, Kind>) -> BTreeSet<&'t str> {
        let is_open = |(ty, kind): &(&String, &Kind)| kind.is_number() && of_name(ty) == "int";
        let numbers = types.iter().filter(is_open).map(|(ty, _)| ty.as_str());
        numbers.chain(self.undefined_enums()).collect()
    }

    /// Whether a name, or its call, is what a conditional gives where it else gives a pointer.
    pub(super) fn stands_for_pointer(&self, name: &str, is_called: bool) -> bool {
        let text = &self.text;
        let wrong: Vec<_> = self.diagnostics.iter().filter(|d| d.message.contains(MISMATCH)).collect();
        let is_inside = |at: usize| {
            let place = text.tokens.get(at).map(|t| t.report_span().lo);
            wrong
                .iter()
                .any(|d| place.is_some_and(|p| (d.span.lo..d.span.hi.max(d.span.lo + 1)).contains(&p)))
        };
        let arms = text.places(name).iter().filter(|i| **i > 0 && matches!(text.at(**i - 1), "?" | ":"));
        arms.filter(|i| (text.at(**i + 1) == "(") == is_called).any(|i| is_inside(*i))
    }
}

/// The type of integers that a name most likely has: that of its width (`u64`, `guint32`, `__le16`, `QWORD`), else
/// `int`.
pub(super) fn of_name(name: &str) -> &'static str {
    let plain = name.strip_suffix("_t").unwrap_or(name);
    let stem = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = &plain[stem.len()..];
    let stem = stem.trim_matches('_').to_ascii_lowercase();
    let is_unsigned = matches!(&*stem, "u" | "le" | "be") || stem.ends_with("uint");
    let is_number = is_unsigned || matches!(&*stem, "s" | "i") || stem.ends_with("int");
    match (width, is_unsigned) {
        _ if matches!(name, "Byte" | "uchar") => "unsigned char",
        _ if name == "uInt" => "unsigned",
        _ if matches!(name, "QWORD" | "uLong") => "unsigned long",
        ("8", true) if is_number => "unsigned char",
        ("8", false) if is_number => "signed char",
        ("16", true) if is_number => "unsigned short",
        ("16", false) if is_number => "short",
        ("32", true) if is_number => "unsigned",
        ("64", true) if is_number => "unsigned long",
        ("64", false) if is_number => "long",
        _ => "int",
    }
}
