//! Numbers that `__LINE__` gave, as the other version has them: a check that returns the line where it
//! stands returns another number wherever a line is added above it, and nothing else changed. Where the code
//! compares such a number with something, it is one like others. Literals that hold such a number are as such numbers.

use super::alignment::{Algorithm, DiffOp, aligned};
use super::key::{self, Unplaced};
use crate::ir::{Expr, Function, Instr, Object, Op, VarId, literal};
use std::collections::{BTreeMap, BTreeSet};

/// Returns which number of the newer version each number of the older one became, for the numbers of
/// `__LINE__` in instructions that both have. Cost: compares the two as sequences of instructions.
pub fn moved(old: &Function, new: &Function) -> BTreeMap<u128, u128> {
    let (from, to) = (numbers(old), numbers(new));
    let mut found = BTreeMap::new();
    if from.iter().all(Vec::is_empty) {
        return found;
    }
    let mut several = Vec::new();
    for op in aligned(Algorithm::Myers, &keys(old), &keys(new)) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        let both = from.iter().skip(old_index).zip(to.iter().skip(new_index)).take(len);
        for (a, b) in both.flat_map(|(a, b)| a.iter().zip(b)) {
            if found.insert(*a, *b).is_some_and(|other| other != *b) {
                several.push(*a);
            }
        }
    }
    several.iter().for_each(|a| _ = found.remove(a));
    found
}

/// Words and the characters between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let mut rest = text;
    std::iter::from_fn(move || {
        let c = rest.chars().next()?;
        let end = if is_word(c) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// A text with the numbers in it that became others.
pub fn renumbered(text: &str, moved: &BTreeMap<u128, u128>) -> String {
    let became = |word: &str| moved.get(&word.parse().ok()?).map(u128::to_string);
    words(text).map(|word| became(word).unwrap_or_else(|| word.to_owned())).collect()
}

fn keys(f: &Function) -> Vec<String> {
    let key = |instr| {
        let mut out = String::new();
        key::instr(&mut out, instr, &Unplaced(f));
        out
    };
    f.nodes.iter().map(|n| key(&n.instr)).collect()
}

/// By instruction, the numbers that `__LINE__` gave in it.
fn numbers(f: &Function) -> Vec<Vec<u128>> {
    let of = |e: &Expr| match e {
        Expr::Op { args, .. } if e.is_line_number() => match args.first() {
            Some(Expr::Const(c)) => c.unsigned(),
            _ => None,
        },
        Expr::Addr(Object::Global(symbol)) => literal::placed(symbol).map(|(line, _)| line.into()),
        _ => None,
    };
    let each = |n: &crate::ir::Node| {
        let mut found = Vec::new();
        n.instr.for_each_expr(&mut |e| found.extend(of(e)));
        found
    };
    f.nodes.iter().map(each).collect()
}

/// Whether a body compares what `__LINE__` gives with something, and goes by that. That something else equals it is
/// asked by code that jumps to where it was, which no move of lines changes.
pub fn are_compared(f: &Function) -> bool {
    let mut lines = Lines::default();
    let mut is_there = false;
    for node in &f.nodes {
        node.instr.for_each_expr(&mut |e| is_there |= e.is_line_number());
    }
    if !is_there {
        return false;
    }
    loop {
        let before = (lines.vars.len(), lines.kept.len(), lines.loaded.len());
        for node in &f.nodes {
            match &node.instr {
                Instr::Assign { dst, value } if lines.is_one(value) => _ = lines.vars.insert(*dst),
                Instr::Store { addr, value, .. } if lines.is_one(value) && !lines.kept.contains(addr) => {
                    lines.kept.push(addr.clone());
                }
                Instr::Load { dst, addr, .. } if lines.kept.contains(addr) => _ = lines.loaded.insert(*dst),
                _ => {}
            }
        }
        if before == (lines.vars.len(), lines.kept.len(), lines.loaded.len()) {
            break;
        }
    }
    let mut compares = false;
    for node in &f.nodes {
        node.instr.for_each_operand(&mut |e| compares |= lines.compares(e));
        compares |= matches!(&node.instr, Instr::Branch { cond } if lines.is_one(cond));
    }
    compares
}

/// What holds a number that `__LINE__` gave.
#[derive(Default)]
struct Lines {
    vars: BTreeSet<VarId>,
    /// Addresses where one was stored, and variables that were loaded from there.
    kept: Vec<Expr>,
    loaded: BTreeSet<VarId>,
}

impl Lines {
    fn is_one(&self, e: &Expr) -> bool {
        match e {
            e if e.is_line_number() => true,
            Expr::Var(v) => self.vars.contains(v) || self.loaded.contains(v),
            Expr::Op { op, args, .. } => !is_comparison(*op) && args.iter().any(|a| self.is_one(a)),
            _ => false,
        }
    }

    fn compares(&self, e: &Expr) -> bool {
        let Expr::Op { op, args, .. } = e else { return false };
        if !is_comparison(*op) {
            return args.iter().any(|a| self.compares(a));
        }
        let is_other = |a: &Expr| !self.is_one(a) && !matches!(a, Expr::Const(_));
        let is_kept = |a: &Expr| matches!(a, Expr::Var(v) if self.loaded.contains(v));
        let is_resumed = *op == Op::Eq && args.iter().any(|a| is_other(a) || is_kept(a));
        !is_resumed && args.iter().any(|a| self.is_one(a)) || args.iter().any(|a| self.compares(a))
    }
}

fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FEq | Op::FLt | Op::FLe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_renumbered() {
        let moved = BTreeMap::from([(12, 14), (3, 5)]);
        let text = "x12 == 12 || \\result == 3 && y == 0x3 && z == 3.0 && a[3] == -12";
        assert_eq!(
            renumbered(text, &moved),
            "x12 == 14 || \\result == 5 && y == 0x3 && z == 3.0 && a[5] == -14"
        );
    }
}
