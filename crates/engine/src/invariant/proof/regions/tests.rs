//! Which addresses are apart, and what that takes for granted.

use super::*;
use crate::by_hand::{global, int, record, unit};
use crate::ir::RecordId;

fn param(pool: &mut TermPool, name: &str) -> TermId {
    pool.leaf(Leaf::Param { name: name.into(), sort: Sort::Bv(64) })
}

fn symbol(pool: &mut TermPool, name: &str) -> TermId {
    pool.leaf(Leaf::SymbolAddr { symbol: name.into(), bits: 64 })
}

fn result(pool: &mut TermPool, callee: &str, args: &[TermId]) -> TermId {
    pool.app(App::Uf(Uf::Call { callee: format!("{callee}:result").into(), part: Sort::Bv(64) }), args)
}

fn plus(pool: &mut TermPool, t: TermId, k: i128) -> TermId {
    let k = pool.bv(64, k);
    pool.op(Op::Add, &[t, k])
}

#[test]
fn a_new_object_is_beside_what_was_given_and_other_new_ones() {
    let mut pool = TermPool::new();
    let (p, size) = (param(&mut pool, "p"), pool.bv(64, 8));
    let more = pool.bv(64, 16);
    let (new, other) = (result(&mut pool, "malloc", &[size]), result(&mut pool, "calloc", &[more]));
    let inside = plus(&mut pool, new, 4);
    assert!(is_new_beside(&pool, inside, p) && is_new_beside(&pool, new, other));
    assert!(!is_new_beside(&pool, inside, new), "it is in that object");
    assert!(!is_new_beside(&pool, p, new), "what was given is not new");
    let unknown = result(&mut pool, "find", &[size]);
    assert!(!is_new_beside(&pool, new, unknown), "it may be what was allocated");
}

#[test]
fn what_is_made_of_entry_values_alone_is_given() {
    let mut pool = TermPool::new();
    let p = param(&mut pool, "p");
    let memory = pool.leaf(Leaf::Memory);
    let at = plus(&mut pool, p, 8);
    let next = pool.app(App::Load { sort: Sort::Bv(64), bytes: 8 }, &[memory, at]);
    let g = symbol(&mut pool, "g");
    assert!([p, at, next, g].iter().all(|t| is_given(&pool, *t)));
    let loop_value = param(&mut pool, &format!("{}x", crate::ir::LOOP_VALUE));
    let local = pool.leaf(Leaf::LocalAddr { key: "f:x#0".into(), bits: 64 });
    let called = result(&mut pool, "find", &[p]);
    assert!([loop_value, local, called].iter().all(|t| !is_given(&pool, *t)));
}

#[test]
fn what_realloc_gives_was_where_its_argument_leads() {
    let mut pool = TermPool::new();
    let (p, size) = (param(&mut pool, "p"), pool.bv(64, 8));
    let moved = result(&mut pool, "realloc", &[p, size]);
    let inside = plus(&mut pool, moved, 4);
    assert_eq!(moved_from(&pool, inside), Some(p));
    assert_eq!(moved_from(&pool, p), None);
    let new = result(&mut pool, "malloc", &[size]);
    let again = result(&mut pool, "realloc", &[new, size]);
    assert_eq!(moved_from(&pool, again), None, "of a new object the argument tells nothing");
}

#[test]
fn errno_is_a_symbol_of_its_own() {
    let mut pool = TermPool::new();
    let (errno, g) = (symbol(&mut pool, library::ERRNO), symbol(&mut pool, "g"));
    assert!(is_errno(&pool, errno) && !is_errno(&pool, g));
}

#[test]
fn a_name_is_short_and_of_the_entry() {
    assert!(is_name("p") && is_name("p->next") && is_name("&g"));
    assert!(!is_name("c ? p : q"));
    assert!(!is_name(&format!("p->{}", "x".repeat(MAX_NAME))));
}

fn by_types() -> ByTypes {
    let s = record("s", &[("a", 0, int()), ("b", 4, int())], 8);
    let t = record("t", &[("a", 0, int())], 4);
    let globals = vec![global("g", int(), 4, Vec::new()), global("h", int(), 4, Vec::new())];
    let unit = Arc::new(unit(vec![s, t], globals, Vec::new()));
    let regions = Rc::new(Regions { unit, naming: Naming::default(), extents: RefCell::default() });
    ByTypes { regions, frames: RefCell::default(), loops: Rc::default(), used: RefCell::default() }
}

/// Bytes behind a pointer of this name.
fn extent(base: u32, text: &str, range: (i128, i128)) -> Extent {
    let base = TermId(base);
    Extent { base, text: text.into(), symbol: None, record: None, range: Some(range), array: None }
}

/// Expects two places to be apart or not, and what is noted for it.
#[track_caller]
fn check(x: Extent, y: Extent, apart: bool, used: &[&str]) {
    let by_types = by_types();
    assert_eq!(by_types.are_apart(x, y), apart);
    assert_eq!(by_types.used.take().into_iter().collect::<Vec<_>>(), used);
}

#[test]
fn parts_of_one_object_are_apart_by_their_bytes() {
    check(extent(0, "p", (0, 4)), extent(0, "p", (4, 8)), true, &[]);
    check(extent(0, "p", (0, 5)), extent(0, "p", (4, 8)), false, &[]);
    let in_array = Extent { array: Some("p->buf".into()), ..extent(0, "p", (8, 40)) };
    check(in_array, extent(0, "p", (0, 8)), true, &["in-bounds(p->buf)"]);
    check(Extent { range: None, ..extent(0, "p", (0, 4)) }, extent(0, "p", (4, 8)), false, &[]);
}

#[test]
fn pointers_are_apart_by_an_assumption_of_their_names() {
    check(extent(1, "q", (0, 4)), extent(0, "p", (0, 4)), true, &["\\separated(p, q)"]);
    check(extent(1, "p", (0, 4)), extent(0, "p", (0, 4)), false, &[]);
    check(extent(1, "c ? p : q", (0, 4)), extent(0, "p", (0, 4)), false, &[]);
}

#[test]
fn two_objects_of_the_program_are_apart_without_any() {
    let of = |base, name: &str| Extent { symbol: Some(name.into()), ..extent(base, name, (0, 4)) };
    check(of(0, "g"), of(1, "h"), true, &[]);
}

/// Expects a place to be left as it is by such writes or not, and what is noted for it.
#[track_caller]
fn kept(x: &Extent, frame: &Frame, expected: Option<&[&str]>) {
    let by_types = by_types();
    let kept = by_types.keeps(x, frame);
    let used: Vec<String> = by_types.used.take().into_iter().collect();
    assert_eq!(kept.then_some(used), expected.map(|u| u.iter().map(|s| (*s).to_owned()).collect()));
}

#[test]
fn a_member_is_kept_where_others_are_written() {
    let s = Extent { record: Some(RecordId(0)), ..extent(0, "p", (4, 8)) };
    let records = |id, bytes| Frame { records: [(RecordId(id), bytes)].into(), ..Frame::default() };
    kept(&s, &records(0, (0, 4)), Some(&[]));
    kept(&s, &records(0, (4, 8)), None);
    kept(&s, &records(1, (0, 4)), Some(&["no-interior-pointer(s)"]));
    kept(&s, &Frame { scalars: true, ..Frame::default() }, Some(&["no-interior-pointer(s)"]));
    kept(&s, &Frame { anything: true, ..Frame::default() }, None);
    let globals = Frame { globals: [("g".into(), (0, 4))].into(), ..Frame::default() };
    kept(&s, &globals, Some(&["\\separated(&g, p)"]));
}

#[test]
fn a_global_is_kept_where_its_bytes_are_not_written() {
    let g = Extent { symbol: Some("g".into()), ..extent(0, "g", (0, 4)) };
    let globals = |s: &str, bytes| Frame { globals: [(s.into(), bytes)].into(), ..Frame::default() };
    kept(&g, &globals("h", (0, 4)), Some(&[]));
    kept(&g, &globals("g", (0, 4)), None);
    kept(&g, &globals("g", (4, 8)), Some(&[]));
    // Nobody takes its address, so no pointer leads to it.
    kept(&g, &Frame { scalars: true, ..Frame::default() }, Some(&[]));
}
