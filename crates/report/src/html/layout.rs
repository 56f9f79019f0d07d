//! Places boxes of a directed graph in layers, and leads its edges around them.
//!
//! The method of Sugiyama, Tagawa and Toda (1981): edges that lead back (found depth first) are turned
//! round; the layer of a box is the length of the longest way to it, or a later one with room for it; an edge
//! over several layers gets a *bend* in each; the order within layers follows the mean position of neighbours, and of several sweeps
//! the one with the fewest crossings is kept; horizontal places are those nearest to the neighbours' mean
//! that keep boxes apart (isotonic regression, by pooling adjacent violators). Only sums, products and
//! comparisons of floats are used, so that all machines draw the same.

/// Between boxes of a layer.
const GAP: f64 = 26.0;
/// Between a bend and what stands beside it.
const BEND_GAP: f64 = 14.0;
/// Between layers.
const LAYER_GAP: f64 = 46.0;
/// What the boxes of a layer may take together: where many ways begin at once (a switch), the drawing grows
/// downwards.
const WIDEST: f64 = 1100.0;
/// Straight down from a box, before a way bends.
const STRAIGHT: f64 = 13.0;
/// How far a way that leads back goes below its box.
const REACH: f64 = 30.0;
/// Around everything.
const MARGIN: f64 = 16.0;
const SWEEPS: usize = 12;
/// The last half of them looks up and down at once.
const PLACINGS: usize = 80;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// One piece of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    To(Point),
    /// Two control points and an end.
    Curve(Point, Point, Point),
}

/// A way from the bottom of one box to the top of another.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeRoute {
    pub start: Point,
    pub pieces: Vec<Piece>,
    pub end: Point,
}

#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    /// Upper left corner of each box.
    pub boxes: Vec<Point>,
    pub ways: Vec<EdgeRoute>,
}

/// A box, or a bend of an edge.
#[derive(Clone, Debug)]
struct Item {
    layer: usize,
    width: f64,
    height: f64,
    is_bend: bool,
    /// Of the middle.
    x: f64,
    /// The box that a bend stands beside, of an edge from a box to itself.
    beside: Option<usize>,
}

/// An edge with the bends that it goes through, from where it starts.
struct Route {
    from: usize,
    to: usize,
    bends: Vec<usize>,
    leads_back: bool,
}

struct Graph {
    items: Vec<Item>,
    /// By layer, from left to right.
    layers: Vec<Vec<usize>>,
    /// Neighbours in the layer above and below, with the weight of being straight.
    above: Vec<Vec<(usize, f64)>>,
    below: Vec<Vec<(usize, f64)>>,
    routes: Vec<Route>,
}

/// Places boxes of these sizes (width, height); edges name boxes by position. Edges of unknown boxes have
/// no way. Cost: some sweeps over boxes and bends; counting crossings is quadratic in the edges between two
/// layers.
pub fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    let mut graph = Graph::new(sizes, edges);
    graph.order();
    graph.place();
    graph.draw(sizes.len(), edges.len())
}

impl Graph {
    fn new(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Graph {
        let known: Vec<(usize, usize)> =
            edges.iter().copied().filter(|(a, b)| *a < sizes.len() && *b < sizes.len()).collect();
        let (post_order, leads_back) = depth_first(sizes.len(), &known);
        let mut layer = vec![0; sizes.len()];
        let mut taken: Vec<f64> = Vec::new();
        for at in post_order.iter().rev() {
            layer[*at] = with_room(&mut taken, layer[*at], sizes[*at].0 + GAP);
            for ((from, to), back) in known.iter().zip(&leads_back) {
                let (upper, lower) = if *back { (*to, *from) } else { (*from, *to) };
                if upper == *at && lower != *at {
                    layer[lower] = layer[lower].max(layer[upper] + 1);
                }
            }
        }
        // What nothing leads to stands right above what it leads to.
        for (id, at) in layer.clone().into_iter().enumerate().filter(|(_, at)| *at == 0) {
            let below = known.iter().zip(&leads_back).filter_map(|((from, to), back)| {
                let (upper, lower) = if *back { (*to, *from) } else { (*from, *to) };
                (upper == id && lower != id).then_some(layer[lower])
            });
            layer[id] = below.min().map_or(at, |nearest| nearest - 1);
        }
        let items = sizes.iter().zip(&layer).map(|((width, height), layer)| Item {
            layer: *layer,
            width: *width,
            height: *height,
            is_bend: false,
            x: 0.0,
            beside: None,
        });
        let mut graph = Graph {
            items: items.collect(),
            layers: vec![Vec::new(); layer.iter().max().map_or(0, |most| most + 1)],
            above: vec![Vec::new(); sizes.len()],
            below: vec![Vec::new(); sizes.len()],
            routes: Vec::new(),
        };
        for id in post_order.iter().rev() {
            graph.layers[layer[*id]].push(*id);
        }
        for ((from, to), leads_back) in known.iter().zip(leads_back) {
            graph.route(*from, *to, leads_back);
        }
        graph
    }

    fn bend(&mut self, layer: usize) -> usize {
        let id = self.items.len();
        self.items.push(Item { layer, width: 0.0, height: 0.0, is_bend: true, x: 0.0, beside: None });
        self.layers[layer].push(id);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        id
    }

    fn link(&mut self, upper: usize, lower: usize) {
        let weight = match (self.items[upper].is_bend, self.items[lower].is_bend) {
            (true, true) => 8.0,
            (false, false) => 1.0,
            _ => 2.0,
        };
        self.below[upper].push((lower, weight));
        self.above[lower].push((upper, weight));
    }

    fn route(&mut self, from: usize, to: usize, leads_back: bool) {
        let (start, end) = (self.items[from].layer, self.items[to].layer);
        let mut bends = Vec::new();
        if leads_back {
            // From beside the lower box to beside the upper one.
            bends = (end..=start).rev().map(|layer| self.bend(layer)).collect();
            for pair in bends.windows(2) {
                self.link(pair[1], pair[0]);
            }
            // What is tied to no box would run away, pushed to the side by every step of the placing.
            match *bends.as_slice() {
                [only] => self.items[only].beside = Some(from),
                [first, last] => {
                    self.link(last, from);
                    self.link(to, first);
                }
                [_, second, _] => {
                    self.link(second, from);
                    self.link(to, second);
                }
                [_, second, .., before_last, _] => {
                    self.link(second, from);
                    self.link(to, before_last);
                }
                _ => {}
            }
        } else {
            let mut last = from;
            for layer in start + 1..end {
                let bend = self.bend(layer);
                self.link(last, bend);
                bends.push(bend);
                last = bend;
            }
            self.link(last, to);
        }
        self.routes.push(Route { from, to, bends, leads_back });
    }

    /// Puts the items of each layer in order.
    fn order(&mut self) {
        let mut best = self.layers.clone();
        let mut fewest = self.crossings();
        for sweep in 0..SWEEPS {
            let count = self.layers.len();
            let down = sweep % 2 == 0;
            for step in 1..count {
                let layer = if down { step } else { count - 1 - step };
                self.sort_layer(layer, down);
            }
            let crossings = self.crossings();
            if crossings < fewest {
                fewest = crossings;
                best.clone_from(&self.layers);
            }
        }
        self.layers = best;
    }

    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.items.len()];
        for layer in &self.layers {
            for (position, id) in layer.iter().enumerate() {
                positions[*id] = position;
            }
        }
        positions
    }

    fn sort_layer(&mut self, layer: usize, down: bool) {
        let positions = self.positions();
        let neighbours = if down { &self.above } else { &self.below };
        let mean = |id: usize| {
            let near = &neighbours[id];
            let sum: f64 = near.iter().map(|(other, _)| positions[*other] as f64).sum();
            // What has no neighbours there stays where it is.
            if near.is_empty() { positions[id] as f64 } else { sum / near.len() as f64 }
        };
        let mut keyed: Vec<(f64, usize)> = self.layers[layer].iter().map(|id| (mean(*id), *id)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.layers[layer] = keyed.into_iter().map(|(_, id)| id).collect();
    }

    fn crossings(&self) -> usize {
        let positions = self.positions();
        let mut crossings = 0;
        for layer in &self.layers {
            let links: Vec<(usize, usize)> = layer
                .iter()
                .flat_map(|id| self.below[*id].iter().map(|(to, _)| (positions[*id], positions[*to])))
                .collect();
            for (i, a) in links.iter().enumerate() {
                crossings += links[..i]
                    .iter()
                    .filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1))
                    .count();
            }
        }
        crossings
    }

    /// Gives every item its horizontal place.
    fn place(&mut self) {
        for layer in self.layers.clone() {
            let mut x = 0.0;
            for pair in layer.windows(2) {
                self.items[pair[0]].x = x;
                x += self.distance(pair[0], pair[1]);
            }
            if let Some(last) = layer.last() {
                self.items[*last].x = x;
            }
        }
        for placing in 0..PLACINGS {
            let down = placing % 2 == 0;
            let both = placing >= PLACINGS / 2;
            for step in 0..self.layers.len() {
                let layer = if down { step } else { self.layers.len() - 1 - step };
                self.place_layer(layer, down || both, !down || both);
            }
        }
    }

    /// Between the middles of neighbours.
    fn distance(&self, left: usize, right: usize) -> f64 {
        let (left, right) = (&self.items[left], &self.items[right]);
        let gap = if left.is_bend || right.is_bend { BEND_GAP } else { GAP };
        (left.width + right.width) / 2.0 + gap
    }

    fn place_layer(&mut self, layer: usize, by_above: bool, by_below: bool) {
        let ids = self.layers[layer].clone();
        let mut offset = 0.0;
        let mut offsets = Vec::with_capacity(ids.len());
        for (i, id) in ids.iter().enumerate() {
            if let Some(left) = i.checked_sub(1) {
                offset += self.distance(ids[left], *id);
            }
            offsets.push(offset);
        }
        let wanted = ids.iter().zip(&offsets).map(|(id, offset)| {
            let above = self.above[*id].iter().filter(|_| by_above);
            let near = above.chain(self.below[*id].iter().filter(|_| by_below));
            let (mut sum, mut weight) = (0.0, 0.0);
            for (other, w) in near {
                sum += self.items[*other].x * w;
                weight += w;
            }
            let item = &self.items[*id];
            match item.beside.and_then(|id| self.items.get(id)) {
                _ if weight > 0.0 => (sum / weight - offset, weight),
                Some(beside) => (beside.x + beside.width / 2.0 + BEND_GAP - offset, 1.0),
                // What nothing pulls gives way easily.
                None => (item.x - offset, 0.1),
            }
        });
        let places = ascending(wanted.collect());
        for ((id, offset), place) in ids.iter().zip(offsets).zip(places) {
            self.items[*id].x = place + offset;
        }
    }

    fn draw(&self, boxes: usize, edges: usize) -> Layout {
        let left = self.items.iter().map(|i| i.x - i.width / 2.0).fold(f64::INFINITY, f64::min);
        let right = self.items.iter().map(|i| i.x + i.width / 2.0).fold(f64::NEG_INFINITY, f64::max);
        if boxes == 0 {
            return Layout::default();
        }
        let shift = MARGIN - left;
        let mut bands = Vec::new();
        let mut y = MARGIN;
        for layer in &self.layers {
            let height = layer.iter().map(|id| self.items[*id].height).fold(0.0, f64::max);
            bands.push((y, y + height));
            y += height + LAYER_GAP;
        }
        let band = |id: usize| bands[self.items[id].layer];
        let middle = |id: usize| self.items[id].x + shift;
        let corners =
            (0..boxes).map(|id| Point { x: middle(id) - self.items[id].width / 2.0, y: band(id).0 });
        let (starts, ends) = self.ports();
        let ways = self.routes.iter().enumerate().map(|(r, route)| {
            let start = Point { x: starts[r] + shift, y: band(route.from).0 + self.items[route.from].height };
            let end = Point { x: ends[r] + shift, y: band(route.to).0 };
            let bends: Vec<(f64, (f64, f64))> = route.bends.iter().map(|b| (middle(*b), band(*b))).collect();
            way(start, end, &bends, route.leads_back, band(route.from).1)
        });
        let layout = Layout {
            width: right - left + 2.0 * MARGIN,
            height: y - LAYER_GAP + MARGIN + self.room_below(),
            boxes: corners.collect(),
            ways: ways.collect(),
        };
        debug_assert!(layout.ways.len() <= edges);
        layout
    }

    /// Room for ways that lead back from the last layer.
    fn room_below(&self) -> f64 {
        let last = self.layers.len().saturating_sub(1);
        let any = self.routes.iter().any(|r| r.leads_back && self.items[r.from].layer == last);
        if any { REACH } else { 0.0 }
    }

    /// Where each route leaves its box and arrives, so that ways of one box do not lie on each other.
    fn ports(&self) -> (Vec<f64>, Vec<f64>) {
        const APART: f64 = 16.0;
        let mut places = (vec![0.0; self.routes.len()], vec![0.0; self.routes.len()]);
        for (id, item) in self.items.iter().enumerate().filter(|(_, item)| !item.is_bend) {
            for starts in [true, false] {
                let towards = |route: &Route| {
                    let (next, far) = if starts {
                        (route.bends.first(), route.to)
                    } else {
                        (route.bends.last(), route.from)
                    };
                    self.items[next.copied().unwrap_or(far)].x
                };
                let is_here = |route: &Route| id == if starts { route.from } else { route.to };
                let mut here: Vec<(f64, usize)> = self
                    .routes
                    .iter()
                    .enumerate()
                    .filter(|(_, r)| is_here(r))
                    .map(|(i, r)| (towards(r), i))
                    .collect();
                here.sort_by(|a, b| a.0.total_cmp(&b.0));
                let apart = APART.min(item.width / (here.len() as f64 + 1.0));
                let first = item.x - apart * (here.len() as f64 - 1.0) / 2.0;
                for (position, (_, route)) in here.iter().enumerate() {
                    let list = if starts { &mut places.0 } else { &mut places.1 };
                    list[*route] = first + apart * position as f64;
                }
            }
        }
        places
    }
}

/// The way through bends, each with the upper and lower end of its layer; straight within layers, curved
/// between them.
fn way(start: Point, end: Point, bends: &[(f64, (f64, f64))], leads_back: bool, below: f64) -> EdgeRoute {
    let mut pieces = Vec::new();
    let mut at = start;
    if leads_back {
        // Below the box, up beside the layers, and over the top.
        for (i, (x, (upper, lower))) in bends.iter().enumerate() {
            let foot = Point { x: *x, y: *lower };
            if i == 0 {
                let deep = below.max(*lower) + REACH;
                pieces.push(Piece::Curve(Point { x: at.x, y: deep }, Point { x: *x, y: deep }, foot));
            } else {
                curve(&mut pieces, at, foot);
            }
            at = Point { x: *x, y: *upper };
            pieces.push(Piece::To(at));
        }
        let high = end.y.min(at.y) - REACH;
        pieces.push(Piece::Curve(Point { x: at.x, y: high }, Point { x: end.x, y: high }, end));
        return EdgeRoute { start, pieces, end };
    }
    at.y = below.max(start.y) + STRAIGHT;
    pieces.push(Piece::To(at));
    for (x, (upper, lower)) in bends {
        curve(&mut pieces, at, Point { x: *x, y: *upper });
        at = Point { x: *x, y: *lower };
        pieces.push(Piece::To(at));
    }
    curve(&mut pieces, at, end);
    EdgeRoute { start, pieces, end }
}

/// Goes on to `to`, upright at both ends.
fn curve(pieces: &mut Vec<Piece>, from: Point, to: Point) {
    let half = (from.y + to.y) / 2.0;
    pieces.push(match from.x == to.x {
        true => Piece::To(to),
        false => Piece::Curve(Point { x: from.x, y: half }, Point { x: to.x, y: half }, to),
    });
}

/// Returns the first layer from `layer` on in which something of this width has room, and takes that.
fn with_room(taken: &mut Vec<f64>, mut layer: usize, width: f64) -> usize {
    while taken.get(layer).is_some_and(|taken| *taken > 0.0 && taken + width > WIDEST) {
        layer += 1;
    }
    if taken.len() <= layer {
        taken.resize(layer + 1, 0.0);
    }
    taken[layer] += width;
    layer
}

/// Boxes in the order in which a walk from the first leaves them, and for each edge whether it leads to
/// where the walk comes from.
fn depth_first(count: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (edge, (from, _)) in edges.iter().enumerate() {
        out[*from].push(edge);
    }
    let mut marks = vec![Mark::New; count];
    let mut leads_back = vec![false; edges.len()];
    let mut post_order = Vec::with_capacity(count);
    for root in 0..count {
        let mut stack: Vec<(usize, usize)> = Vec::new();
        if marks[root] == Mark::New {
            marks[root] = Mark::Open;
            stack.push((root, 0));
        }
        while let Some((at, next)) = stack.last_mut() {
            let Some(edge) = out[*at].get(*next).copied() else {
                marks[*at] = Mark::Done;
                post_order.push(*at);
                stack.pop();
                continue;
            };
            *next += 1;
            let to = edges[edge].1;
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    stack.push((to, 0));
                }
                Mark::Open => leads_back[edge] = true,
                Mark::Done => {}
            }
        }
    }
    (post_order, leads_back)
}

/// The ascending numbers nearest to those wanted, by the weighted sum of squares.
fn ascending(wanted: Vec<(f64, f64)>) -> Vec<f64> {
    // Mean, weight and count of runs that share a number.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for (value, weight) in wanted {
        let mut run = (value, weight, 1);
        while let Some(last) = runs.last().filter(|last| last.0 > run.0) {
            let weight = last.1 + run.1;
            run = ((last.0 * last.1 + run.0 * run.1) / weight, weight, last.2 + run.2);
            runs.pop();
        }
        runs.push(run);
    }
    runs.into_iter().flat_map(|(value, _, count)| std::iter::repeat_n(value, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boxes_of(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Vec<(i64, i64)> {
        layout(sizes, edges).boxes.iter().map(|p| (p.x as i64, p.y as i64)).collect()
    }

    #[test]
    fn a_diamond_is_symmetric() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
        let boxes = boxes_of(&[(20.0, 10.0); 4], &edges);
        assert_eq!(boxes[0].0, boxes[3].0);
        assert_eq!(boxes[1].1, boxes[2].1);
        assert_eq!((boxes[1].0 + boxes[2].0) / 2, boxes[0].0);
        assert_eq!(boxes.iter().map(|b| b.1).collect::<Vec<_>>(), [16, 72, 72, 128]);
    }

    #[test]
    fn many_boxes_of_one_level_are_several_layers() {
        let edges: Vec<(usize, usize)> = (1..=30).flat_map(|case| [(0, case), (case, 31)]).collect();
        let sizes = vec![(300.0, 20.0); 32];
        let drawn = layout(&sizes, &edges);
        assert!(drawn.width < 2.5 * WIDEST, "{}", drawn.width);
        let below = |upper: usize, lower: usize| drawn.boxes[upper].y < drawn.boxes[lower].y;
        assert!(edges.iter().all(|(from, to)| below(*from, *to)));
        // What has room stays on one level.
        assert_eq!(
            layout(&sizes[..5], &[(0, 1), (0, 2), (0, 3)]).boxes[1].y,
            layout(&sizes[..5], &[(0, 1), (0, 2), (0, 3)]).boxes[3].y
        );
    }

    /// A way that leads back over few layers stays beside the boxes that it joins.
    #[test]
    fn ways_back_do_not_run_away() {
        let forward = [
            (0, 1),
            (1, 2),
            (1, 12),
            (2, 3),
            (2, 12),
            (3, 4),
            (3, 5),
            (3, 6),
            (4, 9),
            (4, 11),
            (5, 10),
            (5, 11),
            (6, 7),
            (6, 8),
            (9, 10),
            (9, 11),
            (10, 13),
            (11, 12),
            (14, 15),
            (12, 15),
            (15, 16),
        ];
        for (from, to) in [(7, 3), (6, 3), (6, 6), (7, 2), (7, 1)] {
            let edges = [&forward[..], &[(from, to)]].concat();
            let drawn = layout(&[(300.0, 20.0); 17], &edges);
            assert!(drawn.width < 1600.0, "{from} to {to}: {}", drawn.width);
        }
    }

    #[test]
    fn numbers_are_made_ascending() {
        assert_eq!(ascending(vec![(1.0, 1.0), (3.0, 1.0), (2.0, 1.0)]), [1.0, 2.5, 2.5]);
        assert_eq!(ascending(vec![(4.0, 3.0), (0.0, 1.0)]), [3.0, 3.0]);
    }

    proptest! {
        /// Whatever the graph: boxes do not overlap, everything is inside, and there is a way for each edge.
        #[test]
        fn boxes_stay_apart(
            sizes in prop::collection::vec((10u32..200, 10u32..60), 1..24),
            edges in prop::collection::vec((0usize..24, 0usize..24), 0..40),
        ) {
            let sizes: Vec<(f64, f64)> = sizes.iter().map(|(w, h)| (f64::from(*w), f64::from(*h))).collect();
            let drawn = layout(&sizes, &edges);
            let known = edges.iter().filter(|(a, b)| *a < sizes.len() && *b < sizes.len()).count();
            prop_assert_eq!(drawn.ways.len(), known);
            for (i, a) in drawn.boxes.iter().enumerate() {
                prop_assert!(a.x >= 0.0 && a.x + sizes[i].0 <= drawn.width + 0.01);
                prop_assert!(a.y >= 0.0 && a.y + sizes[i].1 <= drawn.height + 0.01);
                for (j, b) in drawn.boxes.iter().enumerate().skip(i + 1) {
                    let apart = a.x + sizes[i].0 <= b.x + 0.01 || b.x + sizes[j].0 <= a.x + 0.01
                        || a.y + sizes[i].1 <= b.y || b.y + sizes[j].1 <= a.y;
                    prop_assert!(apart, "{} and {}", i, j);
                }
            }
        }
    }
}
