//! What the library writes behind the model: `%n`, memory streams, the environment, signal handlers; and
//! what depends on bytes that are read, on sizes, and on how long a loop goes on.

use super::kit::Pair;
use crate::support::tier::is_whole;

/// A program whose `f` is this text, with this `main`, in two versions that differ in one part.
fn program(headers: &[&str], text: &str, part: &str) -> String {
    let includes: String = headers.iter().map(|h| format!("#include <{h}.h>\n")).collect();
    format!("{includes}{}\n", text.replace("PART", part))
}

/// Makes a pair whose compiled runs differ, which no command may deny; returns it.
#[track_caller]
fn changed(headers: &[&str], text: &str, parts: (&str, &str), function: &str) -> Pair {
    let pair = Pair::new(&program(headers, text, parts.0), &program(headers, text, parts.1));
    let (old, new) = pair.runs(&[], "ab\u{7f}c\n");
    assert_ne!(old, new, "{text}");
    is_told(&pair, function);
    pair
}

/// No command denies that a function changed, and `blame` names the commit. That a change makes nothing fail
/// is no denial.
#[track_caller]
fn is_told(pair: &Pair, function: &str) {
    for (words, denial) in [
        ("diff HEAD~1..HEAD", "no semantic change"),
        ("check HEAD~1..HEAD", "no function changed"),
        ("condition HEAD~1..HEAD", "no function differs"),
    ] {
        let (_, out, err) = pair.run(words);
        assert!(!out.contains(denial), "{words}: {denial}\n{out}\n{err}");
    }
    let (_, out, err) = pair.run(&format!("blame {function}"));
    assert!(out.contains("two"), "blame {function}\n{out}\n{err}");
}

/// No command proves one of these of a program that its runs break.
#[track_caller]
fn is_not_held(pair: &Pair, facts: &[&str]) {
    let (_, out, err) = pair.run("diff HEAD~1..HEAD");
    facts.iter().for_each(|fact| assert!(!out.contains(fact), "told: {fact}\n{out}\n{err}"));
}

#[test]
fn counted_output_is_written() {
    for call in [
        r#"printf("PART%n\n", &n)"#,
        r#"printf("PART%1$n", &n)"#,
        r#"fprintf(stdout, "PART%ln", (long *)&n)"#,
        r#"sprintf(b, "PART%hhn", (signed char *)&n)"#,
        r#"snprintf(b, sizeof b, "PART%-5d%n", 1, &n)"#,
    ] {
        let text = format!(
            "int f(int x) {{ char b[32]; union {{ int n; long l; }} u; int *p = &u.n; u.l = 5;\n\
             #define n u.n\n  {call};\n  return *p; }}\nint main(void) {{ return f(1); }}"
        );
        let pair = changed(&["stdio"], &text, ("abc", "abcd"), "a.c:f");
        is_not_held(&pair, &[r"\result == 5"]);
    }
}

#[test]
fn counted_output_is_written_through_a_list() {
    let text = "static int put(char *b, const char *f, ...) { va_list l; va_start(l, f); int k = vsprintf(b, f, l);\n\
                va_end(l); return k; }\n\
                int f(int x) { char b[32]; int n = 5; put(b, \"PART%n\", &n); return n; }\n\
                int main(void) { return f(1); }";
    let pair = changed(&["stdio", "stdarg"], text, ("abc", "abcd"), "a.c:f");
    is_not_held(&pair, &[r"\result == 5"]);
}

#[test]
fn a_percent_sign_counts_nothing() {
    let text = "int f(int x) { int n = 5; printf(\"100%%n %dPART\\n\", n); return n; }\n\
                int main(void) { return f(1); }";
    let pair = changed(&["stdio"], text, ("", "!"), "a.c:f");
    pair.says("diff HEAD~1..HEAD", 0, &[r"\result == 5", "proved"], &[]);
}

#[test]
fn streams_write_what_they_were_lent() {
    let text = "int f(int k) { char b[16] = \"zzz\"; FILE *s = fmemopen(b, 16, \"w\"); fprintf(s, \"PART\");\n\
                fclose(s); return b[0]; }\nint main(void) { return f(3); }";
    let pair = changed(&["stdio"], text, ("ab", "cb"), "a.c:f");
    is_not_held(&pair, &[r"\result == 122", r"\result == 'z'", "gives stdout"]);
    let text = "int f(int k) { char *p = 0; size_t n = 0; FILE *s = open_memstream(&p, &n); fputs(\"PART\", s);\n\
                fclose(s); return n; }\nint main(void) { return f(3); }";
    let pair = changed(&["stdio"], text, ("ab", "abc"), "a.c:f");
    is_not_held(&pair, &[r"\result == 0"]);
    let text = "static char b[64];\nint f(int k) { b[0] = 'z'; setvbuf(stdout, b, _IOFBF, 64); printf(\"PART\");\n\
                return b[0]; }\nint main(void) { return f(3); }";
    let pair = changed(&["stdio"], text, ("ab", "cb"), "a.c:f");
    is_not_held(&pair, &[r"\result == 122", r"\result == 'z'"]);
}

#[test]
fn the_environment_is_what_the_program_made_it() {
    let check = "assert(v && v[0] == 'x'); return k; }\nint main(void) { return f(3); }";
    for (set, parts) in [
        ("setenv(\"A\", \"PART\", 1);", ("x", "y")),
        ("setenv(\"A\", \"x\", 1); setenv(\"A\", \"y\", PART);", ("0", "1")),
        ("static char e[] = \"A=x\"; putenv(e); e[2] = 'PART';", ("x", "y")),
        ("setenv(\"A\", \"x\", 1); unsetenv(\"PART\");", ("B", "A")),
    ] {
        let text = format!("int f(int k) {{ {set} const char *v = getenv(\"A\"); {check}");
        let pair = changed(&["stdlib", "assert"], &text, parts, "a.c:f");
        pair.says("check HEAD~1..HEAD", 1, &["regression", "replayed"], &["no regression"]);
    }
}

#[test]
fn a_handler_runs_when_its_signal_is_raised() {
    let text = "static int hits;\nstatic void h(int s) { hits = hits + PART; }\n\
                int f(int k) { signal(SIGUSR1, h); raise(SIGUSR1); return hits; }\n\
                int main(void) { return f(3); }";
    let headers = &["signal"];
    let pair = Pair::new(&program(headers, text, "1"), &program(headers, text, "2"));
    pair.says("diff --effort deep HEAD~1..HEAD", 0, &["f()", "replayed"], &["no semantic change"]);
    let text = "static int hits;\nstatic void h(int s) { hits = 1; }\n\
                int f(int k) { hits = 5; signal(SIGUSR1, PART); raise(SIGUSR1); return hits; }\n\
                int main(void) { return f(3); }";
    let pair = changed(&["signal"], text, ("h", "SIG_IGN"), "a.c:f");
    pair.says("diff --effort deep HEAD~1..HEAD", 0, &["replayed"], &[]);
}

#[test]
fn an_order_that_a_sort_is_given_is_part_of_its_caller() {
    let text = "static int cmp(const void *a, const void *b) { return PART; }\n\
                int f(int x) { int a[3] = {x, 2, 3}; qsort(a, 3, sizeof *a, cmp); return a[0]; }\n\
                int main(void) { return f(5); }";
    let parts = ("*(const int *)a - *(const int *)b", "*(const int *)b - *(const int *)a");
    let pair = Pair::new(&program(&["stdlib"], text, parts.0), &program(&["stdlib"], text, parts.1));
    pair.says(
        "diff --effort deep HEAD~1..HEAD",
        0,
        &["f()", r"~ \result differs", "replayed"],
        &["no semantic change"],
    );
}

#[test]
fn the_end_of_input_is_asked_after_each_byte() {
    let text = "int f(void) { int a = feof(stdin); while (getchar() != EOF) { } int b = feof(stdin); return (a == b) + 3 PART; }\n\
                int main(void) { return f(); }";
    let pair = changed(&["stdio"], text, ("", "+ 7"), "a.c:f");
    is_not_held(&pair, &[r"\result == 4", r"\result == 11"]);
}

#[test]
fn a_byte_like_the_end_of_input_is_told() {
    let text = "int main(void) { PART c; int n = 0; while ((c = getchar()) != EOF) n++; printf(\"%d\\n\", n);\n\
                return 0; }";
    let pair = Pair::new(&program(&["stdio"], text, "int"), &program(&["stdio"], text, "char"));
    is_told(&pair, "a.c:main");
    pair.says("diff HEAD~1..HEAD", 0, &["prints", "replayed"], &[]);
}

#[test]
fn a_long_loop_of_constants_is_waited_for() {
    let text = "int main(void) { unsigned h = 7; for (int i = 0; i < 100000; i++) h = h * PART + i;\n\
                printf(\"%u\\n\", h); return 0; }";
    let pair = changed(&["stdio"], text, ("31", "33"), "a.c:main");
    pair.says("diff --effort deep HEAD~1..HEAD", 0, &["prints", "replayed"], &[]);
}

#[test]
fn narrow_types_and_sizes_are_told() {
    let text = "typedef PART num;\nnum f(int x) { num y = x + 1; return y; }\n\
                int main(void) { printf(\"%d\\n\", f(32767)); return 0; }";
    changed(&["stdio"], text, ("int", "short"), "a.c:f").says("diff HEAD~1..HEAD", 0, &["replayed"], &[]);
    let text =
        "struct s { int a; PART };\nint f(void) { return sizeof(struct s); }\nint main(void) { return f(); }";
    let pair = changed(&[], text, ("", "int b;"), "a.c:f");
    pair.says("diff HEAD~1..HEAD", 0, &[r"\result == 4", r"\result == 8", "replayed"], &[]);
}

#[test]
fn files_are_as_the_program_left_them() {
    // What was taken away is not there: an answer of the input that says otherwise is none.
    let text = "int f(int k) { if (remove(\"invdiff-PART\") == 0) assert(access(\"invdiff-a\", 0) != 0); return k; }\n\
                int main(void) { return f(3); }";
    let pair = Pair::new(
        &program(&["stdio", "unistd", "assert"], text, "a"),
        &program(&["stdio", "unistd", "assert"], text, "b"),
    );
    is_told(&pair, "a.c:f");
    pair.says("check HEAD~1..HEAD", 0, &[], &["broken before"]);
}

/// A program whose `main` prints what `f` gives of this body, with a part that changes.
fn printed(body: &str) -> String {
    format!(
        "int f(int k) {{ int r = 0; char t[32] = \"\"; {body} return r; }}\n\
         int main(void) {{ printf(\"%d\\n\", f(3)); return 0; }}"
    )
}

/// Makes a pair of such programs, whose difference is shown by a run with what the compiled programs print.
#[track_caller]
fn is_shown(body: &str, parts: (&str, &str)) {
    let text = printed(body);
    let headers = &["stdio", "string", "stdlib"];
    let pair = changed(headers, &text, parts, "a.c:f");
    let (old, new) = pair.runs(&[], "");
    let shown = |text: &str| text.trim_end().to_owned();
    let values = format!("{} -> {}", shown(&old.stdout), shown(&new.stdout));
    pair.says("diff HEAD~1..HEAD", 0, &[&values, "replayed"], &[]);
}

#[test]
fn files_without_a_name_give_back_what_was_written() {
    is_shown(
        "FILE *s = tmpfile(); if (!s) return 0; fprintf(s, \"%d PART\\n\", 41); rewind(s);\n\
         if (fgets(t, sizeof t, s)) r = (int)strlen(t) * 100 + t[0]; fclose(s);",
        ("a", "bcd"),
    );
    is_shown(
        "FILE *s = tmpfile(); if (!s) return 0; fputs(\"12 345\", s); r = ftell(s); fseek(s, PART, SEEK_SET);\n\
         ungetc('9', s); int x = 0; fscanf(s, \"%d\", &x); r += x * 10 + !!feof(s); fclose(s);",
        ("3", "1"),
    );
    is_shown(
        "FILE *s = tmpfile(); if (!s) return 0; fwrite(\"abcdef\", 1, 6, s); fseek(s, -PART, SEEK_END);\n\
         r = (int)fread(t, 1, 8, s) * 1000 + t[0]; r += fgetc(s); fclose(s);",
        ("2", "4"),
    );
}

#[test]
fn streams_on_memory_reach_it_when_they_are_flushed() {
    is_shown(
        "FILE *s = fmemopen(t, sizeof t, \"w\"); if (!s) return 0; fputs(\"ab\", s); PART r = t[0];\n\
         fclose(s); r = r * 1000 + t[1];",
        ("", "fflush(s);"),
    );
    is_shown(
        "strcpy(t, \"17 4\"); FILE *s = fmemopen(t, PART, \"r\"); if (!s) return 0; int x = 0, y = 0;\n\
         r = fscanf(s, \"%d %d\", &x, &y) * 1000 + x * 10 + y; fclose(s);",
        ("4", "1"),
    );
    is_shown(
        "char *p = 0; size_t n = 7; FILE *s = open_memstream(&p, &n); if (!s) return 0;\n\
         fprintf(s, \"%s\", \"PART\"); r = (int)n; fclose(s); r = r * 1000 + (int)n * 200 + p[0]; free(p);",
        ("xy", "z"),
    );
}

#[test]
fn what_a_lent_buffer_holds_is_what_was_written_or_is_not_known() {
    is_shown(
        "static char b[64]; FILE *s = tmpfile(); if (!s) return 0; setvbuf(s, b, _IOFBF, sizeof b);\n\
         fputc('PART', s); r = b[0]; fclose(s);",
        ("x", "y"),
    );
    // Glibc writes several bytes past a small buffer that is not in use yet: nothing is said of it.
    let text = printed(
        "static char b[64]; FILE *s = tmpfile(); if (!s) return 0; setvbuf(s, b, _IOFBF, sizeof b);\n\
         fputs(\"PART\", s); r = b[0] + (int)sizeof \"PART\"; fclose(s);",
    );
    let pair = changed(&["stdio", "string"], &text, ("ab", "cbd"), "a.c:f");
    pair.says("diff HEAD~1..HEAD", 0, &[], &["replayed"]);
}

#[test]
fn streams_that_are_handed_on_are_open() {
    // A full buffer, a descriptor, and a place that is none: no run is shown.
    for body in [
        "FILE *s = fmemopen(t, 3, \"w\"); if (!s) return 0; fputs(\"abcPART\", s); fclose(s); r = t[2];",
        "FILE *s = tmpfile(); if (!s) return 0; fputs(\"PART\", s); fflush(s); r = lseek(fileno(s), 0, 2);\n\
         fclose(s);",
        "FILE *s = tmpfile(); if (!s) return 0; r = fseek(s, PART - 1, SEEK_SET); fclose(s);",
    ] {
        let pair = Pair::new(
            &program(&["stdio", "string", "unistd"], &printed(body), "0"),
            &program(&["stdio", "string", "unistd"], &printed(body), "12"),
        );
        is_told(&pair, "a.c:f");
        pair.says("diff HEAD~1..HEAD", 0, &[], &["replayed"]);
    }
}

#[test]
fn a_given_time_is_written_as_the_format_says() {
    let text = "int f(int k) { struct tm t = {1, 2, 15, 9, 6, 124, 2, 190, 0}; char s[99] = \"\"; int r = 0;\n\
                strftime(s, sizeof s, \"PART\", &t); for (char *p = s; *p; p++) r = r * 31 + *p; return r; }\n\
                int main(void) { printf(\"%d\\n\", f(3)); return 0; }";
    let parts = ["%Y-%m-%dT%H:%M:%S %j%%", "%F %T|%D %R|%C%y", "%a %A %b %B %h", "%I %p %e %u %w%n%t"];
    for part in &parts[..if is_whole() { 4 } else { 1 }] {
        let pair = changed(&["stdio", "time"], text, ("", part), "a.c:f");
        let (old, new) = pair.runs(&[], "");
        let values = format!("{} -> {}", old.stdout.trim_end(), new.stdout.trim_end());
        pair.says("diff HEAD~1..HEAD", 0, &[&values, "replayed"], &[]);
    }
    // The time zone is nobody's to say, and no date has such a month.
    for part in ["%Z", "%s", "%-d"] {
        let pair =
            Pair::new(&program(&["stdio", "time"], text, ""), &program(&["stdio", "time"], text, part));
        is_told(&pair, "a.c:f");
        pair.says("diff HEAD~1..HEAD", 0, &[], &["replayed"]);
    }
}
