//! Counts against compiled programs: both versions of a random program are compiled with checks of undefined
//! operations, and run on every input of a domain of up to a million; the counts of `quantify` have to be those of the
//! runs.
//!
//! `INVDIFF_ENUMERATED=500 cargo test --release --test oracle enumerated -- --nocapture` tries so many programs;
//! `INVDIFF_ENUMERATED_FROM` is the first seed, `INVDIFF_ENUMERATED_INPUTS` the most inputs of a domain (1000000).

use crate::mutants::Random;
use crate::quantify::{Integer, Trees, UNDEFINED, changed, even, global, integers, made, program};
use crate::support::tier;
use git_invdiff::analysis::quantify::{Quantified, Wanted, quantify};
use git_invdiff::analysis::{Options, memory};
use git_invdiff::frontend::c;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What each run of a compiled program ends in: it returns or exits, fails, does something undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Runs {
    success: i128,
    failure: i128,
    undefined: i128,
}

/// Before the program: how a run ends is where it jumps to. What a compiler's checks call is our own: to be told by a
/// signal takes a hundred times as long.
const HEAD: &str = "#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static sigjmp_buf back;
#define CHECK(what) void __ubsan_handle_##what##_abort(void *place, void *a, void *b) { siglongjmp(back, 3); }
CHECK(add_overflow) CHECK(sub_overflow) CHECK(mul_overflow) CHECK(negate_overflow) CHECK(divrem_overflow)
CHECK(shift_out_of_bounds) CHECK(out_of_bounds)
static int own_abs(int v) { return v < 0 ? -v : v; }
static int print(const char *format, ...) { return 0; }
#define assert(c) ((c) ? (void)0 : siglongjmp(back, 2))
#define abort() siglongjmp(back, 2)
#define exit(status) siglongjmp(back, 1)
#define printf print
#define abs own_abs
";

/// Behind it: one run, in a function of its own, since a jump forgets what changed in the one it comes to.
const RUN: &str = "static long a_, b_, total_, mode_ = 1;
static long counts[3];
static void one(void)
{
    total = total_;
    mode = mode_;
    switch (sigsetjmp(back, 0)) {
    case 0: f(a_, b_);
    case 1: counts[0]++; break;
    case 2: counts[1]++; break;
    default: counts[2]++;
    }
}
";

/// A program with all of its runs, input by input.
fn driver(source: &str, inputs: &[Integer]) -> String {
    let body = source.replace("#include", "// include");
    let mut text = format!("{HEAD}{body}\n{RUN}int main(void)\n{{\n");
    for (name, (low, high)) in inputs {
        let _ = writeln!(text, "    for ({name}_ = {low}L; {name}_ <= {high}L; {name}_++)");
    }
    text.push_str("        one();\n#undef printf\n");
    text.push_str("    printf(\"%ld %ld %ld\\n\", counts[0], counts[1], counts[2]);\n    return 0;\n}\n");
    text
}

/// The same where a version has something as it is written: a global that this one never writes, but the other does.
fn own_driver(source: &str, inputs: &[Integer]) -> String {
    let parsed = program(source).expect("it was analysed");
    let is_fixed = |name: &String| global(&parsed, name).is_some_and(|g| g.is_known_constant());
    let all = driver(source, inputs);
    let fixed = inputs.iter().filter(|(name, ..)| is_fixed(name));
    fixed.fold(all, |text, (name, ..)| text.replace(&format!("    {name} = {name}_;\n"), ""))
}

/// Compiles a program and runs it on all inputs; `None`: it is not C, a change has made it so.
fn enumerate(folder: &Path, source: &str, inputs: &[Integer]) -> Option<Runs> {
    let [file, object, binary] = ["a.c", "a.o", "a"].map(|name| folder.join(name));
    std::fs::write(&file, own_driver(source, inputs)).expect("the folder is there");
    // No -fwrapv: what is undefined is found by the checks, without optimisation also where nothing uses a
    // result. Linked without them, since what they call is there.
    let checks = "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift,bounds";
    let flags = ["-w", "-std=gnu17", "-O0", checks, "-fno-sanitize-recover", "-c", "-o"];
    let compiled = invdiff_testing::compiler()
        .args(flags)
        .arg(&object)
        .arg(&file)
        .output()
        .expect("there is a compiler");
    if !compiled.status.success() {
        return None;
    }
    let linked = invdiff_testing::compiler()
        .arg("-o")
        .arg(&binary)
        .arg(&object)
        .output()
        .expect("there is a compiler");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let output = Command::new(&binary).output().expect("it runs");
    assert!(output.status.success(), "{:?}\n{source}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<i128> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [success, failure, undefined] = numbers[..] else { panic!("three counts: {text}") };
    Some(Runs { success, failure, undefined })
}

/// The counts of `f` on a domain of at most so many inputs.
fn counted(old: &str, new: &str, random: &mut Random, most: i128) -> Option<Quantified> {
    let options = Options { jobs: 1, ..Options::default() };
    let request = memory::request(&[vec![("a.c", old)], vec![("a.c", new)]], c::Options::default(), options);
    let mut choice = even(Default::default());
    let trees = Trees::default();
    let is_it = |_: &git_invdiff::report::RepoPath, name: &str| name == "f";
    let wanted = Wanted { is_it: &is_it, is_named: true };
    let first = quantify(&request, &choice, &wanted, &trees).ok()?.pop()?;
    let mut width = 1000;
    while i128::pow(width, first.inputs.len() as u32) > most {
        width -= 1;
    }
    for (name, (low, high)) in integers(&first)? {
        // Within every type.
        let width = width.min(if high == 1 { 2 } else { 120 + 880 * i128::from(random.below(2) == 0) });
        let low = if low < 0 { -(width / 2) } else { 0 };
        choice.domains.insert(name, (low, low + width - 1).into());
    }
    loop {
        match quantify(&request, &choice, &wanted, &trees) {
            Ok(mut found) => return found.pop(),
            Err(git_invdiff::analysis::quantify::Problem::OutOfType { name, whole }) => {
                choice.domains.insert(name, whole.into());
            }
            Err(_) => return None,
        }
    }
}

#[test]
fn counts_are_those_of_compiled_programs() {
    if !tier::has_compiler() {
        return;
    }
    let programs = tier::rounds("INVDIFF_ENUMERATED", 8, 100) as u64;
    let most = tier::rounds("INVDIFF_ENUMERATED_INPUTS", 40_000, 100_000) as i128;
    let folder = invdiff_testing::scratch();
    let (mut exact, mut versions, mut failing, mut undefined, mut inputs) = (0, 0, 0, 0, 0);
    let from = tier::rounds("INVDIFF_ENUMERATED_FROM", 0, 0) as u64;
    for seed in from..from + programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 7);
        let old = made(seed + 1_000_000, true);
        let new = changed(&old, &mut random);
        let Some(q) = counted(&old, &new, &mut random, most) else { continue };
        for (source, counted) in [&old, &new].into_iter().zip(&q.versions) {
            let t = &counted.as_ref().expect("both versions have it").totals;
            let Some(runs) = enumerate(folder.path(), source, &integers(&q).expect("all are integers"))
            else {
                continue;
            };
            let what = format!(
                "program {seed}: {t:?}\n{runs:?} {:?}\n{source}\n=====\n{old}\n=====\n{new}",
                q.inputs
            );
            assert_eq!(runs.success + runs.failure + runs.undefined, q.size, "{what}");
            assert_eq!(t.success + t.failure + t.grey, q.size, "{what}");
            assert!(t.success <= runs.success && t.failure <= runs.failure, "{what}");
            let named = t.reasons.iter().filter(|(why, _)| UNDEFINED.contains(why)).map(|(_, g)| g.inputs);
            if named.sum::<i128>() == t.grey {
                assert_eq!(
                    (t.success, t.failure, t.grey),
                    (runs.success, runs.failure, runs.undefined),
                    "{what}"
                );
                exact += 1;
            } else {
                println!("program {seed}, not exact: {:?} {:?}\n{source}", t.reasons, q.inputs);
            }
            versions += 1;
            inputs += q.size;
            failing += usize::from(runs.failure > 0);
            undefined += usize::from(runs.undefined > 0);
        }
    }
    println!(
        "{exact} of {versions} versions exact, {failing} with failures, {undefined} with undefined inputs, {inputs} runs"
    );
    assert!(versions as u64 * 2 >= programs * 3, "{versions} of {programs} programs");
    assert!(exact * 10 >= versions * 8 && failing > 0 && undefined > 0, "{exact} of {versions}");
}
