//! Facts as people write them: C expressions with ACSL's `\old(e)`, `\at(e, L)`, `\result`,
//! `\input(k)` and `==>`, as in `\result >= 0 && n <= 10`.
//!
//! Only expressions without side effects are facts: assignments, `++` and commas are errors that
//! say so. Comparisons do not chain, since `0 <= x <= 9` means something else in C than it says.
//! Method: precedence climbing over tokens that are read on demand. Nesting and length are bounded,
//! because facts come from files that anybody may have written.
//!
//! Sources: C17 6.4.4 (literals), 6.5 (expressions); ACSL for the backslashed words and `==>`.

#[cfg(test)]
mod tests;

use crate::formula::{Postcondition, ResourceState, Undefined, Within};
use crate::lexer::{Lexer, Token};
use crate::syntax::{Binary, Expression, Integer, Kind, TypeName, Unary};
use std::ops::Range;

/// Longest fact, in bytes.
pub const MAX_LEN: usize = 10_000;
/// Deepest nesting of operands and parentheses.
pub const MAX_DEPTH: usize = 100;
/// Most operators and calls. A chain of one operator is a tree as deep as the chain is long, and
/// whoever walks the tree recurses.
pub const MAX_OPERATORS: usize = 500;

/// What is wrong with a fact, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at column {}", offset + 1)]
pub struct ParseError {
    /// Byte offset.
    pub offset: usize,
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { offset, message: message.into() }
    }
}

/// Parses one fact.
///
/// Errors: the text is not an expression without side effects, or longer or deeper nested than the
/// limits.
pub fn parse(text: &str) -> Result<Expression, ParseError> {
    let mut parser = Parser::new(text, false)?;
    let expression = parser.expression(0)?;
    parser.end(expression)
}

/// Parses what is to hold where a function returns: a condition, or the state of a resource under conditions
/// (`n < 0 ==> in is closed`).
///
/// Errors: as of [`parse`].
pub fn parse_postcondition(text: &str) -> Result<Postcondition, ParseError> {
    let mut parser = Parser::new(text, false)?;
    let expression = parser.expression(0)?;
    if !matches!(parser.current.0, Token::Name(_)) {
        return parser.end(expression).map(Postcondition::Holds);
    }
    let (mut conditions, mut last) = (Vec::new(), expression);
    while let Kind::Binary(Binary::Implies, premise, rest) = last.kind {
        conditions.push(*premise);
        last = *rest;
    }
    let mut words: Vec<String> = Vec::new();
    while !matches!(parser.current.0, Token::End) {
        words.push(parser.name("a word of a state, or the end")?.0);
    }
    Ok(Postcondition::State(ResourceState { conditions, resource: last, words: words.join(" ") }))
}

/// Parses a template: an expression in which `?` or `?name`, where an operand stands, is an unknown. An unknown is
/// a name with its question mark; one without a name has its column for one, so that each is another.
///
/// Errors: as of [`parse`].
pub fn parse_template(text: &str) -> Result<Expression, ParseError> {
    let mut parser = Parser::new(text, false)?;
    parser.has_unknowns = true;
    let expression = parser.expression(0)?;
    parser.end(expression)
}

/// Parses an expression that the engine wrote.
///
/// Errors: it is longer or deeper than the limits, or something was left out of it (`...`).
pub fn parse_printed(text: &str) -> Result<Expression, ParseError> {
    let mut parser = Parser::new(text, true)?;
    let expression = parser.expression(0)?;
    parser.end(expression)
}

/// What a text says after its conditions.
pub(crate) enum Said {
    Holds(Expression),
    Calls(Expression),
    /// `f is closed`: of what, and the words.
    State(Expression, String),
}

/// A text of the engine: its conditions, what it says where they hold, and the byte at which that begins.
pub(crate) struct Statement {
    pub conditions: Vec<Expression>,
    pub said: Said,
    pub at: usize,
}

/// How texts of undefined events begin.
pub(crate) const UNDEFINED: &str = "undefined: ";

/// Reads `undefined: division by zero at line 3 in g()`.
pub(crate) fn undefined(text: &str) -> Option<Undefined> {
    let (what, place) = text.strip_prefix(UNDEFINED)?.split_once(" at line ")?;
    let (line, rest) = place.split_once(' ').unwrap_or((place, ""));
    let within = match (rest.strip_prefix("in ").and_then(|r| r.strip_suffix("()")), rest.strip_prefix("of "))
    {
        (Some(callee), _) => Within::Callee(callee.into()),
        (None, Some(file)) => Within::File(file.into()),
        (None, None) => Within::Own,
    };
    Some(Undefined { what: what.into(), line: line.parse().ok()?, within })
}

/// Parses a whole fact that the engine wrote.
///
/// Errors: as of [`parse_printed`].
pub(crate) fn statement(text: &str) -> Result<Statement, ParseError> {
    let mut parser = Parser::new(text, true)?;
    let mut conditions = Vec::new();
    loop {
        let at = parser.current.1.start;
        if parser.is_name("calls") && matches!(parser.next_token()?, Token::Name(_)) {
            parser.advance()?;
            let call = parser.expression(2)?;
            let call = parser.end(call)?;
            return Ok(Statement { conditions, said: Said::Calls(call), at });
        }
        let part = parser.expression(2)?;
        if parser.eat("==>")? {
            conditions.push(part);
        } else if matches!(parser.current.0, Token::Name(_)) {
            let words = text.get(parser.current.1.start..).unwrap_or_default().to_owned();
            return Ok(Statement { conditions, said: Said::State(part, words), at });
        } else {
            return Ok(Statement { conditions, said: Said::Holds(parser.end(part)?), at });
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    current: (Token, Range<usize>),
    depth: usize,
    operators: usize,
    /// A question mark in an operand's place is an unknown.
    has_unknowns: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, printed: bool) -> Result<Parser<'a>, ParseError> {
        if text.len() > MAX_LEN {
            return Err(ParseError::new(MAX_LEN, format!("Fact longer than {MAX_LEN} bytes")));
        }
        let mut lexer = Lexer::new(text, printed);
        let current = lexer.token()?;
        Ok(Parser { lexer, current, depth: 0, operators: 0, has_unknowns: false })
    }

    /// The expression, if nothing comes behind it.
    fn end(&self, whole: Expression) -> Result<Expression, ParseError> {
        match &self.current.0 {
            Token::End => Ok(whole),
            _ => Err(self.unexpected("an operator or the end")),
        }
    }

    fn is_name(&self, word: &str) -> bool {
        matches!(&self.current.0, Token::Name(n) if n == word)
    }

    /// The token behind the current one.
    fn next_token(&self) -> Result<Token, ParseError> {
        Ok(self.lexer.clone().token()?.0)
    }

    fn advance(&mut self) -> Result<(Token, Range<usize>), ParseError> {
        let next = self.lexer.token()?;
        Ok(std::mem::replace(&mut self.current, next))
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(&self.current.0, Token::Symbol(s) if *s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> Result<bool, ParseError> {
        let hit = self.is(symbol);
        if hit {
            self.advance()?;
        }
        Ok(hit)
    }

    fn expect(&mut self, symbol: &str) -> Result<Range<usize>, ParseError> {
        if !self.is(symbol) {
            return Err(self.unexpected(&format!("`{symbol}`")));
        }
        Ok(self.advance()?.1)
    }

    /// Returns the error for the current token, with advice where a side effect was written.
    fn unexpected(&self, wanted: &str) -> ParseError {
        let offset = self.current.1.start;
        let message = match &self.current.0 {
            Token::Symbol("=") => "Assignment in a fact; write `==` to compare".to_string(),
            Token::Symbol("++" | "--") => "A fact cannot change a variable".to_string(),
            Token::Symbol(",") => "Two expressions in a fact; write `&&` to join them".to_string(),
            Token::End => format!("Expected {wanted}, found the end"),
            other => format!("Expected {wanted}, found {}", other.describe()),
        };
        ParseError::new(offset, message)
    }

    fn enter(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        self.at_most(self.depth <= MAX_DEPTH, || format!("Nesting deeper than {MAX_DEPTH}"))
    }

    fn count(&mut self) -> Result<(), ParseError> {
        self.operators += 1;
        self.at_most(self.operators <= MAX_OPERATORS, || format!("More than {MAX_OPERATORS} operators"))
    }

    fn at_most(&self, holds: bool, message: impl Fn() -> String) -> Result<(), ParseError> {
        if holds { Ok(()) } else { Err(ParseError::new(self.current.1.start, message())) }
    }

    /// Parses operators that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Expression, ParseError> {
        self.enter()?;
        let mut left = self.unary()?;
        let mut compared: Option<Binary> = None;
        loop {
            if self.is("?") && least <= 2 {
                left = self.conditional(left)?;
                continue;
            }
            let Token::Symbol(symbol) = self.current.0 else { break };
            let Some(op) = Binary::of(symbol).filter(|op| op.precedence() >= least) else { break };
            if op.is_comparison() && compared.is_some_and(|c| c.precedence() == op.precedence()) {
                let message = "Comparisons do not chain in C; write `a <= b && b <= c`";
                return Err(ParseError::new(self.current.1.start, message));
            }
            compared = op.is_comparison().then_some(op);
            self.count()?;
            self.advance()?;
            // `==>` associates to the right, all others to the left.
            let right = self.expression(op.precedence() + u8::from(op != Binary::Implies))?;
            let span = left.span.start..right.span.end;
            left = Expression { kind: Kind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conditional(&mut self, condition: Expression) -> Result<Expression, ParseError> {
        self.expect("?")?;
        let then = self.expression(0)?;
        self.expect(":")?;
        let otherwise = self.expression(2)?;
        let span = condition.span.start..otherwise.span.end;
        let kind = Kind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expression { kind, span })
    }

    fn unary(&mut self) -> Result<Expression, ParseError> {
        let op = match &self.current.0 {
            Token::Symbol("!") => Unary::Not,
            Token::Symbol("-") => Unary::Minus,
            Token::Symbol("+") => Unary::Plus,
            Token::Symbol("~") => Unary::BitNot,
            Token::Symbol("*") => Unary::Dereference,
            Token::Symbol("&") => Unary::AddressOf,
            _ => return self.postfix(),
        };
        self.enter()?;
        let start = self.advance()?.1.start;
        let operand = self.unary()?;
        self.depth -= 1;
        let span = start..operand.span.end;
        Ok(Expression { kind: Kind::Unary(op, Box::new(operand)), span })
    }

    fn postfix(&mut self) -> Result<Expression, ParseError> {
        let mut base = self.primary()?;
        loop {
            self.count()?;
            let start = base.span.start;
            if self.eat("[")? {
                let index = self.expression(0)?;
                let end = self.expect("]")?.end;
                base = Expression { kind: Kind::Index(Box::new(base), Box::new(index)), span: start..end };
            } else if self.lexer.is_printed() && self.is("(") {
                let (arguments, end) = self.arguments()?;
                base = Expression { kind: Kind::CallThrough(Box::new(base), arguments), span: start..end };
            } else if self.is(".") || self.is("->") {
                let arrow = self.is("->");
                self.advance()?;
                let (name, end) = self.name("a member's name")?;
                base =
                    Expression { kind: Kind::Member { base: Box::new(base), name, arrow }, span: start..end };
            } else {
                return Ok(base);
            }
        }
    }

    fn name(&mut self, wanted: &str) -> Result<(String, usize), ParseError> {
        if !matches!(self.current.0, Token::Name(_)) {
            return Err(self.unexpected(wanted));
        }
        match self.advance()? {
            (Token::Name(name), span) => Ok((name, span.end)),
            (_, span) => Err(ParseError::new(span.start, format!("Expected {wanted}"))),
        }
    }

    fn primary(&mut self) -> Result<Expression, ParseError> {
        let start = self.current.1.start;
        let literal = match &self.current.0 {
            Token::Integer(i) => Some(Kind::Integer(*i)),
            Token::Character(c) => Some(Kind::Character(*c)),
            Token::Float(c) => Some(Kind::Float(*c)),
            Token::Text(t) => Some(Kind::Text(t.clone())),
            _ => None,
        };
        if let Some(kind) = literal {
            let span = self.advance()?.1;
            return Ok(Expression { kind, span });
        }
        match &self.current.0 {
            Token::Symbol("(") => self.parenthesised(),
            Token::Symbol("?") if self.has_unknowns => self.unknown(),
            Token::Backslash(word) => {
                let word = word.clone();
                self.acsl(&word)
            }
            Token::Name(_) => {
                let (name, end) = self.name("a name")?;
                if !self.is("(") {
                    return Ok(Expression { kind: Kind::Name(name), span: start..end });
                }
                let (args, end) = self.arguments()?;
                Ok(Expression { kind: Kind::Call(name, args), span: start..end })
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `?`, or `?a` without a space in between.
    fn unknown(&mut self) -> Result<Expression, ParseError> {
        let Range { start, end } = self.expect("?")?;
        if matches!(self.current.0, Token::Name(_)) && self.current.1.start == end {
            let (name, end) = self.name("a name")?;
            return Ok(Expression { kind: Kind::Name(format!("?{name}")), span: start..end });
        }
        Ok(Expression { kind: Kind::Name(format!("?{}", start + 1)), span: start..end })
    }

    fn arguments(&mut self) -> Result<(Vec<Expression>, usize), ParseError> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.is(")") {
            args.push(self.expression(0)?);
            if !self.eat(",")? {
                break;
            }
        }
        Ok((args, self.expect(")")?.end))
    }

    /// `(e)`, or a cast: a parenthesis before a word of a basic type or a tag.
    fn parenthesised(&mut self) -> Result<Expression, ParseError> {
        let start = self.expect("(")?.start;
        if let Some(ty) = self.type_name()? {
            self.expect(")")?;
            self.enter()?;
            let operand = self.unary()?;
            self.depth -= 1;
            let span = start..operand.span.end;
            return Ok(Expression { kind: Kind::Cast(ty, Box::new(operand)), span });
        }
        let inner = self.expression(0)?;
        let end = self.expect(")")?.end;
        Ok(Expression { kind: inner.kind, span: start..end })
    }

    fn type_name(&mut self) -> Result<Option<TypeName>, ParseError> {
        const WORDS: [&str; 13] = [
            "const", "signed", "unsigned", "char", "short", "int", "long", "float", "double", "_Bool",
            "struct", "union", "enum",
        ];
        let mut words: Vec<String> = Vec::new();
        while let Token::Name(name) = &self.current.0 {
            let after_tag = words.last().is_some_and(|w| matches!(w.as_str(), "struct" | "union" | "enum"));
            let basic = WORDS.contains(&name.as_str()) || (words.is_empty() && name == "void");
            let is_type = after_tag || basic || words.is_empty() && self.is_cast()?;
            if !is_type {
                break;
            }
            let name = name.clone();
            self.advance()?;
            if name != "const" {
                words.push(name);
            }
        }
        if words.is_empty() {
            return Ok(None);
        }
        let mut pointers = 0;
        while self.eat("*")? {
            pointers += 1;
        }
        Ok(Some(TypeName { base: words.join(" "), pointers }))
    }

    /// Whether the current name is that of a type in a cast, in what the engine wrote: `(name *)` or `(name)x`.
    fn is_cast(&self) -> Result<bool, ParseError> {
        if !self.lexer.is_printed() {
            return Ok(false);
        }
        let mut ahead = self.lexer.clone();
        let mut next = ahead.token()?.0;
        let mut stars = 0;
        while next == Token::Symbol("*") {
            stars += 1;
            next = ahead.token()?.0;
        }
        if next != Token::Symbol(")") {
            return Ok(false);
        }
        let behind = ahead.token()?.0;
        Ok(stars > 0 || !matches!(behind, Token::Symbol(s) if s != "(") && behind != Token::End)
    }

    /// `\result`, `\old(e)`, `\at(e, L)`, `\input(k)`, `\forall integer k; e`.
    fn acsl(&mut self, word: &str) -> Result<Expression, ParseError> {
        let Range { start, end } = self.current.1.clone();
        let boxed = |kind, end| Expression { kind, span: start..end };
        match word {
            "result" => {
                self.advance()?;
                Ok(boxed(Kind::Result, end))
            }
            "old" => {
                self.advance()?;
                self.expect("(")?;
                let inner = self.expression(0)?;
                Ok(boxed(Kind::Old(Box::new(inner)), self.expect(")")?.end))
            }
            "at" => {
                self.advance()?;
                self.expect("(")?;
                let inner = self.expression(0)?;
                self.expect(",")?;
                let (label, _) = self.name("a label")?;
                Ok(boxed(Kind::At(Box::new(inner), label), self.expect(")")?.end))
            }
            "input" => {
                self.advance()?;
                self.expect("(")?;
                let Token::Integer(Integer { value: k @ 1.., .. }) = self.current.0 else {
                    return Err(self.unexpected("the number of a conversion from 1 on"));
                };
                self.advance()?;
                Ok(boxed(Kind::Input(k), self.expect(")")?.end))
            }
            "forall" if self.lexer.is_printed() => {
                self.advance()?;
                self.name("`integer`")?;
                let (variable, _) = self.name("a variable")?;
                self.expect(";")?;
                let inner = self.expression(0)?;
                let end = inner.span.end;
                Ok(boxed(Kind::ForAll(variable, Box::new(inner)), end))
            }
            // An object that the machine has for the library: `\errno`.
            _ if self.lexer.is_printed() => {
                let name = format!("\\{word}");
                self.advance()?;
                Ok(boxed(Kind::Name(name), end))
            }
            _ => {
                let message = format!(
                    "Unknown word `\\{word}`; known are `\\result`, `\\old(e)`, `\\at(e, L)`, `\\input(k)`"
                );
                Err(ParseError::new(start, message))
            }
        }
    }
}
