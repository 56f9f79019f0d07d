//! Structures whose layout differs between versions, narrowed types, sizes, line numbers, objects that
//! nobody writes.

use super::kit::Pair;

/// A type of one version's unit is not looked up in the other's, which numbers its structures otherwise.
#[test]
fn structures_that_only_one_version_has_cost_no_answer() {
    let list = "struct s { int a; int b; struct s *next; };\n";
    let more = "struct q1 { int a; }; struct q2 { struct q1 x; }; struct q3 { int r; };\n";
    let sum = |by: &str| {
        format!("void f(struct s *p, int n) {{ while (p && n-- > 0) {{ p->b += {by}; p = p->next; }} }}\n")
    };
    let old = format!("{list}{}", sum("p->a"));
    let new = format!("{more}{list}{}", sum("p->a + 1"));
    for (old, new) in [(&old, &new), (&new, &old)] {
        let pair = Pair::new(old, new);
        pair.says("check HEAD~1..HEAD", 0, &["no regression"], &["no function changed", "internal error"]);
        pair.says("diff HEAD~1..HEAD", 0, &["p->b: ", "replayed"], &["internal error"]);
    }
}
