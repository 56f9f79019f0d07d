//! What the functions of one unit share: types, symbols, globals, string literals.

use super::super::parse::Parsed;
use super::errors::Errors;
use super::labels::Labels;
use super::line_strings::LineStrings;
use super::sizeof::Asked;
use super::spans::Spans;
use crate::ir::library::control::{Control, Ends, control};
use crate::ir::{
    CType, Callee, Expr, Global, Initial, Instr, Linkage, Node, Object, Prototype, Record, RecordId, Settled,
    literal,
};
use rucc_base::Interner;
use rucc_sema::{Decl, DeclFlags, DeclId, Definition, ExprId, StorageDuration, Tast};
use rucc_target::TargetInfo;
use rucc_types::{TypeId, TypeKind, Types};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// State of the lowering of one unit.
pub(super) struct UnitCx<'a> {
    pub tast: &'a Tast,
    pub types: &'a Types,
    pub target: &'a TargetInfo,
    pub names: &'a Interner,
    pub spans: Spans<'a>,
    pub errors: Errors,
    /// Width of pointers in bits.
    pub pointer: u16,
    pub(super) ir_types: IrTypes,
    /// Scalars whose address is taken somewhere, by declaration.
    pub address_taken: BTreeSet<DeclId>,
    /// Nested functions whose address is taken.
    pub nested_taken: BTreeSet<DeclId>,
    pub(super) symbols: Symbols,
    pub(super) labels: Labels,
    /// Constants that `__LINE__` gave and that their places do not tell from others.
    pub(super) line_numbers: BTreeSet<ExprId>,
    pub(super) line_strings: LineStrings,
    /// Constants that `sizeof` gave: of what.
    pub(super) sizes: BTreeMap<ExprId, Asked>,
}

/// The types of the unit that were met, as the IR has them.
#[derive(Default)]
pub(super) struct IrTypes {
    pub(super) ctypes: BTreeMap<TypeId, CType>,
    pub(super) records: Vec<Record>,
    pub(super) record_ids: BTreeMap<rucc_types::RecordId, RecordId>,
    /// Typedefs of enumerations, and the enumerations that were met ([`crate::ir::Unit::enumerations`]).
    pub(super) enum_names: BTreeMap<rucc_types::EnumId, Arc<str>>,
    pub(super) enumerations: BTreeMap<Arc<str>, Vec<(Arc<str>, i128)>>,
}

/// The objects and functions of the unit that were met, by their symbols.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) globals: Vec<Global>,
    /// Index into `globals`.
    pub(super) global_of: BTreeMap<Arc<str>, usize>,
    /// Symbols of objects with static storage that have no linkage.
    pub(super) of_locals: BTreeMap<DeclId, Arc<str>>,
    pub(super) prototypes: BTreeMap<Arc<str>, Prototype>,
    /// How initialisers are written, by symbol.
    pub(super) initial: BTreeMap<Arc<str>, Initial>,
}

/// What our `assert.h` expands a failed assertion to, and one that `NDEBUG` switches off.
const ASSERT_FAIL: &str = "__invdiff_assert_fail";
pub(super) const ASSERT_OFF: &str = "__invdiff_assert_off";

/// Whether a function never returns, whatever its declaration says. Threads that end, and what verification tasks
/// call, are declared.
fn never_returns(name: &str) -> bool {
    match control(name) {
        Some(Control::Ends(Ends::Failed)) => matches!(name, "__assert_fail" | ASSERT_FAIL),
        Some(Control::Ends(how)) => how != Ends::Thread && !name.starts_with("__builtin_"),
        Some(Control::Jumps) => true,
        Some(Control::Calls(_)) | None => false,
    }
}

impl<'a> UnitCx<'a> {
    /// The state before anything is lowered.
    pub fn new(parsed: &'a Parsed, pointer: u16) -> Self {
        let (session, checked) = (&parsed.session, &parsed.checked);
        let files = (&*parsed.path, &*parsed.reads);
        UnitCx {
            tast: &checked.tast,
            types: &checked.types,
            target: &session.target,
            names: &session.interner,
            spans: Spans::new(&session.sources, &session.interner, &parsed.tokens, files),
            errors: Errors::new(parsed),
            pointer,
            ir_types: IrTypes::default(),
            address_taken: BTreeSet::new(),
            nested_taken: BTreeSet::new(),
            symbols: Symbols::default(),
            labels: Labels::default(),
            line_numbers: BTreeSet::new(),
            line_strings: LineStrings::of(
                &session.sources,
                &session.interner,
                &parsed.tokens,
                &session.target,
            ),
            sizes: BTreeMap::new(),
        }
    }

    /// Returns the object that is read for a label which nobody declared, and its place among them by name.
    pub fn label(&self, value: i128) -> Option<(usize, DeclId)> {
        self.labels.unknown.get(&value).copied()
    }

    pub fn name_of(&self, decl: &Decl) -> Arc<str> {
        decl.name.map_or("", |n| self.names.resolve(n)).into()
    }

    /// Returns the symbol of a function and notes its prototype.
    pub fn function_symbol(&mut self, id: DeclId) -> Arc<str> {
        let id = self.stands_for(id).unwrap_or(id);
        let decl = &self.tast[id];
        // Within the unit a definition goes by its name, whatever its symbol.
        let spelled = if decl.body.is_some() { self.name_of(decl) } else { self.symbol_of(decl) };
        let name: Arc<str> = match rucc_sema::library_name(&spelled) {
            Some(library) => library.into(),
            None => spelled,
        };
        let noreturn = self.never_returns(id, &name);
        if !self.symbols.prototypes.contains_key(&name) {
            let made = self.prototype(decl.ty, name.clone(), noreturn);
            self.symbols.prototypes.insert(name.clone(), made);
        }
        name
    }

    pub fn never_returns(&self, id: DeclId, name: &str) -> bool {
        self.tast[id].flags.contains(DeclFlags::NORETURN) || never_returns(name)
    }

    fn prototype(&mut self, ty: TypeId, name: Arc<str>, noreturn: bool) -> Prototype {
        let TypeKind::Function(id) = self.types.kind(self.types.canonical(ty)) else {
            return Prototype {
                name,
                ret: CType::Void,
                params: Vec::new(),
                variadic: false,
                unspecified: true,
                noreturn,
            };
        };
        let signature = self.types.signature(id);
        Prototype {
            name,
            ret: self.ctype(signature.ret),
            params: signature.params.iter().map(|&p| self.ctype(p)).collect(),
            variadic: signature.variadic,
            unspecified: !signature.prototyped,
            noreturn,
        }
    }

    /// Returns the symbol of an object with static storage, making its [`Global`] at first use.
    /// `function` names the function that a static local belongs to.
    pub fn symbol(&mut self, id: DeclId, function: Option<&str>) -> Arc<str> {
        let decl = &self.tast[id];
        let name = self.name_of(decl);
        if decl.linkage == rucc_sema::Linkage::None {
            if let Some(known) = self.symbols.of_locals.get(&id) {
                return known.clone();
            }
            let base = match function {
                Some(function) if !name.is_empty() => format!("{function}.{name}"),
                Some(function) => format!("{function}.<literal>"),
                None => "<literal>".to_string(),
            };
            let symbol = self.unused_symbol(&base);
            self.symbols.of_locals.insert(id, symbol.clone());
            self.add_global(id, symbol.clone(), name, Linkage::Internal);
            return symbol;
        }
        if let Some(other) = self.stands_for(id) {
            return self.symbol(other, function);
        }
        let linkage = match (decl.linkage, decl.state) {
            (_, Definition::Declared) => Linkage::Import,
            (rucc_sema::Linkage::Internal, _) => Linkage::Internal,
            _ if decl.flags.contains(DeclFlags::WEAK) => Linkage::Weak,
            _ => Linkage::External,
        };
        let symbol = self.symbol_of(decl);
        if !self.symbols.global_of.contains_key(&symbol) {
            self.add_global(id, symbol.clone(), name, linkage);
        }
        symbol
    }

    pub(super) fn unused_symbol(&self, base: &str) -> Arc<str> {
        let mut symbol: Arc<str> = base.into();
        let mut k = 1;
        while self.symbols.global_of.contains_key(&symbol) {
            symbol = format!("{base}.{k}").into();
            k += 1;
        }
        symbol
    }

    fn add_global(&mut self, id: DeclId, symbol: Arc<str>, name: Arc<str>, linkage: Linkage) {
        let decl = &self.tast[id];
        let size = self.size_of(decl.ty).unwrap_or(0).max(self.tast.extent(id));
        let index = self.symbols.globals.len();
        self.symbols.global_of.insert(symbol.clone(), index);
        let ty = self.ctype(decl.ty);
        let span = self.spans.span(self.tast.decl_span(id));
        self.symbols.globals.push(Global {
            symbol: symbol.clone(),
            name,
            ty,
            size,
            linkage,
            is_const: self.is_const(decl.ty),
            is_fixed: false,
            init: Vec::new(),
            span,
        });
        if decl.init.is_some() {
            // After the push: the initialiser may name the object itself.
            let init = self.static_initialiser(id);
            self.symbols.globals[index].init = init;
            if let Some(written) = self.written_initialiser(id) {
                self.symbols.initial.insert(symbol, written);
            }
        }
    }

    /// Returns the symbol of a string literal with these bytes (terminator included).
    pub fn literal(&mut self, bytes: Vec<u8>, ty: CType) -> Arc<str> {
        let symbol = literal::symbol(&literal_hash(&bytes, &ty));
        self.add_literal(symbol, bytes, ty)
    }

    /// The same of one that holds the number of a line. What it is without is a literal, too: by that it is told.
    pub fn placed_literal(
        &mut self,
        bytes: Vec<u8>,
        ty: CType,
        (line, unplaced): (u32, Vec<u8>),
    ) -> Arc<str> {
        let other = match &ty {
            CType::Array(element, _) => CType::Array(element.clone(), Some(unplaced.len() as u64)),
            ty => ty.clone(),
        };
        let hashes = [literal_hash(&bytes, &ty), literal_hash(&unplaced, &other)];
        self.literal(unplaced, other);
        self.add_literal(literal::placed_symbol(&hashes[0], line, &hashes[1]), bytes, ty)
    }

    fn add_literal(&mut self, symbol: Arc<str>, bytes: Vec<u8>, ty: CType) -> Arc<str> {
        if !self.symbols.global_of.contains_key(&symbol) {
            self.symbols.global_of.insert(symbol.clone(), self.symbols.globals.len());
            self.symbols.globals.push(Global {
                symbol: symbol.clone(),
                name: symbol.clone(),
                ty,
                size: bytes.len() as u64,
                linkage: Linkage::Literal,
                is_const: true,
                is_fixed: false,
                init: vec![crate::ir::InitPiece::Bytes { offset: 0, bytes }],
                span: Default::default(),
            });
        }
        symbol
    }

    /// The assertion whose failure a node is.
    pub fn failing(&self, node: &Node) -> Option<Settled> {
        let Instr::Call { callee: Callee::Direct(name), args, .. } = &node.instr else { return None };
        if **name != *ASSERT_FAIL {
            return None;
        }
        let Expr::Addr(Object::Global(symbol)) = args.first()? else { return None };
        let literal = self.symbols.globals.get(*self.symbols.global_of.get(symbol)?)?;
        let bytes = literal.constant_bytes(0, literal.size)?;
        let text = String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(&bytes)).into();
        Some(Settled { line: node.span.line, text, compiled_out: false })
    }

    /// Size and type of an object with static storage.
    pub fn global_size(&self, symbol: &str) -> Option<(u64, CType)> {
        let g = self.symbols.globals.get(*self.symbols.global_of.get(symbol)?)?;
        Some((g.size, g.ty.clone()))
    }

    /// Returns whether an object lives in static storage.
    pub fn is_static(&self, id: DeclId) -> bool {
        self.tast[id].duration != StorageDuration::Automatic
    }
}

fn literal_hash(bytes: &[u8], ty: &CType) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(bytes);
    // The same bytes may be characters of another width.
    if let CType::Array(element, _) = ty
        && !matches!(**element, CType::Int { bits: 8, .. })
    {
        hash.update(format!("{element:?}").as_bytes());
    }
    hash.finalize().to_hex()[..16].to_owned()
}
