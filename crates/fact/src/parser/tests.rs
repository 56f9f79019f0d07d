//! Text in, fully parenthesised text out.

use super::*;

fn show(e: &Expression) -> String {
    match &e.kind {
        Kind::Integer(i) => {
            format!("{}{}{}", i.value, if i.unsigned { "u" } else { "" }, "l".repeat(i.longs.into()))
        }
        Kind::Character(c) => format!("#{c}"),
        Kind::Float(c) => format!("{c:?}"),
        Kind::Name(n) => n.clone(),
        Kind::Text(text) => format!("{text:?}"),
        Kind::ForAll(k, e) => format!("all {k}: {}", show(e)),
        Kind::CallThrough(f, args) => format!("{}{args:?}", paren(f)),
        Kind::Result => "result".into(),
        Kind::Old(e) => format!("old{}", paren(e)),
        Kind::At(e, l) => format!("at{}@{l}", paren(e)),
        Kind::Input(k) => format!("input{k}"),
        Kind::Unary(op, e) => format!("{op:?}{}", paren(e)),
        Kind::Binary(op, a, b) => format!("({} {op:?} {})", show(a), show(b)),
        Kind::Conditional(c, a, b) => format!("({} ? {} : {})", show(c), show(a), show(b)),
        Kind::Call(f, args) => format!("{f}({})", args.iter().map(show).collect::<Vec<_>>().join(", ")),
        Kind::Index(a, i) => format!("{}[{}]", show(a), show(i)),
        Kind::Member { base, name, arrow } => {
            format!("{}{}{name}", show(base), if *arrow { "->" } else { "." })
        }
        Kind::Cast(t, e) => format!("<{}{}>{}", t.base, "*".repeat(t.pointers as usize), paren(e)),
    }
}

fn paren(e: &Expression) -> String {
    format!("({})", show(e))
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let shown = match parse(text) {
        Ok(e) => show(&e),
        Err(e) => e.to_string(),
    };
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn facts() {
    check("\\result >= 0 && n <= 10", "((result Ge 0) And (n Le 10))");
    check("\\old(p->len) + 1 == p->len", "((old(p->len) Add 1) Eq p->len)");
    check("\\at(x, loop) < \\input(2)", "(at(x)@loop Lt input2)");
    check("fabsf(\\result) == 0.5f * fabsf(a * b)", "(fabsf(result) Eq (0.5f Mul fabsf((a Mul b))))");
    check("a ==> b ==> c", "(a Implies (b Implies c))");
    check("a || b && c | d ^ e & f", "(a Or (b And (c BitOr (d BitXor (e BitAnd f)))))");
    check("a - b - c << 1", "(((a Sub b) Sub c) Shl 1)");
    check("c ? x : d ? y : z", "(c ? x : (d ? y : z))");
    check("!*p[i].q", "Not(Dereference(p[i].q))");
    check("(float)(x + 1) * 2", "(<float>((x Add 1)) Mul 2)");
    check("*(unsigned char *)s", "Dereference(<unsigned char*>(s))");
    check("(x) - 1", "(x Sub 1)");
    check("f() == NULL", "(f() Eq NULL)");
    check("a < b == c < d", "((a Lt b) Eq (c Lt d))");
}

#[test]
fn literals() {
    check("0x1F", "31");
    check("017", "15");
    check("10ul", "10ul");
    check("1e3", "1000.0");
    check(".5f", "0.5f");
    check("0x1.8p1", "3.0");
    check("'a'", "#97");
    check("'\\n'", "#10");
    check("'\\xff'", "#-1");
    check("18446744073709551615u", "18446744073709551615u");
}

#[test]
fn errors_say_what_to_write() {
    check("x = 1", "Assignment in a fact; write `==` to compare at column 3");
    check("x++", "A fact cannot change a variable at column 2");
    check("a, b", "Two expressions in a fact; write `&&` to join them at column 2");
    check("0 <= x <= 9", "Comparisons do not chain in C; write `a <= b && b <= c` at column 8");
    check("x +", "Expected an expression, found the end at column 4");
    check("(x", "Expected `)`, found the end at column 3");
    check(
        "\\size(x)",
        "Unknown word `\\size`; known are `\\result`, `\\old(e)`, `\\at(e, L)`, `\\input(k)` at column 1",
    );
    check("\\input(0)", "Expected the number of a conversion from 1 on, found `0` at column 8");
    check("09", "Malformed number `09` at column 1");
    check("99999999999999999999", "Integer too large: `99999999999999999999` at column 1");
    check("x == \"a\"", "Strings cannot be compared in a fact at column 6");
    check("x @ y", "Unexpected character @ at column 3");
    check("x \u{e9}", "Unexpected character \\u{e9} at column 3");
    check("", "Expected an expression, found the end at column 1");
}

#[test]
fn nesting_and_length_are_bounded() {
    for opening in ["(", "!", "- ", "(int)", "\\old(", "f(", "a ==> ", "a ? b : ", "a["] {
        let deep = opening.repeat(1000);
        assert!(parse(&deep).is_err_and(|e| e.message.contains("deeper")), "{opening}");
    }
    assert!(parse(&"x+".repeat(MAX_LEN)).is_err());
    let chain = |n| format!("{}x", "x + ".repeat(n));
    assert!(parse(&chain(200)).is_ok());
    assert!(parse(&chain(2000)).is_err_and(|e| e.message.contains("operators")));
}

#[test]
fn spans_cover_the_source() {
    let text = "  n <= (m + 1)";
    let Ok(e) = parse(text) else { panic!("parses") };
    assert_eq!(text.get(e.span.clone()), Some("n <= (m + 1)"));
    let Kind::Binary(_, _, right) = e.kind else { panic!("comparison") };
    assert_eq!(text.get(right.span), Some("(m + 1)"));
}

#[test]
fn states_of_resources_are_postconditions() {
    let shown = |text: &str| match parse_postcondition(text) {
        Ok(Postcondition::Holds(e)) => format!("holds {}", show(&e)),
        Ok(Postcondition::State(s)) => {
            let mut parts: Vec<String> = s.conditions.iter().map(show).collect();
            parts.push(format!("{} [{}]", show(&s.resource), s.words));
            parts.join(" / ")
        }
        Err(e) => e.to_string(),
    };
    let check = |text: &str, expected: &str| assert_eq!(shown(text), expected, "{text}");
    check("in is closed", "in [is closed]");
    check("n < 0 ==> m > 2 ==> m->lock  stays locked ", "(n Lt 0) / (m Gt 2) / m->lock [stays locked]");
    check("\\old(row->text) is freed", "old(row->text) [is freed]");
    check("is == closed", "holds (is Eq closed)");
    check("n < 0 ==> r == 1", "holds ((n Lt 0) Implies (r Eq 1))");
    check("in is closed ==> x", "Expected a word of a state, or the end, found `==>` at column 14");
    check("n + 1 is odd", "(n Add 1) [is odd]");
    check("in 7", "Expected an operator or the end, found `7` at column 4");
}
