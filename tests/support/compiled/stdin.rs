//! Standard input for programs.

use git_invdiff::interp::{Generator, Input, Limits, Program, run};
use git_invdiff::ir::Unit;
use std::sync::Arc;

/// One run's input.
pub struct Text {
    pub bytes: Vec<u8>,
    /// Numbers, and more of them than any program reads.
    pub is_tame: bool,
}

/// Numbers in a tame input.
const NUMBERS: u64 = 300;

/// Inputs on which the program does nothing that the interpreter calls undefined, or cannot tell.
pub fn inputs(unit: &Unit, source: &str, count: usize) -> Vec<Text> {
    let program = Program::new(vec![Arc::new(unit.clone())]);
    let mut generator = Generator::new(&program, "main", 1);
    let is_real = source.contains("%lf") && !source.contains("%d");
    let mut found = Vec::new();
    for k in 0..count as u64 {
        let bytes = match k % 2 {
            0 => numbers(k, is_real).into_bytes(),
            _ => run(&program, "main", &generator.next(), &Limits::default()).read.stdin,
        };
        let input = Input { stdin: bytes.clone(), ..Input::default() };
        let outcome = run(&program, "main", &input, &Limits::default());
        if outcome.end.is_definite()
            && !outcome.portability.platform_dependent
            && !outcome.portability.open_sign
        {
            found.push(Text { bytes, is_tame: k % 2 == 0 });
        }
    }
    found
}

fn numbers(seed: u64, is_real: bool) -> String {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let spread = [3, 12, 40, 1000, 1 << 31][below(5) as usize];
    let one = |_| {
        let value = below(spread) as i64 - if below(3) == 0 { (spread / 2) as i64 } else { 0 };
        let fraction = if is_real && below(2) == 0 { format!(".{}", below(100)) } else { String::new() };
        format!("{value}{fraction}")
    };
    (0..NUMBERS).map(one).collect::<Vec<_>>().join(" ") + "\n"
}
