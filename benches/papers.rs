//! The figures of three papers and ours, side by side: Fig. 1 and Tables I and II of Invariant Diffs, the example and Tables
//! 2 and 4 of iProperty, Tables 1 and 2 of diffDP. What it prints is `docs/papers.md`.
//!
//! Usage: `cargo bench --bench papers > docs/papers.md`; the subjects are looked for in `../shared` or where
//! `INVDIFF_SHARED` says.

#[path = "support/diffdp.rs"]
mod diffdp;
#[path = "support/figure1.rs"]
mod figure1;
#[path = "support/iproperty.rs"]
mod iproperty;
#[path = "support/table1.rs"]
mod printed_table1;
#[path = "support/table2.rs"]
mod printed_table2;
#[path = "../tests/support/properties.rs"]
mod properties;
#[path = "support/subjects.rs"]
mod subjects;
#[path = "../tests/support/svcomp.rs"]
mod svcomp;
#[path = "../tests/support/table1.rs"]
mod table1;
#[path = "../tests/support/table2.rs"]
mod table2;

const INTRODUCTION: &str = "\
# The papers' figures and ours

`cargo bench --bench papers > docs/papers.md` prints this from the shared subjects; nothing here is written by hand. Times say something \
only beside each other: the papers' are of their machines, ours of one run on a shared machine";

const FIGURE_1: &str = "
## Invariant Diffs, Fig. 1

Three versions of one function. The paper's node 5 is the last statement; here facts are of the exit behind it. Its nodes 1, 2, 3, \
4, 5, 7, 8, 11 and 12 are lines 12, 13, 14, 15, 18, 16, 17, 17 and 20 of the version that has them.
";

const FIGURE_1_DIFFERS: &str = "
- `b > a1` is no invariant of versions 1 and 2: `b` is 3 there whatever is read, and `a1` is what is read, or one more. The paper's claim \
does not hold of the program as it is printed.
- What `d` is in version 2 is one expression here; the paper, which has no conditional values for it, only says that the fact is gone.
";

const TABLE_1: &str = "
## Invariant Diffs, Table I

Facts `v == expression over inputs` that all of the first 2, 3, ... versions of a task share.
";

const TABLE_1_DIFFERS: &str = "
- The paper does not name its versions; these are ours, of the same tasks (`table1_selection.csv`).
- *If reached*: facts of versions some of which do something undefined on every run. Of these everything holds, which says \
nothing; the paper counts them. A `!` stands where fewer are left without them than the paper has.
- The paper's facts are of real numbers, where `(d - b) / m` and `(b - d) / -m` are one; ours are of IEEE floats, where they are not.
";

const TABLE_2: &str = "
## Invariant Diffs, Table II

Churns and invariants are of all variables at the exit, as the paper's, and of what is printed; what is said before and after is \
what a reader is shown without `--all`: a *formula* is a proved fact that has a condition or computes something.
";

const TABLE_2_DIFFERS: &str = "
- What a program prints is one more churn here: the paper looks at variables only. So 270330 and 270391, where it has none, have one, and the \
change of the control flow is told.
- In 270391 the inputs are read in another order, so that what is computed from them changes. The paper has no churn there, and says that the \
control flow changed; of the pair that we have it does not.
- Where the old program does something undefined on every run (a variable that was never set, an argument of `scanf` that is no address), \
the undefined event is the one churn; the paper counts one for every variable of the new program. In 270194 only some runs are undefined, and \
the others agree.
- Invariants that hold only under a condition (`m != 0.0f ==> x == (d - b) / m`) count, and so do those of what `scanf` reads; those of \
a version without a defined run do not. That two floats are equal but for the sign of a zero is a fact of its own, under the \
condition that they are not zero.
- Churns per line: by all lines of the hunks, comments and layout among them.
";

const IPROPERTY_EXAMPLE: &str = "
## iProperty, section 2

Two versions of the assertions of a median of three numbers: of eight two stay, two are weakened, four are new. Fewer calls: by \
how much checking the difference takes fewer than the full check of the same version, where what was found of the older version is kept.
";

const IPROPERTY_2: &str = "
## iProperty, Table 2

Three versions of the assertions of a classifier of triangles.
";

const IPROPERTY_4: &str = "
## iProperty, Table 4

Data structures with five symbolic insertions; each version has one assertion more.
";

const IPROPERTY_DIFFERS: &str = "
- The paper's calls are those of Symbolic PathFinder, which asks the solver at every branch. Here most branches are decided by \
intervals and by rewriting, so that both checks ask seldom: that alone makes the ratio of the two another one.
- Sides of triangles are between -10000 and 10000: the paper's are mathematical integers, and sums of `int` overflow.
- The paper's programs are Java; the data structures are written for this project in C from its description (`fixtures/property`).
";

const DIFFDP: &str = "
## diffDP, Tables 1 and 2

The paper verifies tasks of six categories with several verifiers; here are 14 tasks of two categories (`tasks.csv`) and the verifier \
of `git invdiff check`. *Proved*: no failure is introduced; *disproved*: an input that passes before and fails after, replayed; *by the condition alone*: \
proved without running the verifier, since the condition leaves nothing.
";

const DIFFDP_DIFFERS: &str = "
- The paper's cells are not printed beside: its tables came without their columns in the text that we have, and its tasks are other and more.
- What it says of them can be compared. It has categories in which more tasks are proved with a condition than without: so here. Its only \
wrong answers, ten false proofs, are those of one verifier, ESBMC: here is none. diffDP shows of some tasks that nothing is left to verify, \
and diffCond of none but those: so here.
- A task whose original fails already is proved where the change introduces no failure.
";

fn main() {
    let Some(shared) = subjects::folder() else { return };
    let build =
        if cfg!(debug_assertions) { " and a build with few optimisations (`--profile dev`)" } else { "" };
    println!("{INTRODUCTION}{build}.");
    print!("{FIGURE_1}");
    println!();
    figure1::print(&shared);
    print!("{FIGURE_1_DIFFERS}{TABLE_1}");
    println!();
    printed_table1::print(&shared, false);
    print!("{TABLE_1_DIFFERS}{TABLE_2}");
    println!();
    printed_table2::print(&shared, false);
    print!("{TABLE_2_DIFFERS}{IPROPERTY_EXAMPLE}");
    println!();
    iproperty::print_example(&shared);
    println!("{IPROPERTY_2}");
    iproperty::print_table2(&shared);
    println!("{IPROPERTY_4}");
    iproperty::print_table4();
    print!("{IPROPERTY_DIFFERS}{DIFFDP}");
    diffdp::print(&shared);
    print!("{DIFFDP_DIFFERS}");
}
