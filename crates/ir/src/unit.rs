//! A translation unit after lowering.

use super::{
    Alias, CType, Callee, Compared, Expr, Function, Initial, Instr, Object, Record, RecordId, Span, Spelled,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

/// Sizes of C's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DataModel {
    /// x86-64 Linux.
    #[default]
    Lp64,
    /// i386 Linux layout, with SSE floats (no excess precision).
    Ilp32,
}

impl DataModel {
    pub fn pointer_bits(self) -> u16 {
        match self {
            DataModel::Lp64 => 64,
            DataModel::Ilp32 => 32,
        }
    }
}

/// Piece of a static initialiser; bytes that no piece covers are zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InitPiece {
    Bytes {
        offset: u64,
        bytes: Vec<u8>,
    },
    /// Address of a symbol plus an offset, stored with the pointer width.
    Address {
        offset: u64,
        symbol: Arc<str>,
        plus: i64,
    },
    /// Bytes whose value is not known: what is written there does not fold.
    Unknown {
        offset: u64,
        size: u64,
        /// What is written, as the checked tree with its types: equal texts give equal bytes.
        text: Arc<str>,
        /// What it names: their addresses may be in the bytes.
        symbols: Vec<Arc<str>>,
    },
}

impl InitPiece {
    /// The symbols whose addresses may be in the piece.
    pub fn symbols(&self) -> &[Arc<str>] {
        match self {
            InitPiece::Bytes { .. } => &[],
            InitPiece::Address { symbol, .. } => std::slice::from_ref(symbol),
            InitPiece::Unknown { symbols, .. } => symbols,
        }
    }

    pub fn offset(&self) -> u64 {
        match self {
            InitPiece::Bytes { offset, .. }
            | InitPiece::Address { offset, .. }
            | InitPiece::Unknown { offset, .. } => *offset,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    External,
    /// `static`, at file scope or in a function.
    Internal,
    /// As `External`, but a definition elsewhere takes its place.
    Weak,
    /// Declared here, defined elsewhere.
    Import,
    /// A string literal.
    Literal,
}

/// Object with static storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Global {
    /// Unique in the unit. Source name for file scope; `function.name` (with `.k` on repeats) for
    /// static locals; for literals see [`super::literal`].
    pub symbol: Arc<str>,
    /// Name as written, for display.
    pub name: Arc<str>,
    pub ty: CType,
    /// Bytes; 0 when the type is incomplete.
    pub size: u64,
    pub linkage: Linkage,
    /// Declared `const` (all of it): its initialiser is its value for ever.
    pub is_const: bool,
    /// Not declared so, but nothing that can name it writes it or lets its address get away.
    pub is_fixed: bool,
    pub init: Vec<InitPiece>,
    pub span: Span,
}

impl Global {
    /// Whether its content is the same always, and known here: what is defined elsewhere may be
    /// constant, but nobody here knows as what.
    pub fn is_known_constant(&self) -> bool {
        (self.is_const || self.is_fixed) && !matches!(self.linkage, Linkage::Import | Linkage::Weak)
    }

    /// Returns `bytes` bytes at `offset` of the initialiser, `None` outside of it, where an
    /// address is stored, and where the initialiser is elsewhere.
    pub fn constant_bytes(&self, offset: u64, bytes: u64) -> Option<Vec<u8>> {
        if matches!(self.linkage, Linkage::Import | Linkage::Weak) {
            return None;
        }
        let end = offset.checked_add(bytes)?;
        if end > self.size {
            return None;
        }
        let mut result = vec![0u8; usize::try_from(bytes).ok()?];
        for piece in &self.init {
            match piece {
                InitPiece::Bytes { offset: at, bytes: data } => {
                    // What both have: a table has many pieces, and is asked for element by element.
                    let from = offset.max(*at);
                    let until = end.min(at.saturating_add(data.len() as u64));
                    if from < until {
                        let place = |p: u64, start: u64| usize::try_from(p - start).ok();
                        let there = data.get(place(from, *at)?..place(until, *at)?)?;
                        result.get_mut(place(from, offset)?..place(until, offset)?)?.copy_from_slice(there);
                    }
                }
                InitPiece::Address { offset: at, .. } => {
                    if *at < end && at + 8 > offset {
                        return None;
                    }
                }
                InitPiece::Unknown { offset: at, size, .. } => {
                    if *at < end && at + size > offset {
                        return None;
                    }
                }
            }
        }
        Some(result)
    }
}

/// Declared type of a function, from a prototype or a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prototype {
    pub name: Arc<str>,
    pub ret: CType,
    pub params: Vec<CType>,
    pub variadic: bool,
    /// Declared without parameters, `int f()`.
    pub unspecified: bool,
    pub noreturn: bool,
}

/// Bytes of a global: its symbol, the first byte and the one beyond the last.
pub type Region = (Arc<str>, (i128, i128));

/// A static assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticAssertion {
    pub file: PathBuf,
    pub line: u32,
    /// Its condition, after preprocessing.
    pub text: Arc<str>,
    /// `None`: not known.
    pub fails: Option<bool>,
}

/// Functions that sections of pointers have run.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Before `main`, in this order.
    pub init_array: Vec<Arc<str>>,
    /// After `main`, in the reverse of this order.
    pub fini_array: Vec<Arc<str>>,
}

/// What of a unit's text is not understood.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// Text at file scope that may define, change or run anything: assembly, sections that are not
    /// understood, functions whose definition is chosen when the program is loaded.
    pub opaque: Vec<Arc<str>>,
    /// Names whose meaning was made up, with the reason: types that nothing declares, what has errors in its
    /// declaration, what holds one of these.
    pub invented: BTreeMap<Arc<str>, Arc<str>>,
}

/// What takes a walk over a unit, once it was asked for.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Bytes of globals whose addresses get away.
    pub exposed: OnceLock<BTreeSet<Region>>,
    /// Names of functions that its code calls or takes the address of.
    pub named: OnceLock<BTreeSet<Arc<str>>>,
    /// What tells the layouts of its records.
    pub layouts: OnceLock<blake3::Hash>,
    /// Some initialiser may be a format that stores how much was printed.
    pub counts: OnceLock<bool>,
    /// What tells its records, all that is known of them.
    pub records: OnceLock<blake3::Hash>,
    pub relaid: RelaidRecords,
}

/// Which records are laid out otherwise in other units: what tells the records of these, and by record of this unit
/// the one of the other, by their numbers.
#[derive(Debug, Default)]
pub struct RelaidRecords {
    known: Mutex<HashMap<blake3::Hash, RecordPairs>>,
}

/// Numbers of records of one unit with those of another one.
pub type RecordPairs = Arc<[(u32, u32)]>;

impl Clone for RelaidRecords {
    /// Of a copy, which may be changed, nothing is known.
    fn clone(&self) -> RelaidRecords {
        RelaidRecords::default()
    }
}

impl RelaidRecords {
    /// Returns what is known of the unit that a hash tells, found by `find` when it is asked for first.
    pub fn of(&self, other: blake3::Hash, find: impl FnOnce() -> Vec<(u32, u32)>) -> RecordPairs {
        let known = self.known.lock().ok().and_then(|known| known.get(&other).cloned());
        known.unwrap_or_else(|| {
            let found: RecordPairs = find().into();
            if let Ok(mut known) = self.known.lock() {
                known.insert(other, found.clone());
            }
            found
        })
    }
}

/// How the source writes what is a plain number or a type here.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Enumerators that functions name, of enumerations without a name, too; `None`: one with two meanings.
    pub enumerators: BTreeMap<Arc<str>, Option<i128>>,
    /// Constants that its own file writes as macros, and where it writes the same values otherwise; by line.
    pub spelled: Vec<Spelled>,
    /// Where its own file writes an enumerator or a character beside something; by line.
    pub compared: Vec<Compared>,
    /// What the typedefs of the file's scope stand for, in words of which none is a typedef.
    pub typedefs: BTreeMap<Arc<str>, Arc<str>>,
    /// Initialisers in files of the tree, by the symbols of their objects.
    pub initial: BTreeMap<Arc<str>, Initial>,
}

/// One preprocessed, checked and lowered translation unit.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Path of the source file in its tree.
    pub path: PathBuf,
    pub data_model: DataModel,
    /// Every file that was read, indexed by [`super::FileId`]; 0 is `path` itself. Embedded headers
    /// have paths that start with `<`.
    pub files: Vec<PathBuf>,
    pub records: Vec<Record>,
    /// Enumerators and their values, in order, by the name that [`CType::Int`] has for the enumeration.
    pub enumerations: BTreeMap<Arc<str>, Vec<(Arc<str>, i128)>>,
    pub written: Written,
    pub globals: Vec<Global>,
    pub prototypes: Vec<Prototype>,
    /// In source order.
    pub functions: Vec<Arc<Function>>,
    /// Names that stand for functions and objects that are in the unit under others.
    pub aliases: Vec<Alias>,
    pub hooks: Hooks,
    /// What it demands when it is compiled, in order.
    pub statics: Vec<StaticAssertion>,
    /// Attributes by which compilers give operations another meaning (`optimize("fast-math")`), in order.
    pub options: Vec<Arc<str>>,
    /// No definition of its text was lost, and no unknown macro taken to stand for nothing: what the
    /// functions do not do, the unit does not do.
    pub is_whole: bool,
    pub gaps: Gaps,
    pub answers: Answers,
}

impl Unit {
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| &*f.name == name).map(|f| &**f)
    }

    pub fn global(&self, symbol: &str) -> Option<&Global> {
        self.globals.iter().find(|g| &*g.symbol == symbol)
    }

    /// A hash of the layouts of all records, in their order. One walk over them, once.
    pub fn layouts(&self) -> blake3::Hash {
        *self.answers.layouts.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            for r in &self.records {
                hasher.update(format!("{} {} {} {}", r.name, r.is_union, r.size, r.align).as_bytes());
                for f in &r.fields {
                    hasher.update(format!(" {} {} {:?} {:?}", f.name, f.offset, f.bits, f.ty).as_bytes());
                }
            }
            hasher.finalize()
        })
    }

    /// What tells its records, [`Unit::layouts`] and which of them were made up. One walk over them, once.
    pub fn told_records(&self) -> blake3::Hash {
        *self.answers.records.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(self.layouts().as_bytes());
            let invented: Vec<u8> = self.records.iter().map(|r| u8::from(r.invented)).collect();
            hasher.update(&invented);
            hasher.finalize()
        })
    }

    /// Whether the bytes of some initialiser are such a format. One walk over the unit, once.
    pub fn has_counting_formats(&self, is_counting: fn(&[u8]) -> bool) -> bool {
        *self.answers.counts.get_or_init(|| {
            self.globals.iter().flat_map(|g| &g.init).any(|p| match p {
                InitPiece::Bytes { bytes, .. } => bytes.split(|b| *b == 0).any(is_counting),
                InitPiece::Address { .. } => false,
                InitPiece::Unknown { .. } => true,
            })
        })
    }

    /// Whether code calls a function by name, or its address is taken. One walk over the unit, once.
    pub fn names_function(&self, name: &str) -> bool {
        let named = self.answers.named.get_or_init(|| {
            let mut found = self.functions_taken();
            for node in self.functions.iter().flat_map(|f| &f.nodes) {
                if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr {
                    found.insert(name.clone());
                }
            }
            found
        });
        named.contains(name)
    }

    /// Names of functions, defined here or not, whose addresses code or an initialiser takes; those that
    /// are only called are not among them. One walk over the unit.
    pub fn functions_taken(&self) -> BTreeSet<Arc<str>> {
        let mut found = BTreeSet::new();
        for node in self.functions.iter().flat_map(|f| &f.nodes) {
            node.instr.for_each_expr(&mut |e| {
                if let Expr::Addr(Object::Function(name)) = e {
                    found.insert(name.clone());
                }
            });
        }
        let symbols = self.globals.iter().flat_map(|g| &g.init).flat_map(InitPiece::symbols);
        found.extend(symbols.filter(|s| self.global(s).is_none()).cloned());
        found
    }

    /// Whether all that happens to a function in the whole program are the calls of it that the unit shows.
    /// One walk over the unit.
    pub fn is_only_called(&self, f: &Function) -> bool {
        let aliased = self.aliases.iter().any(|a| a.target == f.name);
        let is_own = f.is_static && self.is_whole && !aliased && !f.binding.is_hook();
        is_own
            && self.functions.iter().all(|g| g.unknowns.is_empty())
            && !self.functions_taken().contains(&f.name)
    }

    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }

    /// Returns how many bytes of an object of scalar type its value takes, `None` for other types.
    pub fn value_bytes(&self, ty: &CType) -> Option<u64> {
        ty.sort(self.data_model.pointer_bits()).map(super::Sort::bytes)
    }

    /// Returns the size in bytes of a type, `None` when it is incomplete or not an object type.
    pub fn size_of(&self, ty: &CType) -> Option<u64> {
        match ty {
            CType::Void | CType::Function(_) => None,
            CType::Bool => Some(1),
            CType::Int { bits, .. } => Some(*bits as u64 / 8),
            CType::Float(super::FloatKind::F32) => Some(4),
            CType::Float(super::FloatKind::F64) => Some(8),
            CType::Float(super::FloatKind::LongDouble) => {
                Some(if self.data_model == DataModel::Lp64 { 16 } else { 12 })
            }
            CType::Pointer(_) => Some(self.data_model.pointer_bits() as u64 / 8),
            CType::Array(t, n) => Some(self.size_of(t)? * (*n)?),
            CType::Record(id) => Some(self.record(*id).size).filter(|&s| s > 0),
            CType::Opaque { size, .. } => Some(*size).filter(|&s| s > 0),
        }
    }
}
/// A type of one unit as another unit has it: records by their names, and those without a name by their
/// members; `void` where there is no such record. An id of a record means nothing outside of its unit.
pub fn retyped(ty: &CType, from: &Unit, to: &Unit) -> CType {
    match ty {
        CType::Pointer(target) => CType::Pointer(Arc::new(retyped(target, from, to))),
        CType::Array(element, n) => match retyped(element, from, to) {
            CType::Void => CType::Void,
            element => CType::Array(Arc::new(element), *n),
        },
        CType::Record(id) => {
            let Some(r) = from.records.get(id.0 as usize) else { return CType::Void };
            let members =
                |r: &Record| -> Vec<_> { r.fields.iter().map(|f| (f.name.clone(), f.offset)).collect() };
            let is_it = |o: &Record| {
                let named = !r.name.is_empty();
                o.is_union == r.is_union && o.name == r.name && (named || members(o) == members(r))
            };
            // Of several in inner scopes the one that is made alike.
            let alike = |o: &Record| is_it(o) && o.size == r.size && members(o) == members(r);
            let found = to.records.iter().position(alike).or_else(|| to.records.iter().position(is_it));
            found.map_or(CType::Void, |i| CType::Record(RecordId(i as u32)))
        }
        other => other.clone(),
    }
}
