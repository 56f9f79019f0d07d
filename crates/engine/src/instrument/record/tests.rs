//! What a copy that records calls looks like, and which functions and variables are left out of it.

use super::*;
use crate::history::MemoryTree;
use crate::infer::Variable;

const INT: Kind = Kind::Integer { bits: 32, signed: true };

fn input(name: &str, kind: Kind, is_global: bool) -> Traced {
    Traced { variable: Variable { name: name.to_owned(), kind }, is_global }
}

/// Makes the copy of a file that records calls of `f`.
fn recording(source: &str, inputs: &[Traced]) -> Recording {
    let tree = MemoryTree::new([("a.c", source)]);
    let wanted = [ToRecord { function: "f".to_owned(), inputs: inputs.to_vec() }];
    let trace = Trace { path: b"/t\"?", number: 7 };
    record(&tree, (Path::new("a.c"), "a.c"), &c::Options::default(), &wanted, trace).unwrap()
}

/// What a copy puts behind the brace of `f`, and the variables that it records.
#[track_caller]
fn check(source: &str, inputs: &[Traced], call: &str) {
    let made = recording(source, inputs);
    let text = String::from_utf8(made.text.expect("a copy")).unwrap();
    let (prelude, rest) = text.split_once("#line 1\n").expect("lines go on");
    assert!(prelude.contains("invdiff_trace_7[] = \"/t\\042\\077\";"), "{prelude}");
    let declared =
        format!(" invdiff_u8_7 invdiff_entered_7_0 __attribute__((__unused__)) = invdiff_enter_7_0({call});");
    assert_eq!(rest.replacen(&declared, "", 1), source);
    assert!(rest.contains(&declared), "{rest}");
}

#[track_caller]
fn refuse(source: &str, why: &str) {
    let made = recording(source, &[input("x", INT, false)]);
    assert_eq!(made.left_out, [("f".to_owned(), why)]);
    assert!(made.text.is_none());
}

#[test]
fn a_call_is_recorded_on_the_line_of_the_brace() {
    let x = input("x", INT, false);
    let word = "(invdiff_u64_7)(invdiff_s32_7)(x)";
    check("int f(int x) { return x; }\n", std::slice::from_ref(&x), word);
    check("int f(x)\nint x;\n{\n\treturn x; }\n", std::slice::from_ref(&x), word);
    let byte = input("c", Kind::Integer { bits: 8, signed: false }, false);
    check("int f(unsigned char c) { return c; }\n", &[byte], "(invdiff_u64_7)(invdiff_u8_7)(c)");
    check("int f(void) { return 1; }\n", &[], "");
    let p = input("p", Kind::Pointer, false);
    check("int f(char *p) { return !p; }\n", std::slice::from_ref(&p), "p");
    check("int f(int (*p)(void)) { return !p; }\n", &[p], "(invdiff_u64_7)((p) != 0)");
}

#[test]
fn what_may_mean_something_else_is_not_recorded() {
    let (x, g) = (input("x", INT, false), input("g", INT, true));
    let (word, both) = (
        "(invdiff_u64_7)(invdiff_s32_7)(x)",
        "(invdiff_u64_7)(invdiff_s32_7)(x), (invdiff_u64_7)(invdiff_s32_7)(g)",
    );
    let given = [x, g];
    check("static int g;\nint f(int x) { return x + g; }\n", &given, both);
    check("#ifdef A\n#else\nint g;\nint f(int x) { return x + g; }\n#endif\n", &given, both);
    // It is there in one configuration alone, or elsewhere, or a macro.
    check("#ifndef A\nint g;\n#endif\nint f(int x) { return x + g; }\n", &given, word);
    check("extern int g;\nint f(int x) { return x + g; }\n", &given, word);
    check("int g;\n#define g 4\nint f(int x) { return x + g; }\n", &given, word);
    check("#define ARGS int x\nint g;\nint f(ARGS) { return x + g; }\n", &given, &both[word.len() + 2..]);
}

#[test]
fn what_may_not_compile_is_left_out() {
    refuse("#ifdef A\nint f(long x)\n#else\nint f(int x)\n#endif\n{ return x; }\n", HEAD);
    refuse("int f(int x)\n#ifdef A\n#endif\n{ return x; }\n", HEAD);
    refuse(
        "inline int f(int x) { return x; }\n",
        "it is an inline definition of a function that other files have, too",
    );
    refuse("int f(int x) { __label__ out; goto out; out: return x; }\n", "its body begins with labels");
    refuse("#define B {\nint f(int x) B return x; }\n", "a macro brings its braces");
    refuse("int g(int x) { return x; }\n", "it is not defined in the file itself");
    refuse(
        "int invdiff_x; int f(int x) { return x; }\n",
        "the file has names that begin with invdiff_, as those of copies do",
    );
}

const HEAD: &str = "its head is compiled in several ways";

#[test]
fn conditionals_are_known_by_their_branches() {
    let text = b"a\n#if 1\nb\n/*\n#else\n*/\n#elif 2\nc\n# endif\nd\n";
    let branches = Branches::of(text);
    let at = |c: u8| branches.at(text.iter().position(|b| *b == c).unwrap()).to_vec();
    assert_eq!((at(b'a'), at(b'b'), at(b'c'), at(b'd')), (vec![], vec![1], vec![2], vec![]));
}
