//! Objects as other layouts have them.

use super::*;
use crate::by_hand::{array, input, int, integer, leads, number, object, pointer, record, straight, unit};
use crate::ir::RecordId;

fn s() -> CType {
    CType::Record(RecordId(0))
}

/// `struct s { int a; struct s *next; }`, and the same with a member before it and without `a`.
fn older() -> Unit {
    unit(vec![record("s", &[("a", 0, int()), ("next", 8, pointer(s()))], 16)], Vec::new(), Vec::new())
}

fn newer() -> Unit {
    let fields = [("flag", 0, integer(8, true)), ("next", 8, pointer(s())), ("a", 16, int())];
    unit(vec![record("s", &fields, 24)], Vec::new(), Vec::new())
}

fn node(id: u32, a: u8, next: Option<u32>) -> ObjectInit {
    let mut bytes = [0; 16];
    bytes[0] = a;
    let pointers: Vec<(u64, Value)> = next.map(|n| (8, leads(n, 0))).into_iter().collect();
    object(id, s(), &bytes, &pointers)
}

fn relaid(given: &Input) -> Option<Vec<ObjectInit>> {
    Relaying { from: &older(), to: &newer() }.objects(given)
}

#[test]
fn members_go_where_the_other_layout_has_them() {
    let given = input(&[leads(1, 0)], &[node(1, 5, Some(2)), node(2, 6, None)]);
    let made = relaid(&given).expect("all members are there");
    assert_eq!((made[0].bytes.len(), made[0].bytes[16], made[0].bytes[0]), (24, 5, 0));
    assert_eq!(made[0].pointers, [(8, leads(2, 0))]);
    assert_eq!((made[1].bytes[16], made[1].pointers.len()), (6, 0));
    assert_eq!(made[1].id, ObjectId(2));
}

#[test]
fn elements_of_arrays_go_with_their_size() {
    let both: Vec<u8> = [node(1, 5, None).bytes, node(1, 6, None).bytes].concat();
    let given = input(&[leads(1, 0)], &[object(1, array(s(), 2), &both, &[(24, leads(1, 16))])]);
    let made = relaid(&given).expect("all members are there");
    assert_eq!((made[0].bytes.len(), made[0].bytes[16], made[0].bytes[40]), (48, 5, 6));
    assert_eq!(made[0].pointers, [(32, leads(1, 24))], "to the second element in either");
}

#[test]
fn what_was_undefined_stays_so() {
    let mut o = node(1, 5, None);
    o.undefined = vec![false; 16];
    o.undefined[..4].fill(true);
    let made = relaid(&input(&[leads(1, 0)], &[o])).expect("all members are there");
    assert_eq!(made[0].undefined.iter().filter(|u| **u).count(), 4);
    assert!(made[0].undefined[16..20].iter().all(|u| *u));
}

#[test]
fn bytes_of_no_known_type_are_the_same() {
    let given = input(&[leads(1, 0)], &[object(1, CType::Void, &[1, 2, 3], &[])]);
    assert_eq!(relaid(&given).expect("bytes")[0].bytes, [1, 2, 3]);
}

#[test]
fn a_value_without_a_place_makes_it_impossible() {
    let to = unit(vec![record("s", &[("a", 0, integer(64, true))], 8)], Vec::new(), Vec::new());
    let given = input(&[leads(1, 0)], &[node(1, 5, None)]);
    assert!(Relaying { from: &older(), to: &to }.objects(&given).is_none(), "another size");
    let to = unit(vec![record("s", &[("a", 0, pointer(int()))], 8)], Vec::new(), Vec::new());
    let from = unit(vec![record("s", &[("a", 0, integer(64, true))], 8)], Vec::new(), Vec::new());
    let given = input(&[leads(1, 0)], &[object(1, s(), &[0; 8], &[])]);
    assert!(Relaying { from: &from, to: &to }.objects(&given).is_none(), "a number is no pointer");
}

#[test]
fn unions_are_copied_only_where_they_are_the_same() {
    let union = |fields: &[(&str, u64, CType)], size| {
        let mut r = record("s", fields, size);
        r.is_union = true;
        unit(vec![r], Vec::new(), Vec::new())
    };
    let (one, other) = (union(&[("a", 0, int())], 4), union(&[("b", 0, int())], 4));
    let given = input(&[leads(1, 0)], &[object(1, s(), &[1, 2, 3, 4], &[])]);
    let made = Relaying { from: &one, to: &one }.objects(&given).expect("the same");
    assert_eq!(made[0].bytes, [1, 2, 3, 4]);
    assert!(Relaying { from: &one, to: &other }.objects(&given).is_none());
}

#[test]
fn a_pointer_leads_to_the_same_member() {
    let given = input(&[leads(1, 8)], &[node(1, 5, None)]);
    let (from, to) = (older(), newer());
    let relaying = Relaying { from: &from, to: &to };
    let moved = |offset| relaying.value(&leads(1, offset), &given);
    assert_eq!(moved(0), Some(leads(1, 0)));
    assert_eq!(moved(8), Some(leads(1, 8)));
    assert_eq!(moved(16), Some(leads(1, 24)), "one beyond the end");
    assert_eq!(moved(5), None, "between members");
    assert_eq!(moved(-1), None);
    assert_eq!(relaying.value(&leads(3, 0), &given), None);
    assert_eq!(relaying.value(&number(7), &given), Some(number(7)));
}

#[test]
fn layouts_differ_where_a_record_that_is_led_to_does() {
    let f = straight("f", &[("p", pointer(s()))], &[]);
    let plain = straight("f", &[("n", int())], &[]);
    let (old, new) = (older(), newer());
    assert!(layouts_differ((&f, &old), (&f, &new)));
    assert!(!layouts_differ((&f, &old), (&f, &old)));
    assert!(!layouts_differ((&plain, &old), (&plain, &new)), "the function has nothing of it");
    let mut renamed = newer();
    renamed.records[0].name = "t".into();
    assert!(!layouts_differ((&f, &old), (&f, &renamed)), "another record is another type");
}
