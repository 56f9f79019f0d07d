//! The multiversion graphs of the functions that a range changes, for people to look at.

use super::lineage::Lineage;
use super::{Request, classes};
use crate::mvicfg::{Mvicfg, VersionSet, dot};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One function's graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// In the newest version that has the function.
    pub file: PathBuf,
    pub function: String,
    /// In the DOT language.
    pub dot: String,
}

/// Draws every function that has more than one body in the range, as written (nothing inlined or
/// unrolled), by file and name. Cost: parsing and lowering, no solver.
pub fn graphs(request: &Request) -> Vec<Graph> {
    super::in_pool(request, || {
        let (_, _, lineages) = super::linked(request);
        let mut graphs: Vec<Graph> = lineages.par_iter().filter_map(|l| graph(request, l)).collect();
        graphs.sort_by(|a, b| (&a.file, &a.function).cmp(&(&b.file, &b.function)));
        graphs
    })
}

fn graph(request: &Request, lineage: &Lineage) -> Option<Graph> {
    let (class_of, representative) = classes::classify(lineage);
    if representative.len() < 2 {
        return None;
    }
    let (_, newest) = lineage.newest()?;
    let members: Vec<_> = representative.iter().filter_map(|v| lineage.members.get(*v)?.as_ref()).collect();
    let graph = Mvicfg::build(members.iter().map(|m| m.function.clone()).collect());
    let sources: Vec<BTreeMap<u32, String>> = representative
        .iter()
        .zip(&members)
        .map(|(v, member)| {
            let bytes = request.versions.get(*v).and_then(|version| version.tree.read(&member.file));
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            (1..).zip(text.lines().map(str::to_owned)).collect()
        })
        .collect();
    let title = format!("{}: {}()", newest.file.display(), newest.function.name);
    let labels = dot::Labels {
        title: &title,
        line: &|class, line| sources.get(class)?.get(&line).cloned(),
        versions: &|classes| version_names(classes, &class_of),
    };
    let dot = dot::dot(&graph, &labels);
    Some(Graph { file: newest.file.clone(), function: newest.function.name.to_string(), dot })
}

/// The versions of some classes: `1-3,5`.
fn version_names(classes: &VersionSet, class_of: &[Option<usize>]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let versions = (1..).zip(class_of).filter(|(_, class)| class.is_some_and(|c| classes.contains(c)));
    for (version, _) in versions {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == version => *last = version,
            _ => runs.push((version, version)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{FileChange, Options, VersionInput};
    use crate::frontend::c;
    use crate::history::MemoryTree;
    use crate::report::VersionInfo;
    use std::sync::Arc;

    #[test]
    fn a_changed_function_is_drawn_with_its_versions() {
        let version = |text: &str| VersionInput {
            info: VersionInfo::default(),
            tree: Arc::new(MemoryTree::new([("a.c", text)])),
        };
        let same = "int g(void) { return 0; }\n";
        let changed = FileChange {
            old_path: Some("a.c".into()),
            new_path: Some("a.c".into()),
            hunks: Vec::new(),
            opaque: None,
        };
        let request = Request {
            versions: vec![
                version(&format!("{same}int f(int x) {{\n return x; }}\n")),
                version(&format!("{same}int f(int x) {{\n return x + 1; }}\n")),
            ],
            changes: vec![vec![changed]],
            options: c::Options::default(),
            analysis: Options { jobs: 1, ..Options::default() },
        };
        let graphs = graphs(&request);
        let names: Vec<_> = graphs.iter().map(|g| g.function.as_str()).collect();
        assert_eq!(names, ["f"]);
        for part in ["digraph \"a.c: f()\"", "3: return x; }\\n[1]", "3: return x + 1; }\\n[2]"] {
            assert!(graphs[0].dot.contains(part), "{part}:\n{}", graphs[0].dot);
        }
    }
}
