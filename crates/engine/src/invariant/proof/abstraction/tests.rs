//! Terms under conditions: what is rewritten says the same wherever the condition holds.

use super::*;
use crate::ir::Const;

fn input(pool: &mut TermPool, name: &str, bits: u16) -> TermId {
    pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(bits) })
}

/// `x`, `y` and constants of four bits, of which all values can be tried.
struct Four {
    pool: TermPool,
    x: TermId,
    y: TermId,
}

impl Four {
    fn new() -> Four {
        let mut pool = TermPool::new();
        let (x, y) = (input(&mut pool, "x", 4), input(&mut pool, "y", 4));
        Four { pool, x, y }
    }

    fn op(&mut self, op: Op, a: TermId, b: TermId) -> TermId {
        self.pool.op(op, &[a, b])
    }

    fn plus(&mut self, t: TermId, k: i128) -> TermId {
        let k = self.pool.bv(4, k);
        self.op(Op::Add, t, k)
    }

    /// What a condition is where `x` and `y` are these.
    fn at(&mut self, t: TermId, x: i128, y: i128) -> Option<bool> {
        let (cx, cy) = (self.pool.bv(4, x), self.pool.bv(4, y));
        let t = replaced(&mut self.pool, t, self.x, cx);
        let t = replaced(&mut self.pool, t, self.y, cy);
        self.pool.as_const(t).and_then(Const::as_bool)
    }

    /// Expects two conditions to be the same wherever a third holds.
    #[track_caller]
    fn same_under(&mut self, condition: TermId, a: TermId, b: TermId) {
        for (x, y) in (-8..8).flat_map(|x| (-8..8).map(move |y| (x, y))) {
            if self.at(condition, x, y) == Some(true) {
                let (was, is) = (self.at(a, x, y), self.at(b, x, y));
                assert!(was.is_some() && was == is, "{x} {y}: {was:?}, now {is:?}");
            }
        }
    }
}

const ORDERS: [Op; 4] = [Op::Slt, Op::Sle, Op::Ult, Op::Ule];

#[test]
fn what_a_condition_says_is_true_where_it_holds_and_its_opposite_is_not() {
    let mut f = Four::new();
    let (x, y) = (f.x, f.y);
    let (less, equal) = (f.op(Op::Slt, x, y), f.op(Op::Eq, x, y));
    let above = f.op(Op::Sle, y, x);
    let goal = f.pool.or(above, equal);
    assert_eq!(under(&mut f.pool, goal, less), equal);
    let either = f.pool.or(less, equal);
    let neither = f.pool.not(either);
    let no = f.pool.bool(false);
    assert_eq!(under(&mut f.pool, either, neither), no);
    assert_eq!(under(&mut f.pool, equal, neither), no, "each refused alternative is false");
}

#[test]
fn a_bound_that_another_implies_is_left_out() {
    let mut f = Four::new();
    let (x, y) = (f.x, f.y);
    let [zero, one, five] = [0, 1, 5].map(|k| f.pool.bv(4, k));
    let (positive, more) = (f.op(Op::Slt, zero, x), f.op(Op::Slt, one, x));
    let (below, other) = (f.op(Op::Sle, x, five), f.op(Op::Slt, zero, y));
    let all = f.pool.op(Op::And, &[positive, more, below, other]);
    let kept = f.pool.op(Op::And, &[more, below, other]);
    assert_eq!(without_looser_bounds(&mut f.pool, all), kept);
    assert_eq!(without_looser_bounds(&mut f.pool, kept), kept);
    assert_eq!(without_looser_bounds(&mut f.pool, positive), positive, "one part stays as it is");
}

#[test]
fn a_signed_bound_says_nothing_of_an_unsigned_one() {
    let mut f = Four::new();
    let x = f.x;
    let [one, five] = [1, 5].map(|k| f.pool.bv(4, k));
    let (signed, unsigned) = (f.op(Op::Sle, x, one), f.op(Op::Ule, x, five));
    let both = f.pool.and(signed, unsigned);
    assert_eq!(without_looser_bounds(&mut f.pool, both), both);
}

#[test]
fn comparisons_with_successors_are_the_same_where_nothing_wraps() {
    for (op, of) in ORDERS.iter().flat_map(|op| [Op::Slt, Op::Ult].map(|of| (*op, of))) {
        let mut f = Four::new();
        let (x, y) = (f.x, f.y);
        let limit = f.pool.bv(4, 5);
        // What has nothing to do with the goal in form.
        let [far_x, far_y] = [x, y].map(|t| f.pool.op(Op::BitNot, &[t]));
        for by in [1, -1] {
            let (moved_x, moved_y) = (f.plus(x, by), f.plus(y, by));
            for (a, b) in [(moved_x, y), (x, moved_y)] {
                let goal = f.op(op, a, b);
                for (low, high) in
                    [(x, limit), (limit, y), (x, y), (x, far_y), (far_x, y), (y, far_x), (far_y, x)]
                {
                    let condition = f.op(of, low, high);
                    let simpler = ordered(&mut f.pool, goal, condition);
                    f.same_under(condition, goal, simpler);
                }
            }
        }
    }
}

#[test]
fn a_successor_that_is_at_most_another_number_is_less() {
    let mut f = Four::new();
    let (x, y) = (f.x, f.y);
    let (less, next) = (f.op(Op::Slt, x, y), f.plus(x, 1));
    let goal = f.op(Op::Sle, next, y);
    assert_eq!(ordered(&mut f.pool, goal, less), less);
    let unsigned = f.op(Op::Ult, x, y);
    assert_eq!(ordered(&mut f.pool, goal, unsigned), goal, "it may wrap as a signed one");
    let (equal, at_most) = (f.op(Op::Eq, x, y), f.op(Op::Sle, x, y));
    let unequal = f.pool.not(equal);
    assert_eq!(ordered(&mut f.pool, at_most, unequal), less);
}

#[test]
fn the_bounds_of_quotients_and_rests_hold_of_all_numbers() {
    for op in [Op::UDiv, Op::URem, Op::SDiv, Op::SRem] {
        let mut f = Four::new();
        let (x, y) = (f.x, f.y);
        let t = f.op(op, x, y);
        let bounds = bounds_of_divisions(&mut f.pool, &[t]);
        assert_eq!(f.pool.as_const(bounds), None, "{op:?}: they say something");
        for (a, b) in (-8..8).flat_map(|a| (-8..8).map(move |b| (a, b))) {
            let is_defined = b != 0 && !(op == Op::SDiv && (a, b) == (-8, -1));
            if is_defined {
                assert_eq!(f.at(bounds, a, b), Some(true), "{op:?} of {a} and {b}");
            }
        }
    }
}

#[test]
fn divisions_by_constants_need_no_bounds() {
    let mut f = Four::new();
    let x = f.x;
    let three = f.pool.bv(4, 3);
    let t = f.op(Op::URem, x, three);
    let yes = f.pool.bool(true);
    assert_eq!(bounds_of_divisions(&mut f.pool, &[t]), yes);
}

#[test]
fn values_of_loops_become_inputs_of_their_own() {
    let mut pool = TermPool::new();
    let n = input(&mut pool, "n", 32);
    let at_head = |pool: &mut TermPool, place: &str| {
        let uf = Uf::Loop { hash: "h".into(), place: place.into(), sort: Sort::Bv(32) };
        pool.app(App::Uf(uf), &[n])
    };
    let (i, j) = (at_head(&mut pool, "v0"), at_head(&mut pool, "v1"));
    let (before, same) = (pool.op(Op::Slt, &[i, n]), pool.eq(i, j));
    let cut = without_loops(&mut pool, before);
    let is_loop = |pool: &TermPool, t: &TermId| match pool.get(*t) {
        Term::Leaf(Leaf::Param { name, .. }) => is_loop_value(name),
        _ => false,
    };
    let leaves: Vec<TermId> = pool.reachable(&[cut]).into_iter().filter(|t| is_loop(&pool, t)).collect();
    let [value] = leaves.as_slice() else { panic!("{leaves:?}") };
    assert_eq!(cut, pool.op(Op::Slt, &[*value, n]));
    assert_eq!(without_loops(&mut pool, i), *value, "the same value is the same input");
    let different = without_loops(&mut pool, same);
    assert!(pool.as_const(different).is_none(), "two places are two inputs");
    assert_eq!(without_loops(&mut pool, n), n);
}

#[test]
fn reads_of_memory_become_inputs_if_nothing_was_written_or_whatever_was() {
    let mut pool = TermPool::new();
    let (p, q) = (input(&mut pool, "p", 64), input(&mut pool, "q", 64));
    let memory = pool.leaf(Leaf::Memory);
    let one = pool.bv(32, 1);
    let written = pool.app(App::Store { bytes: 4 }, &[memory, q, one]);
    let load = App::Load { sort: Sort::Bv(32), bytes: 4 };
    let (old, new) = (pool.app(load.clone(), &[memory, p]), pool.app(load, &[written, p]));
    let reads = |pool: &TermPool, t| {
        pool.reachable(&[t]).iter().any(|t| matches!(pool.get(*t), Term::App(App::Load { .. }, _)))
    };
    let (old, kept) = (without_loads(&mut pool, old), without_loads(&mut pool, new));
    assert!(!reads(&pool, old) && reads(&pool, kept));
    let blind = without_any_loads(&mut pool, new);
    assert!(!reads(&pool, blind) && matches!(pool.get(blind), Term::Leaf(Leaf::Param { .. })));
}

#[test]
fn parts_with_products_of_unknowns_are_left_out() {
    let mut f = Four::new();
    let (x, y) = (f.x, f.y);
    let three = f.pool.bv(4, 3);
    let (product, scaled) = (f.op(Op::Mul, x, y), f.op(Op::Mul, x, three));
    let (hard, easy) = (f.op(Op::Slt, product, y), f.op(Op::Slt, scaled, y));
    let both = f.pool.and(hard, easy);
    assert_eq!(without_products(&mut f.pool, both), easy);
    assert_eq!(without_products(&mut f.pool, hard), hard, "of a condition of one part nothing is left out");
}

#[test]
fn plain_goals_have_no_divisions_calls_or_reads() {
    let mut f = Four::new();
    let (x, y) = (f.x, f.y);
    let memory = f.pool.leaf(Leaf::Memory);
    let call = App::Uf(Uf::Call { callee: "g:result".into(), part: Sort::Bv(4) });
    let (rest, result) = (f.op(Op::URem, x, y), f.pool.app(call, &[memory]));
    let (goal, condition) = (f.op(Op::Ult, rest, y), f.op(Op::Ult, result, y));
    let (given, goals) = plain(&mut f.pool, condition, &[goal]);
    let is_plain = |t: &TermId| match f.pool.get(*t) {
        Term::Leaf(Leaf::Param { .. }) | Term::Const(_) => true,
        Term::App(App::Op(op), _) => *op != Op::URem,
        _ => false,
    };
    assert!(f.pool.reachable(&[given, goals[0]]).iter().all(is_plain));
    let yes = f.pool.bool(true);
    let zero = f.pool.bv(4, 0);
    let by_zero = f.op(Op::Eq, y, zero);
    let divides = f.pool.not(by_zero);
    let given = under(&mut f.pool, given, divides);
    assert_eq!(under(&mut f.pool, goals[0], given), yes, "the bounds of the rest say it");
}

#[test]
fn conversions_succeed_that_nobody_looks_at() {
    let mut pool = TermPool::new();
    let stdin = pool.leaf(Leaf::Stdin);
    let ok = |pool: &mut TermPool, c: &str| pool.app(App::Uf(Uf::InputOk { conversion: c.into() }), &[stdin]);
    let (number, float) = (ok(&mut pool, "%d"), ok(&mut pool, "%lf"));
    let both = pool.and(number, float);
    assert_eq!(well_formed(&mut pool, both, &|t| t == number), float);
    assert_eq!(well_formed(&mut pool, both, &|_| false), both);
}
