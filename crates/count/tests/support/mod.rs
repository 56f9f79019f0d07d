//! Random polytopes, as conditions over inputs and as sets that barvinok counts.

use invdiff_count::{Domain, Input, Range};
use invdiff_ir::{Leaf, Op, Sort, TermId, TermPool};
use invdiff_testing::Random;
use std::io::Write;
use std::process::{Command, Stdio};

/// The integers of a box that meet inequalities `a * x <= b`.
pub struct Polytope {
    pub ranges: Vec<Range>,
    pub rows: Vec<(Vec<i128>, i128)>,
}

impl Polytope {
    /// A box of sides below a power of ten, cut by inequalities through some of its points; now and then an equality.
    pub fn random(random: &mut Random, dimensions: usize, most_digits: u32) -> Polytope {
        let number = |random: &mut Random, n: i128| i128::from(random.below(n as u64));
        let digits = 1 + random.below(u64::from(most_digits)) as u32;
        let side = |random: &mut Random| {
            let width = 1 + number(random, 10i128.pow(digits));
            let low = -number(random, width + 1);
            (low, low + width - 1)
        };
        let ranges: Vec<Range> = (0..dimensions).map(|_| side(random)).collect();
        let mut rows = Vec::new();
        for _ in 0..1 + random.below(4) {
            let a: Vec<i128> = ranges.iter().map(|_| number(random, 13) - 6).collect();
            let inside = ranges.iter().map(|(low, high)| low + number(random, high - low + 1));
            let b: i128 = inside.zip(&a).map(|(x, a)| x * a).sum();
            if random.below(8) == 0 {
                rows.push((a.iter().map(|x| -x).collect(), -b));
            }
            rows.push((a, b));
        }
        Polytope { ranges, rows }
    }

    /// Its inputs and conditions, on words that do not wrap.
    pub fn terms(&self, pool: &mut TermPool) -> (Domain, Vec<TermId>) {
        let input = |(k, range): (usize, &Range)| {
            Input::even(pool.leaf(Leaf::Param { name: format!("x{k}").into(), sort: Sort::Bv(64) }), *range)
        };
        let domain = Domain { inputs: self.ranges.iter().enumerate().map(input).collect() };
        let mut condition = |(a, b): &(Vec<i128>, i128)| {
            let mut sum = pool.bv(64, 0);
            for (factor, input) in a.iter().zip(&domain.inputs) {
                let factor = pool.bv(64, *factor);
                let part = pool.op(Op::Mul, &[factor, input.term]);
                sum = pool.op(Op::Add, &[sum, part]);
            }
            let limit = pool.bv(64, *b);
            pool.op(Op::Sle, &[sum, limit])
        };
        let conditions = self.rows.iter().map(&mut condition).collect();
        (domain, conditions)
    }

    /// As isl reads it.
    fn text(&self) -> String {
        let names: Vec<String> = (0..self.ranges.len()).map(|k| format!("x{k}")).collect();
        let mut limits: Vec<String> = self
            .ranges
            .iter()
            .zip(&names)
            .map(|((low, high), x)| format!("{low} <= {x} <= {high}"))
            .collect();
        for (a, b) in &self.rows {
            let sum: Vec<String> = a.iter().zip(&names).map(|(a, x)| format!("({a} * {x})")).collect();
            limits.push(format!("{} <= {b}", sum.join(" + ")));
        }
        format!("{{ [{}] : {} }}", names.join(", "), limits.join(" and "))
    }
}

/// What barvinok counts, and how long that takes it in seconds.
const SCRIPT: &str = "
import sys, time, islpy
for line in sys.stdin:
    polytope = islpy.Set(line)
    start = time.perf_counter()
    count = polytope.card()
    point = islpy.Point.zero(count.get_space().domain())
    number = count.eval(point)
    print(number.to_str(), time.perf_counter() - start, flush=True)
";

/// The counts of barvinok and its times, by the python that `INVDIFF_BARVINOK` names; it has the package
/// `islpy-barvinok`. `None`: no python is named.
pub fn barvinok(polytopes: &[Polytope]) -> Option<Vec<(i128, f64)>> {
    let python = std::env::var_os("INVDIFF_BARVINOK")?;
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("INVDIFF_BARVINOK names a python");
    let mut input = child.stdin.take().expect("it is piped");
    let text: String = polytopes.iter().map(|p| p.text() + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it wrote").expect("it reads all");
    let text = String::from_utf8(output.stdout).expect("numbers are text");
    let line = |line: &str| {
        let (count, seconds) = line.split_once(' ').expect("two numbers");
        (count.parse().expect("a count"), seconds.parse().expect("a time"))
    };
    let found: Vec<(i128, f64)> = text.lines().map(line).collect();
    assert_eq!(found.len(), polytopes.len(), "barvinok gave up");
    Some(found)
}
