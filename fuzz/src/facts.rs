//! Facts as people write them: in policies, annotations and on the command line.

use git_invdiff::interp::format::{Piece, PrintfValue, parse_printf, render_conversion};
use git_invdiff::ir::{
    CType, Const, DataModel, Field, FloatKind, Record, RecordId, Sort, TermId, TermPool, Unit,
};
use git_invdiff::semantics::c_parse::{Binary, Expression, Integer, Kind, Unary, parse};
use git_invdiff::semantics::c_term::{Scope, Typed, When, condition};

/// Words with which a parenthesis is a cast.
const TYPE_WORDS: [&str; 14] = [
    "void", "const", "signed", "unsigned", "char", "short", "int", "long", "float", "double", "_Bool",
    "struct", "union", "enum",
];

/// What was read lies in the text, and reads the same when it is written with all parentheses; as a term it is a
/// condition. What is wrong with a text is said in one line.
pub fn facts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let fact = match parse(&text) {
        Ok(fact) => fact,
        Err(error) => {
            assert!(error.offset <= text.len(), "{error:?}");
            super::assert_plain(&error.to_string(), false);
            return;
        }
    };
    let mut writer = Writer { text: &text, is_clear: true };
    let written = writer.write(&fact);
    if writer.is_clear {
        match parse(&written) {
            Ok(again) => assert_eq!(Writer { text: &written, is_clear: true }.write(&again), written),
            // More parentheses than there were may be too many.
            Err(e)
                if ["Fact longer", "Nesting deeper", "More than"]
                    .iter()
                    .any(|t| e.message.starts_with(t)) => {}
            Err(error) => panic!("{text:?} is written {written:?}: {error}"),
        }
    }
    let mut point = Point::new();
    if let Ok(term) = condition(&fact, &mut point) {
        assert_eq!(point.pool.sort(term), Sort::Bool, "{text:?}");
    }
}

struct Writer<'a> {
    text: &'a str,
    /// No name is a word that a parenthesis before it makes a cast.
    is_clear: bool,
}

impl Writer<'_> {
    fn write(&mut self, e: &Expression) -> String {
        assert!(self.text.get(e.span.clone()).is_some_and(|t| !t.is_empty()), "{e:?} in {:?}", self.text);
        match &e.kind {
            Kind::Integer(i) => integer(i),
            Kind::Character(c) => format!("'\\{:03o}'", *c as u8),
            Kind::Float(c) => float(*c),
            Kind::Name(name) => self.name(name),
            Kind::Result => "\\result".to_owned(),
            Kind::Old(inner) => format!("\\old({})", self.write(inner)),
            Kind::At(inner, label) => format!("\\at({}, {label})", self.write(inner)),
            Kind::Input(k) => format!("\\input({k})"),
            Kind::Unary(op, inner) => format!("{}{}", unary(*op), self.operand(inner)),
            Kind::Binary(op, a, b) => format!("{} {} {}", self.operand(a), binary(*op), self.operand(b)),
            Kind::Conditional(c, a, b) => {
                format!("{} ? {} : {}", self.operand(c), self.operand(a), self.operand(b))
            }
            Kind::Call(name, args) => {
                let args: Vec<String> = args.iter().map(|a| self.write(a)).collect();
                format!("{}({})", self.name(name), args.join(", "))
            }
            Kind::Index(base, index) => format!("{}[{}]", self.operand(base), self.write(index)),
            Kind::Member { base, name, arrow } => {
                format!("{}{}{name}", self.operand(base), if *arrow { "->" } else { "." })
            }
            Kind::Cast(ty, inner) => {
                format!("({}{}){}", ty.base, "*".repeat(ty.pointers as usize), self.operand(inner))
            }
        }
    }

    fn name(&mut self, name: &str) -> String {
        self.is_clear &= !TYPE_WORDS.contains(&name);
        name.to_owned()
    }

    fn operand(&mut self, e: &Expression) -> String {
        match &e.kind {
            Kind::Name(name) => self.name(name),
            _ => format!("({})", self.write(e)),
        }
    }
}

fn integer(i: &Integer) -> String {
    let digits = if i.hexadecimal { format!("{:#x}", i.value) } else { i.value.to_string() };
    format!("{digits}{}{}", if i.unsigned { "u" } else { "" }, "l".repeat(i.longs.into()))
}

fn float(c: Const) -> String {
    let (value, suffix) = match c {
        Const::F32(bits) => (PrintfValue::Double(f32::from_bits(bits).into()), "f"),
        Const::F80(value) => (PrintfValue::Extended(value), "l"),
        Const::F64(bits) => (PrintfValue::Double(f64::from_bits(bits)), ""),
        other => panic!("{other:?} is no float"),
    };
    let format: &[u8] = if suffix == "l" { b"%La" } else { b"%a" };
    let pieces = parse_printf(format).expect("a format");
    let [Piece::Conversion(conversion)] = pieces.as_slice() else { panic!("{pieces:?}") };
    let digits = render_conversion(conversion, DataModel::default(), value).expect("digits");
    let digits = String::from_utf8(digits).expect("text");
    // Too large a number is infinite, and has no digits of its own.
    format!("{}{suffix}", if digits == "inf" { "1e99999" } else { &digits })
}

fn unary(op: Unary) -> &'static str {
    match op {
        Unary::Not => "!",
        Unary::Minus => "-",
        Unary::Plus => "+",
        Unary::BitNot => "~",
        Unary::Dereference => "*",
        Unary::AddressOf => "&",
    }
}

fn binary(op: Binary) -> &'static str {
    match op {
        Binary::Implies => "==>",
        Binary::Or => "||",
        Binary::And => "&&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::BitAnd => "&",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
    }
}

/// A made-up point: what a name is goes by its first letter, and memory holds ones.
struct Point {
    pool: TermPool,
    unit: Unit,
}

impl Point {
    fn new() -> Point {
        let field = |name: &str, offset, bits, ty| Field { name: name.into(), offset, bits, ty };
        let int = CType::Int { bits: 32, signed: true, name: "int".into() };
        let record = Record {
            name: "pair".into(),
            is_union: false,
            size: 16,
            align: 8,
            fields: vec![
                field("a", 0, None, int.clone()),
                field("b", 4, Some((3, 5)), int),
                field("next", 8, None, CType::Pointer(CType::Record(RecordId(0)).into())),
            ],
            invented: false,
        };
        Point { pool: TermPool::new(), unit: Unit { records: vec![record], ..Unit::default() } }
    }

    fn constant(&mut self, c: Const, ty: CType) -> Option<Typed> {
        Some(Typed { term: self.pool.constant(c), ty })
    }
}

impl Scope for Point {
    fn pool(&mut self) -> &mut TermPool {
        &mut self.pool
    }

    fn unit(&self) -> &Unit {
        &self.unit
    }

    fn variable(&mut self, name: &str, when: When) -> Option<Typed> {
        let int = |bits, signed| CType::Int { bits, signed, name: "".into() };
        let now = i128::from(when == When::Here);
        match name.as_bytes().first()? {
            b'c' => self.constant(Const::bv(8, 200 + now), int(8, false)),
            b'd' => self.constant(Const::f64(0.5), CType::Float(FloatKind::F64)),
            b'f' => self.constant(Const::f32(1.5), CType::Float(FloatKind::F32)),
            b'l' => self.constant(Const::bv(64, i128::from(i64::MIN)), int(64, true)),
            b'p' => self.constant(Const::bv(64, 4096), CType::Pointer(CType::Record(RecordId(0)).into())),
            b's' => self.constant(Const::bv(64, 8192), CType::Pointer(int(8, true).into())),
            b'z' => None,
            _ => self.constant(Const::bv(32, 7 * now), int(32, true)),
        }
    }

    fn object(&mut self, _: &str) -> Option<Typed> {
        self.constant(Const::bv(64, 12288), CType::Int { bits: 32, signed: true, name: "int".into() })
    }

    fn result(&mut self) -> Option<Typed> {
        self.constant(Const::bv(32, -1), CType::Int { bits: 32, signed: true, name: "int".into() })
    }

    fn input(&mut self, k: u64) -> Option<Typed> {
        let int = CType::Int { bits: 32, signed: true, name: "int".into() };
        self.constant(Const::bv(32, i128::from(k)), int)
    }

    fn load(&mut self, _: TermId, sort: Sort, _: u64, _: When) -> Option<TermId> {
        let one = Const::from_bits(sort, 1)?;
        Some(self.pool.constant(one))
    }
}
