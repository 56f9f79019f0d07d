//! Pairs made from constructs: each edit of each fixture of `fixtures/adversary`, among ordinary code that a
//! seed draws, compiled and run; every claim of every command is held against the runs.
//!
//! Beside them stand pairs of generated programs of ordinary C.
//!
//! Four pairs of each construct (a dozen in the long tier) are asked the local view; of every second construct (of all
//! in the long tier) the first is asked `diff` and one other command in turn, or everything. `INVDIFF_ADVERSARY=N` tries
//! N pairs for each construct and asks each everything, `INVDIFF_ADVERSARY_FULLY=N` asks so many of a construct more
//! than the local view, `INVDIFF_ADVERSARY_ONLY=NAME` only
//! fixtures whose name contains that, `INVDIFF_ADVERSARY_FROM=N` begins at that pair, `INVDIFF_ADVERSARY_KEEP=FOLDER`
//! keeps the programs of all pairs there, and `INVDIFF_ADVERSARY_OPEN=1` names those that are told without an input or
//! left open. The table says, for each construct, how many pairs differ in runs, how many of them are shown with an
//! input, told, open or denied, how many the local view tells by itself (`quick`), and how many pairs of equal versions
//! are said to be so.

mod claims;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../support/edits.rs"]
mod edits;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../support/generate_c/mod.rs"]
mod generate_c;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../support/mutants.rs"]
mod mutants;
pub mod oracle;
pub mod template;

use crate::kit::Pair;
use crate::support::tier::{has_compiler, is_whole, rounds};
use claims::{Answer, Judged, Wrong};
use invdiff_testing::scratch;
use oracle::{Built, Care, Ran};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use template::Template;

/// Of so many constructs, the first pair of one is asked everything.
const ALL_COMMANDS: usize = 12;

#[derive(Default)]
struct Row {
    pairs: usize,
    differ: usize,
    answers: BTreeMap<Answer, usize>,
    /// Of those that differ, the ones that the local view tells by itself.
    quick: usize,
    /// Pairs that are equal by the rules of C, and those said to be.
    equal: usize,
    said_equal: usize,
    /// Of these, the ones that the local view says to be.
    quick_equal: usize,
    /// Time that the pairs took, compilers included.
    seconds: f64,
    /// What is wrong.
    wrong: Vec<String>,
}

fn templates() -> Vec<Template> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/adversary");
    let only = std::env::var("INVDIFF_ADVERSARY_ONLY").unwrap_or_default();
    let mut found: Vec<Template> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the fixtures are there").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "c") {
            continue;
        }
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.contains(&only) {
            let text = std::fs::read_to_string(&path).expect("a fixture is a text");
            found.push(Template::parse(&name, &text).unwrap_or_else(|why| panic!("{name}: {why}")));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Both versions of a program, with an assertion of this condition or without.
type Writer = Box<dyn Fn(Option<&str>) -> [template::Files; 2]>;

/// A pair before it is compiled.
struct Case {
    what: String,
    files: Writer,
    /// Nothing differs, by the rules of C.
    preserves: bool,
    /// It has an assertion that the old version keeps, by its runs.
    is_assertive: bool,
    function: &'static str,
    inputs: Vec<String>,
    asked: Asked,
}

/// The commands that are asked in turn.
const CHECK: usize = 0;
const CONDITION: usize = 1;
const BLAME: usize = 2;

/// Which commands a pair is asked, beside `diff`.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    Everything,
    CheckConditionBlame,
    /// One of these, in turn.
    One(usize),
    /// Nothing, and the local view in place of `diff`.
    Little,
}

impl Asked {
    /// What the `k`-th pair of the construct at a place is asked.
    fn of(place: usize, k: usize) -> Asked {
        let is_long = std::env::var_os("INVDIFF_ADVERSARY").is_some();
        let fully = rounds("INVDIFF_ADVERSARY_FULLY", 1, 3);
        match (place + k).is_multiple_of(ALL_COMMANDS) {
            _ if is_long => Asked::Everything,
            _ if k >= fully || !is_whole() && !place.is_multiple_of(4) => Asked::Little,
            true => Asked::Everything,
            _ if is_whole() => Asked::CheckConditionBlame,
            _ => Asked::One((place / 4 + k) % 3),
        }
    }

    /// Whether the `n`-th of `check`, `condition` and `blame` is asked.
    fn is_asked(self, n: usize) -> bool {
        match self {
            Asked::Everything | Asked::CheckConditionBlame => true,
            Asked::One(k) => n == k,
            Asked::Little => false,
        }
    }
}

impl Case {
    /// The `k`-th pair of a construct, which is the `place`-th.
    fn of(template: &Arc<Template>, place: usize, k: usize) -> Case {
        // Of few pairs each construct has another edit.
        let edit = template.edits[(place + k) % template.edits.len()];
        let seed = (k / template.edits.len()) as u64;
        let own = template.clone();
        let asked = Asked::of(place, k);
        // The local view says nothing of an assertion.
        let is_assertive = k % 2 == 1 && asked != Asked::Little;
        Case {
            what: format!("{} {k} {edit:?}", template.name),
            files: Box::new(move |asserted| own.pair(edit, seed, asserted)),
            preserves: edit.preserves,
            is_assertive: is_assertive && template.has_assertion(),
            function: "work",
            inputs: oracle::inputs(),
            asked,
        }
    }

    /// The `k`-th pair of generated programs of ordinary C: every second one differs in what changes nothing.
    fn generated(k: usize) -> Case {
        let mut random = mutants::Random((k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 11);
        let old = generate_c::program(k as u64 / 2).source;
        let preserves = k.is_multiple_of(2);
        let new = match preserves {
            true => preserved(&old, &mut random),
            false => mutants::mutant(&old, &mut random),
        };
        let file = |text: &String| vec![("a.c".to_owned(), text.clone())];
        let files = [file(&old), file(&new)];
        Case {
            what: format!("generated {k}"),
            files: Box::new(move |_| files.clone()),
            preserves,
            is_assertive: false,
            function: "main",
            inputs: oracle::long_inputs(),
            asked: Asked::of(ALL_COMMANDS - 1, k),
        }
    }
}

/// One edit after which a function does the same; of the last function before `main`.
fn preserved(text: &str, random: &mut mutants::Random) -> String {
    let end = text.find("int main").unwrap_or(text.len());
    let begin = text[..end].rfind(" f2(").and_then(|at| text[..at].rfind('\n')).map_or(0, |at| at + 1);
    let locals: Vec<String> =
        ["v0", "v1", "v2", "i0", "i1", "p0", "p1", "a", "b", "x", "n"].map(String::from).to_vec();
    let edits = edits::preserving(text, &(begin..end), "f2", &locals);
    match edits.len() {
        0 => text.to_owned(),
        n => edits[random.below(n)].text.clone(),
    }
}

/// Versions of one construct as compiled, by their texts: edits of one seed share what stands before.
type Known = HashMap<(template::Files, Care), Rc<Built>>;

/// Both versions, compiled and run; `None`: one does not compile.
fn built(case: &Case, files: &[template::Files; 2], care: Care, known: &mut Known) -> Option<[Rc<Built>; 2]> {
    let mut of = |k: usize| {
        let key = (files[k].clone(), care);
        if let Some(built) = known.get(&key) {
            return Some(built.clone());
        }
        match Built::of(&files[k], &case.inputs, care) {
            Ok(built) => Some(known.entry(key).or_insert(Rc::new(built)).clone()),
            // A mutant need not be C.
            Err(_) if case.function == "main" => None,
            Err(why) => panic!("{}: {why}\n{files:#?}", case.what),
        }
    };
    Some([of(0)?, of(1)?])
}

/// Judges a pair, what is asked little by runs that cost little; what those refute is judged again by others.
fn judge(case: &Case, known: &mut Known, row: &mut Row) {
    let begun = Instant::now();
    let care = if case.asked == Asked::Little { Care::Trapped } else { Care::Sanitized };
    let mut found = judged(case, care, known);
    if care == Care::Trapped && found.as_ref().is_some_and(|f| f.is_suspect(case)) {
        found = judged(case, Care::Sanitized, known);
    }
    let Some(Found { files, answer, quick, wrong, differs }) = found else { return };
    assert!(!(differs && case.preserves), "{} is no preserving edit\n{files:#?}", case.what);
    row.seconds += begun.elapsed().as_secs_f64();
    keep(case, &files).expect("pairs are kept");
    row.quick += usize::from(differs && matches!(quick, Answer::Shown | Answer::Told));
    row.quick_equal += usize::from(case.preserves && quick == Answer::Same);
    note(row, case, differs, answer, wrong, &format!("{}\n{}", case.what, change(&files)));
}

/// What was found of a pair.
struct Found {
    files: [template::Files; 2],
    answer: Answer,
    quick: Answer,
    wrong: Vec<Wrong>,
    differs: bool,
}

impl Found {
    fn is_suspect(&self, case: &Case) -> bool {
        !self.wrong.is_empty() || self.differs && case.preserves
    }
}

/// Runs both versions and asks the commands; `None`: a version does not compile.
fn judged(case: &Case, care: Care, known: &mut Known) -> Option<Found> {
    let folder = scratch();
    let mut files = (case.files)(None);
    let mut both = built(case, &files, care, known)?;
    let results = both[0].runs.iter().filter_map(|r| r.stdout.trim().parse::<i64>().ok());
    let bound = results.max().filter(|_| case.function == "work");
    let asserted = bound.filter(|_| case.is_assertive).and_then(|_| promise(&case.inputs, &both));
    if asserted.is_some() {
        files = (case.files)(asserted.as_deref());
        both = built(case, &files, care, known)?;
    }
    let runs = case.inputs.iter().zip(both[0].runs.iter().zip(&both[1].runs));
    let defined = runs.filter(|(_, (old, new))| old.is_defined() && new.is_defined());
    let runs: Vec<(String, Ran, Ran)> =
        defined.map(|(i, (old, new))| (i.clone(), old.clone(), new.clone())).collect();
    let borrow =
        |k: usize| -> Vec<(&str, &str)> { files[k].iter().map(|(p, t)| (p.as_str(), t.as_str())).collect() };
    let pair = Pair::of(&borrow(0), &borrow(1));
    let judged = Judged {
        pair: &pair,
        files: &files,
        runs: &runs,
        built: [&both[0], &both[1]],
        folder: folder.path(),
        function: case.function,
        bound,
        asserted,
    };
    let mut wrong = Vec::new();
    let quick = judged.quick(&mut wrong);
    let answer = if case.asked == Asked::Little { quick } else { judged.diff(&mut wrong) };
    if case.asked.is_asked(CHECK) {
        judged.check(&mut wrong);
    }
    if case.asked.is_asked(CONDITION) {
        judged.condition(&mut wrong);
    }
    if case.asked.is_asked(BLAME) {
        judged.blame(&mut wrong);
    }
    if case.asked == Asked::Everything {
        judged.bisect(&mut wrong);
        judged.asserted(&mut wrong);
        judged.witnesses(&mut wrong);
    }
    let differs = judged.differs();
    Some(Found { answer, quick, wrong, differs, files })
}

/// What the old version keeps on all inputs, since it speaks of one: that it gives what it gives. Where a run
/// tells the versions apart, the new one breaks it.
fn promise(inputs: &[String], both: &[Rc<Built>; 2]) -> Option<String> {
    let runs = inputs.iter().zip(both[0].runs.iter().zip(&both[1].runs));
    let of = |(input, (old, _)): (&String, (&Ran, &Ran))| {
        let (a, b) = input.trim().split_once(' ')?;
        let r: i64 = old.stdout.trim().parse().ok()?;
        Some(format!("a != {a} || b != {b} || r == {r}"))
    };
    let told = |(_, (old, new)): &(&String, (&Ran, &Ran))| old.is_defined() && new.is_defined() && old != new;
    runs.clone().filter(told).find_map(of).or_else(|| runs.clone().find_map(of))
}

fn note(row: &mut Row, case: &Case, differs: bool, answer: Answer, wrong: Vec<Wrong>, what: &str) {
    row.pairs += 1;
    if differs {
        row.differ += 1;
        *row.answers.entry(answer).or_default() += 1;
    }
    if case.preserves {
        row.equal += 1;
        row.said_equal += usize::from(answer == Answer::Same);
    }
    let is_listed = (differs || case.preserves) && matches!(answer, Answer::Open | Answer::Told);
    if is_listed && std::env::var_os("INVDIFF_ADVERSARY_OPEN").is_some() {
        println!("{answer:?} (differs: {differs}): {what}");
    }
    for w in wrong {
        let told = format!("{what}    {}: {}", w.command, w.what);
        // At once: a long run is worth reading before its end.
        println!("wrong: {told}");
        row.wrong.push(told);
    }
}

/// Writes both versions to `$INVDIFF_ADVERSARY_KEEP/CONSTRUCT-K/{old,new}`, to look at by hand.
fn keep(case: &Case, files: &[template::Files; 2]) -> std::io::Result<()> {
    let Some(folder) = std::env::var_os("INVDIFF_ADVERSARY_KEEP") else { return Ok(()) };
    let name = case.what.split(' ').take(2).collect::<Vec<_>>().join("-");
    for (version, files) in ["old", "new"].into_iter().zip(files) {
        for (path, text) in files {
            let path = Path::new(&folder).join(&name).join(version).join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            std::fs::write(path, text)?;
        }
    }
    Ok(())
}

/// The lines that an edit takes away and brings.
fn change(files: &[template::Files; 2]) -> String {
    let mut text = String::new();
    for (mark, one, other) in [("-", &files[0], &files[1]), ("+", &files[1], &files[0])] {
        let others: Vec<&str> = other.iter().flat_map(|(_, t)| t.lines()).collect();
        for line in one.iter().flat_map(|(_, t)| t.lines()).filter(|l| !others.contains(l)) {
            text.push_str(&format!("    {mark} {line}\n"));
        }
    }
    text
}

/// A run that is served ends as one of its own process does.
#[test]
fn the_server_of_runs_changes_nothing() {
    if !has_compiler() {
        return;
    }
    // Every construct in the long tier.
    let step = rounds("INVDIFF_SERVED_STEP", 19, 1).max(1);
    let (inputs, mut seen) = (oracle::inputs(), 0);
    for template in templates().iter().step_by(step) {
        let [files, _] = template.pair(template.edits[0], 0, None);
        let built = Built::of(&files, &inputs, Care::Sanitized)
            .unwrap_or_else(|why| panic!("{}: {why}", template.name));
        for (input, served) in inputs.iter().zip(&built.runs) {
            let alone = built.run(input);
            assert!(alone == *served, "{} on {input:?}: {served:?}, alone {alone:?}", template.name);
            assert_eq!(alone.failed, served.failed, "{} on {input:?}", template.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn no_claim_is_refuted_by_a_run() {
    if !has_compiler() {
        return;
    }
    let templates: Vec<Arc<Template>> = templates().into_iter().map(Arc::new).collect();
    let (each, from) = (rounds("INVDIFF_ADVERSARY", 0, 13), rounds("INVDIFF_ADVERSARY_FROM", 0, 0));
    // By default one pair of a construct.
    let each = each.max(1);
    let mut names: Vec<String> = templates.iter().map(|t| t.name.clone()).collect();
    if "generated".contains(&std::env::var("INVDIFF_ADVERSARY_ONLY").unwrap_or_default()) {
        names.push("generated".into());
    }
    let rows: Vec<Mutex<Row>> = names.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let t = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(t) else { break };
            let (mut known, mut found) = (Known::new(), Row::default());
            for k in from..from + each {
                let case = templates.get(t).map_or_else(|| Case::generated(k), |own| Case::of(own, t, k));
                judge(&case, &mut known, &mut found);
            }
            if let Ok(mut row) = row.lock() {
                *row = found;
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    report(&names, rows);
}

/// Prints the table and asserts what has to hold of all.
fn report(names: &[String], rows: Vec<Mutex<Row>>) {
    let mut sum = Row::default();
    println!(
        "{:24} pairs differ shown  told  open  same quick | equal  said quick | wrong  seconds",
        "construct"
    );
    let line = |name: &str, row: &Row| {
        let of = |a| row.answers.get(&a).copied().unwrap_or(0);
        println!(
            "{name:24} {:5} {:6} {:5} {:5} {:5} {:5} {:5} | {:5} {:5} {:5} | {:5} {:8.1}",
            row.pairs,
            row.differ,
            of(Answer::Shown),
            of(Answer::Told),
            of(Answer::Open),
            of(Answer::Same),
            row.quick,
            row.equal,
            row.said_equal,
            row.quick_equal,
            row.wrong.len(),
            row.seconds
        );
    };
    for (name, row) in names.iter().zip(rows) {
        let row = row.into_inner().expect("no worker died");
        line(name, &row);
        sum.pairs += row.pairs;
        sum.differ += row.differ;
        row.answers.iter().for_each(|(a, n)| *sum.answers.entry(*a).or_default() += n);
        sum.quick += row.quick;
        sum.quick_equal += row.quick_equal;
        sum.equal += row.equal;
        sum.seconds += row.seconds;
        sum.said_equal += row.said_equal;
        sum.wrong.extend(row.wrong);
    }
    line("all", &sum);
    assert!(sum.wrong.is_empty(), "{} wrong claims:\n{}", sum.wrong.len(), sum.wrong.join("\n"));
}
