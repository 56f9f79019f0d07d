//! Symbols behind names: `asm` labels, aliases, weak definitions and references, constructors, and what
//! stands at file scope beside C.

use super::unit::UnitCx;
use crate::ir::{
    Alias, Binding, Expr, Function, Global, InitPiece, Instr, Linkage, Node, Object, Order, Promise, Unit,
};
use rucc_sema::{Decl, DeclFlags, DeclId, DeclKind, Definition, Effects, Emission, Priority, StrId};
use std::sync::Arc;

/// Whether a body does nothing but what is promised of it, as far as its text shows.
pub(super) fn keeps(promise: Promise, nodes: &[Node]) -> bool {
    let own = |addr: &Expr| {
        let (mut local, mut other) = (false, false);
        addr.for_each(&mut |e| match e {
            Expr::Addr(Object::Local(_)) => local = true,
            Expr::Addr(_) => other = true,
            _ => {}
        });
        local && !other
    };
    nodes.iter().all(|n| match &n.instr {
        Instr::Load { addr, .. } => promise == Promise::Pure || own(addr),
        Instr::Store { addr, .. } => own(addr),
        Instr::Copy { dst, src, .. } => own(dst) && (promise == Promise::Pure || own(src)),
        Instr::Zero { dst, .. } => own(dst),
        Instr::Call { .. } | Instr::Unknown { .. } => false,
        _ => true,
    })
}

/// Sections whose pointers run before `main`.
const BEFORE_MAIN: [&str; 3] = [".preinit_array", ".init_array", ".ctors"];
/// Sections whose pointers run after it.
const AFTER_MAIN: [&str; 2] = [".fini_array", ".dtors"];
/// What libraries put around the names of functions of C in the symbols that their headers ask for.
const LIBRARY_PREFIXES: [&str; 2] = ["__isoc99_", "__isoc23_"];

impl UnitCx<'_> {
    /// A string of an attribute or a label.
    pub fn text_of(&self, s: StrId) -> Arc<str> {
        let elements = self.tast[s].elements.iter();
        elements.filter_map(|&c| char::from_u32(c)).collect::<String>().into()
    }

    /// The symbol that an `asm` label gives a declaration. A library's header that asks for its own
    /// variant of a function means the function.
    pub fn label_of(&self, decl: &Decl) -> Option<Arc<str>> {
        let label = self.text_of(decl.asm_label?);
        let name = self.name_of(decl);
        let plain = LIBRARY_PREFIXES.iter().find_map(|p| label.strip_prefix(p)).unwrap_or(&label);
        let plain = plain.strip_suffix("64").filter(|p| **p == *name).unwrap_or(plain);
        (*plain != *name).then_some(label)
    }

    /// Finds what the unit defines under a symbol.
    fn defined(&self, symbol: &str, kind: DeclKind) -> Option<DeclId> {
        let is_it = |d: &Decl| {
            let here = match kind {
                DeclKind::Function => d.body.is_some(),
                _ => d.state != Definition::Declared && d.alias.is_none(),
            };
            here && d.kind == kind && *self.label_of(d).unwrap_or_else(|| self.name_of(d)) == *symbol
        };
        self.tast.top_level().iter().copied().find(|&d| is_it(&self.tast[d]))
    }

    /// What a declaration stands for in the unit: a definition under another name. A weak alias of a
    /// function may come to stand for something else.
    pub fn stands_for(&self, id: DeclId) -> Option<DeclId> {
        let decl = &self.tast[id];
        if decl.body.is_some() || self.tast.is_ifunc(id) {
            return None;
        }
        let is_weak = decl.flags.contains(DeclFlags::WEAK) && decl.kind == DeclKind::Function;
        let symbol = match decl.alias.filter(|_| !is_weak) {
            Some(target) => self.text_of(target),
            None => self.label_of(decl)?,
        };
        self.defined(&symbol, decl.kind).filter(|d| *d != id)
    }

    /// Whether nothing may be at the address of what is declared: it is weak, and defined elsewhere, if
    /// at all.
    pub fn may_be_nothing(&self, id: DeclId) -> bool {
        let decl = &self.tast[id];
        let is_weak = decl.flags.contains(DeclFlags::WEAK) || decl.flags.contains(DeclFlags::WEAKREF);
        let is_here = decl.body.is_some() || decl.alias.is_some() || self.stands_for(id).is_some();
        is_weak && !is_here && decl.state == Definition::Declared
    }

    /// How a function definition is bound.
    pub fn binding(&mut self, id: DeclId) -> Binding {
        let decl = &self.tast[id];
        let order = |p: Priority| match p {
            Priority::Unnumbered => Order::Unnumbered,
            Priority::Numbered(n) => Order::Numbered(n),
        };
        // What a header defines inline is the same for all that include it.
        let decl_file = self.tast.definition_span(id);
        let own_file = self.spans.span(decl_file).file.0 == 0;
        let is_inline = decl.linkage == rucc_sema::Linkage::External && decl.inline == Emission::Inline;
        Binding {
            label: self.label_of(decl),
            replaceable: decl.flags.contains(DeclFlags::WEAK) || is_inline && own_file,
            is_inline: is_inline && own_file,
            before_main: decl.startup.before.map(order),
            after_main: decl.startup.after.map(order),
            promise: match decl.effects {
                Effects::Any => None,
                Effects::Pure => Some(Promise::Pure),
                Effects::Const => Some(Promise::Const),
            },
            unmodelled: None,
            odd_exits: false,
        }
    }

    /// Adds what the linker is told beside definitions.
    pub fn add_linkage(&mut self, unit: &mut Unit) {
        let tast = self.tast;
        for &id in tast.top_level() {
            let decl = &tast[id];
            if let (Some(section), DeclKind::Object) = (tast.section(id), decl.kind) {
                let section = self.text_of(section);
                self.add_section(&section, &self.symbol_of(decl), unit);
            }
            let Some(target) = decl.alias.map(|t| self.text_of(t)) else { continue };
            let name = self.symbol_of(decl);
            if tast.is_ifunc(id) {
                unit.gaps.opaque.push(format!("ifunc {name} {target}").into());
            }
            let is_weak = decl.flags.contains(DeclFlags::WEAK);
            let found = self.defined(&target, decl.kind);
            if let Some(found) = found.filter(|_| !tast.is_ifunc(id)) {
                let target = match decl.kind {
                    DeclKind::Function => self.name_of(&tast[found]),
                    _ => self.symbol_of(&tast[found]),
                };
                // Others see it by the other name.
                let seen = unit.globals.iter_mut().filter(|g| *g.symbol == *target);
                let seen = seen.filter(|g| decl.kind == DeclKind::Object && g.linkage == Linkage::Internal);
                seen.for_each(|g| g.linkage = Linkage::External);
                unit.aliases.push(Alias { name, target, is_weak });
            }
        }
        for asm in tast.file_asms() {
            unit.gaps.opaque.push(format!("asm {}", self.text_of(asm.template)).into());
        }
        unit.aliases.sort_by(|a, b| a.name.cmp(&b.name));
        unit.aliases.dedup();
    }

    /// The symbol of a declaration with linkage, by itself.
    pub fn symbol_of(&self, decl: &Decl) -> Arc<str> {
        self.label_of(decl).unwrap_or_else(|| self.name_of(decl))
    }

    fn add_section(&self, section: &str, symbol: &str, unit: &mut Unit) {
        let is_among = |names: &[&str]| names.iter().any(|n| section.starts_with(n));
        let (before, after) = (is_among(&BEFORE_MAIN), is_among(&AFTER_MAIN));
        if !before && !after {
            return;
        }
        let global = unit.global(symbol);
        let width = u64::from(self.pointer / 8);
        match global.and_then(|g| pointers_to_functions(g, width, &unit.functions)) {
            // Priorities are in the section's name, and `.ctors` goes backwards.
            Some(functions) if section == ".init_array" => unit.hooks.init_array.extend(functions),
            Some(functions) if section == ".fini_array" => unit.hooks.fini_array.extend(functions),
            found => {
                let pieces = global.map(|g| format!("{:?}", g.init)).unwrap_or_default();
                let named: Vec<Arc<str>> = found.unwrap_or_default();
                unit.gaps.opaque.push(format!("section {section} {symbol} {pieces} {named:?}").into());
            }
        }
    }
}

/// The functions that an object of nothing but pointers to functions of the unit holds.
fn pointers_to_functions(g: &Global, width: u64, functions: &[Arc<Function>]) -> Option<Vec<Arc<str>>> {
    let target = |p: &InitPiece| match p {
        InitPiece::Address { symbol, plus: 0, .. } => {
            functions.iter().any(|f| f.name == *symbol).then(|| symbol.clone())
        }
        _ => None,
    };
    let found: Option<Vec<Arc<str>>> = g.init.iter().map(target).collect();
    found.filter(|f| f.len() as u64 * width == g.size)
}
