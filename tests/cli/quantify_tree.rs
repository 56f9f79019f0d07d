//! `git invdiff quantify`: the tree of decisions as DOT, SVG, a page and JSON.

use crate::quantify::{output, subject};
use crate::support::TempRepo;
use serde_json::Value;

const DOMAIN: &str = "--domain x=-10..9 --domain y=-10..9";

/// Inputs of the nodes of a version's tree, with the lines and conditions of decisions.
fn nodes(report: &Value, version: usize) -> Vec<(u64, String, bool)> {
    let nodes = report["targets"][0]["versions"][version]["tree"]["nodes"].as_array().unwrap();
    let of = |n: &Value| {
        let inputs = n["inputs"]["count"].as_str().unwrap().parse().unwrap();
        let text = n["text"].as_str().unwrap_or_default();
        let what = match n["line"].as_u64() {
            Some(line) => format!("{} {line} {text}", n["kind"].as_str().unwrap()),
            None => format!("{} {text}", n["kind"].as_str().unwrap()),
        };
        (inputs, what.trim().to_owned(), n["affected"].as_bool().unwrap())
    };
    nodes.iter().map(of).collect()
}

#[test]
fn figures_2_and_3_are_the_trees_of_figure_1() {
    let Some(repo) = subject("quant_fig1", &["v1.c", "v2.c"]) else { return };
    let text = output(&repo, &format!("quantify --format json --tree {DOMAIN} HEAD~1..HEAD"), 0);
    let report: Value = serde_json::from_str(&text).unwrap();
    let shown = |version: usize| -> Vec<(u64, String, bool)> { nodes(&report, version) };
    let node = |n: u64, what: &str, red: bool| (n, what.to_owned(), red);
    assert_eq!(
        shown(0),
        [
            node(400, "branch 6 x >= 0", false),
            node(200, "branch 7 y > 0", true),
            node(90, "returns", true),
            node(110, "assertion 11 y < x", true),
            node(109, "returns", true),
            node(1, "fails 11", true),
            node(200, "branch 14 y > 0", false),
            node(90, "returns", false),
            node(110, "returns", false),
        ]
    );
    assert_eq!(
        shown(1),
        [
            node(400, "branch 6 x >= 0", false),
            node(200, "branch 7 y >= 0", true),
            node(100, "returns", true),
            node(100, "returns", true),
            node(200, "branch 14 y > 0", false),
            node(90, "returns", false),
            node(110, "returns", false),
        ]
    );
}

/// Two versions of a function with a change in one of two inner branches, in a file with a name that is no markup.
fn repository(name: &str) -> TempRepo {
    let text = |test: &str| {
        format!(
            "int f(int x, int y)\n{{\n    if (x >= 0) {{\n        if ({test})\n            return 1;\n        return 2;\n    }}\n    if (y < 3)\n        return 3;\n    return x / y;\n}}\n"
        )
    };
    TempRepo::new().file(name, text("y > 0")).commit("one").file(name, text("y > 1")).commit("two")
}

#[test]
fn the_tree_has_all_inputs_and_the_change_in_red() {
    let repo = repository("a.c");
    let report: Value = serde_json::from_str(&output(
        &repo,
        &format!("quantify --format json --tree {DOMAIN} HEAD~1..HEAD"),
        0,
    ))
    .unwrap();
    let expected = [(400, "branch 3 x >= 0", false), (200, "branch 4 y > 0", true), (90, "returns 1", true)];
    let found = nodes(&report, 0);
    for (n, what, red) in expected {
        assert!(found.contains(&(n, what.to_owned(), red)), "{found:?}");
    }
    assert!(nodes(&report, 1).contains(&(80, "returns 1".to_owned(), true)));
    assert!(nodes(&report, 1).contains(&(130, "returns 3".to_owned(), false)));
    // Each node's inputs are those of its children.
    for version in [0, 1] {
        let nodes = report["targets"][0]["versions"][version]["tree"]["nodes"].as_array().unwrap();
        let inputs = |n: &Value| n["inputs"]["count"].as_str().unwrap().parse::<u64>().unwrap();
        for (k, node) in nodes.iter().enumerate() {
            let children = nodes.iter().filter(|n| n["parent"].as_u64() == Some(k as u64));
            let sum: u64 = children.clone().map(inputs).sum();
            assert!(children.count() == 0 || sum == inputs(node), "{node}");
        }
    }
}

#[test]
fn trees_are_drawn_as_dot_and_svg_and_in_a_page() {
    let repo = repository("a.c");
    let dot = output(&repo, &format!("quantify --format dot {DOMAIN} HEAD~1..HEAD"), 0);
    for part in [
        "subgraph cluster_1 {",
        "label=\"a.c:f() in version 1 (HEAD~1)\"",
        "[label=\"4: y > 1\\n200 of 400 (50 %)\", fillcolor=white, color=red, fontcolor=red3]",
        "[label=\"true\\n40 %\", color=red]",
    ] {
        assert!(dot.contains(part), "{part}\n{dot}");
    }
    let svg = output(&repo, &format!("quantify --format svg {DOMAIN} HEAD~1..HEAD"), 0);
    let page = output(&repo, &format!("quantify --format html {DOMAIN} HEAD~1..HEAD"), 0);
    for part in ["<g class=\"node decision affected\">", ">4: y &gt; 1</text>", ">80 of 400 (20 %)</text>"] {
        assert!(svg.contains(part), "{part}\n{svg}");
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert_eq!(svg.matches("<svg ").count(), 1);
    assert_eq!(page.matches("<svg ").count(), 2);
    for part in
        ["<td>10 of 400 (2.5 %)</td>", "<th scope=\"row\">4</th><td>45 %</td><td>40 %</td><td>yes</td>"]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("script-src"));
}

#[test]
fn names_of_strangers_are_harmless() {
    let name = "\"<b>&\u{1b}[31m'\\.c";
    let repo = repository(name);
    let dot = output(&repo, &format!("quantify --format dot {DOMAIN} HEAD~1..HEAD"), 0);
    // Every quote is closed on its line.
    for line in dot.lines() {
        assert_eq!(line.replace("\\\\", "").replace("\\\"", "").matches('"').count() % 2, 0, "{line}");
    }
    let plain = repository("a.c");
    for format in ["svg", "html"] {
        let words = format!("quantify --format {format} {DOMAIN} HEAD~1..HEAD");
        let (odd, other) = (output(&repo, &words, 0), output(&plain, &words, 0));
        assert!(!odd.contains("<b>") && !odd.contains('\u{1b}'), "{odd}");
        assert!(odd.contains("&lt;b&gt;&amp;"));
        assert_eq!(odd.matches('<').count(), other.matches('<').count());
    }
    assert!(!dot.contains('\u{1b}'));
    let text = output(&repo, &format!("quantify {DOMAIN} HEAD~1..HEAD"), 0);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn large_trees_are_folded() {
    let text = |k: u32| {
        let tests: String =
            (0..11).map(|i| format!("    s += x{i} > 0;\n    if (x{i} > {k}) s++;\n")).collect();
        let inputs: Vec<String> = (0..11).map(|i| format!("int x{i}")).collect();
        format!("int f({})\n{{\n    int s = 0;\n{tests}    return s;\n}}\n", inputs.join(", "))
    };
    let repo = TempRepo::new().file("a.c", text(2)).commit("one").file("a.c", text(3)).commit("two");
    let words = |more: &str| format!("quantify --format {more} HEAD~1..HEAD");
    let svg = output(&repo, &words("svg"), 0);
    assert!(
        svg.contains("paths, folded</text>") && svg.contains("nodes folded (--all draws them)</text>"),
        "{svg}"
    );
    assert!(svg.len() < 60_000 && svg.matches("class=\"node ").count() <= 120, "{}", svg.len());
    let all = output(&repo, &words("dot --all"), 0);
    assert!(
        !all.contains("folded") && all.lines().filter(|l| l.contains(" [label=\"returns ")).count() == 4096
    );
    let report: Value = serde_json::from_str(&output(&repo, &words("json --tree"), 0)).unwrap();
    let nodes = report["targets"][0]["versions"][0]["tree"]["nodes"].as_array().unwrap();
    let folded = nodes.iter().filter(|n| n["kind"] == "folded");
    let leaves = nodes.iter().filter(|n| n["kind"] == "returns");
    let paths: u64 = folded.clone().map(|n| n["paths"].as_u64().unwrap()).sum();
    assert_eq!(paths + leaves.count() as u64, 2048);
    assert!(folded.count() > 10);
}

#[test]
fn what_a_bound_cuts_is_a_node_of_its_own() {
    let body = |k: u32| {
        let tests: String =
            (0..15).map(|i| format!("    if (x{i} > 0)\n        s += {};\n", i + k)).collect();
        let inputs: Vec<String> = (0..15).map(|i| format!("int x{i}")).collect();
        format!("int f({})\n{{\n    int s = 0;\n{tests}    return s;\n}}\n", inputs.join(", "))
    };
    let repo = TempRepo::new().file("a.c", body(1)).commit("one").file("a.c", body(2)).commit("two");
    let domains: String = (0..15).map(|i| format!("--domain x{i}=0..1 ")).collect();
    let words = format!("quantify --format json --tree {domains} HEAD~1..HEAD");
    let report: Value = serde_json::from_str(&output(&repo, &words, 0)).unwrap();
    let version = &report["targets"][0]["versions"][0];
    let grey: u64 = version["grey"].as_str().unwrap().parse().unwrap();
    assert!(grey > 0, "{version}");
    let nodes = nodes(&report, 0);
    assert_eq!(nodes[0].0, 32_768);
    let cut: u64 = nodes.iter().filter(|(_, what, _)| what == "not-followed").map(|(n, ..)| n).sum();
    assert!(cut > 0 && cut <= grey, "{nodes:?}");
    let svg = output(&repo, &format!("quantify --format svg {domains} HEAD~1..HEAD"), 0);
    assert!(svg.contains(">not followed: beyond a bound</text>"), "{svg}");
}
