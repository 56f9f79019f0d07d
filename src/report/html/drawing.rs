//! Control flow as SVG: blocks of source lines, coloured by the versions that have them.

use super::layout::{Layout, Piece, Point, Way, layout};
use super::markup::Html;
use crate::mvicfg::picture::{Block, BlockKind, Edge, Picture, Row};
use crate::report::escape::{shortened, visible};
use crate::report::text::ranges;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that a drawing has at most; of larger graphs what is far from every change is left out.
const MOST_BLOCKS: usize = 70;
/// Lines of a block that all versions have, and of one that some have.
const ROWS: (usize, usize) = (8, 16);
/// Characters of a line.
const COLUMNS: usize = 54;
/// Of a character and of a line, at the size that the style sheet sets.
const CHARACTER: f64 = 6.65;
const LINE: f64 = 15.0;
const PADDING: (f64, f64) = (9.0, 6.0);

/// What stands in a drawing: a block, or several that are left out.
enum Shape<'a> {
    Block(&'a Block),
    LeftOut(usize),
}

/// Which versions have something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    All,
    Old,
    New,
    Some,
}

impl Share {
    /// By the versions that have the function.
    fn of(versions: &[u32], all: &[u32]) -> Share {
        let (first, last) = (all.first(), all.last());
        match (versions == all, versions.first() == first, versions.last() == last) {
            (true, ..) => Share::All,
            (_, true, false) => Share::Old,
            (_, false, true) => Share::New,
            _ => Share::Some,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Share::All => "all",
            Share::Old => "only-old",
            Share::New => "only-new",
            Share::Some => "only-some",
        }
    }
}

/// Whether anything is not in all versions.
pub fn differs(picture: &Picture) -> bool {
    let all = versions(picture);
    picture.blocks.iter().any(|b| b.versions != all)
        || picture.edges.iter().any(|e| e.versions != edge_versions(picture, e))
}

/// The versions that have the function.
fn versions(picture: &Picture) -> &[u32] {
    picture.blocks.first().map(|b| b.versions.as_slice()).unwrap_or_default()
}

/// The versions that have both ends of an edge.
fn edge_versions(picture: &Picture, edge: &Edge) -> Vec<u32> {
    let has = |block: usize, v: &u32| picture.blocks.get(block).is_some_and(|b| b.versions.contains(v));
    versions(picture).iter().copied().filter(|v| has(edge.from, v) && has(edge.to, v)).collect()
}

/// Writes the drawing, or why there is none.
pub fn write(name: &str, picture: &Picture, html: &mut Html) {
    let all = versions(picture);
    let Some((shapes, edges)) = shown(picture, all) else {
        let text = format!(
            "{} blocks are too many to draw here; git invdiff graph --function {name} writes them all.",
            picture.blocks.len()
        );
        return html.leaf("p", &[("class", "note")], &text);
    };
    let sizes: Vec<(f64, f64)> = shapes.iter().map(|shape| size(shape, all, name)).collect();
    let ends: Vec<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
    let drawn = layout(&sizes, &ends);
    let left_out: usize = shapes.iter().map(|s| if let Shape::LeftOut(n) = s { *n } else { 0 }).sum();
    if left_out > 0 {
        let text = format!(
            "{left_out} of {} blocks are left out, all far from what differs; git invdiff graph --function {name} writes them all.",
            picture.blocks.len()
        );
        html.leaf("p", &[("class", "note")], &text);
    }
    let number =
        |share: Share| picture.blocks.iter().filter(|b| Share::of(&b.versions, all) == share).count();
    let title = format!(
        "Control flow of {name}(): {} blocks, {} only in older versions, {} only in newer ones",
        picture.blocks.len(),
        number(Share::Old),
        number(Share::New)
    );
    html.markup(
        "<div class=\"drawing\" tabindex=\"0\" role=\"region\" aria-label=\"control flow, scrolls\">",
    );
    let (width, height) = (pixels(drawn.width), pixels(drawn.height));
    html.open(
        "svg",
        &[
            ("role", "img"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &format!("0 0 {width} {height}")),
        ],
    );
    html.leaf("title", &[], &title);
    for (edge, way) in edges.iter().zip(&drawn.ways) {
        write_way(edge, way, all, html);
    }
    for ((shape, corner), size) in shapes.iter().zip(&drawn.boxes).zip(&sizes) {
        write_shape(shape, *corner, *size, all, name, html);
    }
    write_labels(&edges, &drawn, html);
    html.close("svg");
    html.markup("</div>");
}

/// What is drawn of a picture; `None` where too much differs.
fn shown<'a>(picture: &'a Picture, all: &[u32]) -> Option<(Vec<Shape<'a>>, Vec<Edge>)> {
    let count = picture.blocks.len();
    if count <= MOST_BLOCKS {
        return Some((picture.blocks.iter().map(Shape::Block).collect(), picture.edges.clone()));
    }
    let kept = (0..=3)
        .rev()
        .map(|steps| near_changes(picture, all, steps))
        .find(|kept| kept.len() <= MOST_BLOCKS)?;
    // What is left out, by the parts that hang together.
    let mut part_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut parts = 0;
    for start in (0..count).filter(|b| !kept.contains(b)) {
        if part_of.contains_key(&start) {
            continue;
        }
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            if part_of.insert(at, parts).is_some() {
                continue;
            }
            let near = picture.edges.iter().filter_map(|e| match at {
                _ if e.from == at => Some(e.to),
                _ if e.to == at => Some(e.from),
                _ => None,
            });
            open.extend(near.filter(|b| !kept.contains(b) && !part_of.contains_key(b)));
        }
        parts += 1;
    }
    let mut shapes: Vec<Shape> =
        kept.iter().filter_map(|b| picture.blocks.get(*b)).map(Shape::Block).collect();
    for part in 0..parts {
        shapes.push(Shape::LeftOut(part_of.values().filter(|p| **p == part).count()));
    }
    if shapes.len() > 2 * MOST_BLOCKS {
        return None;
    }
    let kept: Vec<usize> = kept.into_iter().collect();
    let place = |block: usize| match part_of.get(&block) {
        Some(part) => kept.len() + part,
        None => kept.partition_point(|k| *k < block),
    };
    let mut edges: Vec<Edge> = Vec::new();
    for edge in &picture.edges {
        let (from, to) = (place(edge.from), place(edge.to));
        let from_part = from >= kept.len();
        let new =
            Edge { from, to, branch: edge.branch.filter(|_| !from_part), versions: edge.versions.clone() };
        // Ways inside what is left out are left out too, and several between the same two are one.
        let is_known = |e: &Edge| (e.from, e.to, e.branch) == (new.from, new.to, new.branch);
        let is_inside = from == to && from_part;
        if !is_inside && !edges.iter().any(is_known) {
            edges.push(new);
        }
    }
    Some((shapes, edges))
}

/// Entry, exit, and the blocks at most so many edges away from something that not all versions have.
fn near_changes(picture: &Picture, all: &[u32], steps: usize) -> BTreeSet<usize> {
    let differs = |versions: &[u32]| Share::of(versions, all) != Share::All;
    let blocks = picture.blocks.iter().enumerate().filter(|(_, b)| differs(&b.versions)).map(|(i, _)| i);
    let ends = picture.edges.iter().filter(|e| differs(&e.versions)).flat_map(|e| [e.from, e.to]);
    let mut near: BTreeSet<usize> = blocks.chain(ends).collect();
    for _ in 0..steps {
        let reach = |e: &Edge| match (near.contains(&e.from), near.contains(&e.to)) {
            (true, false) => Some(e.to),
            (false, true) => Some(e.from),
            _ => None,
        };
        let next: Vec<usize> = picture.edges.iter().filter_map(reach).collect();
        near.extend(next);
    }
    let is_end = |(i, b): (usize, &Block)| (b.kind != BlockKind::Code).then_some(i);
    near.extend(picture.blocks.iter().enumerate().filter_map(is_end));
    near
}

/// The lines of a block that are drawn, and how many more there are.
fn rows<'a>(block: &'a Block, all: &[u32]) -> (&'a [Row], usize) {
    let most = if Share::of(&block.versions, all) == Share::All { ROWS.0 } else { ROWS.1 };
    let shown = block.rows.get(..most).unwrap_or(&block.rows);
    (shown, block.rows.len() - shown.len())
}

fn row_text(row: &Row) -> String {
    let text = row.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_long = text.chars().count() > COLUMNS;
    // Of a long line its comment goes first.
    let code = text.split_once(" /*").map(|(code, _)| code).filter(|_| is_long && !text.starts_with("/*"));
    match code {
        Some(code) => shortened(&visible(format!("{code} …")), COLUMNS),
        None => shortened(&visible(&text), COLUMNS),
    }
}

fn entry_text(name: &str) -> String {
    shortened(&visible(format!("{name}()")), COLUMNS)
}

fn digits(rows: &[Row]) -> usize {
    rows.iter().map(|r| r.line.to_string().len()).max().unwrap_or(0)
}

fn size(shape: &Shape, all: &[u32], name: &str) -> (f64, f64) {
    let (columns, lines) = match shape {
        Shape::LeftOut(_) => (14, 1),
        Shape::Block(block) if block.kind == BlockKind::Entry => (entry_text(name).chars().count() + 2, 1),
        Shape::Block(block) if block.rows.is_empty() => (8, 1),
        Shape::Block(block) => {
            let (rows, more) = rows(block, all);
            let text = rows.iter().map(|r| row_text(r).chars().count()).max().unwrap_or(0);
            (digits(rows) + 2 + text, rows.len() + usize::from(more > 0))
        }
    };
    (columns as f64 * CHARACTER + 2.0 * PADDING.0, lines as f64 * LINE + 2.0 * PADDING.1)
}

fn write_shape(
    shape: &Shape,
    corner: Point,
    (width, height): (f64, f64),
    all: &[u32],
    name: &str,
    html: &mut Html,
) {
    let share = match shape {
        Shape::Block(block) => Share::of(&block.versions, all),
        Shape::LeftOut(_) => Share::All,
    };
    let kind = match shape {
        Shape::Block(block) if block.kind != BlockKind::Code => " end",
        Shape::LeftOut(_) => " left-out",
        Shape::Block(_) => "",
    };
    html.open("g", &[("class", &format!("block {}{kind}", share.class()))]);
    if let (Shape::Block(block), true) = (shape, share != Share::All) {
        html.leaf("title", &[], &versions_text(&block.versions));
    }
    let rounding = if kind == " end" { height / 2.0 } else { 4.0 };
    html.open(
        "rect",
        &[
            ("x", &pixels(corner.x)),
            ("y", &pixels(corner.y)),
            ("width", &pixels(width)),
            ("height", &pixels(height)),
            ("rx", &pixels(rounding)),
        ],
    );
    html.close("rect");
    let middle = pixels(corner.x + width / 2.0);
    let base = |line: usize| pixels(corner.y + PADDING.1 + LINE * line as f64 + 11.0);
    let in_the_middle = |text: &str, html: &mut Html| {
        html.leaf("text", &[("x", &middle), ("y", &base(0)), ("class", "middle")], text);
    };
    match shape {
        Shape::LeftOut(1) => in_the_middle("⋯ 1 block", html),
        Shape::LeftOut(n) => in_the_middle(&format!("⋯ {n} blocks"), html),
        Shape::Block(block) if block.kind == BlockKind::Entry => in_the_middle(&entry_text(name), html),
        Shape::Block(block) if block.kind == BlockKind::Exit => in_the_middle("exit", html),
        Shape::Block(block) if block.rows.is_empty() => in_the_middle("·", html),
        Shape::Block(block) => {
            let (rows, more) = rows(block, all);
            let left = corner.x + PADDING.0;
            let text_at = left + (digits(rows) + 2) as f64 * CHARACTER;
            for (line, row) in rows.iter().enumerate() {
                let number_at = text_at - 2.0 * CHARACTER;
                let number = if row.line == 0 { String::new() } else { row.line.to_string() };
                html.leaf("text", &[("x", &pixels(number_at)), ("y", &base(line)), ("class", "no")], &number);
                html.leaf("text", &[("x", &pixels(text_at)), ("y", &base(line))], &row_text(row));
            }
            if more > 0 {
                let text = format!("⋯ {more} more");
                html.leaf(
                    "text",
                    &[("x", &pixels(text_at)), ("y", &base(rows.len())), ("class", "no more")],
                    &text,
                );
            }
            if share != Share::All {
                let tag = ranges(block.versions.iter().copied());
                let at = (pixels(corner.x + width), pixels(corner.y - 4.0));
                html.leaf("text", &[("x", &at.0), ("y", &at.1), ("class", "tag")], &tag);
            }
        }
    }
    html.close("g");
}

fn versions_text(versions: &[u32]) -> String {
    let word = if versions.len() == 1 { "version" } else { "versions" };
    format!("only in {word} {}", ranges(versions.iter().copied()))
}

fn write_way(edge: &Edge, way: &Way, all: &[u32], html: &mut Html) {
    /// Height of the head of an arrow.
    const HEAD: f64 = 6.0;
    let share = Share::of(&edge.versions, all);
    let mut path = format!("M{}", point(way.start));
    for (i, piece) in way.pieces.iter().enumerate() {
        let is_last = i + 1 == way.pieces.len();
        let shift = |p: Point| if is_last { Point { y: p.y - HEAD, ..p } } else { p };
        path.push_str(&match piece {
            Piece::To(to) => format!("L{}", point(shift(*to))),
            Piece::Curve(a, b, to) => format!("C{} {} {}", point(*a), point(*b), point(shift(*to))),
        });
    }
    html.open("g", &[("class", &format!("way {}", share.class()))]);
    if share != Share::All {
        html.leaf("title", &[], &versions_text(&edge.versions));
    }
    html.leaf("path", &[("class", "line"), ("d", &path)], "");
    let corner = |dx: f64| point(Point { x: way.end.x + dx, y: way.end.y - HEAD - 1.0 });
    let head = format!("M{}L{}L{}Z", corner(-3.5), corner(3.5), point(way.end));
    html.leaf("path", &[("class", "head"), ("d", &head)], "");
    html.close("g");
}

/// Says of branches which way is which.
fn write_labels(edges: &[Edge], drawn: &Layout, html: &mut Html) {
    for (edge, way) in edges.iter().zip(&drawn.ways) {
        let Some(holds) = edge.branch else { continue };
        let at = way.start;
        let text = if holds { "T" } else { "F" };
        // On the outer side.
        let aside = if way.end.x < way.start.x { -9.0 } else { 3.0 };
        let (x, y) = (pixels(at.x + aside), pixels(at.y + 12.0));
        html.leaf("text", &[("x", &x), ("y", &y), ("class", "branch")], text);
    }
}

fn pixels(value: f64) -> String {
    // A tenth is fine enough; no minus sign before zero.
    let tenths = (value * 10.0).round() / 10.0 + 0.0;
    tenths.to_string()
}

fn point(p: Point) -> String {
    format!("{},{}", pixels(p.x), pixels(p.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of blocks of which some are only in the newer version.
    fn chain(blocks: usize, new: &[usize]) -> Picture {
        let versions = |i: usize| if new.contains(&i) { vec![2] } else { vec![1, 2] };
        let kind = |i: usize| match i {
            0 => BlockKind::Entry,
            1 => BlockKind::Exit,
            _ => BlockKind::Code,
        };
        let block = |i: usize| Block {
            kind: kind(i),
            rows: vec![Row { line: i as u32, text: format!("x{i}();") }],
            versions: versions(i),
        };
        // Block 1 is the last.
        let order: Vec<usize> = [0].into_iter().chain(2..blocks).chain([1]).collect();
        let edge =
            |pair: &[usize]| Edge { from: pair[0], to: pair[1], branch: None, versions: versions(pair[1]) };
        Picture { blocks: (0..blocks).map(block).collect(), edges: order.windows(2).map(edge).collect() }
    }

    /// How many blocks are drawn, in how many parts the others are left out, and the edges between them.
    fn check(picture: &Picture, expected: Option<(usize, usize, usize)>) {
        let drawn = shown(picture, &[1, 2]).map(|(shapes, edges)| {
            assert!(edges.iter().all(|e| e.from < shapes.len() && e.to < shapes.len()));
            let left_out: Vec<usize> = shapes
                .iter()
                .filter_map(|s| if let Shape::LeftOut(n) = s { Some(*n) } else { None })
                .collect();
            let blocks = shapes.len() - left_out.len();
            assert_eq!(blocks + left_out.iter().sum::<usize>(), picture.blocks.len());
            (blocks, left_out.len(), edges.len())
        });
        assert_eq!(drawn, expected);
    }

    #[test]
    fn large_graphs_are_drawn_near_their_changes() {
        check(&chain(MOST_BLOCKS, &[9]), Some((MOST_BLOCKS, 0, MOST_BLOCKS - 1)));
        // The ends of the edge that is new, three blocks before and after, and the ends of the function.
        check(&chain(200, &[100]), Some((10, 2, 11)));
        let every: Vec<usize> = (2..200).collect();
        check(&chain(200, &every), None);
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        let every: Vec<usize> = (2..200).collect();
        let mut html = Html::default();
        write("f", &chain(200, &every), &mut html);
        let text = String::from_utf8_lossy(html.as_bytes()).into_owned();
        assert!(text.contains("200 blocks are too many to draw here"), "{text}");
        assert!(differs(&chain(5, &[3])) && !differs(&chain(5, &[])));
    }
}
