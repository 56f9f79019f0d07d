//! What a call does to each place.
//!
//! Library functions follow their row in [`super::library`]; `printf`, `scanf` and their kin follow
//! their format when it is a constant. Any other call is a term `F[callee](arguments, memory, world,
//! stdin)` for each place it may change (`docs/design/symbolic-evaluation.md`): two versions share it
//! only when all of those are equal and the callee's own content is.

use super::eval::{Evaluator, Part, Val, product, row_in_all, union};
use super::library::{self, ResultIs};
use super::place::{Place, base_object, exact_object, library_row};
use crate::ir::{App, Callee, DataModel, Expr, Instr, Leaf, Object, Op, Sort, Term, TermId, Uf};
use crate::mvicfg::{ClassId, ClassSet, MvId};
use std::sync::Arc;

/// Ends the identity of a callee that writes an aggregate result where its last argument says: more than its
/// own instructions write.
pub const RETURNS_OBJECT: char = '=';

/// A call instruction, taken apart.
#[derive(Clone, Copy)]
pub(super) struct CallSite<'a> {
    pub node: MvId,
    pub dst: Option<Place>,
    pub callee: &'a Callee,
    pub args: &'a [Expr],
    /// Where an aggregate result goes.
    pub result_to: Option<&'a Expr>,
    pub ret_sort: Sort,
}

impl<'a> Evaluator<'a> {
    /// Returns a place's value after a call that may change it.
    pub(super) fn call(&mut self, node: MvId, place: Place, classes: &ClassSet) -> Part<Val> {
        let graph = self.graph;
        let Instr::Call { dst, callee, args, ret, result_to, .. } = &graph.node(node).instr else {
            return self.before(place, node, classes);
        };
        let ret_sort = match dst {
            Some(d) => graph.vars[d.0 as usize].sort.unwrap_or(Sort::Bv(32)),
            None => ret.sort(self.pointer_bits).unwrap_or(Sort::Bv(32)),
        };
        let result_to = result_to.as_ref();
        let site = CallSite { node, dst: dst.map(Place::Var), callee, args, result_to, ret_sort };
        if result_to.is_some() {
            let read = [Place::Memory, Place::World, Place::Stdin];
            return self.opaque_call(site, place, &read, classes);
        }
        let callees = self.callees;
        match library_row(callee, args, &|name, args| row_in_all(callees, graph, name, args)) {
            Some(row) if row.scans => self.scan_call(site, place, classes),
            Some(row) if row.prints => self.print_call(site, place, classes),
            Some(row) => self.library_call(site, row, place, classes),
            None => self.opaque_call(site, place, &[Place::Memory, Place::World, Place::Stdin], classes),
        }
    }

    fn library_call(
        &mut self,
        site: CallSite,
        row: &'static library::Row,
        place: Place,
        classes: &ClassSet,
    ) -> Part<Val> {
        match (row.name, place) {
            ("puts", Place::Out) => return self.puts(site, classes),
            ("putchar", Place::Out) => return self.putchar(site, classes),
            ("getchar", _) => return self.getchar(site, place, classes),
            _ => {}
        }
        if site.dst == Some(place) {
            match row.result {
                ResultIs::Term(f) => {
                    if let Some(part) = self.result_term(site, f, classes) {
                        return part;
                    }
                }
                ResultIs::Pure => {
                    let uf = Uf::Library { name: row.name.into(), sort: site.ret_sort };
                    return self.apply(site, App::Uf(uf), &[], classes);
                }
                ResultIs::Opaque => {}
            }
        }
        if matches!(place, Place::Memory | Place::Object(_))
            && let Some(part) = self.block_call(site, row.name, place, classes)
        {
            return part;
        }
        let mut read: Vec<Place> = Vec::new();
        for (k, a) in site.args.iter().enumerate() {
            // What stood where one pointer is put takes no part in anything.
            if row.reads_arg(k) || row.borrows(k) && !row.stores_pointer {
                let region = base_object(a).map_or(Place::Memory, |v| self.places.of_var(v));
                if !read.contains(&region) {
                    read.push(region);
                }
            }
        }
        for (touches, p) in
            [(row.stdin, Place::Stdin), (row.world, Place::World), (row.memory, Place::Memory)]
        {
            if touches && !read.contains(&p) {
                read.push(p);
            }
        }
        if row.asks_streams {
            read.extend(
                [Place::Stdin, Place::Out].into_iter().filter(|p| !read.contains(p)).collect::<Vec<_>>(),
            );
        }
        if row.stores_pointer
            && let Some(part) = self.pointer_stored(site, row, place, &read, classes)
        {
            return part;
        }
        if place == Place::Memory && row.errno && !row.memory && !self.writes_memory(site, row) {
            return self.sets_errno(site, row.name, &read, classes);
        }
        self.opaque_call(site, place, &read, classes)
    }

    /// Whether a library function writes common memory through an argument.
    fn writes_memory(&self, site: CallSite, row: &library::Row) -> bool {
        let writes = |(k, a): (usize, &Expr)| {
            row.writes_through(k, a) && base_object(a).is_none_or(|v| self.places.of_var(v) == Place::Memory)
        };
        site.args.iter().enumerate().any(writes)
    }

    /// A region after a call that stores one pointer there, unless that is asked for at no place; `None` for
    /// other regions.
    fn pointer_stored(
        &mut self,
        site: CallSite,
        row: &library::Row,
        place: Place,
        read: &[Place],
        classes: &ClassSet,
    ) -> Option<Part<Val>> {
        // For a base that there is not nothing need be stored.
        let is_base = |e: &Expr| matches!(e, Expr::Const(c) if matches!(c.unsigned(), Some(0 | 2..=36)));
        let (_, to) = site.args.iter().enumerate().find(|(k, a)| row.writes_through(*k, a))?;
        if !site.args.iter().skip(2).all(is_base) {
            return None;
        }
        let local = base_object(to).map(|v| self.places.of_var(v));
        if local.unwrap_or(Place::Memory) != place || !matches!(place, Place::Memory | Place::Object(_)) {
            return None;
        }
        let uf =
            Uf::Call { callee: format!("{}:stored", row.name).into(), part: Sort::Bv(self.pointer_bits) };
        let pointers = self.apply(site, App::Uf(uf), read, classes);
        let memories = match place {
            Place::Memory if row.errno => self.sets_errno(site, row.name, read, classes),
            _ => self.before(place, site.node, classes),
        };
        let addresses = self.expr(to, site.node, classes);
        let bytes = u64::from(self.pointer_bits / 8);
        let mut result = Vec::new();
        for (set, (pointer, memory)) in product(&pointers, &memories) {
            for (set, (address, _)) in product(&addresses, &vec![(set, pointer.clone())]) {
                let stored = App::Store { bytes };
                let written = self.pool.app(stored, &[memory.term, address.term, pointer.term]);
                let null = self.pool.bv(self.pointer_bits, 0);
                let is_null = self.pool.eq(address.term, null);
                let term = match local {
                    Some(_) => written,
                    None => self.pool.ite(is_null, memory.term, written),
                };
                let causes = union(&union(&pointer.causes, &memory.causes), &address.causes);
                let guards = union(&union(&pointer.guards, &memory.guards), &address.guards);
                result.push((set, Val { term, causes: self.with(&causes, site.node), guards }));
            }
        }
        Some(result)
    }

    /// Memory after a call that leaves nothing in it but, perhaps, an error's number.
    pub(super) fn sets_errno(
        &mut self,
        site: CallSite,
        name: &str,
        read: &[Place],
        classes: &ClassSet,
    ) -> Part<Val> {
        let mut places = read.to_vec();
        if !places.contains(&Place::Memory) {
            places.push(Place::Memory);
        }
        let uf = Uf::Call { callee: format!("{name}:errno").into(), part: Sort::Bv(32) };
        let numbers = self.apply(site, App::Uf(uf), &places, classes);
        let memories = self.before(Place::Memory, site.node, classes);
        let is_root = matches!(name, "sqrt" | "sqrtf" | "sqrtl");
        let symbol = Leaf::SymbolAddr { symbol: library::ERRNO.into(), bits: self.pointer_bits };
        let at = self.pool.leaf(symbol);
        let mut result = Vec::new();
        for (set, (number, memory)) in product(&numbers, &memories) {
            let mut term = self.pool.app(App::Store { bytes: 4 }, &[memory.term, at, number.term]);
            // A root has no error but of numbers below zero.
            if let (true, Some(&of)) = (is_root, self.pool.args(number.term).first())
                && let Some(zero) = crate::ir::Const::zero(self.pool.sort(of)).filter(|z| z.sort().is_float())
            {
                let zero = self.pool.constant(zero);
                let is_error = self.pool.op(Op::FLt, &[of, zero]);
                term = self.pool.ite(is_error, term, memory.term);
            }
            let causes = union(&number.causes, &memory.causes);
            result.push((set, Val { term, causes, guards: union(&number.guards, &memory.guards) }));
        }
        result
    }

    /// Exact result of the arguments, when their sorts are what the function declares.
    fn result_term(
        &mut self,
        site: CallSite,
        f: fn(&mut crate::ir::TermPool, &[TermId]) -> Option<TermId>,
        classes: &ClassSet,
    ) -> Option<Part<Val>> {
        let args: Vec<&Expr> = site.args.iter().collect();
        let mut result = Vec::new();
        for (set, (terms, _, causes, guards)) in self.exprs(&args, &[], site.node, classes) {
            let term = f(&mut self.pool, &terms)?;
            if self.pool.sort(term) != site.ret_sort {
                return None;
            }
            result.push((set, Val { term, causes: self.with(&causes, site.node), guards }));
        }
        Some(result)
    }

    /// Uninterpreted function of the arguments and of the places that the call reads.
    pub(super) fn opaque_call(
        &mut self,
        site: CallSite,
        place: Place,
        read: &[Place],
        classes: &ClassSet,
    ) -> Part<Val> {
        let part = if site.dst == Some(place) { site.ret_sort } else { self.sort_of(place) };
        let mut result = Vec::new();
        // The callee's identity may differ between classes.
        let mut groups: Vec<(ClassSet, Arc<str>)> = Vec::new();
        for c in classes.iter() {
            let identity: Arc<str> = match site.callee {
                Callee::Direct(name) => self.callees.identity(c, name).unwrap_or_else(|| {
                    let all_said = library::row(name).is_none()
                        || row_in_all(self.callees, self.graph, name, site.args).is_some();
                    // No row is to be taken for what this call does.
                    if all_said { name.clone() } else { format!("{name}*").into() }
                }),
                Callee::Indirect(_) => "*".into(),
            };
            let identity = match self.called_back(site, c) {
                Some(others) => format!("{identity}#{others}").into(),
                None => identity,
            };
            let identity = match site.result_to {
                Some(_) => format!("{identity}{RETURNS_OBJECT}").into(),
                None => identity,
            };
            match groups.iter_mut().find(|(_, i)| *i == identity) {
                Some((set, _)) => set.insert(c),
                None => groups.push((ClassSet::single(c), identity)),
            }
        }
        for (set, identity) in groups {
            let name = match place {
                _ if site.dst == Some(place) => format!("{identity}:result"),
                // The place's name keeps several written objects apart.
                Place::Object(_) | Place::Var(_) => {
                    format!("{identity}:{}", self.written_argument(site, place))
                }
                other => format!("{identity}:{other:?}"),
            };
            let mut places = read.to_vec();
            if site.dst != Some(place) && !places.contains(&place) {
                places.push(place);
            }
            let uf = Uf::Call { callee: name.into(), part };
            result.extend(self.apply(site, App::Uf(uf), &places, &set));
        }
        result
    }

    /// The identities of functions that a call is given by name, where they differ between the classes: it
    /// may call them, or have them called later.
    fn called_back(&self, site: CallSite, class: ClassId) -> Option<String> {
        let mut names: Vec<Arc<str>> = Vec::new();
        for a in site.args {
            a.for_each(&mut |e| {
                if let Expr::Addr(Object::Function(name)) = e {
                    names.push(name.clone());
                }
            });
        }
        let identities = |c: ClassId| -> Vec<Option<Arc<str>>> {
            names.iter().map(|n| self.callees.identity(c, n)).collect()
        };
        let own = identities(class);
        let differ = !names.is_empty() && self.graph.classes().any(|c| identities(c) != own);
        differ.then(|| own.iter().map(|i| i.as_deref().unwrap_or("?")).collect::<Vec<_>>().join("#"))
    }

    /// Which argument of a call leads to a local.
    fn written_argument(&self, site: CallSite, place: Place) -> usize {
        site.args
            .iter()
            .position(|a| {
                base_object(a).is_some_and(|v| self.places.of_var(v) == place || Place::Var(v) == place)
            })
            .unwrap_or(usize::MAX)
    }

    /// Applies a function to the call's arguments and to the values of places before it.
    pub(super) fn apply(
        &mut self,
        site: CallSite,
        app: App,
        places: &[Place],
        classes: &ClassSet,
    ) -> Part<Val> {
        let mut exprs: Vec<&Expr> = site.args.iter().collect();
        if let Callee::Indirect(e) = site.callee {
            exprs.push(e);
        }
        exprs.extend(site.result_to);
        let mut result = Vec::new();
        for (set, (mut terms, vals, causes, guards)) in self.exprs(&exprs, places, site.node, classes) {
            let (mut causes, mut guards) = (causes, guards);
            for v in &vals {
                terms.push(v.term);
                causes = union(&causes, &v.causes);
                guards = union(&guards, &v.guards);
            }
            let term = self.pool.app(app.clone(), &terms);
            result.push((set, Val { term, causes: self.with(&causes, site.node), guards }));
        }
        result
    }

    /// Returns the bytes of a constant string that an argument points to, in one class.
    pub(super) fn literal(&self, class: ClassId, addr: TermId) -> Option<Vec<u8>> {
        let (symbol, offset) = self.symbol_offset(addr)?;
        let g = self.callees.global(class, &symbol)?;
        if !g.is_known_constant() {
            return None;
        }
        super::output::constant_string(g, offset)
    }

    fn puts(&mut self, site: CallSite, classes: &ClassSet) -> Part<Val> {
        let args: Vec<&Expr> = site.args.iter().collect();
        let region = site.args.first().and_then(base_object).map_or(Place::Memory, |v| self.places.of_var(v));
        let mut result = Vec::new();
        for (set, (terms, vals, causes, guards)) in
            self.exprs(&args, &[Place::Out, region], site.node, classes)
        {
            for c in set.iter() {
                let mut out = vals[0].term;
                let Some(&addr) = terms.first() else { continue };
                out = self.append_string(c, out, addr, vals[1].term, "%s");
                out = self.append_literal(out, b"\n");
                let causes = self.with(&union(&causes, &vals[0].causes), site.node);
                result.push((
                    ClassSet::single(c),
                    Val { term: out, causes, guards: union(&guards, &vals[0].guards) },
                ));
            }
        }
        result
    }

    fn putchar(&mut self, site: CallSite, classes: &ClassSet) -> Part<Val> {
        let args: Vec<&Expr> = site.args.iter().collect();
        let mut result = Vec::new();
        for (set, (terms, vals, causes, guards)) in self.exprs(&args, &[Place::Out], site.node, classes) {
            let Some(&c) = terms.first() else { continue };
            let term = self.append_conversion(vals[0].term, "%c", c);
            let causes = self.with(&union(&causes, &vals[0].causes), site.node);
            result.push((set, Val { term, causes, guards: union(&guards, &vals[0].guards) }));
        }
        result
    }

    /// `getchar()`: the next byte, or -1 at the end of input.
    fn getchar(&mut self, site: CallSite, place: Place, classes: &ClassSet) -> Part<Val> {
        let mut result = Vec::new();
        let conversion: Arc<str> = "getchar".into();
        for (set, v) in self.before(Place::Stdin, site.node, classes) {
            let term = if place == Place::Stdin {
                self.pool.app(App::Uf(Uf::InputRest { conversion: conversion.clone() }), &[v.term])
            } else {
                let ok = self.pool.app(App::Uf(Uf::InputOk { conversion: conversion.clone() }), &[v.term]);
                let uf = Uf::Input { conversion: conversion.clone(), sort: Sort::Bv(8) };
                let byte = self.pool.app(App::Uf(uf), &[v.term]);
                let wide = self.pool.op(Op::Zext(32), &[byte]);
                let eof = self.pool.bv(32, -1);
                self.pool.ite(ok, wide, eof)
            };
            let causes = self.with(&v.causes, site.node);
            result.push((set, Val { term, causes, guards: v.guards }));
        }
        result
    }

    /// Appends literal bytes to an output.
    pub(super) fn append_literal(&mut self, out: TermId, bytes: &[u8]) -> TermId {
        if bytes.is_empty() { out } else { self.pool.app(App::OutLiteral(bytes.into()), &[out]) }
    }

    /// Appends the string at an address, which is folded when it is constant.
    pub(super) fn append_string(
        &mut self,
        class: ClassId,
        out: TermId,
        addr: TermId,
        memory: TermId,
        conversion: &str,
    ) -> TermId {
        if conversion == "%s"
            && let Some(bytes) = self.literal(class, addr)
        {
            return self.append_literal(out, &bytes);
        }
        let uf = Uf::Library { name: "string".into(), sort: Sort::Mem };
        let string = self.pool.app(App::Uf(uf), &[memory, addr]);
        self.pool.app(App::OutConversion(conversion.into()), &[out, string])
    }

    /// Appends one conversion of a value, folded when the value is constant.
    pub(super) fn append_conversion(&mut self, out: TermId, conversion: &str, value: TermId) -> TermId {
        if let Some(k) = self.pool.as_const(value)
            && let Some(bytes) = super::output::render(conversion, k, self.model())
        {
            return self.append_literal(out, &bytes);
        }
        self.pool.app(App::OutConversion(conversion.into()), &[out, value])
    }

    fn print_call(&mut self, site: CallSite, place: Place, classes: &ClassSet) -> Part<Val> {
        if place != Place::Out {
            // The count of bytes written: a function of all that is printed.
            return self.opaque_call(site, place, &[Place::Out, Place::Memory], classes);
        }
        let exprs: Vec<&Expr> = site.args.iter().collect();
        let mut regions = vec![Place::Out];
        for a in site.args {
            let region = base_object(a).map_or(Place::Memory, |v| self.places.of_var(v));
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        let with_memory = self.prints_strings(site);
        let regions = if with_memory { regions } else { vec![Place::Out] };
        let mut result = Vec::new();
        for (set, (terms, vals, causes, guards)) in self.exprs(&exprs, &regions, site.node, classes) {
            let mut causes = self.with(&causes, site.node);
            let mut guards = guards.clone();
            for v in &vals {
                causes = union(&causes, &v.causes);
                guards = union(&guards, &v.guards);
            }
            for c in set.iter() {
                let memory_of = |k: usize| {
                    let region = site
                        .args
                        .get(k)
                        .and_then(base_object)
                        .map_or(Place::Memory, |v| self.places.of_var(v));
                    regions.iter().position(|r| *r == region).and_then(|i| vals.get(i)).map(|v| v.term)
                };
                let memories: Vec<Option<TermId>> = (0..terms.len()).map(memory_of).collect();
                let single = ClassSet::single(c);
                match self.print_format(c, vals[0].term, &terms, &memories) {
                    Some(term) => {
                        result.push((single, Val { term, causes: causes.clone(), guards: guards.clone() }))
                    }
                    None => result.extend(self.havoc(site.node, place, &single)),
                }
            }
        }
        super::eval::merge(result)
    }

    /// Whether some conversion of a constant format reads memory; an unknown format may.
    fn prints_strings(&self, site: CallSite) -> bool {
        let Some(Expr::Addr(crate::ir::Object::Global(symbol))) = site.args.first() else { return true };
        self.graph.classes().any(|c| {
            let text = self.callees.global(c, symbol).and_then(|g| super::output::constant_string(g, 0));
            text.is_none_or(|t| super::output::reads_memory(&t))
        })
    }

    fn print_format(
        &mut self,
        class: ClassId,
        out: TermId,
        args: &[TermId],
        memories: &[Option<TermId>],
    ) -> Option<TermId> {
        let format = self.literal(class, *args.first()?)?;
        let mut out = out;
        let mut next = 1;
        for piece in super::output::pieces(&format, self.model())? {
            match piece {
                super::output::Piece::Literal(bytes) => out = self.append_literal(out, &bytes),
                super::output::Piece::Value { conversion, sort } => {
                    let value = *args.get(next)?;
                    next += 1;
                    let value = self.narrow_to(value, sort)?;
                    out = self.append_conversion(out, &conversion, value);
                }
                super::output::Piece::String { conversion } => {
                    let (addr, memory) = (*args.get(next)?, (*memories.get(next)?)?);
                    next += 1;
                    out = self.append_string(class, out, addr, memory, &conversion);
                }
            }
        }
        Some(out)
    }

    /// Fits an argument to the sort that a conversion reads; `None` where C leaves it undefined.
    fn narrow_to(&mut self, value: TermId, sort: Sort) -> Option<TermId> {
        match (self.pool.sort(value), sort) {
            (a, b) if a == b => Some(value),
            (Sort::Bv(32), Sort::Bv(w)) if w < 32 => Some(self.pool.op(Op::Trunc(w), &[value])),
            _ => None,
        }
    }

    fn scan_call(&mut self, site: CallSite, place: Place, classes: &ClassSet) -> Part<Val> {
        let Some(format_arg) = site.args.first() else { return self.havoc(site.node, place, classes) };
        let mut result = Vec::new();
        for (set, v) in self.expr(format_arg, site.node, classes) {
            for c in set.iter() {
                let single = ClassSet::single(c);
                let part = self
                    .literal(c, v.term)
                    .and_then(|f| super::stdin::steps(&f, self.model()))
                    .and_then(|steps| self.scan_format(site, place, &steps, &single));
                result.extend(part.unwrap_or_else(|| self.havoc(site.node, place, &single)));
            }
        }
        super::eval::merge(result)
    }

    /// Follows the directives of a `scanf` format for one place. `None`: the format and the
    /// arguments do not fit, or a conversion is not modelled.
    fn scan_format(
        &mut self,
        site: CallSite,
        place: Place,
        steps: &[super::stdin::Step],
        classes: &ClassSet,
    ) -> Option<Part<Val>> {
        let mut regions = vec![Place::Stdin];
        if !matches!(place, Place::Stdin) && site.dst != Some(place) {
            regions.push(place);
        }
        let exprs: Vec<&Expr> = site.args.iter().collect();
        let mut result = Vec::new();
        for (set, (terms, vals, causes, guards)) in self.exprs(&exprs, &regions, site.node, classes) {
            let mut stdin = vals[0].term;
            let mut target = vals.get(1).map(|v| v.term);
            let mut ok = self.pool.bool(true);
            let (mut count, first) = (self.pool.bv(32, 0), stdin);
            let mut first_conversion: Option<Arc<str>> = None;
            let mut next = 1;
            for step in steps {
                let conversion = step.conversion.clone();
                first_conversion.get_or_insert(conversion.clone());
                let matched =
                    self.pool.app(App::Uf(Uf::InputOk { conversion: conversion.clone() }), &[stdin]);
                if site.dst.is_none() {
                    // Nobody looks whether it succeeded: facts may take it for granted, by name.
                    let unchecked = self.unchecked.entry(matched).or_default();
                    *unchecked = unchecked.union(&set);
                }
                let tried = ok;
                if !step.always {
                    ok = self.pool.and(ok, matched);
                }
                if let Some(sort) = step.stores {
                    let arg = site.args.get(next)?;
                    let addr = terms[next];
                    next += 1;
                    let uf = Uf::Input { conversion: conversion.clone(), sort };
                    let value = self.pool.app(App::Uf(uf), &[stdin]);
                    if let Some(old) = target
                        && self.region_of_argument(arg) == place
                    {
                        target = Some(self.scan_store(arg, addr, old, ok, value, sort, place)?);
                    }
                    let one = self.pool.bv(32, 1);
                    let more = self.pool.op(Op::Add, &[count, one]);
                    count = self.pool.ite(ok, more, count);
                }
                let rest = self.pool.app(App::Uf(Uf::InputRest { conversion }), &[stdin]);
                stdin = self.pool.ite(tried, rest, stdin);
            }
            let term = if place == Place::Stdin {
                stdin
            } else if site.dst == Some(place) {
                let end = match first_conversion {
                    Some(conversion) => self.pool.app(App::Uf(Uf::InputEnd { conversion }), &[first]),
                    None => self.pool.bool(false),
                };
                let (zero, eof) = (self.pool.bv(32, 0), self.pool.bv(32, -1));
                let none = self.pool.eq(count, zero);
                let ended = self.pool.and(none, end);
                self.pool.ite(ended, eof, count)
            } else {
                target?
            };
            let mut causes = self.with(&causes, site.node);
            let mut guards = guards;
            for v in &vals {
                causes = union(&causes, &v.causes);
                guards = union(&guards, &v.guards);
            }
            result.push((set, Val { term, causes, guards }));
        }
        Some(result)
    }

    fn region_of_argument(&self, arg: &Expr) -> Place {
        base_object(arg).map_or(Place::Memory, |v| self.places.of_var(v))
    }

    /// State of a place after a conversion stored through an argument (when it matched).
    #[expect(clippy::too_many_arguments, reason = "a conversion's store is these facts")]
    fn scan_store(
        &mut self,
        arg: &Expr,
        addr: TermId,
        old: TermId,
        ok: TermId,
        value: TermId,
        sort: Sort,
        place: Place,
    ) -> Option<TermId> {
        match place {
            Place::Var(v) => {
                let fits = exact_object(arg) == Some(v) && self.pool.sort(old) == sort;
                fits.then(|| self.pool.ite(ok, value, old))
            }
            _ => {
                // Anything but a pointer here is undefined.
                if self.pool.sort(addr) != Sort::Bv(self.pointer_bits) {
                    return None;
                }
                let bytes = sort.bits()? as u64 / 8;
                let stored = self.pool.app(App::Store { bytes }, &[old, addr, value]);
                Some(self.pool.ite(ok, stored, old))
            }
        }
    }

    /// The data model, which the pointers' width tells.
    fn model(&self) -> DataModel {
        if self.pointer_bits == 32 { DataModel::Ilp32 } else { DataModel::Lp64 }
    }

    /// Returns whether a term rests on a value that was never initialised.
    pub fn rests_on_indeterminate(&self, term: TermId) -> bool {
        self.pool
            .reachable(&[term])
            .iter()
            .any(|&t| matches!(self.pool.get(t), Term::Leaf(Leaf::Indeterminate { .. })))
    }

    /// Returns whether a term contains something that is not known at all.
    pub fn rests_on_havoc(&self, term: TermId) -> bool {
        self.pool
            .reachable(&[term])
            .iter()
            .any(|&t| matches!(self.pool.get(t), Term::Leaf(Leaf::Havoc { .. })))
    }
}
