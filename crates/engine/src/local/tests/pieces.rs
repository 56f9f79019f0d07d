//! Memory that one version writes in other pieces than the other.

use super::check;

const HEAD: &str = "struct r { unsigned b, e; };\nint use(void *, int);\nint f(unsigned g, unsigned n)";

#[test]
fn a_structure_that_is_made_member_by_member_is_the_same() {
    // Found in masscan ec509fbc: what was zero before the members are set was told as what it is set to.
    let rest = "if (n > 3) use(&x, 1);\nx.e += n;\nreturn use(&x, 2);";
    let made = |how: &str| format!("{how}\n{rest}");
    let same = ["struct r x = { g, n };", "struct r x;\nx.b = g;\nx.e = n;"];
    for old in same {
        for new in same {
            check(HEAD, &made(old), &made(new), &[]);
        }
    }
    // That nobody reads the literal again is not seen.
    let copied = made("struct r x = (struct r){ g, n };");
    for other in same {
        check(HEAD, &copied, &made(other), &["open: a difference that has no words"]);
        check(HEAD, &made(other), &copied, &["open: a difference that has no words"]);
    }
    let other = made("struct r x = { g, n + 1 };");
    check(HEAD, &made(same[0]), &other, &[" | sets x.e to n | sets x.e to n + 1"]);
}
