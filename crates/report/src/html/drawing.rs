//! Control flow as SVG: blocks of source lines, coloured by the versions that have them.

use super::layout::{EdgeRoute, Layout, Piece, Point, layout};
use super::markup::Html;
use crate::escape::{shortened, visible};
use crate::mvicfg::picture::{Block, BlockKind, Edge, Picture, Row};
use crate::text::ranges;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that a drawing has at most; of larger graphs what is far from every change is left out.
const MOST_BLOCKS: usize = 70;
/// Width beyond which a drawing can be fitted into the page.
const WIDE: f64 = 700.0;
/// The switch for that.
pub(super) const FIT: &str = "<label class=\"fit\"><input type=\"checkbox\"> as a whole</label>";
/// Ways from and to a block, beyond which a large graph is not followed through it.
const MOST_WAYS: usize = 6;
/// Lines of a block that all versions have, and of one that some have.
const ROWS: (usize, usize) = (8, 16);
/// Characters of a line.
const COLUMNS: usize = 54;
/// Of a character and of a line, at the size that the style sheet sets.
const CHARACTER: f64 = 6.65;
const LINE: f64 = 15.0;
const PADDING: (f64, f64) = (9.0, 6.0);

/// What stands in a drawing: a block, or others that are left out.
enum Shape<'a> {
    Block(&'a Block),
    LeftOut,
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
    let Some(parts) = shown(picture, all) else {
        let text = format!(
            "{} blocks are too many to draw here; git invdiff graph --function {name} writes them all.",
            picture.blocks.len()
        );
        return html.leaf("p", &[("class", "note")], &text);
    };
    let is_block = |shape: &&Shape| matches!(shape, Shape::Block(_));
    let drawn: usize = parts.iter().map(|p| p.shapes.iter().filter(is_block).count()).sum();
    if drawn < picture.blocks.len() {
        let text = format!(
            "{drawn} of {} blocks are drawn, those around what differs; git invdiff graph --function {name} writes them all.",
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
    let placed: Vec<Placed> = parts.iter().map(|part| place(part, all, name)).collect();
    if placed.iter().any(|part| part.layout.width > WIDE) {
        // Needs no script: the style sheet looks whether it is checked.
        html.markup(FIT);
    }
    html.markup(
        "<div class=\"drawing\" tabindex=\"0\" role=\"region\" aria-label=\"control flow, scrolls\">",
    );
    placed.iter().for_each(|part| write_part(part, all, name, &title, html));
    html.markup("</div>");
}

/// A part, and where everything of it stands.
struct Placed<'a> {
    part: &'a Drawn<'a>,
    sizes: Vec<(f64, f64)>,
    layout: Layout,
}

fn place<'a>(part: &'a Drawn<'a>, all: &[u32], name: &str) -> Placed<'a> {
    let sizes: Vec<(f64, f64)> = part.shapes.iter().map(|shape| size(shape, all, name)).collect();
    let ends: Vec<(usize, usize)> = part.edges.iter().map(|e| (e.from, e.to)).collect();
    let layout = layout(&sizes, &ends);
    Placed { part, sizes, layout }
}

fn write_part(placed: &Placed, all: &[u32], name: &str, title: &str, html: &mut Html) {
    let Placed { part: Drawn { shapes, edges }, sizes, layout: drawn } = placed;
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
    html.leaf("title", &[], title);
    for (edge, way) in edges.iter().zip(&drawn.ways) {
        write_way(edge, way, all, html);
    }
    for ((shape, corner), size) in shapes.iter().zip(&drawn.boxes).zip(sizes) {
        write_shape(shape, *corner, *size, all, name, html);
    }
    write_labels(edges, drawn, html);
    html.close("svg");
}

/// What is drawn in one piece.
struct Drawn<'a> {
    shapes: Vec<Shape<'a>>,
    edges: Vec<Edge>,
}

/// What is drawn of a picture: all of it, or what is near to changes, by the parts that hang together;
/// `None` where too much differs.
fn shown<'a>(picture: &'a Picture, all: &[u32]) -> Option<Vec<Drawn<'a>>> {
    if picture.blocks.len() <= MOST_BLOCKS {
        let shapes = picture.blocks.iter().map(Shape::Block).collect();
        return Some(vec![Drawn { shapes, edges: picture.edges.clone() }]);
    }
    let kept = (0..=2)
        .rev()
        .map(|steps| near_changes(picture, all, steps))
        .find(|kept| kept.len() <= MOST_BLOCKS)?;
    let mut met: BTreeSet<usize> = BTreeSet::new();
    let mut parts = Vec::new();
    for start in &kept {
        let mut part = BTreeSet::new();
        let mut open = vec![*start];
        while let Some(at) = open.pop() {
            if met.insert(at) {
                part.insert(at);
                let near = picture.edges.iter().filter_map(|e| other_end(e, at));
                open.extend(near.filter(|b| kept.contains(b)));
            }
        }
        if !part.is_empty() {
            parts.push(part_of(picture, &part));
        }
    }
    Some(parts)
}

fn other_end(edge: &Edge, block: usize) -> Option<usize> {
    match (edge.from == block, edge.to == block) {
        (true, _) => Some(edge.to),
        (_, true) => Some(edge.from),
        _ => None,
    }
}

/// Some blocks with the ways between them, and a stub for each way from or to others.
fn part_of<'a>(picture: &'a Picture, blocks: &BTreeSet<usize>) -> Drawn<'a> {
    let mut shapes: Vec<Shape> =
        blocks.iter().filter_map(|b| picture.blocks.get(*b)).map(Shape::Block).collect();
    let places: BTreeMap<usize, usize> = blocks.iter().copied().zip(0..).collect();
    let mut stubs: BTreeMap<(usize, bool, Option<bool>), usize> = BTreeMap::new();
    let mut edges = Vec::new();
    for edge in &picture.edges {
        let (from, to) = (places.get(&edge.from), places.get(&edge.to));
        let mut stub = |key: (usize, bool, Option<bool>)| {
            let known = stubs.get(&key).copied();
            let place = known.unwrap_or(shapes.len());
            if known.is_none() {
                shapes.push(Shape::LeftOut);
                stubs.insert(key, place);
            }
            (place, known.is_none())
        };
        let (from, to, branch, is_new) = match (from, to) {
            (Some(from), Some(to)) => (*from, *to, edge.branch, true),
            (Some(from), None) => {
                let (to, is_new) = stub((*from, true, edge.branch));
                (*from, to, edge.branch, is_new)
            }
            (None, Some(to)) => {
                let (from, is_new) = stub((*to, false, None));
                (from, *to, None, is_new)
            }
            (None, None) => continue,
        };
        if is_new {
            edges.push(Edge { from, to, branch, versions: edge.versions.clone() });
        }
    }
    Drawn { shapes, edges }
}

/// The blocks at most so many edges away from something that not all versions have.
fn near_changes(picture: &Picture, all: &[u32], steps: usize) -> BTreeSet<usize> {
    let differs = |versions: &[u32]| Share::of(versions, all) != Share::All;
    let mut ways = vec![0_usize; picture.blocks.len()];
    for end in picture.edges.iter().flat_map(|e| [e.from, e.to]) {
        if let Some(count) = ways.get_mut(end) {
            *count += 1;
        }
    }
    // Where very many ways meet (the head of a large switch), what is one step away has little in common.
    let is_hub = |block: &usize| ways.get(*block).is_none_or(|count| *count > MOST_WAYS);
    let blocks = picture.blocks.iter().enumerate().filter(|(_, b)| differs(&b.versions)).map(|(i, _)| i);
    let ends = picture.edges.iter().filter(|e| differs(&e.versions)).flat_map(|e| [e.from, e.to]);
    let mut near: BTreeSet<usize> = blocks.chain(ends.filter(|end| !is_hub(end))).collect();
    for _ in 0..steps {
        let reach = |e: &Edge| match (near.contains(&e.from), near.contains(&e.to)) {
            (true, false) => Some((e.from, e.to)),
            (false, true) => Some((e.to, e.from)),
            _ => None,
        };
        let next = picture.edges.iter().filter_map(reach).filter(|(by, to)| !is_hub(by) && !is_hub(to));
        let next: Vec<usize> = next.map(|(_, to)| to).collect();
        near.extend(next);
    }
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
        Shape::LeftOut => (2, 1),
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
        Shape::LeftOut => Share::All,
    };
    let kind = match shape {
        Shape::Block(block) if block.kind != BlockKind::Code => " end",
        Shape::LeftOut => " left-out",
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
        Shape::LeftOut => in_the_middle("⋯", html),
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

fn write_way(edge: &Edge, way: &EdgeRoute, all: &[u32], html: &mut Html) {
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

    /// Of each part: how many blocks are drawn, how many stubs, and the edges.
    fn check(picture: &Picture, expected: Option<&[(usize, usize, usize)]>) {
        let count = |part: &Drawn| {
            assert!(part.edges.iter().all(|e| e.from < part.shapes.len() && e.to < part.shapes.len()));
            let blocks = part.shapes.iter().filter(|s| matches!(s, Shape::Block(_))).count();
            (blocks, part.shapes.len() - blocks, part.edges.len())
        };
        let drawn: Option<Vec<_>> = shown(picture, &[1, 2]).map(|parts| parts.iter().map(count).collect());
        assert_eq!(drawn.as_deref(), expected);
    }

    #[test]
    fn large_graphs_are_drawn_near_their_changes() {
        check(&chain(MOST_BLOCKS, &[9]), Some(&[(MOST_BLOCKS, 0, MOST_BLOCKS - 1)]));
        // The ends of the edge that is new, and two blocks before and after.
        check(&chain(200, &[100]), Some(&[(6, 2, 7)]));
        check(&chain(200, &[100, 102, 150]), Some(&[(8, 2, 9), (6, 2, 7)]));
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
