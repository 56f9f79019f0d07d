//! Units linked into a program: symbols, addresses of globals and functions, initial images.
//!
//! Linking is by symbol. What a unit defines with internal linkage it uses itself and hides from
//! the others; of several external definitions the first unit's counts, of weak ones only where there is
//! no other. Addresses depend on the
//! sorted symbols alone, so two versions with the same symbols agree on them.

use super::addresses::AddressMap;
use super::code::Code;
use super::format::{FormatError, Piece, ScanDirective, spec};
use super::ids::DefinitionId;
use crate::ir::library::control::{Calls, calls};
use crate::ir::{DataModel, Expr, Function, Global, InitPiece, Linkage, Object, Order, Unit};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock, RwLock};

/// Bytes between the addresses of two functions.
const FUNCTION_STRIDE: u64 = 16;
/// Symbols of objects that the C library owns; a program that defines one hides ours.
pub const ERRNO: &str = "errno";
pub const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];
/// What the three point to; spelled so that the address of it is the stream itself.
pub const STREAM_OBJECTS: [&str; 3] = ["*stdin", "*stdout", "*stderr"];
/// Size of glibc's `FILE`; the program only ever points to it.
const STREAM_SIZE: u64 = 216;
/// Bytes given to an object that is only declared, with an incomplete type.
const UNSIZED: u64 = 4096;

/// An object with static storage.
#[derive(Debug)]
pub struct Slot {
    pub symbol: Arc<str>,
    pub base: u64,
    pub size: u64,
    pub read_only: bool,
    /// String literals and what the library owns; of no interest in a final state.
    pub hidden: bool,
    /// Only declared: nothing is known of its content.
    pub imported: bool,
    /// Some of its bytes, or what they lead to, begin with what is not known.
    pub unknown: bool,
    /// Unit and index of the definition.
    source: Option<(usize, usize)>,
    image: OnceLock<Box<[u8]>>,
}

/// A function that has a definition.
pub struct Definition {
    pub unit: usize,
    pub index: usize,
    code: OnceLock<Code>,
}

/// Linked units, ready to run. Immutable and shared by any number of runs.
pub struct Program {
    units: Vec<Arc<Unit>>,
    model: DataModel,
    map: AddressMap,
    slots: Vec<Slot>,
    /// Of some of them it is not known what they begin with.
    has_unknown: bool,
    /// By unit: symbol to index of its slot, where the unit has its own word on it.
    slot_of: Vec<HashMap<Arc<str>, usize>>,
    /// The same of all other units.
    shared_slot_of: HashMap<Arc<str>, usize>,
    library_slots: BTreeMap<&'static str, usize>,
    definitions: Vec<Definition>,
    /// By unit: symbol to definition.
    internal: Vec<HashMap<Arc<str>, DefinitionId>>,
    /// By symbol: the definition, and whether it is a weak one.
    external: HashMap<Arc<str>, (DefinitionId, bool)>,
    /// What has an address as a function, in address order.
    code_symbols: Vec<CodeSymbol>,
    code_addresses: HashMap<(Option<usize>, Arc<str>), u64>,
    /// See [`Program::is_watched_at_exit`].
    watched_at_exit: OnceLock<bool>,
    printf_formats: FormatCache<Piece>,
    scanf_formats: FormatCache<ScanDirective>,
}

/// Formats that were parsed before, by their text.
type FormatCache<T> = RwLock<HashMap<Vec<u8>, Parsed<T>>>;
type Parsed<T> = Result<Arc<[T]>, FormatError>;
/// Formats that a program makes up while it runs must not fill memory.
const MAX_FORMATS: usize = 1024;

/// A function's address: a definition, or a name that is only declared.
pub struct CodeSymbol {
    pub name: Arc<str>,
    pub definition: Option<DefinitionId>,
}

/// A symbol, the unit it belongs to when it is that unit's own, and where it is defined.
type SymbolKey = (Arc<str>, Option<usize>, Option<(usize, usize)>);

impl Program {
    /// Links units. The first one's data model is the program's. Cost: linear in declarations;
    /// bodies are resolved on first call.
    pub fn new(units: Vec<Arc<Unit>>) -> Program {
        let model = units.first().map_or(DataModel::Lp64, |u| u.data_model);
        let mut program = Program {
            map: AddressMap::new(model),
            model,
            slot_of: vec![HashMap::new(); units.len()],
            shared_slot_of: HashMap::new(),
            internal: vec![HashMap::new(); units.len()],
            units,
            slots: Vec::new(),
            has_unknown: false,
            library_slots: BTreeMap::new(),
            definitions: Vec::new(),
            external: HashMap::new(),
            code_symbols: Vec::new(),
            code_addresses: HashMap::new(),
            watched_at_exit: OnceLock::new(),
            printf_formats: RwLock::default(),
            scanf_formats: RwLock::default(),
        };
        program.link_functions();
        program.link_globals();
        program
    }

    fn link_functions(&mut self) {
        let mut names: BTreeMap<(Arc<str>, Option<usize>), Option<DefinitionId>> = BTreeMap::new();
        for (u, unit) in self.units.iter().enumerate() {
            for (index, f) in unit.functions.iter().enumerate() {
                let id = DefinitionId(self.definitions.len());
                self.definitions.push(Definition { unit: u, index, code: OnceLock::new() });
                self.internal[u].entry(f.name.clone()).or_insert(id);
                if f.is_static {
                    names.insert((f.name.clone(), Some(u)), Some(id));
                }
            }
            for p in &unit.prototypes {
                names.entry((p.name.clone(), None)).or_insert(None);
            }
        }
        self.link_symbols();
        for (symbol, (id, _)) in &self.external {
            names.insert((symbol.clone(), None), Some(*id));
        }
        for (i, ((name, unit), definition)) in names.into_iter().enumerate() {
            self.code_addresses.insert((unit, name.clone()), self.map.functions + i as u64 * FUNCTION_STRIDE);
            self.code_symbols.push(CodeSymbol { name, definition });
        }
    }

    /// Finds what each symbol that units share stands for.
    fn link_symbols(&mut self) {
        let mut found: Vec<(Arc<str>, DefinitionId, bool)> = Vec::new();
        for (u, unit) in self.units.iter().enumerate() {
            for f in unit.functions.iter().filter(|f| !f.is_static) {
                let symbol = f.binding.label.as_ref().unwrap_or(&f.name);
                let id = self.internal[u].get(&f.name).copied();
                found.extend(id.map(|id| (symbol.clone(), id, f.binding.replaceable)));
            }
            for alias in &unit.aliases {
                let id = self.internal[u].get(&alias.target).copied();
                found.extend(id.map(|id| (alias.name.clone(), id, alias.is_weak)));
            }
        }
        for (symbol, id, is_weak) in found {
            let entry = self.external.entry(symbol).or_insert((id, is_weak));
            if entry.1 && !is_weak {
                *entry = (id, false);
            }
        }
    }

    fn link_globals(&mut self) {
        // Symbol, then the unit for internal ones; the value is the best definition so far.
        let mut best: BTreeMap<(Arc<str>, Option<usize>), (usize, usize)> = BTreeMap::new();
        let units = self.units.clone();
        for (u, unit) in units.iter().enumerate() {
            for (index, g) in unit.globals.iter().enumerate() {
                let key = (g.symbol.clone(), is_private(g).then_some(u));
                let better = |&(bu, bi): &(usize, usize)| {
                    let old = &units[bu].globals[bi];
                    rank(g) > rank(old) || (rank(g) == rank(old) && g.size > old.size)
                };
                let entry = best.entry(key).or_insert((u, index));
                if better(entry) {
                    *entry = (u, index);
                }
            }
        }
        let mut keys: Vec<SymbolKey> = best.into_iter().map(|((s, u), d)| (s, u, Some(d))).collect();
        for name in [ERRNO].into_iter().chain(STREAM_OBJECTS).chain(STREAMS) {
            if !keys.iter().any(|(s, u, _)| &**s == name && u.is_none()) {
                keys.push((Arc::from(name), None, None));
            }
        }
        keys.sort();
        let mut next = self.map.globals + self.map.gap;
        for (symbol, unit, source) in keys {
            let id = self.slots.len();
            let global = source.map(|(u, i)| &units[u].globals[i]);
            let library = [ERRNO].into_iter().chain(STREAM_OBJECTS).chain(STREAMS).find(|n| *n == &*symbol);
            let imported = global.is_none_or(|g| g.linkage == Linkage::Import);
            let owned = unit.is_none() && imported && library.is_some();
            let size = match global {
                Some(g) if g.size > 0 => g.size,
                _ if symbol.starts_with('*') => STREAM_SIZE,
                _ if owned && &*symbol == ERRNO => 4,
                _ if owned => self.model.pointer_bits() as u64 / 8,
                // Incomplete: it must be somebody's, and nothing says where it ends.
                _ if imported => UNSIZED,
                _ => 0,
            };
            if let (Some(name), true) = (library, owned) {
                self.library_slots.insert(name, id);
            }
            let literal = global.is_some_and(|g| g.linkage == Linkage::Literal);
            self.slots.push(Slot {
                symbol: symbol.clone(),
                base: next,
                size,
                read_only: literal || global.is_some_and(|g| g.is_const),
                hidden: literal || (owned && &*symbol != ERRNO),
                imported: imported && !owned,
                unknown: false,
                source,
                image: OnceLock::new(),
            });
            next = self.map.after(next, size, self.map.gap);
            match unit {
                Some(u) => {
                    self.slot_of[u].insert(symbol, id);
                }
                None => _ = self.shared_slot_of.entry(symbol).or_insert(id),
            }
        }
        // A unit's own static hides another unit's external of the same name.
        for id in 0..self.slots.len() {
            if let Some((u, i)) = self.slots[id].source
                && is_private(&units[u].globals[i])
            {
                self.slot_of[u].insert(self.slots[id].symbol.clone(), id);
            }
        }
        self.link_aliases(&units);
        self.find_unknown(&units);
    }

    /// Marks the objects that begin with what does not fold, and those that lead to them.
    fn find_unknown(&mut self, units: &[Arc<Unit>]) {
        fn pieces<'u>(slot: &Slot, units: &'u [Arc<Unit>]) -> (usize, &'u [InitPiece]) {
            match slot.source {
                Some((u, g)) => (u, units[u].globals[g].init.as_slice()),
                None => (0, &[]),
            }
        }
        for id in 0..self.slots.len() {
            let is_unknown = |p: &InitPiece| matches!(p, InitPiece::Unknown { .. });
            self.slots[id].unknown = pieces(&self.slots[id], units).1.iter().any(is_unknown);
        }
        let mut changed = self.slots.iter().any(|s| s.unknown);
        self.has_unknown = changed;
        while std::mem::take(&mut changed) {
            for id in 0..self.slots.len() {
                let (u, init) = pieces(&self.slots[id], units);
                let leads = |s: &Arc<str>| self.slot_from(u, s).is_some_and(|to| self.slots[to].unknown);
                if !self.slots[id].unknown && init.iter().flat_map(InitPiece::symbols).any(leads) {
                    (self.slots[id].unknown, changed) = (true, true);
                }
            }
        }
    }

    /// Has other names of objects lead to them, but for weak ones of which there is another definition.
    fn link_aliases(&mut self, units: &[Arc<Unit>]) {
        for (u, unit) in units.iter().enumerate() {
            for alias in unit.aliases.iter().filter(|a| unit.global(&a.target).is_some()) {
                let Some(target) = self.slot_from(u, &alias.target) else { continue };
                let shared = self.shared_slot_of.get(&alias.name).copied();
                for table in &mut self.slot_of {
                    let known = table.get(&alias.name).copied().or(shared);
                    let is_other = known.is_some_and(|s| !self.slots[s].imported);
                    if !is_other || known.is_some() && !alias.is_weak {
                        table.insert(alias.name.clone(), target);
                    }
                }
            }
        }
    }

    /// Returns the function that this name stands for: the first unit's, else an external one, else
    /// some unit's static one.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.function_of(self.definition_by_name(name)?)
    }

    /// Returns the unit that defines a function.
    pub fn unit_of(&self, name: &str) -> Option<&Arc<Unit>> {
        let d = self.definition(self.definition_by_name(name)?)?;
        self.units.get(d.unit)
    }

    pub fn units(&self) -> &[Arc<Unit>] {
        &self.units
    }

    pub fn data_model(&self) -> DataModel {
        self.model
    }

    pub fn definition_by_name(&self, name: &str) -> Option<DefinitionId> {
        // Who asks for a function of the first unit means that one, whatever takes its place.
        let own = self.internal.first().and_then(|t| t.get(name).copied());
        let own = own.or_else(|| self.definition_from(0, name));
        own.or_else(|| self.internal.iter().find_map(|t| t.get(name).copied()))
    }

    /// Returns the definition that a call in `unit` reaches.
    pub fn definition_from(&self, unit: usize, name: &str) -> Option<DefinitionId> {
        let external = self.external.get(name);
        let own = self.units.get(unit).and_then(|u| u.meant(name));
        let id = |f: &Function| self.internal.get(unit)?.get(&f.name).copied();
        match own {
            Some((f, is_weak)) if is_weak || f.binding.replaceable => {
                external.map(|(strong, _)| *strong).or_else(|| id(f))
            }
            Some((f, _)) => id(f),
            None => external.map(|(id, _)| *id),
        }
    }

    /// Whether what a call in `unit` leads to is another function where the program is linked with
    /// something that gives it another one.
    pub fn is_replaceable(&self, unit: usize, name: &str) -> bool {
        let unit = self.units.get(unit);
        let own = unit.is_some_and(|u| u.callee(name).is_some());
        // Compilers choose between an inline definition and the external one.
        let is_inline = unit.and_then(|u| u.meant(name)).is_some_and(|(f, _)| f.binding.is_inline);
        is_inline || !own && self.external.get(name).is_some_and(|(_, is_weak)| *is_weak)
    }

    /// The functions that run before `main` without being called, in their order, and whether another
    /// order of the files would be another order of these.
    pub fn constructors(&self) -> (Vec<DefinitionId>, bool) {
        self.hooks(|f| f.binding.before_main, |u| &u.hooks.init_array)
    }

    /// The functions that run after it, in their order.
    pub fn destructors(&self) -> (Vec<DefinitionId>, bool) {
        let (mut found, depends) = self.hooks(|f| f.binding.after_main, |u| &u.hooks.fini_array);
        found.reverse();
        (found, depends)
    }

    /// Whether something may run before or after `main`, or beside what C says, but for what the program
    /// asks for when it runs.
    pub fn has_hooks(&self) -> bool {
        let hooked = |u: &Arc<Unit>| {
            !(u.hooks.init_array.is_empty() && u.hooks.fini_array.is_empty() && u.gaps.opaque.is_empty())
        };
        self.units.iter().any(|u| hooked(u) || u.functions.iter().any(|f| f.binding.is_hook()))
    }

    /// Whether something may look at memory after the end of `main`: what runs without being called, what
    /// the program registers, other threads.
    pub fn is_watched_at_exit(&self) -> bool {
        let registers = |u: &Arc<Unit>| {
            u.prototypes.iter().any(|p| calls(&p.name).is_some_and(|when| when != Calls::Now))
        };
        *self.watched_at_exit.get_or_init(|| self.has_hooks() || self.units.iter().any(registers))
    }

    /// Whether some unit has text that may do anything.
    pub fn is_opaque(&self) -> bool {
        self.units.iter().any(|u| !u.gaps.opaque.is_empty())
    }

    fn hooks(
        &self,
        order: impl Fn(&Function) -> Option<Order>,
        array: impl Fn(&Unit) -> &[Arc<str>],
    ) -> (Vec<DefinitionId>, bool) {
        let mut found: Vec<(Order, usize, DefinitionId)> = Vec::new();
        for (u, unit) in self.units.iter().enumerate() {
            let own = unit.functions.iter().filter_map(|f| Some((order(f)?, &f.name)));
            // Where attributes and a section of pointers say it, nothing says what comes first.
            let listed = array(unit).iter().map(|name| (Order::Unnumbered, name));
            for (order, name) in own.chain(listed) {
                let id = self.internal.get(u).and_then(|t| t.get(name)).copied();
                found.extend(id.map(|id| (order, u, id)));
            }
        }
        found.sort_by_key(|(order, ..)| *order);
        let mixed = |u: &Arc<Unit>| !array(u).is_empty() && u.functions.iter().any(|f| order(f).is_some());
        let depends =
            self.units.iter().any(mixed) || found.windows(2).any(|w| w[0].0 == w[1].0 && w[0].1 != w[1].1);
        (found.into_iter().map(|(.., id)| id).collect(), depends)
    }

    pub fn definition(&self, id: DefinitionId) -> Option<&Definition> {
        self.definitions.get(id.0)
    }

    /// Returns what `resolve` makes of a function the first time.
    pub(crate) fn code_or(
        &self,
        id: DefinitionId,
        resolve: impl FnOnce(usize, &Unit, &Function) -> Code,
    ) -> Option<&Code> {
        let d = self.definition(id)?;
        let unit = self.units.get(d.unit)?;
        let function = unit.functions.get(d.index)?;
        Some(d.code.get_or_init(|| resolve(d.unit, unit, function)))
    }

    pub fn function_of(&self, id: DefinitionId) -> Option<&Function> {
        let d = self.definition(id)?;
        self.units.get(d.unit)?.functions.get(d.index).map(|f| &**f)
    }

    pub fn unit(&self, index: usize) -> Option<&Arc<Unit>> {
        self.units.get(index)
    }

    pub fn pointer_bits(&self) -> u16 {
        self.model.pointer_bits()
    }

    pub(crate) fn address_map(&self) -> AddressMap {
        self.map
    }

    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub fn slot_from(&self, unit: usize, symbol: &str) -> Option<usize> {
        let own = self.slot_of.get(unit)?.get(symbol);
        own.or_else(|| self.shared_slot_of.get(symbol)).copied()
    }

    /// Returns the slot of a global by its symbol, an external one first.
    pub fn slot_by_name(&self, symbol: &str) -> Option<usize> {
        let mut found = self.slots.iter().enumerate().filter(|(_, s)| &*s.symbol == symbol);
        let first = found.next().map(|(i, _)| i);
        self.slots.iter().position(|s| &*s.symbol == symbol && !self.is_private_slot(s)).or(first)
    }

    /// Returns whether a slot holds its initial value always.
    pub fn is_known_constant(&self, slot: usize) -> bool {
        let source = self.slots.get(slot).and_then(|s| s.source);
        source.is_some_and(|(u, i)| self.units[u].globals[i].is_known_constant())
    }

    /// The unit that defines a visible object.
    pub fn unit_of_slot(&self, slot: usize) -> Option<usize> {
        let slot = self.slots.get(slot).filter(|s| !s.imported && !s.hidden)?;
        slot.source.map(|(unit, _)| unit)
    }

    fn is_private_slot(&self, slot: &Slot) -> bool {
        slot.source.is_some_and(|(u, i)| is_private(&self.units[u].globals[i]))
    }

    /// Returns the slot that an address belongs to, with a guard zone on either side.
    pub fn slot_at(&self, addr: u64) -> Option<usize> {
        let slack = self.map.gap / 2;
        let after = self.slots.partition_point(|s| s.base <= addr);
        if let Some(i) = after.checked_sub(1)
            && addr - self.slots[i].base <= self.slots[i].size + slack
        {
            return Some(i);
        }
        (self.slots.get(after)?.base - addr <= slack).then_some(after)
    }

    pub fn library_slot(&self, name: &str) -> Option<&Slot> {
        self.slots.get(*self.library_slots.get(name)?)
    }

    /// Returns which standard stream (0, 1, 2) an address is.
    pub fn stream_at(&self, addr: u64) -> Option<usize> {
        STREAM_OBJECTS.iter().position(|n| self.library_slot(n).is_some_and(|s| s.base == addr))
    }

    /// Returns a function's address as seen from a unit.
    pub fn code_address(&self, unit: usize, name: &str) -> Option<u64> {
        let key = (Some(unit), Arc::from(name));
        let own = self.code_addresses.get(&key);
        own.or_else(|| self.code_addresses.get(&(None, key.1))).copied()
    }

    /// Returns what is at an address in the functions' range.
    pub fn code_at(&self, addr: u64) -> Option<&CodeSymbol> {
        let at = addr.checked_sub(self.map.functions)?;
        (at % FUNCTION_STRIDE == 0).then(|| self.code_symbols.get((at / FUNCTION_STRIDE) as usize))?
    }

    pub fn printf_format(&self, text: &[u8]) -> Parsed<Piece> {
        cached(&self.printf_formats, text, spec::parse_printf)
    }

    pub fn scanf_format(&self, text: &[u8]) -> Parsed<ScanDirective> {
        cached(&self.scanf_formats, text, spec::parse_scanf)
    }

    /// Whether an instruction of a unit names an object of which it is not known what it begins with.
    pub fn is_beyond(&self, unit: usize, instr: &crate::ir::Instr) -> bool {
        let mut found = false;
        if self.has_unknown {
            instr.for_each_expr(&mut |e| {
                if let Expr::Addr(Object::Global(symbol)) = e {
                    found |= self.slot_from(unit, symbol).is_some_and(|s| self.slots[s].unknown);
                }
            });
        }
        found
    }

    /// Returns a slot's bytes before the program starts.
    pub fn image(&self, slot: usize) -> &[u8] {
        let Some(s) = self.slots.get(slot) else { return &[] };
        s.image.get_or_init(|| self.build_image(s).into_boxed_slice())
    }

    fn build_image(&self, slot: &Slot) -> Vec<u8> {
        let mut bytes = vec![0; slot.size as usize];
        let stream = STREAMS.iter().position(|n| *n == &*slot.symbol);
        if let (true, Some(i)) = (slot.hidden, stream)
            && let Some(file) = self.library_slot(STREAM_OBJECTS[i])
        {
            self.put_address(&mut bytes, 0, file.base);
        }
        let Some((u, g)) = slot.source else { return bytes };
        for piece in &self.units[u].globals[g].init {
            match piece {
                InitPiece::Bytes { offset, bytes: piece } => put(&mut bytes, *offset, piece),
                // No run gets to see it.
                InitPiece::Unknown { .. } => {}
                InitPiece::Address { offset, symbol, plus } => {
                    let object = self.slot_from(u, symbol).map(|s| self.slots[s].base);
                    let base = object.or_else(|| self.code_address(u, symbol)).unwrap_or(0);
                    self.put_address(&mut bytes, *offset, base.wrapping_add_signed(*plus));
                }
            }
        }
        bytes
    }

    fn put_address(&self, bytes: &mut [u8], offset: u64, address: u64) {
        let width = self.model.pointer_bits() as usize / 8;
        put(bytes, offset, &address.to_le_bytes()[..width]);
    }
}

fn cached<T>(
    cache: &FormatCache<T>,
    text: &[u8],
    parse: fn(&[u8]) -> Result<Vec<T>, FormatError>,
) -> Parsed<T> {
    // A poisoned lock means that another run panicked; the cache itself is sound.
    if let Some(known) = cache.read().unwrap_or_else(|e| e.into_inner()).get(text) {
        return known.clone();
    }
    let parsed: Parsed<T> = parse(text).map(Arc::from);
    let mut cache = cache.write().unwrap_or_else(|e| e.into_inner());
    if cache.len() < MAX_FORMATS {
        cache.insert(text.to_vec(), parsed.clone());
    }
    parsed
}

fn put(bytes: &mut [u8], offset: u64, piece: &[u8]) {
    let end = (offset as usize).saturating_add(piece.len());
    if let Some(place) = bytes.get_mut(offset as usize..end) {
        place.copy_from_slice(piece);
    }
}

fn is_private(g: &Global) -> bool {
    matches!(g.linkage, Linkage::Internal | Linkage::Literal)
}

/// Orders definitions of one symbol: initialised, tentative, only declared.
fn rank(g: &Global) -> u8 {
    match g.linkage {
        Linkage::Import => 0,
        Linkage::Weak => 1,
        _ if g.init.is_empty() => 2,
        _ => 3,
    }
}
