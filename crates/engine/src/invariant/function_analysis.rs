//! One function while it is analysed: the values of its graph, the solvers and what they may cost, what is known
//! of each class, and what was found at the point in question. What is done with it stands in the folders beside.

use crate::invariant::candidate::observed::Quantity;
use crate::invariant::findings::PointDiff;
use crate::invariant::proof::interface::Site;
use crate::invariant::proof::interface::Summary;
use crate::invariant::proof::known::Inductive;
use crate::invariant::proof::regions::{LoopFrames, Regions};
use crate::invariant::task::{ELEMENTS, LEMMA_SHARE, Task};
use crate::ir::{Sort, TermId};
use crate::mvicfg::{ClassId, Flow, MvId};
use crate::semantics::Evaluator;
use crate::semantics::c_text::Naming;
use crate::smt;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// How often Z3 is asked about float arithmetic for one function; each question costs seconds.
const FLOAT_QUESTIONS: u32 = 1;

/// By pair of classes: which number of `__LINE__` became which, once it was asked for.
pub(super) type Moves = RefCell<BTreeMap<(ClassId, ClassId), BTreeMap<u128, u128>>>;

pub(super) struct FunctionAnalysis<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) e: Evaluator<'a>,
    pub(super) deciders: Deciders,
    pub(super) further: FurtherWork,
    /// Names of values at the exit, by class.
    pub(super) namings: Vec<Naming<'a>>,
    /// Pairs of classes whose memories differ in nothing but what cells tell.
    pub(super) settled_memory: BTreeSet<(ClassId, ClassId)>,
    /// What was found at the point in question.
    pub(super) diff: PointDiff,
    pub(super) inductive: Option<Inductive>,
    /// What candidates speak of beside the result and variables, by name.
    pub(super) quantities: BTreeMap<String, Quantity>,
    /// What proofs about elements of arrays took for granted so far.
    pub(super) elements_assumed: BTreeSet<String>,
    pub(super) classes: OfClasses,
    /// Pairs of classes, and whether they were shown to do the same.
    pub(super) coupled: BTreeMap<(ClassId, ClassId), bool>,
    /// Pairs of classes that no caller tells apart: of their locals nothing is news.
    pub(super) unseen: BTreeSet<(ClassId, ClassId)>,
    pub(super) moves: Moves,
    /// Structures lie otherwise in some class than in another: addresses of two classes are not compared, and
    /// what facts of memory have in common is what they say.
    pub(super) relaid: bool,
    /// Texts that were compared so.
    pub(super) said: BTreeSet<String>,
}

/// What decides questions, by what they are about; each with what it may cost.
pub(super) struct Deciders {
    /// Decides those about values at the points themselves.
    pub(super) points: smt::Decider,
    /// Decides the many small questions of candidates and inductions.
    pub(super) lemmas: smt::Decider,
    /// Decides those of them whose conditions are large (`relevance.rs`).
    pub(super) large: smt::Decider,
    /// Decides those about elements of arrays, which others must not keep from being asked.
    pub(super) elements: smt::Decider,
    /// Decides what is kept from call to call, once there is something to decide.
    pub(super) recursions: Option<smt::Decider>,
}

/// Work of further evaluators and solvers.
#[derive(Default)]
pub(super) struct FurtherWork {
    pub(super) nodes_visited: u64,
    pub(super) solver_queries: u64,
}

/// What was found out of classes and is kept, by class.
#[derive(Default)]
pub(super) struct OfClasses {
    /// See [`FunctionAnalysis::separated`].
    pub(super) regions: BTreeMap<ClassId, Rc<Regions>>,
    /// What its loops write.
    pub(super) loop_frames: BTreeMap<ClassId, Rc<LoopFrames>>,
    /// Places that are only read or also written, by address, bytes and sort.
    pub(super) accessed: BTreeMap<ClassId, Vec<(bool, TermId, u64, Sort)>>,
    /// See [`FunctionAnalysis::branch_terms`].
    pub(super) branch_terms: BTreeMap<ClassId, Rc<Vec<TermId>>>,
    /// See [`FunctionAnalysis::defined`].
    pub(super) defined: BTreeMap<ClassId, TermId>,
    /// Calls whose results are used.
    pub(super) sites: BTreeMap<ClassId, Rc<Vec<Site>>>,
    /// What holds of the function's own calls, once it was looked for.
    pub(super) own: BTreeMap<ClassId, Option<Arc<Summary>>>,
    /// See [`FunctionAnalysis::calls_before`].
    pub(super) call_facts: BTreeMap<(ClassId, MvId, bool, bool), TermId>,
}

impl<'a> FunctionAnalysis<'a> {
    /// Prepares the analysis of one function.
    pub(super) fn new(task: &'a Task<'a>, flow: &'a Flow) -> FunctionAnalysis<'a> {
        let limits = smt::Limits { rlimit: task.options.rlimit, pointer_bits: task.pointer_bits };
        let small = smt::Limits { rlimit: task.options.rlimit / LEMMA_SHARE, ..limits };
        let allowance = task.allowance();
        let elements = smt::Allowance::new(&Rc::default(), task.share_of(ELEMENTS));
        let lemmas = || smt::Decider::new(small, 0).sharing(allowance.clone());
        FunctionAnalysis {
            task,
            e: Evaluator::new(task.graph, flow, task.callees, task.pointer_bits),
            deciders: Deciders {
                points: smt::Decider::new(limits, FLOAT_QUESTIONS),
                lemmas: lemmas(),
                large: lemmas(),
                elements: smt::Decider::new(small, 0).sharing(elements),
                recursions: None,
            },
            further: FurtherWork::default(),
            namings: Vec::new(),
            settled_memory: BTreeSet::new(),
            diff: PointDiff::default(),
            inductive: None,
            quantities: BTreeMap::new(),
            elements_assumed: BTreeSet::new(),
            classes: OfClasses::default(),
            coupled: BTreeMap::new(),
            unseen: BTreeSet::new(),
            moves: Moves::default(),
            relaid: task.is_relaid(),
            said: BTreeSet::new(),
        }
    }
}
