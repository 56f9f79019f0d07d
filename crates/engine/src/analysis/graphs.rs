//! The multiversion graphs of the functions that a range changes, for people to look at.

use super::lineage::{Lineage, Member};
use super::loaded::Loaded;
use super::request::Request;
use super::{classes, difference, hunks, workers};
use crate::mvicfg::picture::picture;
use crate::mvicfg::{ClassId, Mvicfg, dot};
use crate::report::html::{Extent, Illustration};
use crate::report::{RepoPath, Report, Version, unseen};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The drawing of a range's changed functions.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// How many functions are in it.
    pub functions: usize,
    /// In the DOT language.
    pub dot: String,
    /// What may be missing in it.
    pub not_looked_at: Vec<String>,
}

/// One function's graph.
struct Graph {
    /// In the newest version that has the function.
    file: RepoPath,
    function: String,
    is_static: bool,
    graph: Mvicfg,
    /// Lines of its file, by class.
    sources: Vec<BTreeMap<u32, String>>,
    class_of: Vec<Option<ClassId>>,
}

/// Draws every function that has more than one body in the range and that is `wanted`, as written
/// (nothing inlined or unrolled), by file and name. Cost: parsing and lowering, no solver.
pub fn draw(request: &Request, wanted: impl Fn(&RepoPath, &str) -> bool + Sync) -> Drawing {
    let (mut graphs, not_looked_at): (Vec<Graph>, Vec<String>) = workers::in_pool(request, || {
        let loaded = Loaded::of(request);
        let graphs = loaded.lineages.par_iter().filter_map(|l| graph(request, l)).collect();
        (graphs, not_looked_at(request, &loaded))
    });
    graphs.retain(|g| wanted(&g.file, &g.function));
    graphs.sort_by(|a, b| (&a.file, &a.function).cmp(&(&b.file, &b.function)));
    Drawing { functions: graphs.len(), dot: dot_of(&graphs), not_looked_at }
}

/// Hunks and files that were not read, functions of which not all is understood, what a limit left out.
fn not_looked_at(request: &Request, loaded: &Loaded) -> Vec<String> {
    let hunks = hunks::unread(request, &loaded.by_version, &loaded.lineages, &loaded.reaches);
    let unread = difference::unread(&loaded.by_version).into_iter();
    let partly = loaded.lineages.iter().filter(|l| classes::is_changed(l)).filter_map(|l| {
        let has_gaps = |m: &Member| !m.function.unknowns.is_empty();
        let (_, newest) = l.newest().filter(|_| l.members.iter().flatten().any(has_gaps))?;
        Some(format!("{}: {}() in part", RepoPath::from(&newest.file), newest.function.name))
    });
    let notices = loaded.notices.iter().map(|n| n.trim_start_matches("note: ").to_owned());
    let files = unread.map(|(file, why)| format!("{file}: {why}"));
    unseen::words(hunks.iter()).into_iter().chain(files).chain(partly).chain(notices).collect()
}

/// Says where the functions of a report stand in each version, and draws those with more than one body.
/// Cost: as [`draw`].
pub fn illustrate(request: &Request, report: &Report) -> Vec<Illustration> {
    let told: BTreeSet<(&RepoPath, &str)> =
        report.functions.iter().map(|f| (&f.file, f.name.as_str())).collect();
    let of = |lineage: &Lineage| {
        let (_, newest) = lineage.newest()?;
        let (file, function) = (RepoPath::from(&newest.file), newest.function.name.to_string());
        let graph = told.contains(&(&file, function.as_str())).then(|| graph(request, lineage))?;
        let picture = graph.map(|g| picture(&g.part(BTreeMap::new())));
        Some(Illustration { file, function, extents: extents(lineage), picture })
    };
    workers::in_pool(request, || {
        let lineages = Loaded::of(request).lineages;
        lineages.par_iter().filter_map(of).collect()
    })
}

fn extents(lineage: &Lineage) -> BTreeMap<Version, Extent> {
    let extent = |(version, member): (Version, &Option<Member>)| {
        let member = member.as_ref()?;
        let span = &member.function.span;
        Some((version, Extent { file: RepoPath::from(&member.file), first: span.line, last: span.end_line }))
    };
    (1..).zip(&lineage.members).filter_map(extent).collect()
}

impl Graph {
    fn part<'g>(&'g self, callees: BTreeMap<&'g str, usize>) -> dot::Part<'g> {
        dot::Part {
            graph: &self.graph,
            title: format!("{}: {}()", self.file, self.function),
            lines: &self.sources,
            class_of: &self.class_of,
            callees,
        }
    }
}

fn dot_of(graphs: &[Graph]) -> String {
    let callees = |from: &Graph| {
        let others = graphs.iter().enumerate().filter(|(_, g)| g.file == from.file || !g.is_static);
        // Of several with one name, the one in the same file is meant.
        let (here, elsewhere): (Vec<_>, Vec<_>) = others.partition(|(_, g)| g.file == from.file);
        elsewhere.into_iter().chain(here).map(|(i, g)| (g.function.as_str(), i)).collect::<BTreeMap<_, _>>()
    };
    let parts = graphs.iter().map(|g| g.part(callees(g)));
    dot::dot(&parts.collect::<Vec<_>>())
}

fn graph(request: &Request, lineage: &Lineage) -> Option<Graph> {
    let (class_of, representative) = classes::classify(lineage);
    if representative.len() < 2 {
        return None;
    }
    let (_, newest) = lineage.newest()?;
    let members: Vec<_> = representative.iter().filter_map(|v| lineage.members[*v].as_ref()).collect();
    let graph = Mvicfg::build(members.iter().map(|m| m.function.clone()).collect());
    let sources: Vec<BTreeMap<u32, String>> = representative
        .iter()
        .zip(&members)
        .map(|(v, member)| {
            let bytes = request.versions[*v].tree.read(&member.file);
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            (1..).zip(text.lines().map(str::to_owned)).collect()
        })
        .collect();
    Some(Graph {
        file: RepoPath::from(&newest.file),
        function: newest.function.name.to_string(),
        is_static: newest.function.is_static,
        graph,
        sources,
        class_of,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Options, memory};
    use crate::frontend::c;

    #[test]
    fn changed_functions_are_drawn_with_their_versions_and_calls() {
        let text = |e: &str| {
            format!(
                "int g(int x) {{\n return {e}; }}\nint f(int x) {{\n return g({e}); }}\nint h(void) {{ return g(0); }}\n"
            )
        };
        let (old, new) = (text("x"), text("x + 1"));
        let versions = [vec![("a.c", old.as_str())], vec![("a.c", new.as_str())]];
        let options = Options { jobs: 1, ..Options::default() };
        let request = memory::request(&versions, c::Options::default(), options);
        let drawing = draw(&request, |_, name| name != "h");
        assert_eq!(drawing.functions, 2);
        for part in [
            "label=\"a.c: f()\";",
            "4: return g(x); }\\ncall g\\n[1]",
            "2: return x + 1; }\\n[2]",
            "-> n1_0 [style=dashed, label=\"1\"]",
        ] {
            assert!(drawing.dot.contains(part), "{part}:\n{}", drawing.dot);
        }
    }
}
