//! Counts over floats against compiled programs: both versions of a random function of floats and an integer are
//! compiled with checks of conversions and of integers, and run on every input of a domain: floats in steps, or all
//! that lie within a narrow range. The counts of `quantify`, and how many inputs return something else, have to be
//! those of the runs.
//!
//! `INVDIFF_FLOATS=500 cargo test --release --test oracle floats -- --nocapture` tries so many programs.

use crate::mutants::Random;
use crate::quantify::{Trees, UNDEFINED, even};
use crate::support::tier;
use git_invdiff::analysis::quantify::{Quantified, Wanted, quantify};
use git_invdiff::analysis::{Options, memory};
use git_invdiff::count::{Decimal, Interval};
use git_invdiff::frontend::c;
use git_invdiff::ir::Sort;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How the runs of both versions end: returned, failed, undefined; then on how many inputs both return, and the same.
#[derive(Debug, PartialEq, Eq)]
struct Runs {
    ends: [[i128; 3]; 2],
    both: i128,
    same: i128,
}

/// A value of a float type, of the parameters and locals that there are.
fn value(random: &mut Random, names: &[&str], depth: u32) -> String {
    let constants = ["0.0", "1.0", "0.5", "-2.25", "3.0f", "0.1", "-0.7f", "10", "1e-3", "-0.0", "2"];
    if depth == 0 || random.below(4) == 0 {
        return match random.below(3) {
            0 => constants[random.below(constants.len())].to_owned(),
            _ => names[random.below(names.len())].to_owned(),
        };
    }
    let a = value(random, names, depth - 1);
    match random.below(9) {
        0 => format!("fabs({a})"),
        1 => format!("-({a})"),
        2 => format!("(float)({a})"),
        3 => format!("({a}) * ({a})"),
        n => {
            let (b, op) = (value(random, names, depth - 1), ["+", "-", "*", "/", "-"][n - 4]);
            format!("({a}) {op} ({b})")
        }
    }
}

fn condition(random: &mut Random, names: &[&str]) -> String {
    let ops = ["<", "<=", ">", ">=", "==", "!="];
    let op = ops[random.below(ops.len())];
    match random.below(6) {
        0 => format!("(int)({}) {op} {}", value(random, names, 2), random.below(7) as i64 - 3),
        1 => format!("(unsigned)({}) {op} {}", value(random, names, 1), random.below(5)),
        _ => format!("{} {op} {}", value(random, names, 2), value(random, names, 1)),
    }
}

/// The body of a function, a line each.
fn body(random: &mut Random) -> Vec<String> {
    let mut names = vec!["x", "y", "n"];
    if random.below(2) == 0 {
        names.push("rate");
    }
    let mut lines = vec![format!("    double a = {};", value(random, &names, 2))];
    names.push("a");
    lines.push(format!("    float b = {};", value(random, &names, 1)));
    names.push("b");
    lines.push("    int r = 0;".to_owned());
    for k in 1..3 + random.below(3) {
        let c = condition(random, &names);
        lines.push(match random.below(6) {
            0 => format!("    assert({c} || n == {});", random.below(4)),
            1 => format!("    if ({c})\n        a = {};", value(random, &names, 2)),
            2 => format!("    if ({c})\n        return {};", 10 + k),
            3 => format!("    while (r < {k} && {c})\n        r++;"),
            _ => format!("    if ({c})\n        r += {k};"),
        });
    }
    lines.push(if random.below(4) == 0 {
        "    return (int)a;".to_owned()
    } else {
        "    return r;".to_owned()
    });
    lines
}

fn source(lines: &[String], sorts: [&str; 2]) -> String {
    let [x, y] = sorts;
    let head = "#include <assert.h>\n#include <math.h>\nextern double rate;\n";
    format!("{head}int f({x} x, {y} y, int n)\n{{\n{}\n}}\n", lines.join("\n"))
}

/// Before each version: how a run ends is where it jumps to.
const HEAD: &str = "#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
static sigjmp_buf back;
#define CHECK(what) void __ubsan_handle_##what##_abort(void *place, void *a, void *b) { siglongjmp(back, 3); }
CHECK(add_overflow) CHECK(sub_overflow) CHECK(mul_overflow) CHECK(negate_overflow) CHECK(divrem_overflow)
CHECK(float_cast_overflow) CHECK(shift_out_of_bounds)
#define assert(c) ((c) ? (void)0 : siglongjmp(back, 2))
double rate;
";

/// Behind them: all runs.
const RUNS: &str = "static long ends[2][3], both, same;
static int end, result;
static double x_, y_;
static int n_;
static void one(int version)
{
    end = sigsetjmp(back, 0);
    if (end == 0) {
        result = version ? f1(x_, y_, n_) : f0(x_, y_, n_);
        end = 1;
    }
    ends[version][end - 1]++;
}
static void run(void)
{
    one(0);
    int first = end, value = result;
    one(1);
    if (first == 1 && end == 1) {
        both++;
        same += value == result;
    }
}
";

/// All values of an input, as doubles.
fn values(q: &Quantified, name: &str, sort: Sort) -> Option<Vec<f64>> {
    let Some(input) = q.inputs.iter().find(|i| i.name == name) else { return Some(vec![0.0]) };
    if !sort.is_float() {
        let (low, high) = input.range.as_whole()?;
        return Some((low..=high).map(|n| n as f64).collect());
    }
    let ((low, high), numbers) = input.range.numbers(sort).ok()?;
    let value = |k| {
        let bits = numbers.constant(sort, k)?.to_bits();
        Some(if sort == Sort::F32 {
            f64::from(f32::from_bits(bits as u32))
        } else {
            f64::from_bits(bits as u64)
        })
    };
    (low..=high).map(value).collect()
}

/// Compiles both versions and runs them on all inputs; `None`: a change has made what is no C.
fn enumerate(folder: &Path, sources: [&str; 2], inputs: &[(&str, Vec<f64>)]) -> Option<Runs> {
    let mut text = HEAD.to_owned();
    for (v, source) in sources.iter().enumerate() {
        let own = source.replace("#include", "// include").replace("extern", "// extern");
        let _ = writeln!(text, "{}", own.replace("int f(", &format!("static int f{v}(")));
    }
    text.push_str(RUNS);
    for (name, values) in inputs {
        let bits: Vec<String> = values.iter().map(|v| format!("{}u", v.to_bits())).collect();
        let _ = writeln!(text, "static const unsigned long v_{name}[] = {{{}}};", bits.join(", "));
    }
    text.push_str("int main(void)\n{\n    double d;\n");
    for (name, values) in inputs {
        let _ = writeln!(text, "    for (int i_{name} = 0; i_{name} < {}; i_{name}++) {{", values.len());
        let target = if *name == "rate" { "rate".to_owned() } else { format!("{name}_") };
        let _ = writeln!(text, "    memcpy(&d, &v_{name}[i_{name}], 8); {target} = d;");
    }
    text.push_str("    run();\n");
    text.push_str(&"}".repeat(inputs.len()));
    text.push_str(
        "\n    printf(\"%ld %ld %ld %ld %ld %ld %ld %ld\\n\", ends[0][0], ends[0][1], ends[0][2], ends[1][0], \
         ends[1][1], ends[1][2], both, same);\n}\n",
    );
    let [file, object, binary] = ["a.c", "a.o", "a"].map(|name| folder.join(name));
    std::fs::write(&file, text).expect("the folder is there");
    let checks = "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift,float-cast-overflow";
    let flags = ["-w", "-std=gnu17", "-O0", "-ffp-contract=off", checks, "-fno-sanitize-recover", "-c", "-o"];
    let compiled = invdiff_testing::compiler()
        .args(flags)
        .arg(&object)
        .arg(&file)
        .output()
        .expect("there is a compiler");
    if !compiled.status.success() {
        println!("{}", String::from_utf8_lossy(&compiled.stderr));
        return None;
    }
    let linked = invdiff_testing::compiler().arg("-o").arg(&binary).arg(&object).arg("-lm").output();
    let linked = linked.expect("there is a compiler");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let output = Command::new(&binary).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let n: Vec<i128> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let &[a, b, c, d, e, f, both, same] = n.as_slice() else { panic!("eight counts: {text}") };
    Some(Runs { ends: [[a, b, c], [d, e, f]], both, same })
}

/// A range of a float input: a row of steps, or all floats of a narrow range.
fn interval(random: &mut Random, sort: Sort) -> Interval {
    let of = |low: &str, high: &str, step: Option<&str>| {
        let number = |text: &str| Decimal::parse(text).expect("it is a number");
        Interval { low: number(low), high: number(high), step: step.map(number) }
    };
    match (random.below(5), sort) {
        (0, Sort::F32) => of("0.99999", "1.00001", None),
        (0, _) => of("0.99999999999999", "1.00000000000001", None),
        (1, Sort::F32) => of("-1e-43", "1e-43", None),
        (1, _) => of("-2e-322", "2e-322", None),
        (2, _) => of("-3", "3", Some("0.1")),
        (3, _) => of("-1e10", "1e10", Some("333333333.5")),
        _ => of("-10", "9", Some("0.5")),
    }
}

#[test]
fn counts_over_floats_are_those_of_compiled_programs() {
    if !tier::has_compiler() {
        return;
    }
    let programs = tier::rounds("INVDIFF_FLOATS", 14, 200) as u64;
    let folder = invdiff_testing::scratch();
    let options = Options { jobs: 1, ..Options::default() };
    let (mut exact, mut versions, mut failing, mut undefined, mut differing) = (0, 0, 0, 0, 0);
    let (mut compared, mut pairs) = (0, 0);
    for seed in 0..programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 11);
        let sorts = [0, 1].map(|_| if random.below(2) == 0 { Sort::F32 } else { Sort::F64 });
        let names = sorts.map(|s| if s == Sort::F32 { "float" } else { "double" });
        let mut lines = body(&mut random);
        let old = source(&lines, names);
        let other = body(&mut random);
        let k = random.below(lines.len() - 1);
        if let Some(line) = other.get(k) {
            lines[k].clone_from(line);
        }
        let new = source(&lines, names);
        let request = memory::request(
            &[vec![("a.c", &old)], vec![("a.c", &new)]],
            c::Options::default(),
            options.clone(),
        );
        let mut choice = even(Default::default());
        for (name, sort) in ["x", "y"].into_iter().zip(sorts) {
            choice.domains.insert(name.to_owned(), interval(&mut random, sort));
        }
        choice.domains.insert("n".to_owned(), (-2, 3).into());
        let rate = Interval { step: Decimal::parse("0.75"), ..(-1, 1).into() };
        choice.domains.insert("rate".to_owned(), rate);
        let is_it = |_: &git_invdiff::report::RepoPath, name: &str| name == "f";
        let found = quantify(&request, &choice, &Wanted { is_it: &is_it, is_named: true }, &Trees::default());
        let Some(q) = found.unwrap_or_else(|e| panic!("{seed}: {e:?}\n{old}")).pop() else { continue };
        let all = [("x", sorts[0]), ("y", sorts[1]), ("n", Sort::Bv(32)), ("rate", Sort::F64)];
        let inputs: Vec<(&str, Vec<f64>)> =
            all.into_iter().map(|(name, sort)| (name, values(&q, name, sort).expect("floats"))).collect();
        let Some(runs) = enumerate(folder.path(), [&old, &new], &inputs) else { continue };
        let what = format!("program {seed}: {runs:?} {:?}\n{old}\n=====\n{new}", q.inputs);
        for (counted, [success, failure, bad]) in q.versions.iter().zip(runs.ends) {
            let t = &counted.as_ref().expect("both versions have it").totals;
            assert_eq!(success + failure + bad, q.size, "{what}");
            assert_eq!(t.success + t.failure + t.grey, q.size, "{what}");
            assert!(t.success <= success && t.failure <= failure, "{t:?} {what}");
            let named = t.reasons.iter().filter(|(why, _)| UNDEFINED.contains(why)).map(|(_, g)| g.inputs);
            let is_exact = named.sum::<i128>() == t.grey;
            if is_exact {
                assert_eq!((t.success, t.failure, t.grey), (success, failure, bad), "{t:?} {what}");
            } else {
                println!("program {seed}, not exact: {:?}", t.reasons);
            }
            exact += usize::from(is_exact);
            versions += 1;
            failing += usize::from(failure > 0);
            undefined += usize::from(bad > 0);
        }
        // The double that is global is only read, and how a failure differs is not looked at here.
        let is_quiet = runs.ends[0][1] == 0 && runs.ends[1][1] == 0;
        if let Some(Ok(c)) = q.steps.first().filter(|_| is_quiet) {
            let differ = runs.both - runs.same;
            assert!(c.differing <= differ && c.same <= runs.same, "{c:?} {what}");
            pairs += 1;
            if c.open == q.size - runs.both {
                assert_eq!((c.differing, c.same), (differ, runs.same), "{c:?} {what}");
                compared += 1;
            }
            differing += usize::from(differ > 0);
        }
    }
    println!(
        "{exact} of {versions} versions exact, {failing} with failures, {undefined} with undefined inputs, \
         {compared} of {pairs} pairs compared exactly, {differing} differ"
    );
    assert!(versions as u64 * 10 >= programs * 15, "{versions} of {programs} programs");
    assert!(
        exact * 10 >= versions * 9 && failing > 0 && undefined > 0 && differing > 0,
        "{exact} of {versions}"
    );
}
