//! Hunks in branches that the preprocessor does not take: the configurations that take them.
//!
//! The *presence condition* of a line is the nest of `#if`s around it. As few further sets of macros as reach all
//! such hunks of a file, at most [`MAX_CONFIGURATIONS`], are made of these conditions, greedily; the file is read
//! again with each, its functions are compared where their text differs, and what became of a hunk is said by the
//! first configuration that takes its branch. What no configuration takes (`#if 0`) stays where it is.
//!
//! A header that is only included in such a branch is looked at under the macros of that.

use super::conditionals::condition::{Condition, Macros, parse};
use super::pinned::Pinned;
use super::request::{Effort, FileChange, Options, Request, VersionInput};
use super::units::{included_names, is_header, is_library, is_source};
use super::watch::Watch;
use crate::frontend::c::{platform, preprocessed};
use crate::mvicfg::VersionId;
use crate::report::{FunctionReport, FunctionStatus, HunkRef, HunkReport, HunkVerdict, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Sets of macros that one file is read with, beside the one that was asked for.
const MAX_CONFIGURATIONS: usize = 4;
/// Files that are read again.
const MAX_FILES: usize = 12;
/// Bytes of a directive that are read.
const MAX_DIRECTIVE: usize = 2_000;

/// Why a hunk is looked at again.
pub(super) const INACTIVE: &str = "inactive-branch";

/// Looks at hunks in branches that were not taken, by a further look at their files.
pub(super) fn tell(
    report: &mut Report,
    request: &Request,
    watch: &dyn Watch,
    look: &dyn Fn(&Request) -> Report,
) {
    if !request.analysis.configurations || request.analysis.properties_only {
        return;
    }
    let mut files: BTreeMap<(u32, PathBuf), Vec<HunkReport>> = BTreeMap::new();
    for hunk in report.hunks.iter().filter(|h| is_left_out(h)) {
        files.entry((hunk.from, hunk.file.to_utf8_path())).or_default().push(hunk.clone());
    }
    let files: Vec<((u32, PathBuf), Vec<HunkReport>)> = files.into_iter().take(MAX_FILES).collect();
    let is_out = |hunks: &[HunkReport]| hunks.iter().all(|h| h.why.as_deref() != Some(INACTIVE));
    let headers = files.iter().filter(|((_, file), hunks)| is_header(file) && is_out(hunks));
    let included = included_under(request, &headers.map(|(at, _)| at.clone()).collect());
    // What the headers leave of what was asked for, and then whatever they say.
    for is_pinned in [false, true] {
        // Files that ask for the same are read together: most of them are read by the same ones.
        let mut asked: BTreeMap<(u32, Macros), BTreeSet<PathBuf>> = BTreeMap::new();
        for ((from, file), known) in &files {
            let is_left =
                |h: &&HunkReport| h.from == *from && is_left_out(h) && h.file.to_utf8_path() == *file;
            let left: Vec<HunkReport> = match is_pinned {
                true => report.hunks.iter().filter(is_left).cloned().collect(),
                false => known.clone(),
            };
            let mut sets = configurations(request, *from as usize - 1, file, &left);
            if sets.is_empty() && !is_pinned {
                sets.extend(included.get(&(*from, file.clone())).cloned());
            }
            for macros in sets {
                asked.entry((*from, macros)).or_default().insert(file.clone());
            }
        }
        for ((from, macros), files) in asked {
            if watch.is_over() {
                return;
            }
            let again = configured(request, from as usize - 1, &files, (&macros, is_pinned));
            if !takes_some(&again, report, (from, &files)) {
                continue;
            }
            let found = look(&again);
            take_over(report, found, from, &name(&macros));
        }
    }
}

/// Whether a hunk lies in a branch that was not taken, or in a header that was not included.
fn is_left_out(hunk: &HunkReport) -> bool {
    matches!(hunk.why.as_deref(), Some(INACTIVE | "not-included" | "header"))
}

/// By header, the macros under which some file includes it, of those that are only included so. Cost: reads the
/// tree's C files, if there are such headers.
fn included_under(request: &Request, headers: &BTreeSet<(u32, PathBuf)>) -> BTreeMap<(u32, PathBuf), Macros> {
    let fixed = crate::frontend::c::headers::macros();
    let is_asked = |m: &Macros| {
        let is_fixed = m.iter().any(|(name, value)| value.is_none() && fixed.contains(&**name));
        !m.is_empty() && !m.contains_key(NEVER) && !is_fixed
    };
    let mut found = BTreeMap::new();
    for step in headers.iter().map(|(from, _)| *from).collect::<BTreeSet<u32>>() {
        let Some(version) = request.versions.get(step as usize) else { continue };
        let here = headers.iter().filter(|(from, _)| *from == step);
        let wanted: BTreeMap<String, &(u32, PathBuf)> =
            here.filter_map(|at| Some((at.1.file_name()?.to_string_lossy().into_owned(), at))).collect();
        for path in version.tree.paths().iter().filter(|p| is_source(p) || is_header(p)) {
            let Some(bytes) = version.tree.read(path) else { continue };
            if !included_names(&bytes).iter().any(|name| wanted.contains_key(name)) {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes);
            for (line, macros) in text.lines().zip(presence(&text)).filter(|(_, macros)| is_asked(macros)) {
                let named = included_names(line.as_bytes());
                if let Some(at) = named.first().and_then(|name| wanted.get(name)) {
                    found.entry((*at).clone()).or_insert(macros);
                }
            }
        }
    }
    found
}

/// Whether a request takes a branch that was not taken yet. Files that are no units are not looked at by themselves.
fn takes_some(request: &Request, report: &Report, (from, files): (u32, &BTreeSet<PathBuf>)) -> bool {
    let takes = |file: &PathBuf, version: &VersionInput, side: usize| {
        let tree = &*version.tree;
        let is_not_included = |h: &HunkReport| {
            h.from == from
                && h.file.to_utf8_path() == *file
                && is_left_out(h)
                && h.why.as_deref() != Some(INACTIVE)
        };
        if !is_source(file) && !is_library(tree, file) || report.hunks.iter().any(is_not_included) {
            return true;
        }
        let is_left = |h: &&HunkReport| {
            h.from == from && h.why.as_deref() == Some(INACTIVE) && h.file.to_utf8_path() == *file
        };
        let inactive = report.hunks.iter().filter(is_left).flat_map(|h| &h.pending.inactive);
        let lines = inactive.filter(|(of, _)| *of == side).map(|(_, line)| *line).collect();
        preprocessed::leaves_some(tree, file, &request.options, &lines).unwrap_or(true)
    };
    let changes = request.changes.iter().flatten();
    let mut paths = changes.filter_map(|c| Some((c.new_path.as_ref().or(c.old_path.as_ref())?, c)));
    paths.any(|(file, change)| {
        files.contains(file)
            && request.versions.iter().zip([&change.old_path, &change.new_path]).enumerate().any(
                |(side, (version, path))| {
                    path.as_ref().is_some_and(|path| path != file || takes(file, version, side))
                },
            )
    })
}

/// The request for one step of some files, with further macros, and whether no header changes them.
fn configured(
    request: &Request,
    step: usize,
    files: &BTreeSet<PathBuf>,
    (macros, is_pinned): (&Macros, bool),
) -> Request {
    let mut options = request.options.clone();
    let texts: Vec<String> = request
        .versions
        .iter()
        .skip(step)
        .take(2)
        .flat_map(|v| files.iter().filter_map(|file| v.tree.read(file)))
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    for (name, value) in macros {
        options.defines.retain(|(known, _)| known != name);
        match value {
            // What it is nobody knows: a constant of its own.
            Some(_) if is_only_asked_for(&texts, name) => {
                options.defines.push((name.clone(), Some(name.clone())))
            }
            Some(value) => options.defines.push((name.clone(), Some(value.clone()))),
            None => options.undefines.push(name.clone()),
        }
    }
    let is_windows =
        |(name, value): (&String, &Option<String>)| value.is_some() && platform::is_windows(name);
    if macros.iter().any(is_windows) {
        let types = platform::WINDOWS_TYPES.iter().filter(|(name, _)| !macros.contains_key(*name));
        options.defines.extend(types.map(|(name, ty)| ((*name).to_owned(), Some((*ty).to_owned()))));
    }
    let of_files =
        |c: &&FileChange| c.new_path.as_ref().or(c.old_path.as_ref()).is_some_and(|p| files.contains(p));
    let changes = request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
    let analysis = Options { effort: Effort::Quick, configurations: false, ..request.analysis.clone() };
    let version = |v: &VersionInput| {
        let mut version = v.clone();
        if is_pinned {
            version.tree =
                Arc::new(Pinned::new(version.tree, files.clone(), macros.keys().cloned().collect()));
        }
        version
    };
    Request {
        versions: request.versions.iter().skip(step).take(2).map(version).collect(),
        changes: vec![changes.iter().filter(of_files).cloned().collect()],
        options,
        analysis,
    }
}

/// Whether the code of some texts uses a macro as a value, and their directives only ask whether it is defined.
fn is_only_asked_for(texts: &[String], name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let places = |line: &str| -> Vec<usize> {
        let alone = |at: &usize| {
            let (before, behind) = (&line[..*at], &line[at + name.len()..]);
            !before.ends_with(is_word) && !behind.starts_with(is_word)
        };
        line.match_indices(name).map(|(at, _)| at).filter(alone).collect()
    };
    let mut is_used = false;
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some(directive) = line.trim_start().strip_prefix('#') else {
            is_used |= !places(line).is_empty();
            continue;
        };
        let directive = directive.trim_start();
        if ["ifdef", "ifndef"].iter().any(|word| directive.starts_with(word)) {
            continue;
        }
        let asks = |at: &usize| directive[..*at].trim_end_matches([' ', '(']).ends_with("defined");
        if !places(directive).iter().all(asks) {
            return false;
        }
    }
    is_used
}

/// Puts what a configuration says of hunks that were not looked at in their place, and its changes beside others.
fn take_over(report: &mut Report, found: Report, from: u32, under: &str) {
    let place = |h: &HunkReport| (h.file.clone(), h.old_start, h.new_start);
    let mut settled = Vec::new();
    for hunk in &found.hunks {
        let is_it = |h: &&mut HunkReport| h.from == from && place(h) == place(hunk) && is_left_out(h);
        let Some(known) = report.hunks.iter_mut().find(is_it) else { continue };
        if known.why.as_deref() != Some(INACTIVE) {
            if hunk.why.is_none() {
                (known.why, known.verdict) = (None, hunk.verdict);
                settled.push(place(hunk));
            }
            continue;
        }
        let is_read = matches!(hunk.why.as_deref(), None | Some(INACTIVE));
        let left: BTreeSet<(usize, u32)> =
            known.pending.inactive.intersection(&hunk.pending.inactive).copied().collect();
        if is_read && left.len() == known.pending.inactive.len() && !hunk.pending.told {
            continue;
        }
        let told = hunk.pending.told || hunk.verdict == HunkVerdict::Explained;
        settled.push(place(hunk));
        known.pending.told |= told;
        known.pending.inactive = left;
        if !is_read {
            known.why.clone_from(&hunk.why);
        } else if known.pending.inactive.is_empty() {
            known.why = None;
            known.verdict = if known.pending.told { HunkVerdict::Explained } else { HunkVerdict::Neutral };
        }
    }
    // What changes nothing where the branch is not taken may do so where it is: where that is told.
    let told: BTreeSet<_> = {
        let hunks = found.functions.iter().flat_map(|f| &f.changes).flat_map(|c| &c.hunks);
        hunks.map(|h| (h.file.clone(), h.old_start, h.new_start)).collect()
    };
    for hunk in found.hunks.iter().filter(|h| told.contains(&place(h))) {
        let is_it = |h: &&mut HunkReport| {
            h.from == from && place(h) == place(hunk) && h.verdict == HunkVerdict::Neutral
        };
        if let Some(known) = report.hunks.iter_mut().find(is_it) {
            known.verdict = HunkVerdict::Explained;
            settled.push(place(hunk));
        }
    }
    report.cost.solver_queries += found.cost.solver_queries;
    let is_settled = |h: &HunkRef| settled.contains(&(h.file.clone(), h.old_start, h.new_start));
    super::objects::take_over(report, &found.objects, (from, under), &is_settled);
    for function in found.functions {
        let changes: Vec<_> = function
            .changes
            .iter()
            .filter(|c| c.hunks.iter().any(is_settled))
            .map(|c| {
                let mut change = c.clone();
                let id = blake3::hash(format!("{under} {}", c.id).as_bytes());
                id.to_hex()[..16].clone_into(&mut change.id);
                (change.from, change.to) = (from, from + 1);
                change.under = Some(under.to_owned());
                change.at.lines = c.at.lines.iter().map(|(v, line)| (v + from - 1, *line)).collect();
                change
            })
            .collect();
        let comes_or_goes = matches!(function.outcome, FunctionStatus::Added | FunctionStatus::Removed)
            && settled.iter().any(|(file, ..)| *file == function.file);
        if changes.is_empty() && !comes_or_goes {
            continue;
        }
        let known = report.functions.iter_mut().find(|f| f.file == function.file && f.name == function.name);
        match known {
            Some(f) => f.changes.extend(changes),
            None => {
                let versions = function.versions.iter().map(|v| v + from - 1).collect();
                let mut place = function.identity.clone();
                place.versions =
                    function.identity.versions.iter().map(|(v, p)| (v + from - 1, p.clone())).collect();
                let unknowns = Vec::new();
                let points = Vec::new();
                let under = comes_or_goes.then(|| under.to_owned());
                let told = FunctionReport {
                    versions,
                    identity: place,
                    unknowns,
                    points,
                    changes,
                    under,
                    ..function
                };
                report.functions.push(told);
            }
        }
    }
    report.functions.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
}

/// `USE_SPNEGO && _WIN32`: what must not be defined is what one expects of most macros, and said where nothing
/// else is to say.
fn name(macros: &Macros) -> String {
    let is_defined = macros.values().any(Option::is_some);
    words_of(macros.iter().filter(|(_, value)| value.is_some() || !is_defined))
}

fn words_of<'m>(macros: impl Iterator<Item = (&'m String, &'m Option<String>)>) -> String {
    let word = |(name, value): (&String, &Option<String>)| match value.as_deref() {
        Some("1") => name.clone(),
        Some(value) => format!("{name} == {value}"),
        None => format!("!{name}"),
    };
    macros.map(word).collect::<Vec<_>>().join(" && ")
}

/// Sets of macros under which hunks of a file are active.
fn configurations(request: &Request, step: usize, file: &PathBuf, hunks: &[HunkReport]) -> Vec<Macros> {
    let change = request.changes.get(step).and_then(|changes| {
        changes.iter().find(|c| c.new_path.as_ref().or(c.old_path.as_ref()) == Some(file))
    });
    let Some(change) = change else { return Vec::new() };
    let read = |version: VersionId, path: Option<&PathBuf>| -> Vec<Macros> {
        let bytes = path.and_then(|p| request.versions[version].tree.read(p));
        presence(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
    };
    let [from, to] = VersionId::of_step(step);
    let texts = [read(from, change.old_path.as_ref()), read(to, change.new_path.as_ref())];
    let mut all: Vec<Macros> = Vec::new();
    let fixed = crate::frontend::c::headers::macros();
    for hunk in hunks {
        let lines = hunk
            .pending
            .inactive
            .iter()
            .filter_map(|(side, line)| texts.get(*side)?.get((*line as usize).checked_sub(1)?));
        // What a library header defines is defined, whatever is asked for.
        let is_fixed = |m: &Macros| m.iter().any(|(name, value)| value.is_none() && fixed.contains(&**name));
        let mut asked: Vec<&Macros> =
            lines.filter(|m| !m.is_empty() && !m.contains_key(NEVER) && !is_fixed(m)).collect();
        // The lines that ask for most come first: what they ask for does for those around them.
        asked.sort_by_key(|m| std::cmp::Reverse(m.len()));
        for wanted in asked {
            let fits = |known: &Macros| {
                wanted.iter().all(|(name, value)| known.get(name).is_none_or(|v| v == value))
            };
            match all.iter().position(fits) {
                Some(k) => all[k].extend(wanted.clone()),
                None if all.len() < MAX_CONFIGURATIONS => all.push(wanted.clone()),
                None => {}
            }
        }
    }
    all
}

/// Stands for a condition that nothing makes true.
const NEVER: &str = " ";

/// By line: the macros under which it is active, as far as its conditions are understood.
fn presence(text: &str) -> Vec<Macros> {
    let mut lines = Vec::new();
    // By level: what its active branch asks for, and the conditions of the branches before.
    let mut nest: Vec<(Macros, Vec<Condition>)> = Vec::new();
    let mut logical = String::new();
    let guard = guard(text);
    for line in text.lines() {
        let here = |nest: &[(Macros, Vec<Condition>)]| {
            let mut all = Macros::new();
            nest.iter().for_each(|(m, _)| all.extend(m.clone()));
            all
        };
        lines.push(here(&nest));
        logical.push_str(line.trim_end_matches('\\'));
        if line.ends_with('\\') && logical.len() < MAX_DIRECTIVE {
            continue;
        }
        let whole = std::mem::take(&mut logical);
        let Some(directive) = whole.trim_start().strip_prefix('#') else { continue };
        let directive = without_comments(directive.trim_start());
        let (word, rest) =
            directive.split_at(directive.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(directive.len()));
        let condition = || match word {
            "ifdef" => Condition::Defined(first_name(rest)),
            "ifndef" => Condition::Defined(first_name(rest)).not(),
            _ => parse(rest),
        };
        match word {
            "ifndef" if guard.as_deref() == Some(&*first_name(rest)) => nest.push(Default::default()),
            "if" | "ifdef" | "ifndef" => {
                let condition = condition();
                nest.push((wanted(&[], Some(&condition)), vec![condition]));
            }
            "elif" => {
                if let Some((macros, before)) = nest.last_mut() {
                    let condition = condition();
                    *macros = wanted(before, Some(&condition));
                    before.push(condition);
                }
            }
            "else" => {
                if let Some((macros, before)) = nest.last_mut() {
                    *macros = wanted(before, None);
                }
            }
            "endif" => _ = nest.pop(),
            _ => {}
        }
    }
    lines
}

/// The macro that keeps a header from being read twice: its first directive asks for it, its second defines it.
fn guard(text: &str) -> Option<String> {
    let mut directives = text.lines().filter_map(|l| l.trim_start().strip_prefix('#')).map(str::trim_start);
    let asked = first_name(directives.next()?.strip_prefix("ifndef")?);
    let defined = first_name(directives.next()?.strip_prefix("define")?);
    (asked == defined).then_some(asked)
}

fn without_comments(text: &str) -> String {
    let mut out = text.split("//").next().unwrap_or_default().to_owned();
    while let Some(start) = out.find("/*") {
        let end = out[start..].find("*/").map_or(out.len(), |e| start + e + 2);
        out.replace_range(start..end, " ");
    }
    out
}

fn first_name(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// What makes a condition true, and all that come before it false.
fn wanted(before: &[Condition], condition: Option<&Condition>) -> Macros {
    let mut macros = Macros::new();
    let ok = condition.is_none_or(|c| c.require(true, &mut macros))
        && before.iter().all(|c| c.require(false, &mut macros));
    if !ok {
        macros.insert(NEVER.to_owned(), None);
    }
    macros
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{diff, memory};
    use crate::frontend::c;

    #[track_caller]
    fn check(condition: &str, expected: &str) {
        assert_eq!(words_of(wanted(&[], Some(&parse(condition))).iter()), expected, "{condition}");
    }

    #[test]
    fn conditions_are_made_true() {
        check("defined(A) && !defined(B)", "A && !B");
        check("defined A || defined(B)", "A");
        check("A", "A");
        check("!(A && defined(B))", "!A");
        check("A >= 3", "A == 3");
        check("A > 3 && B", "A == 4 && B");
        check("0", "! ");
        check("1", "");
        check("f(x)", "! ");
    }

    #[test]
    fn lines_have_the_conditions_of_their_nest() {
        let text =
            "a\n#ifdef X\nb\n#if Y > 1\nc\n#else\nd\n#endif\n#elif defined(Z)\ne\n#else\nf\n#endif\ng\n";
        let at = |line: usize| words_of(presence(text)[line - 1].iter());
        assert_eq!((at(1).as_str(), at(3).as_str(), at(5).as_str()), ("", "X", "X && Y == 2"));
        assert_eq!((at(7).as_str(), at(10).as_str(), at(12).as_str()), ("X && !Y", "!X && Z", "!X && !Z"));
        assert_eq!(at(14), "");
        let header = presence("#ifndef A_H\n#define A_H\n#ifdef X\nint x;\n#endif\n#endif\n");
        assert_eq!(words_of(header[3].iter()), "X");
    }

    #[test]
    fn hunks_in_branches_that_are_not_taken_are_told() {
        let text = |k: &str| {
            format!(
                "int f(int x)\n{{\n#ifdef DEBUG\n    if (x < {k}) return -1;\n#endif\n    return x;\n}}\n"
            )
        };
        let (old, new) = (text("1"), text("2"));
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        for effort in [Effort::Quick, Effort::Normal] {
            let options = Options { jobs: 1, effort, ..Options::default() };
            let report = diff(&memory::request(&versions, c::Options::default(), options));
            assert_eq!(report.hunks[0].verdict, HunkVerdict::Explained, "{report:?}");
            let change = &report.functions[0].changes[0];
            assert_eq!(change.under.as_deref(), Some("DEBUG"));
            assert_eq!(change.deltas[0].when.text, "x == 1");
        }
    }

    #[test]
    fn types_of_windows_compilers_are_known_where_such_a_one_is_asked_for() {
        let text = |k: &str| {
            format!(
                "#ifdef _WIN32\ntypedef unsigned __int64 large;\nint f(large x)\n{{\n    return x > {k};\n}}\n#endif\n"
            )
        };
        let (old, new) = (text("1"), text("2"));
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let change = &report.functions[0].changes[0];
        assert_eq!((change.under.as_deref(), &*change.deltas[0].when.text), (Some("_WIN32"), "x == 2"));
    }

    #[test]
    fn what_a_header_says_otherwise_is_asked_for_all_the_same() {
        let text = |k: &str| {
            format!(
                "#include \"a.h\"\nint f(int x)\n{{\n#if DEEP\n    if (x < {k}) return -1;\n#endif\n    return x;\n}}\n"
            )
        };
        let header = "#ifdef HAVE_DEEP\n#define DEEP 1\n#else\n#define DEEP 0\n#endif\n";
        let (old, new) = (text("1"), text("2"));
        let versions = [vec![("a.h", header), ("a.c", &old)], vec![("a.h", header), ("a.c", &new)]];
        let report = diff(&memory::request(
            &versions,
            c::Options::default(),
            Options { jobs: 1, ..Options::default() },
        ));
        assert_eq!(report.hunks[0].verdict, HunkVerdict::Explained, "{report:?}");
        assert_eq!(report.functions[0].changes[0].under.as_deref(), Some("DEEP"));
    }

    /// Two constants that nobody knows are not one.
    #[test]
    fn a_macro_that_is_a_value_is_no_number() {
        let text = |call: &str| {
            format!(
                "int set(int, int);\nint f(int x)\n{{\n#if defined(GET) && defined(SET)\n    return set({call}, x);\n#endif\n    return x;\n}}\n"
            )
        };
        let (old, new) = (text("GET"), text("SET"));
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let delta = &report.functions[0].changes[0].deltas[0];
        let texts = [&delta.before, &delta.now].map(|e| e.iter().map(|e| e.text.clone()).collect::<Vec<_>>());
        assert_eq!(texts, [["returns set(GET, x)"], ["returns set(SET, x)"]], "{report:?}");
        let texts =
            ["#ifdef A\nint x = A;\n#endif\n#if B\nint y = B;\n#endif\n#if C > 2\n#endif\n".to_owned()];
        let asked = ["A", "B", "C", "D"].map(|name| is_only_asked_for(&texts, name));
        assert_eq!(asked, [true, false, false, false]);
    }

    /// What a macro stands for without the branch, a function that only is there with it does otherwise.
    #[test]
    fn what_comes_with_a_branch_and_who_uses_it_are_told() {
        let text = |own: &str, called: &str| {
            format!(
                "static int sub(int a, int b) {{ return a - b; }}\n{own}int f(int a)\n{{\n    return {called}(a, 3);\n}}\n"
            )
        };
        let own = "#ifdef FAST\nstatic int lazy(int a, int b) { return a + 64 - b; }\n#else\n#define lazy sub\n#endif\n";
        let (old, new) = (text("", "sub"), text(own, "lazy"));
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let of = |name: &str| report.functions.iter().find(|f| f.name == name);
        assert_eq!(of("lazy").and_then(|f| f.under.as_deref()), Some("FAST"), "{report:?}");
        assert!(of("f").is_some_and(|f| f.changes.iter().any(|c| c.under.as_deref() == Some("FAST"))));
        assert!(report.hunks.iter().all(|h| h.verdict == HunkVerdict::Explained));
        // The macro alone changes nothing.
        let own = "#define lazy sub\n";
        let new = text(own, "lazy");
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        assert!(report.hunks.iter().all(|h| h.verdict == HunkVerdict::Neutral));
    }

    #[test]
    fn headers_that_a_branch_includes_are_looked_at_with_it() {
        let source = "#ifdef WIDE\n#include \"wide.h\"\n#else\nstatic int one(int a) { return a; }\n#endif\nint f(int a) { return one(a); }\n";
        let header = |k: &str| format!("static int one(int a)\n{{\n    return a + {k};\n}}\n");
        let (old, new) = (header("1"), header("2"));
        let versions =
            [vec![("a.c", source), ("wide.h", &old)], vec![("a.c", source), ("wide.h", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let change = report.functions.iter().flat_map(|f| &f.changes).next();
        assert_eq!(report.hunks[0].verdict, HunkVerdict::Explained, "{report:?}");
        assert!(change.is_some(), "{report:?}");
    }

    #[test]
    fn what_nothing_takes_stays() {
        let text = |k: &str| format!("int f(int x)\n{{\n#if 0\n    return {k};\n#endif\n    return x;\n}}\n");
        let (old, new) = (text("1"), text("2"));
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        assert_eq!(report.hunks[0].why.as_deref(), Some(INACTIVE));
    }
}
