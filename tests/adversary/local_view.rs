//! What is told of a change where it is, held against runs: no hunk is neutral that the program shows, and no
//! line says of every state what some states do.

use super::kit::Pair;
use serde_json::Value;

/// A function `f` of one number, with a hole.
fn program(text: &str, hole: &str) -> String {
    let main = "#include <stdio.h>\nint main(void) { for (int x = -2; x < 12; x++) printf(\"%d \", f(x)); return 0; }\n";
    format!("{}\n{main}", text.replace("HOLE", hole))
}

/// Places that only where control goes changes: every statement is there in both versions.
const MOVED: [(&str, &str, &str); 10] = [
    (
        "int f(int x)\n{\n  int y = 0, z = 0;\n  if (x > 3)\n  {\n    z = 1;\nHOLE  return y * 10 + z;\n}",
        "  }\n  y = 2;\n",
        "  y = 2;\n  }\n",
    ),
    (
        "int f(int x)\n{\n  int y = 0, z = 0;\n  if (x > 3)\n    z = 1;\nHOLE    y = 2;\n  return y * 10 + z;\n}",
        "  else\n",
        "",
    ),
    (
        "int f(int x)\n{\n  int z = 0;\n  for (int i = 0; i < 4; i++) {\n    z += x;\nHOLE  return z;\n}",
        "  }\n  z += 7;\n",
        "  z += 7;\n  }\n",
    ),
    (
        "int f(int x)\n{\n  int z = 0;\n  if (x > 3)\n    goto out;\nHOLE  return z;\n}",
        "  z = 2;\nout:\n  z += 1;\n",
        "out:\n  z = 2;\n  z += 1;\n",
    ),
    (
        "int f(int x)\n{\n  int z = 0;\n  switch (x) {\n  case 2:\n    z += 2;\n    break;\nHOLE    z = 9;\n  }\n  return z;\n}",
        "  default:\n",
        "  case 7:\n",
    ),
    (
        "int f(int x)\n{\n  int z = 0;\n  if (x > 3)\n  if (x > 8)\n    z = 1;\nHOLE  else\n    z = 2;\n  return z;\n}",
        "",
        "  else;\n",
    ),
    (
        "int f(int x)\n{\n  switch (x) {\nHOLE  }\n  return 0;\n}",
        "  case 1: return 1;\n  case 2: return 4;\n",
        "  case 2: return 1;\n  case 1: return 4;\n",
    ),
    (
        "int f(int x)\n{\n  switch (x) {\nHOLE  }\n  return 0;\n}",
        "  case 1:\n  case 3:\n    return 1;\n  case 2:\n    return 4;\n",
        "  case 1:\n    return 1;\n  case 3:\n  case 2:\n    return 4;\n",
    ),
    (
        "int f(int x)\n{\n  int z;\n  if (x > 3) goto one;\n  if (x > 1) goto two;\n  return 0;\nHOLE}",
        "one:\n  z = 1;\n  return z;\ntwo:\n  z = 2;\n  return z;\n",
        "two:\n  z = 1;\n  return z;\none:\n  z = 2;\n  return z;\n",
    ),
    (
        "int g(int x)\n{\n  return x + 1;\n}\nint f(int x)\n{\n  int z = 0;\n  if (x > 3)\n  {\n    z = g(x);\nHOLE  return z;\n}",
        "  }\n  z += g(2);\n",
        "  z += g(2);\n  }\n",
    ),
];

#[test]
fn no_hunk_is_neutral_that_moves_control() {
    for (text, old, new) in MOVED {
        let pair = Pair::new(&program(text, old), &program(text, new));
        let (before, after) = pair.runs(&[], "");
        assert_ne!(before, after, "{text}");
        for words in ["diff HEAD~1..HEAD --effort quick", "diff HEAD~1..HEAD"] {
            let json = pair.json(words);
            let verdicts: Vec<&str> = json["hunks"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|h| h["verdict"].as_str())
                .collect();
            assert!(
                !verdicts.is_empty() && !verdicts.contains(&"neutral"),
                "{words}: {verdicts:?}\n{text}\n{new}"
            );
        }
    }
}

/// The deltas of `f`, as `when | before | now`.
fn deltas(json: &Value) -> Vec<String> {
    let functions = json["functions"].as_array().into_iter().flatten();
    let changes = functions.flat_map(|f| f["changes"].as_array().into_iter().flatten());
    let text = |effects: &Value| {
        let all = effects.as_array().into_iter().flatten().filter_map(|e| e["text"].as_str());
        all.collect::<Vec<_>>().join("; ")
    };
    let one = |d: &Value| {
        format!(
            "{} | {} | {}",
            d["when"]["text"].as_str().unwrap_or("?"),
            text(&d["before"]),
            text(&d["now"])
        )
    };
    changes.flat_map(|c| c["deltas"].as_array().into_iter().flatten().map(one)).collect()
}

/// Of a test that leads elsewhere, its outcome is part of what is said.
#[test]
fn what_decides_is_told() {
    let told = |k: usize| {
        let (text, old, new) = MOVED[k];
        deltas(&Pair::new(&program(text, old), &program(text, new)).json("diff HEAD~1..HEAD --effort quick"))
    };
    assert_eq!(told(0), ["x <= 3 | returns z + 20 | returns 10 * y + z"]);
    // At the label that leads elsewhere every state is one.
    assert_eq!(told(7), [" | returns 1 | returns 4"]);
    // Of cases in another order nothing is told.
    let order = |cases: &str| format!("int f(int x)\n{{\n  switch (x) {{\n{cases}  }}\n  return 0;\n}}\n");
    let (one, two, rest) =
        ("  case 1:\n    return 1;\n", "  case 2:\n    return 4;\n", "  default:\n    return 7;\n");
    let pair = Pair::new(&order(&[one, two, rest].concat()), &order(&[rest, one, two].concat()));
    assert_eq!(deltas(&pair.json("diff HEAD~1..HEAD --effort quick")), [""; 0]);
}

/// A variable's name is its value at the point, not the constant that it holds behind it.
#[test]
fn constants_do_not_go_by_the_names_of_variables() {
    let (text, old, new) = MOVED[3];
    let pair = Pair::new(&program(text, old), &program(text, new));
    let told = deltas(&pair.json("diff HEAD~1..HEAD --effort quick"));
    assert!(told.iter().all(|d| !d.ends_with("returns z")), "{told:?}");
}

/// A line with several declarations goes by the first one; what becomes of the others counts for its hunk.
#[test]
fn one_line_may_hold_many_things() {
    let handled = |k: u32| {
        format!(
            "#include <signal.h>\nstatic volatile sig_atomic_t k; static void h(int s) {{ (void)s; k += {k}; }} int f(int x) {{ signal(SIGUSR1, h); raise(SIGUSR1); return k + x; }}\n"
        )
    };
    let begun = |attribute: &str| {
        format!(
            "static int n = 1; {attribute} void init(void) {{ n = 5; }} int f(int x) {{ return n + x; }}\n"
        )
    };
    for (old, new) in [(handled(1), handled(2)), (begun(""), begun("__attribute__((constructor))"))] {
        let pair = Pair::new(&program(&old, ""), &program(&new, ""));
        let (before, after) = pair.runs(&[], "");
        assert_ne!(before, after, "{new}");
        let json = pair.json("diff HEAD~1..HEAD --effort quick");
        assert_ne!(json["hunks"][0]["verdict"], "neutral", "{new}");
    }
}
