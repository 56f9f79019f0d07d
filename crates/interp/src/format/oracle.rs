//! Comparison with the C library of this machine: one driver program is compiled once, reads cases
//! as lines, and prints what `snprintf`, `fscanf` and `strto*` did, byte for byte.
//!
//! Cases come from a generator with a fixed seed. The tests are skipped without `cc`.

use super::number;
use super::*;
use crate::ir::DataModel;
use crate::testing::Random;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::{Deref, DerefMut};
use std::process::{Command, Stdio};

const DRIVER: &str = r#"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int unhex(const char *text, unsigned char *out) {
    int n = 0;
    unsigned b;
    out[0] = 0;
    if (*text == '-') return 0;
    for (; sscanf(text, "%2x", &b) == 1; text += 2) out[n++] = (unsigned char)b;
    out[n] = 0;
    return n;
}
static void hex(const unsigned char *bytes, long n) {
    for (long i = 0; i < n; i++) printf("%02x", bytes[i]);
    putchar('\n');
}
static char out[1 << 16];
#define RUN(v) (stars == 0 ? snprintf(out, sizeof out, f, v) \
              : stars == 1 ? snprintf(out, sizeof out, f, w, v) \
                           : snprintf(out, sizeof out, f, w, p, v))
static void print_case(char kind, const char *f, int stars, int w, int p, uint64_t bits, const char *s) {
    double d;
    int n = 0;
    memcpy(&d, &bits, 8);
    switch (kind) {
    case 'i': n = RUN((int)bits); break;
    case 'l': n = RUN((long)bits); break;
    case 'd': n = RUN(d); break;
    case 'p': n = RUN((void *)bits); break;
    case 's': n = RUN(s); break;
    }
    hex((unsigned char *)out, n);
}
static void scan_case(const char *f, unsigned char *input, int n) {
    unsigned char target[64];
    memset(target, 0xaa, sizeof target);
    FILE *stream = fmemopen(input, (size_t)n, "r");
    int result = fscanf(stream, f, target), end = feof(stream) != 0, rest = 0;
    while (fgetc(stream) != EOF) rest++;
    fclose(stream);
    printf("%d %d %d ", result, end, rest);
    hex(target, sizeof target);
}
static void number_case(char kind, int base, const char *text) {
    char *end = 0;
    uint64_t bits = 0;
    double d;
    float s;
    errno = 0;
    switch (kind) {
    case 'L': bits = (uint64_t)strtol(text, &end, base); break;
    case 'U': bits = strtoul(text, &end, base); break;
    case 'D': d = strtod(text, &end); if (d != d) d = 0; memcpy(&bits, &d, 8); break;
    case 'S': s = strtof(text, &end); if (s != s) s = 0; memcpy(&bits, &s, 4); break;
    }
    printf("%llx %d %d\n", (unsigned long long)bits, (int)(end - text), errno == ERANGE);
}
int main(void) {
    static char line[1 << 16], a[1 << 14], b[1 << 14];
    static unsigned char f[1 << 14], text[1 << 14];
    while (fgets(line, sizeof line, stdin)) {
        char kind;
        int stars, w, p, n;
        unsigned long long bits;
        if (sscanf(line, "%c %s %d %d %d %llx %s", &kind, a, &stars, &w, &p, &bits, b) != 7) return 1;
        unhex(a, f);
        n = unhex(b, text);
        if (kind == 'S' || kind == 'D' || kind == 'L' || kind == 'U') number_case(kind, w, (char *)text);
        else if (kind == 'c') scan_case((char *)f, text, n);
        else print_case(kind, (char *)f, stars, w, p, bits, (char *)text);
    }
    return 0;
}
"#;

/// One case: the driver's input line, what is expected of it, and what a person reads.
struct Case {
    line: String,
    expected: String,
    shown: String,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut s, b| {
        let _ = write!(s, "{b:02x}");
        s
    })
}

fn line(kind: char, format: &str, stars: (usize, i32, i32), bits: u64, text: &[u8]) -> String {
    let dash = |s: String| if s.is_empty() { "-".to_string() } else { s };
    let (n, w, p) = stars;
    format!("{kind} {} {n} {w} {p} {bits:x} {}\n", dash(hex(format.as_bytes())), dash(hex(text)))
}

/// Compiles the driver and runs it; `None` when there is no compiler.
fn drive(cases: &[Case]) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().ok()?;
    let (source, program) = (folder.path().join("driver.c"), folder.path().join("driver"));
    std::fs::write(&source, DRIVER).ok()?;
    let cc = Command::new("cc").args(["-O0", "-w", "-o"]).args([&program, &source]).output();
    let Ok(cc) = cc else {
        println!("skipped: no cc");
        return None;
    };
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let mut child = Command::new(&program)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the driver starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input: String = cases.iter().map(|c| c.line.as_str()).collect();
    let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the driver ends");
    feeder.join().expect("no panic").expect("all cases are read");
    assert!(output.status.success());
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect())
}

/// Checks that the C library agrees on all cases.
fn check(cases: &[Case]) {
    let Some(actual) = drive(cases) else { return };
    assert_eq!(actual.len(), cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .zip(&actual)
        .filter(|(c, a)| c.expected != **a)
        .map(|(c, a)| format!("{}\n  ours {}\n  libc {a}", c.shown, c.expected))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        cases.len(),
        wrong.iter().take(30).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
    println!("{} cases agree", cases.len());
}

/// Makes up formats and what they are given.
struct Cases(Random);

impl Deref for Cases {
    type Target = Random;

    fn deref(&self) -> &Random {
        &self.0
    }
}

impl DerefMut for Cases {
    fn deref_mut(&mut self) -> &mut Random {
        &mut self.0
    }
}

impl Cases {
    fn text(&mut self, alphabet: &[u8], most: u64) -> Vec<u8> {
        (0..self.below(most + 1)).map(|_| self.pick(alphabet)).collect()
    }

    fn double(&mut self) -> f64 {
        const SPECIAL: [f64; 16] = [
            0.0,
            -0.0,
            1.0,
            0.5,
            2.5,
            9.5,
            99.95,
            999999.5,
            0.0001,
            0.00001,
            1e300,
            5e-324,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        let sign = if self.below(3) == 0 { -1.0 } else { 1.0 };
        sign * match self.below(6) {
            0 => self.pick(&SPECIAL),
            1 => f64::from_bits(self.draw() & !(1 << 63)),
            // Multiples of small powers of two: ties at every digit.
            2 => self.below(100_000) as f64 / (1u64 << self.below(20)) as f64,
            3 => self.below(1_000_000) as f64 / 1000.0,
            4 => (self.below(1_000_000) as f32 / 1000.0) as f64,
            _ => f64::from_bits(self.below(1 << 52) >> self.below(52)),
        }
    }
}

fn printf_case(random: &mut Cases) -> Option<Case> {
    let flags = random.text(b"-+ #0'", 3);
    let mut format = format!("%{}", String::from_utf8_lossy(&flags));
    let counts = |r: &mut Cases| (r.below(40) as i32 - 8, r.below(30) as i32 - 4);
    let ((w, p), mut stars) = (counts(random), 0);
    match random.below(4) {
        0 => format += &random.below(40).to_string(),
        1 => {
            format += "*";
            stars += 1;
        }
        _ => {}
    }
    match random.below(5) {
        0 => format += ".",
        1 => format += &format!(".{}", random.below(30)),
        2 if stars == 1 => {
            format += ".*";
            stars += 1;
        }
        3 if random.below(20) == 0 => format += &format!(".{}", random.below(1500)),
        _ => {}
    }
    let specifier = random.pick(b"diuxXoodcspfFeEgGaAfeg") as char;
    let length = match specifier {
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' => random.pick(&["", "", "hh", "h", "l", "ll", "j", "z", "t"]),
        _ => "",
    };
    format = format!("{format}{length}{specifier}");
    let text = random.text(b"ab c", 12);
    let integer = random.draw() >> random.below(64);
    let integer = if random.below(3) == 0 { integer.wrapping_neg() } else { integer };
    let (kind, value, bits) = match specifier {
        's' => ('s', PrintfValue::Bytes(&text), 0),
        'p' => ('p', PrintfValue::Pointer(integer), integer),
        'c' => ('i', PrintfValue::Integer(integer & 255), integer & 255),
        c if "fFeEgGaA".contains(c) => {
            let v = random.double();
            if v.is_nan() {
                return None;
            }
            ('d', PrintfValue::Double(v), v.to_bits())
        }
        _ => {
            let kind = if ["l", "ll", "j", "z", "t"].contains(&length) { 'l' } else { 'i' };
            (kind, PrintfValue::Integer(integer), integer)
        }
    };
    let pieces = parse_printf(format.as_bytes()).expect("valid");
    let [Piece::Conversion(c)] = pieces.as_slice() else { panic!("one conversion in {format}") };
    let resolved = c.resolve(Some(w), Some(p));
    let rendered = render_conversion(&resolved, DataModel::Lp64, value).expect("rendered");
    // The canonical spelling must mean the same.
    let canonical = parse_printf(resolved.canonical().as_bytes()).expect("canonical spelling is valid");
    let [Piece::Conversion(c2)] = canonical.as_slice() else { panic!("one conversion") };
    let again = render_conversion(c2, DataModel::Lp64, value).expect("rendered");
    assert_eq!(rendered, again, "{format} is not {}", resolved.canonical());
    Some(Case {
        line: line(kind, &format, (stars, w, p), bits, &text),
        expected: hex(&rendered),
        shown: format!("{format:?} ({w}, {p}) of {value:?}"),
    })
}

#[test]
fn printf_agrees_with_the_c_library() {
    let mut random = Cases(Random(1));
    let cases: Vec<Case> = (0..60_000).filter_map(|_| printf_case(&mut random)).collect();
    check(&cases);
}

/// Bytes of the object after our `scanf`, as the driver prints them.
fn target_bytes(run: &ScanRun) -> Vec<u8> {
    let mut target = vec![0xaa; 64];
    for (ty, value) in &run.stores {
        let bits = ty.object_sort(DataModel::Lp64).and_then(|s| s.bits()).unwrap_or(0);
        let bytes = match value {
            ScanValue::Integer(v) | ScanValue::Pointer(v) | ScanValue::Consumed(v) => {
                v.to_le_bytes()[..usize::from(bits / 8)].to_vec()
            }
            ScanValue::Float(v) => v.to_le_bytes().to_vec(),
            ScanValue::Double(v) => v.to_le_bytes().to_vec(),
            ScanValue::Chars(b) => b.clone(),
            ScanValue::Extended(v) => v.to_bits().to_le_bytes()[..10].to_vec(),
            ScanValue::String(b) => [b.as_slice(), &[0]].concat(),
        };
        target[..bytes.len()].copy_from_slice(&bytes);
    }
    target
}

fn is_nan(run: &ScanRun) -> bool {
    run.stores.iter().any(|(_, v)| match v {
        ScanValue::Float(v) => v.is_nan(),
        ScanValue::Double(v) => v.is_nan(),
        _ => false,
    })
}

fn scan_case(random: &mut Cases) -> Option<Case> {
    let width = if random.below(3) == 0 { (random.below(9) + 1).to_string() } else { String::new() };
    let suppress = if random.below(8) == 0 { "*" } else { "" };
    let specifier = random.pick(&[
        "d", "d", "i", "u", "x", "X", "o", "p", "c", "s", "[a-c]", "[^x]", "[]-]", "n", "f", "f", "e", "g",
        "a", "lf", "lf", "hd", "hhu", "ld", "lli", "zx", "jd", "tu", "hhx",
    ]);
    let (before, after) = (random.pick(&["", "", " ", "x", "%%"]), random.pick(&["", "", " ", "x", "%%"]));
    let (width, suppress) = if specifier == "n" { ("", "") } else { (width.as_str(), suppress) };
    let format = format!("{before}%{suppress}{width}{specifier}{after}");
    let mut text: Vec<u8> = match random.below(4) {
        0 => random
            .pick(&["inf", "-infinity", "nan", "0x1.8p3", "1e5", "(nil)", "0X1F", "1e+", "+.5", "0x"])
            .into(),
        1 => random.text(b"0123456789", 25),
        2 => random.text(b"01.e+-", 8),
        _ => random.text(b"0189+-.eExXpPnNaAiIfFtTyYlL() %", 9),
    };
    let lead = random.text(b" \n\t-+x%", 2);
    text.splice(0..0, lead);
    text.extend(random.text(b"0x e.p%", 2));
    if text.is_empty() {
        return None;
    }
    let directives = parse_scanf(format.as_bytes()).expect("valid");
    let mut cursor = Cursor::new(&text);
    let run = scan(&directives, DataModel::Lp64, &mut cursor);
    if cursor.version_dependent || is_nan(&run) {
        return None;
    }
    let rest = text.len() - cursor.position();
    Some(Case {
        line: line('c', &format, (0, 0, 0), 0, &text),
        expected: format!("{} {} {rest} {}", run.result, i32::from(cursor.hit_end), hex(&target_bytes(&run))),
        shown: format!("{format:?} on {:?}", String::from_utf8_lossy(&text)),
    })
}

#[test]
fn scanf_agrees_with_the_c_library() {
    let mut random = Cases(Random(2));
    let cases: Vec<Case> = (0..60_000).filter_map(|_| scan_case(&mut random)).collect();
    check(&cases);
}

/// Decimal texts near the halfway points of floats, and other texts.
fn number_text(random: &mut Cases) -> Vec<u8> {
    match random.below(5) {
        0 => random.text(b"0189+-.eExXpPnNaAiIfFtTyY() ", 10),
        1 => {
            // The exact halfway point above a value, as it is or with a digit more.
            let v = f64::from_bits(random.draw() & 0x7fff_ffff_ffff_ffff);
            let v = if random.below(2) == 0 { v } else { v as f32 as f64 };
            let more = random.pick(&["", "", "1", "0000000000000000000000000001"]);
            if v.is_finite() && v.abs() > 1e-280 && v.abs() < 1e280 {
                let exact = format!("{:.1074}", v + (v - f64::from_bits(v.to_bits() - 1)) / 2.0);
                format!("{exact}{more}").into_bytes()
            } else {
                format!("{v:e}{more}").into_bytes()
            }
        }
        2 => {
            let v = f32::from_bits(random.draw() as u32 & 0x7fff_ffff);
            let half = (f64::from(v) + f64::from(f32::from_bits(v.to_bits().wrapping_add(1)))) / 2.0;
            format!("{half:.200}{}", random.pick(&["", "1"])).into_bytes()
        }
        3 => {
            let (m, e) = (random.draw() >> random.below(64), random.below(2300) as i64 - 1150);
            format!("0x{m:x}.{:x}p{e}", random.draw() >> random.below(64)).into_bytes()
        }
        _ => {
            let e = random.below(700) as i64 - 350;
            format!("{}.{}e{e}", random.draw() >> random.below(64), random.draw()).into_bytes()
        }
    }
}

fn number_case(random: &mut Cases) -> Case {
    let kind = random.pick(&['L', 'U', 'D', 'D', 'S', 'S']);
    let base = random.pick(&[0, 2, 8, 10, 10, 16, 36]);
    let text = match kind {
        'L' | 'U' if random.below(2) == 0 => random.text(b"0123456789abcxXzZ+- ", 24),
        _ => number_text(random),
    };
    let text = text[..text.len().min(8000)].to_vec();
    let float = |nan: bool, bits: u64| if nan { 0 } else { bits };
    let (bits, consumed, range) = match kind {
        'L' => {
            let p = number::strtol(&text, base as u32, 64);
            (p.value as u64, p.consumed, p.range_error)
        }
        'U' => {
            let p = number::strtoul(&text, base as u32, 64);
            (p.value, p.consumed, p.range_error)
        }
        'D' => {
            let p = number::strtod(&text);
            (float(p.value.is_nan(), p.value.to_bits()), p.consumed, p.range_error)
        }
        _ => {
            let p = number::strtof(&text);
            (float(p.value.is_nan(), p.value.to_bits().into()), p.consumed, p.range_error)
        }
    };
    Case {
        line: line(kind, "", (0, base, 0), 0, &text),
        expected: format!("{bits:x} {consumed} {}", i32::from(range)),
        shown: format!("{kind} {base} {:?}", String::from_utf8_lossy(&text)),
    }
}

#[test]
fn numbers_agree_with_the_c_library() {
    let mut random = Cases(Random(3));
    let cases: Vec<Case> = (0..40_000).map(|_| number_case(&mut random)).collect();
    check(&cases);
}
