//! Initial values of static objects that a range changes, told to the functions that read them.
//!
//! Where a function's own churns tell of it, the lines that changed become their causes. Where they do not,
//! since the object may have any value by the time that the function is called, the initial value is what
//! changed for it: `initially n == 1`. Callers show it through the functions that name the object.

use super::convert::{exit_line, function_of, stable_id};
use super::lineage::{Lineage, VersionFiles};
use super::reach::Reach;
use super::request::Request;
use super::witness;
use crate::ir::{CType, Const, Global, InitPiece, Linkage, Unit};
use crate::mvicfg::{VersionId, members};
use crate::report::{
    Causes, Churn, Claim, Fact, FunctionReport, HunkRef, LineRef, Point, PointKind, RepoPath, Report, Status,
    Version,
};
use crate::semantics::c_text::{string_literal, written_literal};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Cells of an object that are spelled out.
const MAX_CELLS: usize = 4;
/// Bytes of the largest object that is looked into.
const MAX_BYTES: u64 = 1 << 20;

/// An object that begins otherwise in the newer version of a step.
pub(super) struct Changed {
    /// The older version, counted from 0.
    step: usize,
    pub name: Arc<str>,
    /// What differs: a place and its value.
    cells: [Vec<(String, String)>; 2],
    causes: Causes,
    hunks: Vec<HunkRef>,
    /// By file and name: whether the function names the object itself.
    readers: BTreeMap<(PathBuf, Arc<str>), bool>,
}

/// Tells the functions of a report of the initial values that changed for them.
pub(super) fn tell(report: &mut Report, changed: &[Changed], lineages: &[Lineage]) {
    for object in changed {
        let reached: Vec<(&Lineage, bool)> =
            lineages.iter().filter_map(|l| Some((l, object.reaches(l)?))).collect();
        let direct: Vec<String> = reached.iter().filter(|(_, d)| *d).filter_map(|(l, _)| place(l)).collect();
        for (lineage, is_direct) in reached {
            let Some((_, newest)) = lineage.newest() else { continue };
            let (file, name) = (RepoPath::from(&newest.file), &newest.function.name);
            let at = report.functions.iter().position(|f| f.file == file && *f.name == **name);
            let at = match at {
                Some(at) => at,
                None => {
                    report.functions.push(function_of(lineage));
                    report.functions.len() - 1
                }
            };
            let through = if is_direct { Vec::new() } else { direct.clone() };
            object.tell(&mut report.functions[at], lineage, through);
        }
    }
    report.functions.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
}

fn place(l: &Lineage) -> Option<String> {
    l.newest().map(|(_, m)| format!("{}:{}", RepoPath::from(&m.file), m.function.name))
}

/// The objects that begin otherwise from one version to the next. Cost: a comparison of initial values; those that
/// differ are spelled out.
pub(super) fn changed(request: &Request, files: &[VersionFiles], reaches: &[Reach]) -> Vec<Changed> {
    let mut found = Vec::new();
    for (step, pair) in files.windows(2).enumerate() {
        for (old, new) in pair[0].iter().zip(&pair[1]) {
            let (Some((old_path, Ok(old))), Some((new_path, Ok(new)))) = (old, new) else { continue };
            if Arc::ptr_eq(old, new) {
                continue;
            }
            for g in &new.unit.globals {
                let defined = |g: &Global| matches!(g.linkage, Linkage::External | Linkage::Internal);
                let before = old.unit.global(&g.symbol).filter(|b| defined(b) && defined(g));
                let Some(before) = before.filter(|b| (b.size, &b.init) != (g.size, &g.init)) else {
                    continue;
                };
                // Where only members lie elsewhere, they begin as before; nor is a new member that begins with
                // zero, as all do, any news.
                let images = [(&old.unit, before), (&new.unit, g)].map(|(u, g)| members::image(u, g));
                let laid_out_anew = old.unit.layouts() != new.unit.layouts();
                let is_same = images[0].is_some() && images[0] == images[1];
                let places = [cells(&old.unit, before), cells(&new.unit, g)];
                if laid_out_anew && (is_same || differ_by_zeros(&places)) {
                    continue;
                }
                let begins = [
                    reaches[step].begins(old_path, &g.symbol),
                    reaches[step + 1].begins(new_path, &g.symbol),
                ];
                // A table of functions that only got other names is the same.
                if begins[0].is_some() && begins[0] == begins[1] {
                    continue;
                }
                let mut readers = reaches[step].readers(old_path, &g.symbol);
                for (reader, direct) in reaches[step + 1].readers(new_path, &g.symbol) {
                    *readers.entry(reader).or_default() |= direct;
                }
                let (removed, hunks) = lines(request, step, (&old.unit, before), true);
                let (added, more) = lines(request, step, (&new.unit, g), false);
                let hunks: BTreeSet<HunkRef> = hunks.into_iter().chain(more).collect();
                found.push(Changed {
                    step,
                    name: g.name.clone(),
                    cells: differing(&places[0], &places[1]),
                    causes: Causes { removed, added, shared: Vec::new() },
                    hunks: hunks.into_iter().collect(),
                    readers,
                });
            }
        }
    }
    found
}

/// The lines of an object's definition that a step changes, with the hunks that have them.
fn lines(
    request: &Request,
    step: usize,
    (unit, g): (&Unit, &Global),
    is_old: bool,
) -> (Vec<LineRef>, Vec<HunkRef>) {
    let (mut lines, mut hunks) = (Vec::new(), Vec::new());
    let Some(file) = unit.files.get(g.span.file.0 as usize) else { return (lines, hunks) };
    let version = &request.versions[if is_old { step } else { step + 1 }];
    let text = version.tree.read(file).unwrap_or_default();
    let all: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
    let last = end_of(&all, g.span.line).max(g.span.end_line);
    let changes = request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
    let of_file =
        changes.iter().filter(|c| if is_old { &c.old_path } else { &c.new_path }.as_ref() == Some(file));
    for (change, h) in of_file.flat_map(|c| c.hunks.iter().map(move |h| (c, h))) {
        let (start, count) = if is_old { (h.old_start, h.old_lines) } else { (h.new_start, h.new_lines) };
        let inside: Vec<u32> =
            (start..start.saturating_add(count)).filter(|l| (g.span.line..=last).contains(l)).collect();
        if inside.is_empty() {
            continue;
        }
        hunks.push(HunkRef {
            file: RepoPath::from(change.new_path.as_deref().unwrap_or(file)),
            old_start: h.old_start,
            old_lines: h.old_lines,
            new_start: h.new_start,
            new_lines: h.new_lines,
        });
        lines.extend(inside.into_iter().map(|line| LineRef {
            file: RepoPath::from(file.as_path()),
            line,
            text: all.get(line as usize - 1).map(|t| String::from_utf8_lossy(t).trim_end().to_owned()),
        }));
    }
    (lines, hunks)
}

/// The line on which a declaration ends that begins on a line: that of the first semicolon outside of braces.
fn end_of(text: &[&[u8]], first: u32) -> u32 {
    /// Lines that are looked through.
    const MOST: usize = 10_000;
    let mut depth = 0i32;
    for (i, line) in text.iter().enumerate().skip((first as usize).saturating_sub(1)).take(MOST) {
        for byte in *line {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b';' if depth <= 0 => return i as u32 + 1,
                _ => {}
            }
        }
    }
    first
}

impl Changed {
    /// Whether a function of both versions reads the object: `true` if it names it.
    pub fn reaches(&self, l: &Lineage) -> Option<bool> {
        let member = |v: VersionId| l.members[v].as_ref();
        let [old, new] = VersionId::of_step(self.step).map(member);
        let (old, new) = (old?, new?);
        let of = |file: &Path, name: &Arc<str>| self.readers.get(&(file.to_path_buf(), name.clone()));
        of(&new.file, &new.function.name).or_else(|| of(&old.file, &old.function.name)).copied()
    }

    /// The older version of the step, counted from 0.
    pub fn step(&self) -> usize {
        self.step
    }

    fn versions(&self) -> (Version, Version) {
        let [from, to] = VersionId::of_step(self.step);
        (from.number(), to.number())
    }

    fn tell(&self, f: &mut FunctionReport, lineage: &Lineage, through: Vec<String>) {
        let (from, to) = self.versions();
        let mut is_told = false;
        for churn in f.points.iter_mut().flat_map(|p| &mut p.churns).filter(|c| (c.from, c.to) == (from, to))
        {
            let shown = churn.witness.is_some() && churn.observable;
            is_told |= shown;
            if shown && churn.causes.removed.is_empty() && churn.causes.added.is_empty() {
                churn.causes.removed.clone_from(&self.causes.removed);
                churn.causes.added.clone_from(&self.causes.added);
                churn.hunks.clone_from(&self.hunks);
            }
        }
        if is_told {
            return;
        }
        let point = match f.points.iter().position(|p| p.kind == PointKind::Entry) {
            Some(at) => &mut f.points[at],
            None => {
                let line = |(v, m): (VersionId, &Option<super::lineage::Member>)| {
                    let m = m.as_ref()?;
                    Some((
                        v.number(),
                        if m.function.span.line > 0 { m.function.span.line } else { exit_line(m) },
                    ))
                };
                let lines = VersionId::each(&lineage.members).filter_map(line).collect();
                f.points.push(Point {
                    id: "entry".into(),
                    kind: PointKind::Entry,
                    lines,
                    ..Point::default()
                });
                let last = f.points.len() - 1;
                &mut f.points[last]
            }
        };
        let first = lineage.members.iter().flatten().next().map_or("", |m| &m.function.name);
        let churn = self.churn(first, through);
        if point.churns.iter().all(|c| c.id != churn.id) {
            point.churns.push(churn);
        }
    }

    fn churn(&self, function: &str, through: Vec<String>) -> Churn {
        let (from, to) = self.versions();
        let subject = format!("initial value of {}", self.name);
        let fact = |(cell, value): &(String, String), version: Version, lines: &[LineRef]| {
            let text = format!("initially {cell} == {value}");
            Fact {
                id: stable_id(&[function, "entry", "constant", &text]),
                template: "constant".into(),
                variables: vec![self.name.to_string()],
                versions: vec![version],
                status: BTreeMap::from([(version, Status::Proved)]),
                lines: BTreeMap::from([(version, lines.iter().map(|l| l.line).collect())]),
                text,
                ..Fact::default()
            }
        };
        let [old, new] = &self.cells;
        let told = old.len().max(new.len()) <= MAX_CELLS;
        let facts = |cells: &[(String, String)], v: Version, lines: &[LineRef]| -> Vec<Fact> {
            cells.iter().filter(|_| told).map(|c| fact(c, v, lines)).collect()
        };
        Churn {
            id: stable_id(&[function, "entry", &subject, &self.hunks.len().to_string(), &from.to_string()]),
            from,
            to,
            removed: facts(old, from, &self.causes.removed),
            added: facts(new, to, &self.causes.added),
            subject,
            observable: false,
            object: Some(self.name.to_string()),
            claim: Claim::Changed,
            causes: self.causes.clone(),
            hunks: self.hunks.clone(),
            through,
            rank: 0.5,
            ..Churn::default()
        }
    }
}

/// The places of an object in order, with what they begin with.
fn cells(unit: &Unit, g: &Global) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let is_known = g.init.iter().all(|p| !matches!(p, InitPiece::Unknown { .. }));
    if g.size <= MAX_BYTES && is_known {
        let image = Image::of(unit, g);
        image.cells(unit, &g.ty, 0, g.name.to_string(), &mut found);
    }
    found
}

/// Those places whose values differ, on either side.
fn differing(old: &[(String, String)], new: &[(String, String)]) -> [Vec<(String, String)>; 2] {
    let only = |own: &[(String, String)], other: &[(String, String)]| {
        let other: BTreeSet<&(String, String)> = other.iter().collect();
        own.iter().filter(|cell| !other.contains(cell)).cloned().collect()
    };
    [only(old, new), only(new, old)]
}

/// Whether all that differs are places that one side alone has, with zeros in them.
fn differ_by_zeros(sides: &[Vec<(String, String)>; 2]) -> bool {
    let [old, new] = sides;
    let is_zero = |value: &str| matches!(value, "0" | "0.0" | "NULL" | "\"\"");
    let places = |cells: &[(String, String)]| cells.iter().map(|(p, _)| p.clone()).collect::<BTreeSet<_>>();
    let (was, is) = (places(old), places(new));
    let [gone, come] = differing(old, new);
    let known = !old.is_empty() && !new.is_empty();
    known
        && gone.iter().all(|(place, value)| !is.contains(place) && is_zero(value))
        && come.iter().all(|(place, value)| !was.contains(place) && is_zero(value))
}

/// What an object begins with.
struct Image {
    bytes: Vec<u8>,
    /// By offset: what is pointed to.
    targets: BTreeMap<u64, String>,
}

impl Image {
    fn of(unit: &Unit, g: &Global) -> Image {
        let mut image = Image { bytes: vec![0; g.size as usize], targets: BTreeMap::new() };
        for piece in &g.init {
            match piece {
                InitPiece::Bytes { offset, bytes } => {
                    let places = image.bytes.iter_mut().skip(*offset as usize);
                    places.zip(bytes).for_each(|(place, byte)| *place = *byte);
                }
                // What nothing is known of is told as a whole.
                InitPiece::Unknown { .. } => {}
                InitPiece::Address { offset, symbol, plus } => {
                    let text = target(unit, symbol);
                    let text = if *plus == 0 { text } else { format!("{text} {plus:+}") };
                    image.targets.insert(*offset, text);
                }
            }
        }
        image
    }

    fn cells(&self, unit: &Unit, ty: &CType, at: u64, path: String, found: &mut Vec<(String, String)>) {
        match ty {
            CType::Array(element, _) if matches!(**element, CType::Int { bits: 8, .. }) => {
                let size =
                    unit.size_of(ty).unwrap_or(self.bytes.len() as u64 - at.min(self.bytes.len() as u64));
                let bytes = self.bytes.get(at as usize..(at + size) as usize).unwrap_or_default();
                let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
                found.push((path, string_literal(&bytes[..used])));
            }
            CType::Array(element, count) => {
                let size = unit.size_of(element).filter(|s| *s > 0).unwrap_or(1);
                let room = (self.bytes.len() as u64).saturating_sub(at) / size;
                for i in 0..count.unwrap_or(room).min(room) {
                    self.cells(unit, element, at + i * size, format!("{path}[{i}]"), found);
                }
            }
            CType::Record(id) => {
                for field in &unit.record(*id).fields {
                    let inner =
                        if field.name.is_empty() { path.clone() } else { format!("{path}.{}", field.name) };
                    match field.bits {
                        Some((first, width)) => {
                            let value =
                                self.word(at + field.offset, 8) >> first & ((1u128 << width.min(64)) - 1);
                            found.push((inner, value.to_string()));
                        }
                        None => self.cells(unit, &field.ty, at + field.offset, inner, found),
                    }
                }
            }
            _ => {
                let Some(sort) = ty.sort(unit.data_model.pointer_bits()) else { return };
                let size = unit.size_of(ty).unwrap_or(8);
                let text = match self.targets.get(&at) {
                    Some(target) => target.clone(),
                    None => {
                        let value = Const::from_bits(sort, self.word(at, size));
                        value.map_or_else(String::new, |c| witness::constant(c, ty))
                    }
                };
                found.push((path, text));
            }
        }
    }

    fn word(&self, at: u64, size: u64) -> u128 {
        let bytes = self.bytes.iter().skip(at as usize).take(size as usize);
        bytes.enumerate().fold(0, |all, (i, b)| all | u128::from(*b) << (8 * i.min(15)))
    }
}

/// What an address in an initial value leads to: a text, or a name.
fn target(unit: &Unit, symbol: &str) -> String {
    match unit.global(symbol) {
        Some(g) if g.linkage == Linkage::Literal => written_literal(g),
        Some(g) if matches!(g.ty, CType::Array(..)) => g.name.to_string(),
        Some(g) => format!("&{}", g.name),
        None => symbol.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Options, diff, memory};
    use crate::frontend::c;

    /// Compares two versions of `a.c`; one line a churn: function, `-` and `+` facts, hunks, and in
    /// brackets what it comes through.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str]) {
        let versions = [old, new].map(|text| vec![("a.c", text)]);
        let request =
            memory::request(&versions, c::Options::default(), Options { jobs: 1, ..Options::default() });
        let report = diff(&request);
        let mut found = Vec::new();
        for f in &report.functions {
            for churn in f.points.iter().flat_map(|p| &p.churns) {
                let texts = |facts: &[crate::report::Fact]| {
                    facts.iter().map(|f| f.text.clone()).collect::<Vec<_>>().join(", ")
                };
                let through = if churn.through.is_empty() { "" } else { " [through]" };
                found.push(format!(
                    "{}: {} -> {} {}{through}",
                    f.name,
                    texts(&churn.removed),
                    texts(&churn.added),
                    churn.hunks.len()
                ));
            }
        }
        assert_eq!(found, expected, "{old} | {new} | {:?}", report.hunks);
        assert_eq!(report.summary.hunks_not_analysed, 0, "{:?}", report.hunks);
    }

    #[test]
    fn a_new_member_of_zeros_is_no_news() {
        let text = |members: &str| {
            format!("static struct {{ union {{ {members} }} u; int n; }} s;\nint f(void) {{ return s.n++; }}")
        };
        check(&text("int a; long c;"), &text("int a; long c; long b[2];"), &[]);
        // Beside what begins otherwise than with zero.
        let text = |members: &str, n: &str| {
            format!(
                "static struct {{ int n; union {{ {members} }} u; }} s = {{ {n} }};\nint f(void) {{ return s.n++; }}"
            )
        };
        check(&text("int a;", "-1"), &text("int a; long b;", "-1"), &[]);
        let news = "f: initially s.n == -1 -> initially s.n == -2, initially s.u.b == 0 1";
        check(&text("int a;", "-1"), &text("int a; long b;", "-2"), &[news]);
    }

    #[test]
    fn readers_are_told_what_changed() {
        let count = |k: &str| {
            format!(
                "static int n = {k};\nint next(void) {{ return n++; }}\nint twice(void) {{ return 2 * next(); }}\nint other(void) {{ return 1; }}\n"
            )
        };
        check(
            &count("1"),
            &count("2"),
            &[
                "next: initially n == 1 -> initially n == 2 1",
                "twice: initially n == 1 -> initially n == 2 1 [through]",
            ],
        );
        let table = |k: &str| {
            format!(
                "struct s {{ const char *name; int x; }};\nstruct s t[] = {{\n  {{\"a\", 1}},\n  {{\"b\", {k}}},\n}};\nint get(int i) {{ return t[i].x; }}\n"
            )
        };
        check(&table("1"), &table("2"), &["get: initially t[1].x == 1 -> initially t[1].x == 2 1"]);
        let text = |k: &str| format!("char *name = \"{k}\";\nchar *get(void) {{ return name; }}\n");
        check(&text("a"), &text("b"), &["get: initially name == \"a\" -> initially name == \"b\" 1"]);
        let pointer = |k: &str| {
            format!(
                "int a(void) {{ return 1; }}\nint b(void) {{ return 2; }}\nint (*hook)(void) = {k};\nint get(void) {{ return hook(); }}\n"
            )
        };
        check(&pointer("a"), &pointer("b"), &["get: initially hook == a -> initially hook == b 1"]);
        let many = |k: &str| format!("int t[] = {{{k}}};\nint get(int i) {{ return t[i]; }}\n");
        check(&many("1, 2, 3, 4, 5"), &many("6, 7, 8, 9, 10"), &["get:  ->  1"]);
    }
}
