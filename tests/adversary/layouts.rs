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

/// A member in front of the others: each version is told by its own members, and inputs are rows of members.
#[test]
fn a_new_member_moves_no_facts_to_others() {
    let pair = Pair::new(
        "struct reb { void *pruning; int n; };\n\
         int f(struct reb *r) { if (r->pruning) return 0; return r->n > 3 ? 3 : 1; }\n",
        "struct reb { void *log; void *pruning; int n; };\n\
         int f(struct reb *r) { if (r->log) return 0; if (r->pruning) return 0; return r->n > 3 ? 3 : 1; }\n",
    );
    let unsaid = ["r->log != NULL && r->pruning != NULL ==>", "no input was found"];
    pair.says("diff HEAD~1..HEAD", 0, &["r = &{log: ", "replayed"], &unsaid);
    let pair = Pair::new(
        "struct reb { void *pruning; int n; };\nint f(struct reb *r) { if (r->pruning) return 0; return 3; }\n",
        "struct reb { void *log; void *pruning; int n; };\nint f(struct reb *r) { if (r->pruning) return 0; return 4; }\n",
    );
    pair.says("diff HEAD~1..HEAD", 0, &["3 -> 4", "replayed"], &unsaid);
}

/// Members that change places, lie in arrays, and lead on to others: a run of each version on the same members.
#[test]
fn inputs_are_members() {
    let pairs = [
        ("struct s { int a; int b; };", "struct s { int b; int a; };", "r->a - r->b"),
        (
            "struct s { char c; int a; int b; };",
            "struct s { int a; char c; long d; int b; };",
            "r->a - 2 * r->b + r->c",
        ),
        (
            "struct t { int x; }; struct s { struct t u[2]; int a; };",
            "struct t { int w, x; }; struct s { struct t u[2]; int a; };",
            "r->u[1].x - r->a",
        ),
        (
            "struct s { struct s *next; int a; };",
            "struct s { int k; int a; struct s *next; };",
            "r->next ? r->next->a : r->a",
        ),
    ];
    for (old, new, value) in pairs {
        let f = |types: &str, k: u32| {
            format!("{types}\nint f(struct s *r) {{ return ({value}) > 0 ? {k} : 1; }}\n")
        };
        let pair = Pair::new(&f(old, 3), &f(new, 4));
        pair.says(
            "diff HEAD~1..HEAD",
            0,
            &["3 -> 4", "replayed"],
            &["1 -> 4", "3 -> 1", "no input was found"],
        );
    }
}
