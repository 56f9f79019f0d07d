//! Facts as people write them: in policies, annotations and on the command line.

use git_invdiff::fact::term::{Scope, Typed, When, condition};
use git_invdiff::fact::{Formula, Kind, parse};
use git_invdiff::ir::{CType, Const, Field, FloatKind, Record, RecordId, Sort, TermId, TermPool, Unit};

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
    // A name that is a word of a type makes a cast of the parenthesis before it.
    let is_clear = !fact
        .any(&|e| matches!(&e.kind, Kind::Name(n) | Kind::Call(n, _) if TYPE_WORDS.contains(&n.as_str())));
    let written = fact.to_string();
    if is_clear {
        match parse(&written) {
            Ok(again) => assert_eq!(again, fact, "{text:?} is written {written:?}"),
            // More parentheses than there were may be too many.
            Err(e)
                if ["Fact longer", "Nesting deeper", "More than"]
                    .iter()
                    .any(|t| e.message.starts_with(t)) => {}
            Err(error) => panic!("{text:?} is written {written:?}: {error}"),
        }
    }
    // As the engine would have written it, it is read, too, or too long.
    let formula = Formula::read(text.as_ref());
    assert_eq!(formula.text(), text);
    assert!(text.ends_with(formula.conclusion()));
    let mut point = Point::new();
    if let Ok(term) = condition(&fact, &mut point) {
        assert_eq!(point.pool.sort(term), Sort::Bool, "{text:?}");
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
