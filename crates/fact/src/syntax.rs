//! The tree of an expression in a fact.

use crate::ir::Const;
use std::ops::Range;

/// An expression and where it is in the text.
///
/// Two are equal when they say the same with the same words, wherever they stand.
#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: Kind,
    /// Byte offsets.
    pub span: Range<usize>,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Integer(Integer),
    /// Value of a character constant, of type `int`.
    Character(i32),
    /// Of the sort that the suffix says.
    Float(Const),
    /// Variable, function or macro (`NULL`, `INFINITY`, `NAN`).
    Name(String),
    /// `\result`.
    Result,
    /// `\old(e)`: `e` at the function's entry.
    Old(Box<Expression>),
    /// `\at(e, label)`.
    At(Box<Expression>, String),
    /// `\input(k)`, counted from 1.
    Input(u64),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `c ? a : b`.
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A string literal as it is spelled between its quotes; in what the engine writes only.
    Text(String),
    /// `\forall integer k; e`; in what the engine writes only.
    ForAll(String, Box<Expression>),
    Call(String, Vec<Expression>),
    /// `(*p)(a)`; in what the engine writes only.
    CallThrough(Box<Expression>, Vec<Expression>),
    Index(Box<Expression>, Box<Expression>),
    /// `e.name`, or `e->name` when `arrow`.
    Member {
        base: Box<Expression>,
        name: String,
        arrow: bool,
    },
    Cast(TypeName, Box<Expression>),
}

/// Integer constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    pub value: u64,
    pub unsigned: bool,
    /// Number of `l` in the suffix.
    pub longs: u8,
    /// Not decimal: the constant may get an unsigned type.
    pub hexadecimal: bool,
}

/// Type in a cast: keywords of a basic type in C's usual order, or a tag, then stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// `unsigned long`, `struct node`, ...
    pub base: String,
    pub pointers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Not,
    Minus,
    Plus,
    BitNot,
    Dereference,
    AddressOf,
}

/// Binary operator, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `==>`
    Implies,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Binary {
    pub(crate) fn of(symbol: &str) -> Option<Binary> {
        Some(match symbol {
            "==>" => Binary::Implies,
            "||" => Binary::Or,
            "&&" => Binary::And,
            "|" => Binary::BitOr,
            "^" => Binary::BitXor,
            "&" => Binary::BitAnd,
            "==" => Binary::Eq,
            "!=" => Binary::Ne,
            "<" => Binary::Lt,
            "<=" => Binary::Le,
            ">" => Binary::Gt,
            ">=" => Binary::Ge,
            "<<" => Binary::Shl,
            ">>" => Binary::Shr,
            "+" => Binary::Add,
            "-" => Binary::Sub,
            "*" => Binary::Mul,
            "/" => Binary::Div,
            "%" => Binary::Rem,
            _ => return None,
        })
    }

    /// Returns how tightly the operator binds; 2 is the conditional operator's level.
    pub(crate) fn precedence(self) -> u8 {
        use Binary::*;
        match self {
            Implies => 1,
            Or => 3,
            And => 4,
            BitOr => 5,
            BitXor => 6,
            BitAnd => 7,
            Eq | Ne => 8,
            Lt | Le | Gt | Ge => 9,
            Shl | Shr => 10,
            Add | Sub => 11,
            Mul | Div | Rem => 12,
        }
    }

    /// How it is written.
    pub fn symbol(self) -> &'static str {
        use Binary::*;
        match self {
            Implies => "==>",
            Or => "||",
            And => "&&",
            BitOr => "|",
            BitXor => "^",
            BitAnd => "&",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Shl => "<<",
            Shr => ">>",
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
        }
    }

    pub fn is_comparison(self) -> bool {
        matches!(self.precedence(), 8 | 9)
    }

    /// The comparison that says the same of its sides the other way round; `None` of what is none.
    pub fn turned(self) -> Option<Binary> {
        use Binary::*;
        Some(match self {
            Eq | Ne => self,
            Lt => Gt,
            Le => Ge,
            Gt => Lt,
            Ge => Le,
            _ => return None,
        })
    }
}

impl Expression {
    /// An expression that stands in no text.
    pub fn new(kind: Kind) -> Expression {
        Expression { kind, span: 0..0 }
    }

    pub fn binary(op: Binary, left: Expression, right: Expression) -> Expression {
        Expression::new(Kind::Binary(op, Box::new(left), Box::new(right)))
    }

    /// The sides of a comparison, with its operator.
    pub fn comparison(&self) -> Option<(Binary, &Expression, &Expression)> {
        match &self.kind {
            Kind::Binary(op, l, r) if op.is_comparison() => Some((*op, l, r)),
            _ => None,
        }
    }

    /// The operands of the expression itself.
    pub fn operands(&self) -> Vec<&Expression> {
        match &self.kind {
            Kind::Old(e) | Kind::At(e, _) | Kind::Unary(_, e) | Kind::Cast(_, e) | Kind::ForAll(_, e) => {
                vec![e]
            }
            Kind::Member { base, .. } => vec![base],
            Kind::Binary(_, a, b) | Kind::Index(a, b) => vec![a, b],
            Kind::Conditional(c, a, b) => vec![c, a, b],
            Kind::Call(_, arguments) => arguments.iter().collect(),
            Kind::CallThrough(callee, arguments) => [&**callee].into_iter().chain(arguments).collect(),
            Kind::Integer(_) | Kind::Character(_) | Kind::Float(_) | Kind::Name(_) | Kind::Result => {
                Vec::new()
            }
            Kind::Input(_) | Kind::Text(_) => Vec::new(),
        }
    }

    /// Whether some part, or the whole, is so.
    pub fn any(&self, is_so: &dyn Fn(&Expression) -> bool) -> bool {
        is_so(self) || self.operands().into_iter().any(|e| e.any(is_so))
    }

    /// Calls back for the expression and all its parts, from the outside in.
    pub fn each<'e>(&'e self, then: &mut impl FnMut(&'e Expression)) {
        then(self);
        self.operands().into_iter().for_each(|e| e.each(then));
    }

    /// The parts of a chain of one operator, from left to right: of `a && b && c` three.
    pub fn chain(&self, op: Binary) -> Vec<&Expression> {
        match &self.kind {
            Kind::Binary(o, l, r) if *o == op => {
                let mut parts = l.chain(op);
                parts.extend(r.chain(op));
                parts
            }
            _ => vec![self],
        }
    }

    /// Whether another expression is the same but for integers and strings, and these became the other's, as
    /// they are written.
    pub fn is_renumbered(&self, other: &Expression, became: &dyn Fn(&str, &str) -> bool) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Integer(a), Kind::Integer(b)) => {
                return a == b || became(&a.to_string(), &b.to_string());
            }
            (Kind::Text(a), Kind::Text(b)) => return a == b || became(a, b),
            _ => {}
        }
        let (mine, theirs) = (self.operands(), other.operands());
        let same = |(a, b): (&&Expression, &&Expression)| a.is_renumbered(b, became);
        self.shape() == other.shape() && mine.len() == theirs.len() && mine.iter().zip(&theirs).all(same)
    }

    /// The expression itself without its operands.
    fn shape(&self) -> Kind {
        let hole = || Box::new(Expression::new(Kind::Result));
        match &self.kind {
            Kind::Old(_) => Kind::Old(hole()),
            Kind::At(_, label) => Kind::At(hole(), label.clone()),
            Kind::Unary(op, _) => Kind::Unary(*op, hole()),
            Kind::Cast(ty, _) => Kind::Cast(ty.clone(), hole()),
            Kind::ForAll(variable, _) => Kind::ForAll(variable.clone(), hole()),
            Kind::Member { name, arrow, .. } => {
                Kind::Member { base: hole(), name: name.clone(), arrow: *arrow }
            }
            Kind::Binary(op, ..) => Kind::Binary(*op, hole(), hole()),
            Kind::Index(..) => Kind::Index(hole(), hole()),
            Kind::Conditional(..) => Kind::Conditional(hole(), hole(), hole()),
            Kind::Call(name, _) => Kind::Call(name.clone(), Vec::new()),
            Kind::CallThrough(..) => Kind::CallThrough(hole(), Vec::new()),
            leaf => leaf.clone(),
        }
    }

    /// Puts a name in place of the number that a place is indexed with, and returns the array and the number.
    /// `None`: there is no index, several, or it is no number.
    pub fn index_by(&mut self, name: &str) -> Option<(Expression, i128)> {
        let is_index = |e: &Expression| matches!(e.kind, Kind::Index(..));
        match &mut self.kind {
            Kind::Index(array, index) => {
                let number = index.number().filter(|_| !array.any(&is_index))?;
                **index = Expression::new(Kind::Name(name.into()));
                Some(((**array).clone(), number))
            }
            Kind::Member { base, .. } => base.index_by(name),
            Kind::Unary(Unary::Dereference, inner) => inner.index_by(name),
            _ => None,
        }
    }

    /// Whether memory is read: by a pointer, a member or an index.
    pub fn reads_memory(&self) -> bool {
        self.any(&|e| {
            let reads = matches!(e.kind, Kind::Index(..) | Kind::Member { .. });
            reads || matches!(e.kind, Kind::Unary(Unary::Dereference, _))
        })
    }

    /// An integer that is written out, with its sign.
    pub fn number(&self) -> Option<i128> {
        match &self.kind {
            Kind::Integer(i) => Some(i128::from(i.value)),
            Kind::Character(c) => Some(i128::from(*c)),
            Kind::Unary(Unary::Minus, e) => e.number().map(|n| -n),
            Kind::Name(n) if n == "NULL" => Some(0),
            _ => None,
        }
    }
}
