//! What the text of a header declares, piece by piece, without its being preprocessed.
//!
//! A commit that adds a prototype to a header which every file includes changes nothing for the files that do
//! not name it. To see which files those are, a header is taken apart into *pieces*: one declaration or one
//! directive each, with the names that it gives a meaning to and those that it mentions. What is not
//! understood has no limits ([`Piece::reach`] is `None`): it may mean anything to whoever includes it.

use super::scan::{self, ItemKind, Text};
use rucc_base::Interner;
use rucc_lex::{PpTokenKind, TokenFlags};
use rucc_pp::Tok;
use std::collections::BTreeSet;
use std::ops::Range;

/// A declaration or a directive of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its tokens, for comparison.
    pub text: String,
    /// The names that it gives a meaning to, enumerators included; `None` where it may mean anything.
    pub reach: Option<BTreeSet<String>>,
    /// The names that it mentions.
    pub mentions: BTreeSet<String>,
    /// The names that a macro puts together with `##`.
    pub pastes: Vec<Paste>,
    /// Set for a directive that decides what is read.
    pub decides: Option<Decides>,
    /// Where it is the definition of one structure or union and nothing else, what that has.
    pub record: Option<Record>,
}

/// How a directive decides what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// `#if` and its like.
    Opens,
    /// `#elif` and `#else`.
    Turns,
    /// `#endif`.
    Closes,
    /// `#include` and what is not known.
    Reads,
}

/// The definition of a structure or a union, by its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What stands around the members.
    frame: String,
    /// The declarations of members, with the names in them that may be those of members.
    members: Vec<(String, BTreeSet<String>)>,
    /// The names that it mentions other than as those of members.
    pub uses: BTreeSet<String>,
}

impl Record {
    /// Returns the names of the members that one of two definitions of a structure has and the other one has not, or
    /// has otherwise; `None` where more than members differs.
    pub fn changed(&self, other: &Record) -> Option<BTreeSet<String>> {
        let lacks = |r: &Record, member: &(String, BTreeSet<String>)| !r.members.contains(member);
        let own = self.members.iter().filter(|m| lacks(other, m));
        let others = other.members.iter().filter(|m| lacks(self, m));
        (self.frame == other.frame).then(|| own.chain(others).flat_map(|(_, names)| names).cloned().collect())
    }

    /// Returns the names of the members whose declarations mention a name; `None` where something else mentions one.
    pub fn mentioning(&self, is_name: impl Fn(&str) -> bool) -> Option<BTreeSet<String>> {
        let has = |text: &str| text.split(' ').any(&is_name);
        let members = self.members.iter().filter(|(text, _)| has(text));
        (!has(&self.frame)).then(|| members.flat_map(|(_, names)| names).cloned().collect())
    }
}

/// A name that a macro puts together: how it begins and ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Paste {
    pub first: End,
    pub last: End,
}

/// What stands at an end of a name that a macro puts together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum End {
    Word(String),
    /// What the n-th argument says.
    Argument(usize),
    /// What is not seen.
    Any,
}

impl Piece {
    /// Whether it is a directive to which names are words: `#error`, and `#pragma` but for those that have numbers.
    pub fn is_remark(&self) -> bool {
        let mut words = self.text.split(' ').skip(1);
        self.is_message() || words.next() == Some("pragma") && words.next() != Some("pack")
    }

    /// Whether it defines a macro.
    pub fn is_macro(&self) -> bool {
        self.text.starts_with("# define ")
    }

    /// Whether it is `#error` or `#warning`.
    pub fn is_message(&self) -> bool {
        matches!(self.text.split(' ').nth(1), Some("error" | "warning")) && self.text.starts_with('#')
    }

    /// Returns whether a name is put together here by a call of the macro `called`, as far as can be seen. What a macro
    /// hands on of its own arguments is made where it is called ([`Piece::hands_on`]).
    pub fn makes(&self, name: &str, called: &str, paste: &Paste) -> bool {
        self.calls(called, paste).iter().filter(|made| !made.has_argument()).any(|made| {
            let fits = |end: &End, is: &dyn Fn(&str) -> bool| match end {
                End::Word(word) => is(word),
                End::Argument(_) | End::Any => true,
            };
            fits(&made.first, &|w| name.starts_with(w)) && fits(&made.last, &|w| name.ends_with(w))
        })
    }

    /// What a call of a macro that is defined here puts together, because it hands its arguments to the macro `called`.
    pub fn hands_on(&self, called: &str, paste: &Paste) -> Vec<Paste> {
        self.calls(called, paste).into_iter().filter(Paste::has_argument).collect()
    }

    /// What each call of a macro puts together here, in the words of the piece.
    fn calls(&self, called: &str, paste: &Paste) -> Vec<Paste> {
        let words: Vec<&str> = self.text.split(' ').collect();
        let own = self.parameters(&words);
        let is_word = |w: &&str| w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let calls = (0..words.len()).filter(|&i| words[i] == called && words.get(i + 1) == Some(&"("));
        let made = |i: usize| {
            let arguments = arguments(&words, i + 1);
            let known = |end: &End, at_end: bool| {
                let End::Argument(n) = end else { return end.clone() };
                let argument = arguments.get(*n);
                let word = argument.and_then(|a| if at_end { a.last() } else { a.first() });
                match word.filter(|w| is_word(w) && **w != "__VA_ARGS__") {
                    Some(word) => match own.iter().position(|p| p == word) {
                        Some(n) => End::Argument(n),
                        None => End::Word((*word).to_owned()),
                    },
                    None => End::Any,
                }
            };
            Paste { first: known(&paste.first, false), last: known(&paste.last, true) }
        };
        calls.filter(|&i| words.get(i.wrapping_sub(1)) != Some(&"define")).map(made).collect()
    }

    /// The parameters of a macro that is defined here.
    fn parameters<'t>(&self, words: &[&'t str]) -> Vec<&'t str> {
        if words.get(1) != Some(&"define") || words.get(3) != Some(&"(") {
            return Vec::new();
        }
        let list: Vec<&str> = words.iter().skip(4).take_while(|w| **w != ")").copied().collect();
        // A macro without parameters may stand for something in brackets.
        let is_parameter = |w: &str| w == "..." || w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let is_list =
            list.iter().enumerate().all(|(i, w)| if i % 2 == 0 { is_parameter(w) } else { *w == "," });
        if is_list { list.into_iter().step_by(2).collect() } else { Vec::new() }
    }
}

impl Paste {
    /// Whether what it puts together depends on a call.
    fn has_argument(&self) -> bool {
        [&self.first, &self.last].iter().any(|end| matches!(end, End::Argument(_)))
    }
}

/// The arguments of a call by their words; `open` is the index of its parenthesis.
fn arguments<'t>(words: &[&'t str], open: usize) -> Vec<Vec<&'t str>> {
    let (mut out, mut depth) = (vec![Vec::new()], 0usize);
    for word in words.iter().skip(open) {
        match *word {
            "(" if depth == 0 => depth = 1,
            ")" if depth == 1 => break,
            "," if depth == 1 => out.push(Vec::new()),
            word => {
                depth = match word {
                    "(" => depth + 1,
                    ")" => depth.saturating_sub(1),
                    _ => depth,
                };
                out.last_mut().into_iter().for_each(|a| a.push(word));
            }
        }
    }
    out
}

/// Returns for each piece the conditions under which it is read: of every conditional around it the directives from
/// the first to that of its branch. A directive of a conditional stands in the branch that it ends.
pub fn conditions(pieces: &[Piece]) -> Vec<Vec<Vec<&str>>> {
    let mut around: Vec<Vec<&str>> = Vec::new();
    let mut out = Vec::with_capacity(pieces.len());
    for piece in pieces {
        out.push(around.clone());
        match piece.decides {
            Some(Decides::Opens) => around.push(vec![&piece.text]),
            Some(Decides::Turns) => around.last_mut().into_iter().for_each(|c| c.push(&piece.text)),
            Some(Decides::Closes) => _ = around.pop(),
            Some(Decides::Reads) | None => {}
        }
    }
    out
}

/// Returns the pieces of the conditional that a directive belongs to, its own directives included; `None` where it has
/// no end.
pub fn conditional(pieces: &[Piece], at: usize) -> Option<Range<usize>> {
    let step = |depth: usize, piece: &Piece, deeper: Decides, higher: Decides| match piece.decides {
        Some(d) if d == deeper => Some(depth + 1),
        Some(d) if d == higher => depth.checked_sub(1),
        _ => Some(depth),
    };
    let is = |d: Decides| pieces.get(at).and_then(|p| p.decides) == Some(d);
    let mut depth = 0;
    let mut ahead = pieces.iter().enumerate().skip(at + usize::from(is(Decides::Opens)));
    let end = ahead.find(|(_, p)| match step(depth, p, Decides::Opens, Decides::Closes) {
        Some(deep) => {
            depth = deep;
            false
        }
        None => true,
    });
    depth = 0;
    let mut behind = pieces.iter().enumerate().take(at + usize::from(is(Decides::Opens))).rev();
    let start = behind.find(|(_, p)| match step(depth, p, Decides::Closes, Decides::Opens) {
        Some(deep) => {
            depth = deep;
            false
        }
        None => true,
    });
    Some(start?.0..end?.0 + 1)
}

/// Takes a header apart. Cost: linear in its text.
pub fn pieces(text: &[u8]) -> Vec<Piece> {
    let mut interner = Interner::new();
    // A backslash at the end of the text is no good to the lexer.
    let text = [text, b"\n"].concat();
    let (tokens, _) = rucc_lex::tokenize(&text, 0, rucc_lex::Options::new(), &mut interner);
    let tokens: Vec<Tok> = tokens.into_iter().filter(|t| !t.is_eof()).map(Tok::new).collect();
    let (directives, plain) = parted(&tokens, &interner);
    let starts: Vec<usize> = directives.iter().map(|d| d.start).collect();
    let mut out: Vec<(usize, Piece)> =
        directives.into_iter().map(|range| (range.start, directive(&tokens, &interner, range))).collect();
    let kept: Vec<Tok> = plain.iter().filter_map(|&i| tokens.get(i).copied()).collect();
    let text = Text { tokens: &kept, interner: &interner };
    let mut next = 0;
    let items = text.items();
    let ranges = items.iter().map(|item| (item.tokens.clone(), Some(item)));
    for (range, item) in ranges.chain([(kept.len()..kept.len(), None)]) {
        // What belongs to no item, such as a bracket too many.
        if let Some(&at) = plain.get(next).filter(|_| next < range.start) {
            out.push((at, odd(text, next..range.start)));
        }
        if let (Some(item), Some(&at)) = (item, plain.get(range.start)) {
            let is_whole = is_whole(text, &plain, range.clone(), &starts);
            out.push((at, if is_whole { declaration(text, item) } else { odd(text, range.clone()) }));
        }
        next = range.end;
    }
    out.sort_by_key(|(at, _)| *at);
    let span = |item: &scan::Item| Some(*plain.get(item.tokens.start)?..*plain.get(item.tokens.end - 1)?);
    let spans: Vec<Range<usize>> = items.iter().filter_map(span).collect();
    parts_of_declarations(&mut out, &spans);
    out.into_iter().map(|(_, piece)| piece).collect()
}

/// A conditional within a declaration decides what that is, and has no limits; all have none where one begins within a
/// declaration and ends behind it.
fn parts_of_declarations(pieces: &mut [(usize, Piece)], declarations: &[Range<usize>]) {
    let mut is_cut = false;
    for range in declarations {
        let mut depth = 0i64;
        for (_, piece) in pieces.iter_mut().filter(|(at, _)| *at > range.start && *at < range.end) {
            match piece.decides {
                Some(Decides::Opens) => depth += 1,
                Some(Decides::Closes) => depth -= 1,
                _ => {}
            }
            is_cut |= depth < 0;
            piece.decides = piece.decides.map(|_| Decides::Reads);
        }
        is_cut |= depth != 0;
    }
    if is_cut {
        pieces.iter_mut().for_each(|(_, piece)| piece.decides = piece.decides.map(|_| Decides::Reads));
    }
}

/// Whether brackets pair up whichever of the branches within an item is read: between two directives as many are
/// opened as are closed.
fn is_whole(text: Text<'_>, plain: &[usize], range: Range<usize>, directives: &[usize]) -> bool {
    let cuts: Vec<usize> = directives
        .iter()
        .map(|d| plain.partition_point(|p| p < d))
        .filter(|cut| *cut > range.start && *cut < range.end)
        .collect();
    let depth = |mut at: Range<usize>| {
        at.try_fold(0usize, |depth, i| match text.at(i) {
            "{" => Some(depth + 1),
            "}" => depth.checked_sub(1),
            _ => Some(depth),
        })
    };
    depth(range) == Some(0) && cuts.windows(2).all(|w| depth(w[0]..w[1]) == Some(0))
}

fn odd(text: Text<'_>, range: Range<usize>) -> Piece {
    let mentions = identifiers(text, range.clone());
    Piece {
        text: spelled(text, range),
        reach: None,
        mentions,
        pastes: Vec::new(),
        decides: None,
        record: None,
    }
}

/// The stretches of tokens that are directives, and the indices of the others.
fn parted(tokens: &[Tok], interner: &Interner) -> (Vec<Range<usize>>, Vec<usize>) {
    let text = Text { tokens, interner };
    let starts_line = |i: usize| tokens.get(i).is_none_or(|t| t.flags.has(TokenFlags::START_OF_LINE));
    let (mut directives, mut plain, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        if text.at(at) == "#" && starts_line(at) {
            let end = (at + 1..=tokens.len()).find(|&i| starts_line(i)).unwrap_or(tokens.len());
            directives.push(at..end);
            at = end;
        } else {
            plain.push(at);
            at += 1;
        }
    }
    (directives, plain)
}

fn spelled(text: Text<'_>, tokens: Range<usize>) -> String {
    tokens.map(|i| text.at(i)).collect::<Vec<_>>().join(" ")
}

fn identifiers(text: Text<'_>, tokens: Range<usize>) -> BTreeSet<String> {
    let is_name = |i: &usize| text.tokens.get(*i).is_some_and(|t| matches!(t.kind, PpTokenKind::Ident));
    tokens.filter(is_name).map(|i| text.at(i)).filter(|w| !scan::is_keyword(w)).map(str::to_owned).collect()
}

fn directive(tokens: &[Tok], interner: &Interner, range: Range<usize>) -> Piece {
    let text = Text { tokens, interner };
    let (kind, name) = (text.at(range.start + 1), text.at(range.start + 2));
    let defines = matches!(kind, "define" | "undef");
    Piece {
        text: spelled(text, range.clone()),
        reach: defines.then(|| BTreeSet::from([name.to_owned()])),
        mentions: identifiers(text, range.start + 2..range.end),
        pastes: if defines { pastes(text, range) } else { Vec::new() },
        decides: match kind {
            "define" | "undef" | "pragma" | "error" | "warning" | "line" | "" => None,
            "if" | "ifdef" | "ifndef" => Some(Decides::Opens),
            "elif" | "elifdef" | "elifndef" | "else" => Some(Decides::Turns),
            "endif" => Some(Decides::Closes),
            _ => Some(Decides::Reads),
        },
        record: None,
    }
}

/// The names that a macro puts together: rows of words with `##` between them.
fn pastes(text: Text<'_>, range: Range<usize>) -> Vec<Paste> {
    let open = range.start + 3;
    let close = if text.at(open) == "(" { text.after_group(open, range.end) } else { open };
    let parameters: Vec<&str> =
        (open + 1..close.saturating_sub(1)).map(|i| text.at(i)).filter(|w| *w != ",").collect();
    let end =
        |word: &str| match parameters.iter().position(|p| *p == word || *p == "..." && word == "__VA_ARGS__")
        {
            Some(n) => End::Argument(n),
            None => End::Word(word.to_owned()),
        };
    let (mut out, mut at) = (Vec::new(), close);
    while at < range.end {
        if text.at(at) != "##" {
            at += 1;
            continue;
        }
        let first = at - 1;
        while text.at(at) == "##" {
            at += 2;
        }
        // `, ## __VA_ARGS__` makes no name.
        if text.at(first) != "," {
            out.push(Paste { first: end(text.at(first)), last: end(text.at(at - 1)) });
        }
    }
    out
}

fn declaration(text: Text<'_>, item: &scan::Item) -> Piece {
    let range = item.tokens.clone();
    let all = identifiers(text, range.clone());
    let begins_call = text.name(range.start).is_some() && text.at(range.start + 1) == "(";
    let own = record(text, range.clone());
    let reach = match &item.kind {
        ItemKind::Function { name, .. } => Some(BTreeSet::from([name.clone()])),
        // What a macro stands for is not seen; in front of a declaration it gives its own name no meaning.
        _ if begins_call => {
            let is_alone = text.after_group(range.start + 1, range.end) + 1 >= range.end;
            let is_other = |name: &&String| is_alone || Some(name.as_str()) != text.name(range.start);
            Some(all.iter().filter(is_other).cloned().collect())
        }
        _ if hides_members(text, range.clone()) => None,
        _ if item.declares.is_empty() => {
            // `struct s;` says that there is one.
            let forward = matches!(text.at(range.start), "struct" | "union" | "enum") && range.len() == 3;
            (forward || range.len() <= 1).then(|| all.clone())
        }
        _ => {
            let mut names: BTreeSet<String> = item.declares.iter().cloned().collect();
            // Who uses members of a structure names it, or what leads to one, which names it.
            if own.is_none() || names.is_empty() || has_types(text, range.clone()) {
                names.extend(members(text, range.clone()));
            }
            Some(names)
        }
    };
    let record = reach.as_ref().and(own);
    Piece { text: spelled(text, range), reach, mentions: all, pastes: Vec::new(), decides: None, record }
}

/// The structure or union that a declaration defines and does nothing else.
fn record(text: Text<'_>, range: Range<usize>) -> Option<Record> {
    let mut depth = 0usize;
    let is_head =
        |i: &usize| matches!(text.at(*i), "typedef" | "struct" | "union") || text.name(*i).is_some();
    let open = range.clone().find(|i| !is_head(i)).filter(|i| text.at(*i) == "{")?;
    let is_record = (range.start..open).any(|i| matches!(text.at(i), "struct" | "union"));
    let close = (open..range.end).find(|&i| {
        match text.at(i) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let close = close.filter(|_| is_record)?;
    let (mut all, mut from) = (Vec::new(), open + 1);
    let mut uses = identifiers(text, range.start..open);
    uses.extend(identifiers(text, close..range.end));
    for at in open + 1..close {
        let is_member =
            depth == 0 && text.at(at - 1) != ":" && matches!(text.at(at + 1), ";" | "," | "[" | ":");
        uses.extend(text.name(at).filter(|_| !is_member).map(str::to_owned));
        match text.at(at) {
            "{" | "(" => depth += 1,
            "}" | ")" => depth = depth.saturating_sub(1),
            ";" if depth == 0 => {
                let names = (from..at).filter(|i| is_declared(text, *i)).filter_map(|i| text.name(i));
                all.push((spelled(text, from..at), names.map(str::to_owned).collect()));
                from = at + 1;
            }
            _ => {}
        }
    }
    let frame = format!("{} {}", spelled(text, range.start..open + 1), spelled(text, close..range.end));
    (from == close).then_some(Record { frame, members: all, uses })
}

/// Whether types are defined within that of a structure, which have names of their own.
fn has_types(text: Text<'_>, range: Range<usize>) -> bool {
    let body = range.clone().skip_while(|i| text.at(*i) != "{");
    body.into_iter().any(|i| match text.at(i) {
        "enum" => true,
        "struct" | "union" => text.at(i + 2) == "{",
        _ => false,
    })
}

/// Whether a macro stands for whole members in the body of a structure: `FIELDS int x;`, `FIELDS(a);`.
fn hides_members(text: Text<'_>, range: Range<usize>) -> bool {
    let mut depth = 0usize;
    range.clone().any(|at| {
        match text.at(at) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let begins = depth > 0 && matches!(text.at(at), "{" | ";");
        let Some(name) = text.name(at + 1).filter(|_| begins && at + 1 < range.end) else { return false };
        let after = match text.at(at + 2) {
            "(" => text.after_group(at + 2, range.end),
            _ => at + 2,
        };
        // In an enumeration a comma or an end follows.
        // `code const *next` has a type in front.
        let is_type = name.bytes().any(|b| b.is_ascii_lowercase());
        text.at(after) == ";"
            || scan::is_type_word(text.at(after))
            || matches!(text.at(after), "const" | "volatile") && !is_type
    })
}

/// Whether what stands behind a name may be behind that of a member.
fn is_declared(text: Text<'_>, at: usize) -> bool {
    matches!(text.at(at + 1), ";" | "," | "[" | ":" | ")" | "(" | "{" | "}" | "=")
}

/// The names of members in the bodies of structures, and what may be taken for one.
fn members(text: Text<'_>, range: Range<usize>) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut depth = 0usize;
    for at in range {
        match text.at(at) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            _ if depth > 0 && is_declared(text, at) => {
                out.extend(text.name(at).map(str::to_owned));
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Per piece, what it gives a meaning to; `*` where that has no limits, `!` before what decides.
    fn reaches(source: &str) -> Vec<String> {
        let told = |p: &Piece| {
            let names = p
                .reach
                .as_ref()
                .map_or("*".to_owned(), |r| r.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
            let end = |e: &End| match e {
                End::Word(word) => word.clone(),
                End::Argument(n) => format!("${n}"),
                End::Any => "?".to_owned(),
            };
            let pasted: String =
                p.pastes.iter().map(|p| format!(" {}##{}", end(&p.first), end(&p.last))).collect();
            format!("{}{names}{pasted}", if p.decides.is_some() { "!" } else { "" })
        };
        pieces(source.as_bytes()).iter().map(told).collect()
    }

    #[test]
    fn declarations_reach_their_names() {
        assert_eq!(reaches("PUBLIC(int *) f(void);\nMADE(g);\nMADE(h)"), ["f", "MADE g", "MADE h"]);
        assert_eq!(reaches("void f(struct grid *g, int n);"), ["f"]);
        assert_eq!(reaches("struct s { int a, *b[3]; struct t { long c : 3; } d; };"), ["a b c d s t"]);
        assert_eq!(reaches("struct s { int a, *b[3]; struct t *c; union { int e; } d; };"), ["s"]);
        assert_eq!(reaches("struct { int a; } x; struct { int a; };"), ["x", "*"]);
        assert_eq!(reaches("typedef struct { int a; } T; enum e { A, B = 2 };"), ["T", "A B e"]);
        assert_eq!(reaches("extern const char *const names[], *other;"), ["names other"]);
        assert_eq!(reaches("static inline int f(int x) { return x; }\nint g;"), ["f", "g"]);
        assert_eq!(reaches("struct s;"), ["s"]);
        assert_eq!(reaches("RB_PROTOTYPE(tree, item, entry, cmp);"), ["RB_PROTOTYPE cmp entry item tree"]);
    }

    #[test]
    fn members_that_differ_are_named() {
        let check = |old: &str, new: &str, expected: Option<&str>| {
            let [old, new] =
                [old, new].map(|text| pieces(text.as_bytes())[0].record.clone().expect("a structure"));
            let names = old.changed(&new).map(|names| names.into_iter().collect::<Vec<_>>().join(" "));
            assert_eq!(names.as_deref(), expected, "{old:?} {new:?}");
        };
        check("struct s { int a; int b; };", "struct s { int b; int a; };", Some(""));
        check("struct s { int a; int b; };", "struct s { int a; T *c[2]; int b; };", Some("c"));
        check("struct s { int a, b; };", "struct s { long a, b; };", Some("a b"));
        check("typedef struct { int a; } T;", "typedef struct { int a; int c : 3; } T;", Some("c"));
        check("struct s { union { int x; } u; };", "struct s { union { int x; int y; } u; };", Some("u x y"));
        check("struct s { int (*f)(int n); };", "struct s { int (*f)(long n); };", Some("f n"));
        check("struct s { int a; };", "struct t { int a; };", None);
        check("struct s { int a; };", "struct s { int a; } x;", None);
        check("struct s { int a; };", "union s { int a; };", None);
        let none = |text: &str| assert_eq!(pieces(text.as_bytes())[0].record, None, "{text}");
        let uses = |text: &str| {
            let record = pieces(text.as_bytes())[0].record.clone().expect("a structure");
            record.uses.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(uses("struct s { T x; int a, b[N], c : W; ENTRY(e) next; };"), "ENTRY N T W e s");
        assert_eq!(uses("typedef struct { int (*f)(U n); } V;"), "U V f n");
        none("enum e { A, B };");
        none("struct s;");
        none("struct s f(int a);");
        none("struct s { int x; FIELDS; };");
        none("int f(struct s *p) { return p->a; }");
    }

    #[test]
    fn macros_that_hide_members_have_no_limits() {
        assert_eq!(reaches("struct s { FIELDS int x; };"), ["*"]);
        assert_eq!(reaches("struct s { int x; FIELDS(a, b); };"), ["*"]);
        assert_eq!(reaches("struct s { int x; FIELDS; };"), ["*"]);
        assert_eq!(reaches("struct s { FIELDS const int x; };"), ["*"]);
        assert_eq!(reaches("struct s { T x; ENTRY(s) next; code const *c; };"), ["s"]);
        assert_eq!(reaches("enum { A, B };"), ["A B"]);
    }

    #[test]
    fn directives_are_pieces() {
        let source = "#ifndef H\n#define H\n#include <x.h>\n#define MAX(a, b) \\\n ((a) > (b))\n#endif\n";
        assert_eq!(reaches(source), ["!*", "H", "!*", "MAX", "!*"]);
        assert_eq!(reaches("#pragma pack(1)\nint x;"), ["*", "x"]);
        // Within a declaration, too.
        assert_eq!(reaches("struct s {\n#ifdef X\nint a;\n#endif\n};"), ["s", "!*", "!*"]);
    }

    #[test]
    fn conditionals_have_contents() {
        let source = "#ifndef H\nint a;\n#if A\nint b;\n#elif B\nint c;\n#endif\nint d;\n#endif\n";
        let all = pieces(source.as_bytes());
        let inner: Vec<usize> = (0..all.len()).filter(|i| all[*i].decides.is_some()).collect();
        let found: Vec<_> = inner.iter().map(|i| conditional(&all, *i)).collect();
        assert_eq!(found, [Some(0..9), Some(2..7), Some(2..7), Some(2..7), Some(0..9)]);
        assert_eq!(conditional(&pieces(b"#if A\nint b;\n"), 0), None);
        // Within a declaration, and across its end.
        let kinds =
            |source: &str| pieces(source.as_bytes()).iter().filter_map(|p| p.decides).collect::<Vec<_>>();
        let (reads, opens, closes) = (Decides::Reads, Decides::Opens, Decides::Closes);
        assert_eq!(
            kinds("#if B\nint b;\n#endif\nstruct s {\n#if A\nint a;\n#endif\n};"),
            [opens, closes, reads, reads]
        );
        assert_eq!(kinds("#if B\nint b;\n#endif\nint a\n#if A\n;\nint c;\n#endif\n"), [reads; 4]);
        let around = conditions(&all);
        assert_eq!(around[1], [["# ifndef H"]]);
        assert_eq!(around[3], [vec!["# ifndef H"], vec!["# if A"]]);
        assert_eq!(around[5], [vec!["# ifndef H"], vec!["# if A", "# elif B"]]);
        assert_eq!(around[7], around[1]);
    }

    #[test]
    fn pasted_names_are_on_record() {
        assert_eq!(reaches("#define F(n) n##_init()"), ["F $0##_init"]);
        assert_eq!(reaches("#define F(a, b) a##b"), ["F $0##$1"]);
        assert_eq!(reaches("#define F(a) x_##a##_y + a##1"), ["F x_##_y $0##1"]);
        assert_eq!(reaches("#define F(f, ...) g(f, ##__VA_ARGS__)"), ["F"]);
    }

    #[test]
    fn calls_of_macros_make_names() {
        let check = |source: &str, name: &str, expected: bool| {
            let macros = pieces(b"#define F(a, b) a##_##b");
            let made = pieces(source.as_bytes()).iter().any(|p| p.makes(name, "F", &macros[0].pastes[0]));
            assert_eq!(made, expected, "{source} {name}");
        };
        check("int F(one, two);", "one_two", true);
        check("int F(one, two);", "one_three", false);
        check("int x = g(F(one, F(a, two)));", "one_three", true);
        check("#define G(t) F(x_##t, two)", "one_two", false);
        check("#define G(t) F(x_##t, two)", "x_y_two", true);
        // The calls of `G` do.
        check("#define G(t) F(one, t)", "one_three", false);
        check("#define G(t) F(one, (t))", "one_three", true);
        check("#define G (t) + F(one, two)", "one_two", true);
    }

    #[test]
    fn macros_hand_on_what_others_put_together() {
        let check = |source: &str, expected: &[(End, End)]| {
            let macros = pieces(b"#define F(a, b) a##_##b");
            let handed: Vec<_> = pieces(source.as_bytes())
                .iter()
                .flat_map(|p| p.hands_on("F", &macros[0].pastes[0]))
                .map(|made| (made.first, made.last))
                .collect();
            assert_eq!(handed, expected, "{source}");
        };
        let word = |w: &str| End::Word(w.to_owned());
        check("#define G(s, t) F(t, s)", &[(End::Argument(1), End::Argument(0))]);
        check("#define G(t) F(one, t)", &[(word("one"), End::Argument(0))]);
        check("#define G(t) F(t, H(t))", &[(End::Argument(0), End::Any)]);
        check("#define G(...) F(x, __VA_ARGS__)", &[]);
        check("#define G F(one, two)", &[]);
        check("int F(one, two);", &[]);
    }

    #[test]
    fn what_is_odd_has_no_limits() {
        assert_eq!(reaches("+ 3 }"), ["*"]);
        // Whichever branch is read, one bracket is open; both together leave one.
        let heads =
            "#ifdef X\nint f(void) {\n#else\nint f(int a) {\n#endif\nreturn 0; }\nint g(void) { return 1; }";
        assert_eq!(reaches(heads), ["!*", "*", "!*", "!*"]);
    }
}
