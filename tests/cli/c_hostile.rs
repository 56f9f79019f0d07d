//! Degenerate and hostile C: whatever the input, an answer, no crash and no hang.

use git_invdiff::frontend::c::Rejected;
use git_invdiff::frontend::c::child;
use git_invdiff::frontend::c::parse::{Options, parse};
use git_invdiff::history::MemoryTree;
use std::path::{Path, PathBuf};

/// Parses `a.c` of the given files and returns the number of functions, or the cap's name.
fn outcome(files: &[(&str, &[u8])]) -> Result<usize, String> {
    child::set_program(PathBuf::from(env!("CARGO_BIN_EXE_git-invdiff")));
    match parse(&MemoryTree::new(files.to_vec()), Path::new("a.c"), &Options::default()) {
        Ok(unit) => {
            Ok(unit.checked.tast.top_level().iter().filter(|&&d| unit.checked.tast[d].body.is_some()).count())
        }
        Err(Rejected::Limit { name, .. }) => Err(name.to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

fn check(source: impl AsRef<[u8]>, expected: Result<usize, &str>) {
    assert_eq!(outcome(&[("a.c", source.as_ref())]), expected.map_err(str::to_owned));
}

fn body(expression: &str) -> String {
    format!("int f(int x) {{ return {expression}; }}\n")
}

#[test]
fn deep_nesting_is_refused() {
    let n = 100_000;
    check(body(&("(".repeat(n) + "1" + &")".repeat(n))), Err("nested-brackets"));
    check(body(&format!("1{}", " + 1".repeat(n))), Err("nested-operators"));
    check(body(&("-".to_string() + &" -".repeat(n) + " 1")), Err("nested-operators"));
    check(body(&format!("(1{})", ", 1".repeat(n))), Err("nested-operators"));
    check(body(&("sizeof ".repeat(n) + "x")), Err("nested-operators"));
    check(format!("void f(int x) {{ {} x = 1; }}", "if (x) ".repeat(n)), Err("nested-operators"));
    check(
        format!("void f(int x) {{ if (x) x = 1; {} }}", "else if (x) { x = 2; } ".repeat(n)),
        Err("nested-operators"),
    );
    check(format!("void f(int x) {}{}", "{ ".repeat(n), "} ".repeat(n)), Err("nested-brackets"));
    check(format!("typeof({} int {}) x;", "typeof(".repeat(n), ")".repeat(n)), Err("nested-brackets"));
    check(format!("int {}x;", "*".repeat(n)), Err("nested-operators"));
}

#[test]
fn long_but_flat_code_is_parsed() {
    let n = 20_000;
    check(format!("int t[] = {{ {} }};\nint f(void) {{ return t[0]; }}", "1, ".repeat(n)), Ok(1));
    check(format!("enum e {{ {} }};", (0..n).map(|i| format!("E{i}, ")).collect::<String>()), Ok(0));
    check(format!("void f(int x) {{ {} }}", "x = x + 1; ".repeat(n)), Ok(1));
    check(format!("void f(int x) {{ {} }}", "if (x) { x++; } else { x--; } ".repeat(n)), Ok(1));
    check(
        format!("void f(int x) {{ switch (x) {{ {} }} }}", "case __COUNTER__: x = 1; break; ".repeat(n)),
        Ok(1),
    );
    check((0..n).map(|i| format!("int f{i}(void) {{ return {i}; }}\n")).collect::<String>(), Ok(n));
}

#[test]
fn macro_explosions_are_tried_in_a_child() {
    let doubling = |n: usize| {
        let defines: String = (1..=n).map(|i| format!("#define X{i} X{} X{}\n", i - 1, i - 1)).collect();
        format!("#define X0 1,\n{defines}int t[] = {{ X{n} }};\nint f(void) {{ return t[0]; }}\n")
    };
    check(doubling(10), Ok(1));
    // A million elements: two million tokens, which is under the cap.
    check(doubling(20), Ok(1));
    check(doubling(22), Err("tokens"));
    check(doubling(60), Err("tokens"));
    let nested = "D(".repeat(60) + "1" + &")".repeat(60);
    check(format!("#define D(x) x x\nint t[] = {{ {nested} }};\n"), Err("memory"));
    check(
        format!(
            "#if {}1{}\nint x;\n#endif\nint f(void) {{ return 0; }}",
            "(".repeat(9_000),
            ")".repeat(9_000)
        ),
        Ok(1),
    );
}

#[test]
fn include_bombs_end() {
    let bomb =
        |files: &[(&str, &str)]| outcome(&files.iter().map(|(p, t)| (*p, t.as_bytes())).collect::<Vec<_>>());
    let twice = "#include \"b.h\"\n#include \"b.h\"\nint x;\n";
    assert_eq!(bomb(&[("a.c", twice), ("b.h", twice)]), Err("includes".into()));
    // Two hundred levels, where every one defines the function anew.
    assert!(
        bomb(&[(
            "a.c",
            "#include \"a.c\"
int f(void) { return 0; }
"
        )])
        .is_ok()
    );
    let guarded = "#ifndef B\n#define B\n#include \"b.h\"\n#include \"c.h\"\n#endif\n";
    let files = [("a.c", "#include \"b.h\"\nint f(void) { return 0; }"), ("b.h", guarded), ("c.h", guarded)];
    assert_eq!(bomb(&files), Ok(1));
}

#[test]
fn damaged_files_are_read_as_far_as_they_go() {
    let binary: Vec<u8> = (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert!(outcome(&[("a.c", &binary)]).is_ok());
    check(b"int f(void) { return 0; }\nint g(void) { if (".as_slice(), Ok(2));
    check(b"int f(void) { return '\xff\xfe' + \"\xc3\x28\"[0]; } /* \xff */\n".as_slice(), Ok(1));
    check(b"int f(void) { return 0; }\\\n".as_slice(), Ok(1));
    check(b"int f(void) { return 0; }\n\\".as_slice(), Ok(1));
    check(b"\xef\xbb\xbfint f(void) { return 0; }\r\n\r\n".as_slice(), Ok(1));
    check(b"/* never closed\nint f(void) { return 0; }".as_slice(), Ok(0));
    check(b"".as_slice(), Ok(0));
    check(
        b"#if 1\n#else\n#elif\n#endif\n#endif\n#include\n#define\nint f(void) { return 0; }".as_slice(),
        Ok(1),
    );
}

#[test]
fn five_megabytes_are_parsed() {
    let function = |i: usize| format!("static int f{i}(int a, int b)\n{{\n    return a * {i} + b;\n}}\n\n");
    let source: String = (0..)
        .map(function)
        .scan(0, |size, f| {
            (*size < 5 << 20).then(|| {
                *size += f.len();
                f
            })
        })
        .collect();
    let functions = source.matches("static").count();
    check(&source, Ok(functions));
}
