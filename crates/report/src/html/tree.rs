//! Trees of decisions as SVG, from left to right.
//!
//! A subtree takes as much height as its children together, at least that of its own root, which stands in the
//! middle; a level takes the width of its widest node. That is linear and never crosses (the simple case of Reingold
//! and Tilford, "Tidier Drawings of Trees", 1981).

use super::markup::Html;
use crate::escape::shortened;
use crate::tree::{Node, Tree};

/// Of a character and of a line, at the size that the style sheet sets.
const CHARACTER: f64 = 6.65;
const LINE: f64 = 15.0;
const PADDING: (f64, f64) = (8.0, 5.0);
/// Between nodes below one another, and around everything.
const GAP: f64 = 10.0;
const MARGIN: f64 = 12.0;
/// Least room for the words at a way.
const WAY: f64 = 50.0;
/// Characters of a line.
const COLUMNS: usize = 60;
/// Before the words at a way, for its curve.
const CURVE: f64 = 24.0;
/// The title's line.
const TITLE: f64 = 26.0;

/// Where a node stands.
#[derive(Clone, Copy, Debug, Default)]
struct Box {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Places of all nodes, and the size of the drawing.
struct Placed {
    boxes: Vec<Box>,
    width: f64,
    height: f64,
}

fn columns(rows: &[String]) -> f64 {
    let longest = rows.iter().map(|r| line(r).chars().count()).max().unwrap_or(0);
    longest as f64 * CHARACTER
}

/// Width of the words at the way to a node: their characters are a little smaller.
fn words(node: &Node) -> f64 {
    columns(&node.way) * 0.9 + 14.0
}

fn title(tree: &Tree) -> String {
    shortened(&crate::escape::visible(&tree.title), 2 * COLUMNS)
}

fn line(text: &str) -> String {
    shortened(&crate::escape::visible(text), COLUMNS)
}

fn place(tree: &Tree) -> Placed {
    let size = |node: &Node| Box {
        width: columns(&node.rows) + 2.0 * PADDING.0,
        height: node.rows.len() as f64 * LINE + 2.0 * PADDING.1,
        ..Box::default()
    };
    let mut boxes: Vec<Box> = tree.nodes.iter().map(size).collect();
    let depth = depths(tree);
    let levels = depth.iter().max().map_or(0, |d| d + 1);
    let (mut widths, mut ways) = (vec![0.0_f64; levels], vec![WAY; levels]);
    let mut rooms: Vec<f64> = vec![0.0; boxes.len()];
    for (n, node) in tree.nodes.iter().enumerate().rev() {
        let (Some(own), Some(d)) = (boxes.get(n), depth.get(n)) else { continue };
        widths.get_mut(*d).into_iter().for_each(|w| *w = w.max(own.width));
        ways.get_mut(*d).into_iter().for_each(|w| *w = w.max(words(node) + CURVE));
        let room = rooms.get(n).copied().unwrap_or_default().max(own.height + GAP);
        rooms.get_mut(n).into_iter().for_each(|r| *r = room);
        node.parent.and_then(|p| rooms.get_mut(p)).into_iter().for_each(|r| *r += room);
    }
    let mut lefts = vec![MARGIN; levels];
    for d in 1..levels {
        let before = lefts.get(d - 1).zip(widths.get(d - 1)).zip(ways.get(d)).map(|((a, b), c)| a + b + c);
        lefts.get_mut(d).into_iter().for_each(|l| *l = before.unwrap_or_default());
    }
    // Where the next child of a node begins.
    let mut next: Vec<f64> = vec![0.0; boxes.len()];
    for (n, node) in tree.nodes.iter().enumerate() {
        let room = rooms.get(n).copied().unwrap_or_default();
        let top = match node.parent.and_then(|p| next.get_mut(p)) {
            Some(free) => std::mem::replace(free, *free + room),
            None => MARGIN + TITLE,
        };
        next.get_mut(n).into_iter().for_each(|free| *free = top);
        let left = depth.get(n).and_then(|d| lefts.get(*d)).copied().unwrap_or_default();
        if let Some(b) = boxes.get_mut(n) {
            (b.x, b.y) = (left, top + (room - b.height) / 2.0);
        }
    }
    let width = lefts.last().zip(widths.last()).map_or(0.0, |(a, b)| a + b);
    let head = title(tree).chars().count() as f64 * CHARACTER;
    let height = rooms.first().copied().unwrap_or_default() + MARGIN * 2.0 + TITLE;
    Placed { boxes, width: width.max(head + MARGIN) + MARGIN, height }
}

/// How many nodes are above each.
fn depths(tree: &Tree) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        found.push(node.parent.and_then(|p| found.get(p)).map_or(0, |d| d + 1));
    }
    found
}

fn pixels(value: f64) -> String {
    ((value * 10.0).round() / 10.0 + 0.0).to_string()
}

/// Writes a tree as an element of a page.
pub(super) fn write(tree: &Tree, html: &mut Html) {
    let placed = place(tree);
    let (width, height) = (pixels(placed.width), pixels(placed.height));
    let view = format!("0 0 {width} {height}");
    html.open("svg", &[("role", "img"), ("width", &width), ("height", &height), ("viewBox", &view)]);
    write_content(tree, &placed, html);
    html.close("svg");
}

fn write_content(tree: &Tree, placed: &Placed, html: &mut Html) {
    html.leaf("title", &[], &tree.title);
    let (x, y) = (pixels(MARGIN), pixels(MARGIN + LINE - 3.0));
    html.leaf("text", &[("x", &x), ("y", &y), ("class", "name")], &title(tree));
    for (node, own) in tree.nodes.iter().zip(&placed.boxes) {
        if let Some(parent) = node.parent.and_then(|p| placed.boxes.get(p)) {
            write_way(node, parent, own, html);
        }
    }
    for (node, own) in tree.nodes.iter().zip(&placed.boxes) {
        write_node(node, own, html);
    }
}

fn classes(first: &str, node: &Node) -> String {
    format!("{first} {}{}", node.look.class(), if node.is_affected { " affected" } else { "" })
}

fn write_way(node: &Node, from: &Box, to: &Box, html: &mut Html) {
    let (x, y) = (from.x + from.width, from.y + from.height / 2.0);
    let (end, height) = (to.x, to.y + to.height / 2.0);
    // The words stand at the end, above the line.
    let start = end - words(node);
    let path = format!(
        "M{},{}C{},{} {},{} {},{}L{},{}",
        pixels(x),
        pixels(y),
        pixels((x + start) / 2.0),
        pixels(y),
        pixels((x + start) / 2.0),
        pixels(height),
        pixels(start.max(x)),
        pixels(height),
        pixels(end),
        pixels(height)
    );
    html.open("g", &[("class", &classes("branch-of", node))]);
    html.leaf("path", &[("d", &path)], "");
    for (k, row) in node.way.iter().enumerate() {
        let down = height - 4.0 + k as f64 * LINE;
        let (x, y) = (pixels(start.max(x) + 4.0), pixels(down));
        html.leaf("text", &[("x", &x), ("y", &y)], &line(row));
    }
    html.close("g");
}

fn write_node(node: &Node, own: &Box, html: &mut Html) {
    html.open("g", &[("class", &classes("node", node))]);
    let (x, y, width, height) = (pixels(own.x), pixels(own.y), pixels(own.width), pixels(own.height));
    let corners = [("x", &*x), ("y", &*y), ("width", &*width), ("height", &*height), ("rx", "3")];
    html.leaf("rect", &corners, "");
    for (k, row) in node.rows.iter().enumerate() {
        let (x, y) = (pixels(own.x + PADDING.0), pixels(own.y + PADDING.1 + (k as f64 + 0.75) * LINE));
        html.leaf("text", &[("x", &x), ("y", &y)], &line(row));
    }
    html.close("g");
}

/// Colours of a drawing that stands alone: the page's style sheet says the same with its own.
const STYLE: &str = "<style>\
svg{background:#fff}\
text{font:11px monospace;fill:#1b2027;white-space:pre}\
.name{font-weight:bold}\
.node rect{fill:#fff;stroke:#56606b}\
.node.success rect{fill:#e6f6ea}\
.node.failure rect{fill:#fdecec;stroke-width:2}\
.node.grey rect{fill:#d9dee4}\
.node.folded rect{stroke-dasharray:4 3}\
.branch-of path{fill:none;stroke:#56606b}\
.branch-of text{font-size:10px;fill:#56606b}\
.affected rect,.affected path{stroke:#c0111d}\
.affected text{fill:#a0111d}\
</style>";

/// All trees below one another, as a file.
pub fn svg(trees: &[Tree]) -> Vec<u8> {
    let placed: Vec<Placed> = trees.iter().map(place).collect();
    let width = placed.iter().map(|p| p.width).fold(0.0, f64::max);
    let height: f64 = placed.iter().map(|p| p.height).sum();
    let mut html = Html::default();
    let (width, height) = (pixels(width), pixels(height));
    let view = format!("0 0 {width} {height}");
    html.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &view),
        ],
    );
    html.markup(STYLE);
    let mut top = 0.0;
    for (tree, placed) in trees.iter().zip(&placed) {
        html.markup("\n");
        html.open("g", &[("transform", &format!("translate(0,{})", pixels(top)))]);
        write_content(tree, placed, &mut html);
        html.close("g");
        top += placed.height;
    }
    html.markup("</svg>\n");
    html.as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stand_apart_and_inside() {
        // The shapes of some trees, by their parents.
        let shapes: [&[usize]; 4] =
            [&[], &[0, 0], &[0, 1, 2, 3, 0], &[0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 9]];
        for parents in shapes {
            let parents = [None].into_iter().chain(parents.iter().map(|p| Some(*p)));
            let node = |(k, parent): (usize, Option<usize>)| Node {
                parent,
                way: vec!["true".to_owned(); usize::from(k > 0)],
                rows: vec!["x".repeat(1 + k * 7 % 90); 1 + k % 3],
                ..Node::default()
            };
            let tree = Tree { title: "t".to_owned(), nodes: parents.enumerate().map(node).collect() };
            let placed = place(&tree);
            for (k, a) in placed.boxes.iter().enumerate() {
                assert!(
                    a.x >= 0.0
                        && a.y >= TITLE
                        && a.x + a.width <= placed.width
                        && a.y + a.height <= placed.height
                );
                for b in placed.boxes.iter().skip(k + 1) {
                    let beside = a.x + a.width <= b.x || b.x + b.width <= a.x;
                    assert!(beside || a.y + a.height <= b.y || b.y + b.height <= a.y, "{a:?} {b:?}");
                }
                if let Some(parent) = tree.nodes[k].parent.and_then(|p| placed.boxes.get(p)) {
                    assert!(parent.x + parent.width + WAY <= a.x);
                }
            }
        }
    }
}
