//! Mutation test of the gate, on a fixed sample: what breaks a pinned fact in compiled runs is stopped or
//! left undecided, and what changes nothing is never stopped. `cargo bench --bench mutants` is the whole
//! measure.

use crate::edits;
use crate::measure;
use crate::support::tier::{has_compiler, is_whole};
use std::path::Path;

#[test]
fn a_sample_of_mutants_and_of_edits_that_change_nothing() {
    if !has_compiler() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/textbook");
    // By default half of it.
    let sample = if is_whole() { &["saturate.c", "dates.c"][..] } else { &["saturate.c"] };
    let mut files = measure::files(&folder);
    files.retain(|(name, _)| sample.contains(&name.as_str()));
    let counts = measure::measure(&files, (2, 1));
    counts.print();
    assert!(
        counts.mutants >= 10 * sample.len() && counts.edits >= 5 * sample.len(),
        "the sample says something"
    );
    assert!(counts.differ * 2 >= counts.mutants);
    assert_eq!(counts.missed, Vec::<String>::new());
    assert_eq!(counts.wrong, Vec::<String>::new());
    assert!(counts.stopped * 10 >= counts.differ * 8, "{} of {}", counts.stopped, counts.differ);
}

/// Every kind of edit that changes nothing is made, and every result is C.
#[test]
fn edits_are_made_of_tokens() {
    let text = "int f(int a, int b)\n{\n    int x = 1;\n    int y = 2;\n    for (int i = 0; i < b; i++)\n        x += a;\n    \
                if (a < b && x > y)\n        x++;\n    return x + y;\n}\n";
    let made = edits::preserving(text, &(0..text.len()), "f", &["a".into(), "x".into()]);
    let has = |part: &str| assert!(made.iter().any(|e| e.text.contains(part)), "{part}\n{made:#?}");
    has("int y = 2; int x = 1;");
    has("{ int i = 0; while (i < b) { x += a; i++; } }");
    has("b > i");
    has("x = x + (a)");
    has("if (!(!(a < b) || !(x > y)))");
    has("x += 1;");
    has("return y + x;");
    has("return handed_on(x + y);");
    has("int a_of_ours, int b");
    let mutants = edits::mutants(text, &(0..text.len()));
    assert!(mutants.iter().all(|m| m.text != text));
    assert!(mutants.iter().any(|m| m.what == "line 5: '<' became '<='"), "{mutants:#?}");
    assert!(mutants.iter().any(|m| m.text.contains("return x - y;")));
    let named: Vec<String> =
        edits::name_mutants(text, &(0..text.len())).into_iter().map(|m| m.text).collect();
    let made = |part: &str| assert!(named.iter().any(|text| text.contains(part)), "{part}\n{named:#?}");
    made("return y + y;");
    made("return x + x;");
    made("i += a;");
    let text = "int f(void) { return g(\"a\", \"\", 'b', '?', 0x0f, false); }";
    let literals: Vec<String> =
        edits::literal_mutants(text, &(0..text.len())).into_iter().map(|m| m.text).collect();
    let with = |all: &str| format!("int f(void) {{ return g({all}); }}");
    let expected = [
        with("\"\", \"\", 'b', '?', 0x0f, false"),
        with("\"a\", \"?\", 'b', '?', 0x0f, false"),
        with("\"a\", \"\", '?', '?', 0x0f, false"),
        with("\"a\", \"\", 'b', '!', 0x0f, false"),
        with("\"a\", \"\", 'b', '?', 0x10, false"),
        with("\"a\", \"\", 'b', '?', 0x0f, true"),
    ];
    assert_eq!(literals, expected);
    assert!(named.iter().all(|t| t.starts_with("int f(int a, int b)") && t.contains("int x = 1;")));
}
