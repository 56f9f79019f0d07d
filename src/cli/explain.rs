//! `git invdiff explain`: what a template of facts, a kind of finding or a word of the output means, with a small
//! example.

use super::{CliError, Context, ExitCode};
use crate::config::nearest;
use crate::report::finding::RULES;
use crate::report::palette::Slot;
use clap::Args;
use std::io::Write;

/// What a template, a kind of finding or a word of the output means
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Examples:\n  \
    git invdiff explain                all names\n  \
    git invdiff explain congruence     a template of facts\n  \
    git invdiff explain property/null  a kind of finding\n  \
    git invdiff explain else           a word of the output")]
pub struct ExplainArgs {
    /// Name of a template or of a kind of finding, or a word of the output; none: all of them
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Name, meaning, example.
type Entry = (&'static str, &'static str, &'static str);

/// The templates of facts, in the order of [`crate::config::TEMPLATES`].
const TEMPLATES: [Entry; 10] = [
    (
        "constant",
        "A variable, a result or a place of memory has one value.",
        "int f(void) { return 2; }\n\n\\result == 2",
    ),
    (
        "range",
        "A value lies between two constants.",
        "int f(int x) { return x & 7; }\n\n0 <= \\result && \\result <= 7",
    ),
    (
        "set",
        "A value is one of a few.",
        "int sign(int x) { return (x > 0) - (x < 0); }\n\n\\result == -1 || \\result == 0 || \\result == 1",
    ),
    (
        "comparison",
        "Two values are in an order.",
        "int max(int a, int b) { return a > b ? a : b; }\n\n\\result >= a && \\result >= b",
    ),
    (
        "linear",
        "A sum of multiples of values is constant.",
        "while (n > 0) { n--; i++; }\n\ni + n == \\old(n)    (at the loop)",
    ),
    (
        "congruence",
        "A value has one remainder.",
        "for (i = 0; i < n; i += 4) ...\n\ni % 4 == 0    (at the loop)",
    ),
    (
        "non-null",
        "A pointer is not null.",
        "char *f(char *p) { if (!p) abort(); return p; }\n\n\\result != NULL",
    ),
    (
        "functional",
        "A value is an expression over the inputs.",
        "int f(int x) { return 2 * x; }\n\n\\result == 2 * x",
    ),
    (
        "event",
        "Something happens under a condition: a call, an end of the run, something undefined.",
        "if (n < 0) abort();\n\nn < 0 ==> abort()",
    ),
    (
        "typestate",
        "A resource is in a state: open, closed, allocated, freed, locked, or one of a protocol in .invdiff.yaml.",
        "FILE *s = fopen(name, \"r\"); ... fclose(s);\n\ns is closed",
    ),
];

/// Words of the output that are no facts.
const WORDS: [Entry; 42] = [
    (
        "change",
        "What two versions do otherwise from a point that they share, whatever the state there.",
        "- return p->n;\n+ if (!p) return -1;\n+ return p->n;\n\n\
         when    p == NULL\nbefore  undefined: p is NULL\nnow     returns -1\nelse    as before  proved",
    ),
    (
        "when",
        "In every state at the point in which the condition holds the versions do what follows; without it, in all. A long condition is told by the tests that the change made: '… (2 more)' stands for the others, and -v tells all.",
        "- for (i = 0; i < n; i++)\n+ for (i = 0; i <= n; i++)\n\nwhen    i == n",
    ),
    (
        "where",
        "The tests that lead to the line, as the newer source has them. They were true when they were made: what they test may have changed since.",
        "if (n > 100) {\n-    log(n);\n+    return -1;\n}\n\nwhere   n > 100 (line 4)\nbefore  calls log(n)\nnow     returns -1",
    ),
    (
        "before",
        "What the older version does under the condition, as far as the newer one does not do the same.",
        "- if (x < 0) return -1;\n+ if (x < 0) return -2;\n\nbefore  returns -1",
    ),
    (
        "now",
        "What the newer version does in its place, or beside all that the older one does.",
        "- if (x < 0) return -1;\n+ if (x < 0) { free(b); return -1; }\n\nnow     calls free(b)",
    ),
    (
        "else",
        "What is known of all other states: both do the same, where the older version does nothing undefined; or nothing. 'but for what the calls do': if calls of one version alone leave memory as it is, and one that took the place of another gives the same.",
        "else    as before  proved\nelse    as before, but for what the calls do\nelse    not known",
    ),
    (
        "and",
        "What is left out because no caller here gives such inputs: the function is static, all its calls are known, and the condition is false for what each passes. -v tells it, last.",
        "static int f(char *p);  f(\"a\");  f(\"b\");\n+ if (!p) return -1;\n\nand     1 difference for inputs that no caller here gives; -v tells it",
    ),
    (
        "again",
        "Where else in the function the same is to be said; 'the same' in a row stands for a long text that the region before has there, too. -v writes all of it.",
        "when    parser->depth > MAX_DEPTH  at line 680\nnow     returns 0\nagain   at line 691; at line 702",
    ),
    (
        "calls",
        "A call of a function that both versions treat as unknown: only which, with what, and in which order is compared.",
        "- log(n);\n+ log(n + 1);\n\nbefore  calls log(n)\nnow     calls log(n + 1)",
    ),
    (
        "sets",
        "Writes to a variable or place that is read later; what nobody reads any more is not told.",
        "- s->n = 1;\n+ s->n = 2;\n\nbefore  sets s->n to 1\nnow     sets s->n to 2",
    ),
    (
        "returns",
        "The function ends there with this value; behind a name or a call stands the line of which it is.",
        "- return 0;\n+ return r;\n\nbefore  returns 0\nnow     returns r (line 18)",
    ),
    (
        "ends in",
        "The path ends in a call that does not return.",
        "+ if (!p) die(\"no memory\");\n\nwhen    p == NULL\nnow     ends in die(\"no memory\")",
    ),
    (
        "undefined",
        "C does not say what happens: a null pointer is followed, a division by zero, an overflow of a signed sum.",
        "+ if (!p) return -1;\n  return p->n;\n\nwhen    p == NULL\nbefore  undefined: p is NULL\nnow     returns -1",
    ),
    (
        "renamed",
        "A function, or an object, has another name. Who calls a function by its new name is not told as changed.",
        "src/area.c  renamed: width() from w()",
    ),
    (
        "split from",
        "A new function does what another one did, which calls it now. What changes in that is told of the new one.",
        "- int f(struct t *t) { … }\n+ static int g(struct t *t, int depth) { if (depth > 9) return -1; … }\n+ int f(struct t *t) { return g(t, 0); }\n\na.c  f()\n  now     calls g(), split from it\na.c  g()  split from a.c:f\n  when    depth > 9\n  now     returns -1",
    ),
    (
        "leaves",
        "A variable is left as it is, where the other version gives it a value; or without any: it has no initialiser there.",
        "- int n = 0;\n+ int n;\n\nbefore  sets n to 0\nnow     leaves n without a value",
    ),
    (
        "reads",
        "A volatile object is read, which others see; what is read there may be any value.",
        "now     reads r->status",
    ),
    (
        "goes on at",
        "Control goes to this line next, where the other version goes elsewhere.",
        "now     goes on at line 30",
    ),
    (
        "tests",
        "What decides what comes next is another test: where the older version's holds, it does what the newer one does where its own holds.",
        "- if (!parse(s, &n)) return -1;\n+ if (scan(s, &n) != 0) return -1;\n\nbefore  tests parse(s, &n) == 0\nnow     tests scan(s, &n) != 0",
    ),
    (
        "next round",
        "Control goes back to the test of the loop around it, as by `continue`.",
        "- continue;\n+ break;\n\nbefore  next round\nnow     leaves the loop",
    ),
    (
        "leaves the loop",
        "Control goes to what stands behind the loop around it, as by `break`.",
        "- continue;\n+ break;\n\nbefore  next round\nnow     leaves the loop",
    ),
    (
        "enters the loop",
        "The test of a loop, where control comes to it from before, holds: its body runs at least once.",
        "- while (n > 1)\n+ while (n > 0)\n\nwhen    n == 1\nbefore  skips the loop\nnow     enters the loop",
    ),
    (
        "comes to the loop",
        "Control comes to the test of a loop; whether its body runs is left to that.",
        "- if (n == 1)\n-     return 0;\n  while (next(n))\n\nwhen    n == 1\nbefore  returns 0\nnow     comes to the loop",
    ),
    (
        "skips the loop",
        "The test of a loop, where control comes to it from before, does not hold: its body does not run.",
        "- while (n > 1)\n+ while (n > 0)\n\nwhen    n == 1\nbefore  skips the loop\nnow     enters the loop",
    ),
    (
        "compiled",
        "The preprocessor lets the lines in under the macros that `when` names; `left out`: it does not. Their own text stays.",
        "- #ifdef A\n+ #if defined(A) || defined(B)\n  line();\n  #endif\n\nwhen    B && !A\nbefore  left out\nnow     compiled",
    ),
    (
        "left out",
        "The preprocessor does not let the lines in under the macros that `when` names.",
        "- #ifdef A\n+ #if defined(A) || defined(B)\n  line();\n  #endif\n\nwhen    B && !A\nbefore  left out\nnow     compiled",
    ),
    (
        "runs the loop",
        "A loop that this version alone has is entered: its first test holds. It is told like a call: what it leaves is not looked at, but by which way it is left is.",
        "+ while (p->next) p = next(p);\n\nwhen    p->next != NULL\nnow     runs the loop of line 7, which calls next()\nelse    as before, but for what the calls do",
    ),
    (
        "runs before main",
        "Nobody has to call the function: `__attribute__((constructor))`. `runs after main() and in exit()`: a destructor.",
        "- void init(void)\n+ __attribute__((constructor)) void init(void)\n\nbefore  runs only when it is called\nnow     runs before main()",
    ),
    (
        "coming from",
        "Control comes to the line in several ways, and what is told is told of this one.",
        "at line 12, coming from line 9",
    ),
    (
        "behind the loop",
        "Control comes to the line when the test of a loop before it does not hold any more.",
        "where   behind the loop of line 12\nnow     calls done()",
    ),
    (
        "not all files that include it were looked at",
        "A header that very many files include changed, and those that were looked at tell nothing of it. `--effort deep` looks at all.",
        "lib.h  @@ -3 +3 @@  not all files that include it were looked at",
    ),
    (
        "restores",
        "Writes to a place what was there before a call that may have changed it.",
        "now     calls update(p); restores p->len",
    ),
    (
        "object",
        "A variable with static storage whose definition differs: what it begins with, member by member and element by element, its type, its linkage, its name.",
        "-static int limit = 10;\n+static int limit = 12;\n\nlimit\nbefore  starts as 10\nnow     starts as 12\nread by push()",
    ),
    (
        "the tree no longer says what",
        "The name was declared or defined before, by what the version's files include, and is not now (`did not say`: the reverse). What stands beside it rests on a guess, and no input is shown: no compiler takes that version.",
        "- #define LIMIT 3\n\nbefore  returns n < 3\nnow     returns n < LIMIT\nalso    the tree no longer says what LIMIT is",
    ),
    (
        "taken for 0",
        "The run rests on names of which the version's files do not say what they are: each is 0 in it, unless the input says otherwise.",
        "+ return LIMIT;\n\nfor example n = 1, LIMIT taken for 0    1 -> 0   replayed",
    ),
    (
        "read by",
        "The functions that name an object whose definition differs, among those that were looked at.",
        "static int limit = 12;\nint push(int n) { return n < limit; }\n\nread by push()",
    ),
    (
        "held",
        "The fact is proved in each of the versions that are named, and a defined run of each comes to the point. `--held-by 1-3` asks for those of some versions.",
        "held by all 3 versions\nheld by versions 1-3 5\n  a.c  clamp()  at exit, line 6  \\result >= 0  proved",
    ),
    (
        "held since",
        "The versions from this one on hold the fact, and a run of the one before breaks it. `not known before`: it was not proved there, and no known run breaks it.",
        "held since version 2 (22cf117)",
    ),
    (
        "lost",
        "The version before holds the fact, and a run of this one breaks it on an input on which that one keeps it. `not known`: there is no such run, and no proof.",
        "held by versions 1-3, lost in 4 (b3d64f8)",
    ),
    (
        "mended",
        "The fact held, a later version broke it, and from this one on it holds again.",
        "broken in version 2 (22cf117), mended in 4 (b3d64f8)",
    ),
    (
        "not reached",
        "No defined run of the version is known that comes to the point. There everything would hold, so nothing is claimed.",
        "held by versions 1 2, not reached in 3 (b3d64f8)",
    ),
    (
        "effort",
        "How much is asked: what changes where the text does (quick), at exits of small functions and of what that leaves open, too (normal), everything (deep).",
        "git invdiff --effort quick HEAD~1..HEAD\ngit config invdiff.effort quick",
    ),
];

pub fn run(args: ExplainArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let palette = context.output.palette().clone();
    let rules = RULES.iter().map(|r| (r.id, r.text, r.example));
    let all: Vec<Entry> = TEMPLATES.into_iter().chain(rules).chain(WORDS).collect();
    let Some(name) = &args.name else {
        let width = all.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
        let words = all.len() - WORDS.len();
        for (heading, entries) in [
            ("templates of facts", &all[..TEMPLATES.len()]),
            ("findings", &all[TEMPLATES.len()..words]),
            ("words of the output", &all[words..]),
        ] {
            writeln!(context.output, "{}", palette.paint(Slot::Heading, heading))?;
            for (name, text, _) in entries {
                writeln!(context.output, "  {name:<width$}  {text}")?;
            }
        }
        return Ok(ExitCode::Done);
    };
    // The last part of a finding's name is enough.
    let is_it = |entry: &&Entry| entry.0 == name || entry.0.rsplit('/').next() == Some(name);
    let Some((name, text, example)) = all.iter().find(is_it) else {
        let error = CliError::usage(format!("there is nothing that is called '{name}'"));
        return Err(match nearest(name, all.iter().map(|(name, ..)| *name)) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error.hint("'git invdiff explain' lists the names"),
        });
    };
    writeln!(context.output, "{}\n{text}\n", palette.paint(Slot::Heading, *name))?;
    for line in example.lines() {
        let painted = match line.chars().next() {
            Some('-') => palette.paint(Slot::Removed, line).to_string(),
            Some('+') => palette.paint(Slot::Added, line).to_string(),
            _ => line.to_owned(),
        };
        writeln!(context.output, "{}", format!("    {painted}").trim_end())?;
    }
    Ok(ExitCode::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_and_rule_is_explained_once() {
        assert_eq!(TEMPLATES.map(|(name, ..)| name), crate::config::TEMPLATES);
        let mut ids = RULES.map(|r| r.id).to_vec();
        ids.dedup();
        assert!(ids.is_sorted() && ids.len() == RULES.len());
        assert!(RULES.iter().all(|r| !r.example.is_empty() && r.text.ends_with('.')));
    }
}
