//! The example and Tables 2 and 4 of the iProperty paper: what checking all assertions of a version takes, and what checking those
//! that its change concerns does, ours beside the paper's.

use super::properties::{BOUND, compared, structure, version};
use git_invdiff::property::{Comparison, Effort};
use std::path::Path;

/// Solver calls, states and seconds of a check.
type Figures = (u64, u64, u64);
/// A version in the paper: the full check, and that of the difference.
type Row = (Figures, Option<Figures>);

/// The paper's section 2; of the difference its three runs together, each of them under a second.
const MEDIAN: [Row; 2] = [((300, 301, 3), None), ((300, 301, 3), Some((156, 159, 3)))];

const TRITYP: [Row; 3] =
    [((812, 821, 18), None), ((763, 767, 16), Some((32, 33, 1))), ((786, 787, 13), Some((212, 213, 3)))];

const SORTED_LIST: [Row; 5] = [
    ((238, 239, 6), None),
    ((1438, 1439, 30), Some((1438, 1439, 24))),
    ((4630, 4631, 101), Some((3430, 3431, 59))),
    ((8958, 8959, 209), Some((1198, 1199, 21))),
    ((10316, 10317, 204), Some((652, 653, 12))),
];

const HEAP_ARRAY: [Row; 3] = [
    ((1492, 1493, 28), None),
    ((3510, 3511, 73), Some((2340, 2341, 44))),
    ((4292, 4293, 99), Some((1104, 1105, 22))),
];

const SEARCH_TREE: [Row; 4] = [
    ((2162, 2163, 64), None),
    ((9364, 9365, 225), Some((9364, 9365, 223))),
    ((16566, 16567, 392), Some((9364, 9365, 221))),
    ((36256, 36257, 836), Some((21852, 21853, 451))),
];

const HEADER: &str = "| version | full check: solver calls, states, time | the paper's | of the difference: solver calls, states, time | the paper's | fewer calls | the paper's |\n| --- | --- | --- | --- | --- | --- | --- |";

/// Prints the example of section 2, which computes a median.
pub fn print_example(shared: &Path) {
    let read = |v: &str| std::fs::read_to_string(shared.join("subjects/seed/median").join(v)).ok();
    let (Some(a), Some(b)) = (read("v1.c"), read("v2.c")) else {
        println!("skipped: subjects/seed/median is not there");
        return;
    };
    println!("{HEADER}");
    print_rows("median", &[a, b], Some(BOUND), &MEDIAN);
}

/// Prints Table 2, the classifier of triangles.
pub fn print_table2(shared: &Path) {
    let read = |v: &str| std::fs::read_to_string(shared.join("subjects/seed/trityp").join(v)).ok();
    let (Some(a), Some(b), Some(c)) = (read("v1.c"), read("v2.c"), read("v3.c")) else {
        println!("skipped: subjects/seed/trityp is not there");
        return;
    };
    println!("{HEADER}");
    print_rows("trityp", &[a, b, c], Some(BOUND), &TRITYP);
}

/// Prints Table 4, the data structures.
pub fn print_table4() {
    println!("{HEADER}");
    let all: [(&str, &str, &[Row]); 3] = [
        ("SortedList", "sorted_list.c", &SORTED_LIST),
        ("HeapArray", "heap_array.c", &HEAP_ARRAY),
        ("BST", "search_tree.c", &SEARCH_TREE),
    ];
    for (name, file, rows) in all {
        let text = structure(file);
        let versions: Vec<String> = (1..=rows.len()).map(|k| version(&text, k)).collect();
        print_rows(name, &versions, None, rows);
    }
}

fn print_rows(name: &str, versions: &[String], bound: Option<i128>, rows: &[Row]) {
    let compared: Vec<Comparison> =
        versions.windows(2).map(|v| compared(&v[0], &v[1], bound, true)).collect();
    if let (Some(first), Some((full, _))) = (compared.first(), rows.first()) {
        println!("| {name} V1 | {} | {} | | | | |", ours(&first.initial), theirs(*full));
    }
    for (k, (c, (full, difference))) in (2..).zip(compared.iter().zip(&rows[1..])) {
        let (Some(all), Some(difference)) = (&c.full, difference) else { continue };
        println!(
            "| {name} V{k} | {} | {} | {}, {} runs | {} | {} | {} |",
            ours(all),
            theirs(*full),
            ours(&c.incremental),
            c.concrete_runs,
            theirs(*difference),
            fewer(all.counts.queries, c.incremental.counts.queries),
            fewer(full.0, difference.0),
        );
    }
}

fn ours(effort: &Effort) -> String {
    format!("{}, {}, {} ms", effort.counts.queries, effort.counts.states, effort.time.as_millis())
}

fn theirs((calls, states, seconds): Figures) -> String {
    format!("{calls}, {states}, {seconds} s")
}

/// How many calls of some the others are fewer, in per cent.
fn fewer(all: u64, part: u64) -> String {
    let left = part as f64 / all.max(1) as f64;
    format!("{:.1} %", 100.0 * (1.0 - left))
}
