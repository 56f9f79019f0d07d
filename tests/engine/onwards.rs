//! Differences that only show on inputs that pass many tests: they are found by going on from inputs that
//! went further than others (`interp::Guided`), and each is shown by an input that was replayed. Where
//! two versions do the same, however deep the code is, nothing is claimed.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::Report;

fn analyse(old: &str, new: &str) -> Report {
    let files = [vec![("a.c", old)], vec![("a.c", new)]];
    diff(&memory::request(&files, c::Options::default(), Options { jobs: 1, ..Options::default() }))
}

/// Whether some churn is shown by an input.
fn is_shown(report: &Report) -> bool {
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    churns.into_iter().any(|c| c.witness.is_some())
}

/// `source` with `old` put for `$` is told from the same with `new`; with another spelling of `old` it is not.
fn check(source: &str, old: &str, new: &str, same: &str) {
    let [old, new, same] = [old, new, same].map(|part| source.replace('$', part));
    assert!(is_shown(&analyse(&old, &new)), "no input shows the difference of\n{old}\nand\n{new}");
    let report = analyse(&old, &same);
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    assert_eq!(churns.count(), 0, "a difference of\n{old}\nand\n{same}\n{:#?}", report.functions);
}

#[test]
fn behind_a_row_of_bytes() {
    check(
        "int f(const unsigned char *s) {\n\
           if (s[0] != 'R' || s[1] != 'I' || s[2] != 'F' || s[3] != 'X') return -1;\n\
           if (s[4] < 3 || s[4] > 9) return -2;\n\
           int n = 0;\n\
           for (int i = 5; s[i] != ';'; i++) { if (s[i] < '0' || s[i] > '9') return -3; n = n * 10 + (s[i] - '0'); }\n\
           return $;\n\
         }",
        "n",
        "n + (s[4] == 7)",
        "n + 0",
    );
}

#[test]
fn behind_a_buffer_with_a_length() {
    check(
        "struct buffer { const char *content; unsigned long length, offset; int depth; };\n\
         int f(struct buffer *b) {\n\
           if (!b || !b->content || b->offset + 4 > b->length || b->depth > 100) return 0;\n\
           const char *p = b->content + b->offset;\n\
           if (p[0] != '<' || p[1] != '!') return 1;\n\
           if (p[2] == '-' && p[3] == '-') { b->offset += $; return 2; }\n\
           return 3;\n\
         }",
        "4",
        "5",
        "2 + 2",
    );
}

#[test]
fn behind_a_word() {
    check(
        "int strcmp(const char *a, const char *b);\n\
         int f(const char *command, const char *argument, int n) {\n\
           if (strcmp(command, \"resize\") == 0) {\n\
             if (strcmp(argument, \"width\") == 0 && n > 4000) return $;\n\
             return 1;\n\
           }\n\
           return 0;\n\
         }",
        "2",
        "3",
        "1 + 1",
    );
}

#[test]
fn behind_pointers_back() {
    check(
        "struct node { struct node *next, *owner; int mode; };\n\
         int f(struct node *a) {\n\
           if (!a || !a->next || a->next->owner != a) return -1;\n\
           if (a->next->mode < 16180 || a->next->mode > 16211) return -2;\n\
           return $;\n\
         }",
        "a->mode",
        "a->mode | 4",
        "0 + a->mode",
    );
}

#[test]
fn behind_small_arguments() {
    check(
        "int f(unsigned char a, short b, _Bool c, float d) {\n\
           if (a != 201) return -1; if (b != -12345) return -2; if (!c || d <= 1e9f) return -3; return $; }",
        "7",
        "8",
        "3 + 4",
    );
}

/// What an opaque pointer leads to is part of the input that is shown.
#[test]
fn what_nobody_declares_is_shown_by_its_bytes() {
    let source = |k: &str| {
        format!(
            "struct hidden; struct s {{ int n; struct hidden *state; }}; struct inner {{ struct s *owner; int mode; }};\n\
             int f(struct s *p) {{ struct inner *q = (struct inner *)p->state;\n\
             if (!q || q->owner != p || q->mode != 7700) return 0; return {k}; }}"
        )
    };
    let report = analyse(&source("1"), &source("2"));
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let witness = churns.filter_map(|c| c.witness.as_ref()).next().expect("a witness");
    let cells: Vec<_> = witness.memory.iter().flat_map(|o| &o.cells).collect();
    let text = format!("{cells:?}");
    assert!(text.contains("\"+8\"") && text.contains("0x1e14") && text.contains("\"+0\""), "{text}");
}

/// What is too large to be made up as a whole is shown by its members all the same.
#[test]
fn members_of_large_structures_are_named() {
    let source = |k: &str| {
        format!(
            "struct big {{ int kind, mode; char text[9000]; }};\n\
             int f(const struct big *p) {{ return p->kind == 3 && p->mode == 7700 ? {k} : 0; }}"
        )
    };
    let report = analyse(&source("1"), &source("2"));
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    let witness = churns.filter_map(|c| c.witness.as_ref()).next().expect("a witness");
    let cells: Vec<_> = witness.memory.iter().flat_map(|o| o.cells.keys()).collect();
    assert_eq!(cells, ["kind", "mode"], "{witness:#?}");
}

/// Addresses are a machine's own, and what does not fit a parameter is no argument.
#[test]
fn made_up_inputs_fit() {
    let source = "int g(int); int f(short n, int (*h)(int), char *p, char *q) {\n\
                  if (h == g) return 1; if (p == q + 3) return n > 300 ? 2 : 3; return n == 7 ? 4 : 5; }";
    let report = analyse(source, &source.replace("n == 7 ? 4 : 5", "7 == n ? 4 : 5"));
    let churns = report.functions.iter().flat_map(|f| &f.points).flat_map(|p| &p.churns);
    assert_eq!(churns.count(), 0, "{:#?}", report.functions);
}

#[test]
fn behind_what_others_return() {
    check(
        "int probe(int); int f(int n) { int state = probe(n); if (state == 77 && probe(state) == 1234) return $; return 0; }",
        "1",
        "2",
        "2 - 1",
    );
}

#[test]
fn behind_what_is_read() {
    check(
        "int getchar(void); int printf(const char *, ...);\n\
         static int f(void) {\n\
           if (getchar() != '#' || getchar() != '!') return 1;\n\
           int c, n = 0;\n\
           while ((c = getchar()) != '\\n' && c != -1) n++;\n\
           if (n == 3) printf(\"%d\\n\", $);\n\
           return 0;\n\
         }\n\
         int main(void) { return f(); }",
        "n",
        "n + 1",
        "n + 0",
    );
}

/// What is left of a buffer is given to it: here several times, of two buffers.
#[test]
fn behind_the_end_of_buffers() {
    check(
        "#include <string.h>\n\
         void f(unsigned char *to, const unsigned char *from, unsigned n) {\n\
           if (n < 3000) { memcpy(to + 1, from, n); return; }\n\
           to[0] = 7;\n\
           to[1] = n & 0xff;\n\
           to[2] = n >> 8;\n\
           to[3] = 0;\n\
           memcpy(to + $, from, n);\n\
         }",
        "4",
        "5",
        "2 + 2",
    );
}
