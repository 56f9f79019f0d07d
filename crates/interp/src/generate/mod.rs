//! Inputs on which two versions may differ: endless, deterministic, edge cases first.
//!
//! An input is built from a function's signature, the layouts that its parameters reach, and the
//! constants of the code ([`pool`]). Standard input is a plan that answers each request when it
//! comes ([`stdin`]). Inputs that proved useful are fed back with [`Generator::add`] and varied.

mod guided;
mod near;
mod objects;
mod pool;
mod random;
mod shape;
mod stdin;

use super::input::{CallResult, Input, Value};
use super::program::Program;
use crate::ir::{CType, Const, Unit};
use objects::Builder;
use pool::{Earlier, Pool};
use random::SplitMix;
use std::sync::Arc;

pub use guided::{Guided, Lead, Standing, mended};
pub(crate) use stdin::Request;
pub use stdin::StdinPlan;

/// Inputs kept to be varied.
const MAX_CORPUS: usize = 64;
/// Combinations of simple values that come first.
const GRID: u64 = 48;
const SIMPLE: [i128; 5] = [0, 1, -1, 2, 3];
/// Calls of one function that nobody defines for which a result is made.
const MAX_RESULTS: u32 = 16;

/// Endless source of inputs for one function.
pub struct Generator {
    unit: Arc<Unit>,
    pool: Arc<Pool>,
    params: Vec<CType>,
    is_main: bool,
    /// Globals that may be overridden: symbol, type, size.
    globals: Vec<(Arc<str>, CType, u64)>,
    seed: u64,
    count: u64,
    corpus: Vec<Input>,
}

impl Generator {
    /// Prepares for a function. Cost: one pass over the code that it reaches.
    pub fn new(program: &Program, entry: &str, seed: u64) -> Generator {
        let unit = program.unit_of(entry).cloned().unwrap_or_default();
        let function = program.function(entry);
        let params = function.map_or(Vec::new(), |f| {
            f.params.iter().filter_map(|p| f.vars.get(p.0 as usize)).map(|v| v.ty.clone()).collect()
        });
        let pool = Pool::collect(program, entry);
        let is_known = |u: usize, symbol: &str| {
            program.slot_from(u, symbol).is_some_and(|s| program.is_known_constant(s))
        };
        let globals =
            pool.globals.iter().filter(|(u, symbol)| !is_known(*u, symbol)).filter_map(|(_, symbol)| {
                let g = unit.global(symbol).filter(|g| !g.is_known_constant())?;
                let library = super::program::STREAMS.contains(&&**symbol);
                (g.size > 0 && g.size <= objects::MAX_OBJECT && !library)
                    .then(|| (symbol.clone(), g.ty.clone(), g.size))
            });
        let globals: Vec<_> = globals.collect();
        Generator {
            globals,
            unit,
            pool: Arc::new(pool),
            params,
            is_main: entry == "main",
            seed,
            count: 0,
            corpus: Vec::new(),
        }
    }

    /// As [`Generator::new`], for inputs that come to where an older version differs.
    pub fn between(old: &Program, new: &Program, entry: (&str, &str), seed: u64) -> Generator {
        let mut generator = Generator::new(new, entry.1, seed);
        Arc::make_mut(&mut generator.pool).prefer((old, new), entry);
        generator
    }

    /// Gives an input to be varied: one that showed a difference, or a solver's model.
    pub fn add(&mut self, input: Input) {
        if self.corpus.len() < MAX_CORPUS {
            self.corpus.push(input);
        }
    }

    /// Returns the next input.
    #[expect(clippy::should_implement_trait, reason = "endless: there is no `None`")]
    pub fn next(&mut self) -> Input {
        let index = self.count;
        self.count += 1;
        let mut rng = SplitMix::at(self.seed, index);
        if index % 3 == 2
            && let Some(base) = rng.pick(&self.corpus).cloned()
        {
            return self.vary(base, &mut rng);
        }
        let mut input = Input::default();
        let plan_seed = rng.next();
        input.stdin_plan = Some(StdinPlan::new(plan_seed, self.pool.clone()));
        if self.is_main {
            if !self.params.is_empty() {
                input.argv = self.argv(&mut rng);
            }
            let mut builder = Builder::new(&self.unit, &self.pool);
            input.calls = self.results(&mut builder, &mut rng);
            input.objects = builder.finish();
            return input;
        }
        if index < GRID && self.is_scalar() {
            input.arguments = self.grid(index);
            return input;
        }
        let mut builder = Builder::new(&self.unit, &self.pool);
        for ty in &self.params {
            input.arguments.push(builder.value(ty, &mut rng, 0));
        }
        self.count_elements(&mut input.arguments, &mut rng);
        if rng.chance(40) {
            for (symbol, ty, size) in &self.globals {
                if rng.chance(50) {
                    builder.global(symbol, ty, *size, &mut rng);
                }
            }
        }
        input.calls = self.results(&mut builder, &mut rng);
        input.objects = builder.finish();
        input
    }

    /// What functions that nobody defines return, where these are pointers: every other time they are
    /// null, as what is not said is.
    fn results(&self, builder: &mut Builder<'_>, rng: &mut SplitMix) -> Vec<CallResult> {
        if self.pool.callees.is_empty() || rng.chance(50) {
            return Vec::new();
        }
        let mut made = Vec::new();
        // There is room for so many objects: texts are read more often than what is passed on as it came.
        let is_record = |ty: &CType| matches!(ty.target(), Some(CType::Record(_)));
        let (records, others): (Vec<_>, Vec<_>) =
            self.pool.callees.iter().partition(|(_, (ty, _))| is_record(ty));
        for (callee, (ty, calls)) in others.into_iter().chain(records) {
            // In a loop, one call is several.
            for nth in 1..=(calls + 1).min(MAX_RESULTS) {
                let result = builder.result(ty, rng);
                let callee = callee.clone();
                made.push(CallResult { callee, nth, result, errno: None, writes: Vec::new() });
            }
        }
        made
    }

    /// Beside a pointer to scalars a number often counts them: every other time it is a small one.
    fn count_elements(&self, arguments: &mut [Value], rng: &mut SplitMix) {
        let is_array = |ty: &CType| match ty {
            CType::Pointer(to) => matches!(**to, CType::Int { .. } | CType::Float(_) | CType::Pointer(_)),
            _ => false,
        };
        if !self.params.iter().any(is_array) || rng.chance(50) {
            return;
        }
        for (value, ty) in arguments.iter_mut().zip(&self.params) {
            if let (Value::Const(c), CType::Int { bits, .. }) = (&value, ty)
                && *bits >= 16
                && !c.signed().is_some_and(|n| (-1..=16).contains(&n))
            {
                *value = Value::Const(Const::bv(*bits, i128::from(rng.below(17))));
            }
        }
    }

    fn is_scalar(&self) -> bool {
        !self.params.is_empty()
            && self.params.iter().all(|t| matches!(t, CType::Bool | CType::Int { .. } | CType::Float(_)))
    }

    /// Returns simple values in all combinations, the first parameter changing fastest.
    fn grid(&self, mut index: u64) -> Vec<Value> {
        let bits = self.unit.data_model.pointer_bits();
        let values = self.params.iter().map(|ty| {
            let v = SIMPLE[(index % SIMPLE.len() as u64) as usize];
            index /= SIMPLE.len() as u64;
            let c = match ty {
                CType::Bool => Const::bv(8, v & 1),
                CType::Float(crate::ir::FloatKind::F32) => Const::f32(v as f32),
                CType::Float(crate::ir::FloatKind::F64) => Const::f64(v as f64),
                CType::Float(crate::ir::FloatKind::LongDouble) => {
                    Const::F80(crate::ir::Extended::from_signed(v))
                }
                other => Const::bv(other.sort(bits).and_then(crate::ir::Sort::bits).unwrap_or(32), v),
            };
            Value::Const(c)
        });
        values.collect()
    }

    fn argv(&self, rng: &mut SplitMix) -> Vec<Vec<u8>> {
        let mut argv = vec![b"program".to_vec()];
        for _ in 0..rng.below(4) {
            let mut text = self.pool.text(rng);
            text.retain(|b| *b != 0);
            argv.push(text);
        }
        argv
    }

    /// Changes an earlier input in a place or two.
    fn vary(&self, mut input: Input, rng: &mut SplitMix) -> Input {
        if input.stdin_plan.is_none() {
            input.stdin_plan = Some(StdinPlan::new(rng.next(), self.pool.clone()));
        }
        let mut earlier = Earlier::default();
        for _ in 0..1 + rng.below(2) {
            let places = input.arguments.len() + input.objects.len() + usize::from(!input.stdin.is_empty());
            let place = rng.below(places as u64) as usize;
            if let (Some(Value::Const(c)), Some(ty)) =
                (input.arguments.get_mut(place), self.params.get(place))
            {
                if let Some(new) = self.pool.scalar(rng, ty, &mut earlier) {
                    *c = new;
                }
            } else if let Some(i) = place.checked_sub(input.arguments.len())
                && let Some(object) = input.objects.get_mut(i)
            {
                objects::vary(object, &self.unit, &self.pool, rng);
            } else {
                input.stdin = self.vary_text(&input.stdin, rng);
            }
        }
        input
    }

    /// Replaces one word of a text, keeping the blanks.
    fn vary_text(&self, text: &[u8], rng: &mut SplitMix) -> Vec<u8> {
        let mut words: Vec<Vec<u8>> =
            text.split_inclusive(|b| b.is_ascii_whitespace()).map(<[u8]>::to_vec).collect();
        let at = rng.below(words.len() as u64) as usize;
        if let Some(word) = words.get_mut(at) {
            let end = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
            let old = String::from_utf8_lossy(&word[..end]).into_owned();
            let new = if old.contains('.') {
                format!("{}", self.pool.float(rng, &[]) as f32).into_bytes()
            } else if old.parse::<i64>().is_ok() {
                self.pool.integer(rng, 32, true, &[]).to_string().into_bytes()
            } else {
                self.pool.text(rng)
            };
            word.splice(..end, new);
        }
        words.concat()
    }
}
