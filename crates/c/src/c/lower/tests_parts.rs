//! Complex numbers and vectors: what lowered C computes with them when it is interpreted, as GCC does.

use super::tests::{check, undefined, unmodelled};
use crate::ir::UndefinedKind;

#[test]
fn complex_numbers_are_their_halves() {
    let check =
        |body: &str, expected| check(&format!("#include <complex.h>\nlong f(void) {{ {body} }}"), expected);
    check("_Complex double z = 1; return (long)z + 10 * (long)__imag__ z;", 1);
    check("double _Complex z = 3 + 4.0i; return (long)__real__ z * 10 + (long)__imag__ z;", 34);
    check("double _Complex z = 3 + 4 * I, w = z * z; return (long)creal(w) * 100 + (long)cimag(w);", -676);
    check(
        "double _Complex z = 3 + 4 * I; z *= 1 - 2 * I; return (long)creal(z) * 100 + (long)cimag(z);",
        1098,
    );
    check("double _Complex z = 3 + 4 * I; z += 2; z -= 1.0i; return creal(z) * 10 + cimag(z);", 53);
    check("double _Complex z = 8 + 4 * I; z /= 2; return creal(z) * 10 + cimag(z);", 42);
    check("double _Complex z; __real__ z = 5; __imag__ z = 6; return z == 5 + 6.0i;", 1);
    check("double _Complex z; __real__ z = 5; return creal(z);", 5);
    check("double _Complex z = -(1 + 2.0i); z = ~z; return creal(z) * 10 + cimag(z);", -8);
    check("double _Complex z = conj(1 + 2.0i); return creal(z) * 10 + cimag(z);", 8);
    check("float _Complex z = 0.1f; double _Complex w = z; return w == 0.1f && w != 0.1;", 1);
    check("double _Complex z = 0.5i; if (z) return z ? 3 : 4; return 5;", 3);
    check("double _Complex z = 0; return !z + 2 * (_Bool)z + 4 * (z && 1);", 1);
    check(
        "double _Complex a[3] = {1, 2.0i, 3 + 1.0i}; a[1] = a[2]; return cimag(a[1]) * 10 + creal(a[0]);",
        11,
    );
    check(
        "struct { int n; double _Complex z; } s = {1, 2.0i}, t = s; t.z++; return creal(t.z) * 10 + cimag(t.z);",
        12,
    );
    check("double x = 3; x *= 2 + 1.0i; return x;", 6);
    check("double _Complex z = 0.0 - 0.0i; return __builtin_signbit(cimag(z)) != 0;", 1);
    check(
        "double _Complex z = 0.0 - (0.0 + 0.0i), w = -0.0 + 0.0i; return (1 / cimag(z) < 0) + 2 * (1 / creal(w) < 0);",
        1,
    );
    check("double _Complex z = CMPLX(1, -0.0); z = z + 1; return 1 / cimag(z) < 0;", 1);
    check(
        "int n = 1; double _Complex z = n ? 2.0i : 3; long r = cimag(n ? z : (double _Complex)1); return r * 10 + creal((n = 5, z + n));",
        25,
    );
    check("double _Complex z = ({ double _Complex t = 2; t * 1.0i; }); return cimag(z);", 2);
    check(
        "double i = 1 / 0.0; double _Complex z = CMPLX(i, i - i), w = CMPLX(1, 1); z *= w; return creal(z) == i && cimag(z) == i;",
        1,
    );
    check(
        "double i = 1 / 0.0; double _Complex z = CMPLX(i, 0), w = CMPLX(0, 0); z *= w; return creal(z) != creal(z) && cimag(z) != cimag(z);",
        1,
    );
}

#[test]
fn complex_numbers_are_passed_within_a_unit() {
    check(
        "static double _Complex g(double _Complex z, int n) { z *= n; return z + 1.0i; } long f(void) { double _Complex z = 2, w = g(z, 3); return __real__ w * 100 + __imag__ w * 10 + __real__ z; }",
        612,
    );
    unmodelled(
        "double _Complex g(double _Complex); long f(void) { double _Complex z = g(2); return (long)z; }",
    );
    unmodelled("#include <complex.h>\nlong f(void) { return cabs(3 + 4 * I); }");
    unmodelled("long f(void) { double _Complex z = 2, w = z / (1 + 1.0i); return (long)w; }");
    unmodelled("long f(void) { double _Complex z = 1 / (1 + 1.0i); return (long)z; }");
    unmodelled("long f(void) { double _Complex z = (0.1 + 0.3i) * (0.7 + 0.9i); return (long)z; }");
    unmodelled("long f(void) { _Complex int z = 1 + 2i; z = z * z; return __real__ z; }");
    unmodelled("long f(void) { volatile double _Complex z = 1; return (long)z; }");
    undefined("long f(void) { double _Complex z; return (long)z; }", UndefinedKind::Uninitialised);
}

#[test]
fn static_complex_numbers_fold() {
    let check = |source: &str, expected| check(&format!("#include <complex.h>\n{source}"), expected);
    check(
        "static double _Complex g = 1 + 2.0i, t[2] = {3, -4.0i}; long f(void) { g += t[1]; return creal(g + t[0]) * 100 + cimag(g); }",
        398,
    );
    check("float _Complex g = 1 + 2 * I; long f(void) { return creal(g) * 10 + cimag(g); }", 12);
    check(
        "struct { int n; long double _Complex z; } g = {1, 2.5}; long f(void) { return __real__ g.z * 2 + sizeof g; }",
        53,
    );
    check("double _Complex g = CMPLX(1, -0.0); long f(void) { return 1 / cimag(g) < 0; }", 1);
    unmodelled("double _Complex g = 1 - 0.0i; long f(void) { return 1 / __imag__ g < 0; }");
    unmodelled("double _Complex g = (0.1 + 0.3i) * (0.7 + 0.9i); long f(void) { return __imag__ g; }");
}

#[test]
fn vectors_are_their_lanes() {
    let check = |body: &str, expected| {
        check(
            &format!(
                "typedef int four __attribute__((vector_size(16))); typedef unsigned char eight __attribute__((vector_size(8))); typedef double two __attribute__((vector_size(16))); typedef unsigned ufour __attribute__((vector_size(16))); long f(void) {{ {body} }}"
            ),
            expected,
        )
    };
    check("four v = {1, 2, 3, 4}, u = v + (four){10, 20, 30, 40}; return u[0] + u[3] * 100;", 4411);
    check("four v = {1, 2}; return v[0] * 1000 + v[1] * 100 + v[2] + v[3];", 1200);
    check("four v = {1, 2, 3, 4}; v = v * 3 - 1; v += 1; v <<= 1; return v[1] * 100 + v[3];", 1224);
    check("four v = {1, 2, 3, 4}; v[2] = 9; int i = 2; return v[i] + (-v)[0] + (~v)[1];", 5);
    check(
        "four v = {1, 2, 3, 4}, u = {1, 3, 3, 1}; four w = v == u, x = v > u; return w[0] + 10 * w[1] + 100 * x[3];",
        -101,
    );
    check("four v = {7, 8, 9, 10}; return (v & 3)[0] + (v | 16)[1] + (v ^ 1)[2];", 35);
    check("four v = {2147483647, 1, 1, 1}; v++; return v[0];", -2147483648);
    check("eight v = {250, 1}; v += 10; return v[0] * 100 + v[1];", 411);
    check("two v = {0.5, 2}; v *= 3; two u = -v; return u[0] * 2 + u[1] * 10;", -63);
    check(
        "two v = {0.5, 2}; typedef long mask __attribute__((vector_size(16))); mask m = v < 1; return m[0] * 10 + m[1];",
        -10,
    );
    check("ufour v = {4294967295u, 1}; four u = (four)v; v >>= 31; return u[0] * 10 + (int)v[0];", -9);
    check("four v = {8, 9, 10, 11}; v /= 3; four u = {8, 9, 10, 11}; u %= 3; return v[0] * 10 + u[0];", 22);
    check(
        "four a[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}; a[0] = a[1]; struct { four v; } s = {a[0]}; return s.v[3];",
        8,
    );
    check("four v = {1, 2, 3, 4}, u = {5}; int c = 1; return (c ? v : u)[0] * 10 + (c ? u : v)[0];", 15);
    check("four v = {1, 2, 3, 4}; int *p = (int *)&v; p[1] = 7; return v[1] + sizeof v;", 23);
    check("four v = {1, 1, 1, 1}, n = {0, 1, 2, 3}; v = v << n; return v[3] * 10 + (-v >> 1)[3];", 76);
}

#[test]
fn what_is_not_modelled_of_vectors() {
    let start = "typedef int four __attribute__((vector_size(16))); typedef float real __attribute__((vector_size(16))); typedef char narrow __attribute__((vector_size(16)));";
    for body in [
        "four v = {1, 2, 3, 4}, m = {3, 2, 1, 0}; v = __builtin_shuffle(v, m); return v[0];",
        "real v = {1, 2, 3, 4}; four u = __builtin_convertvector(v, four); return u[0];",
        "real v = {1, 2, 3, 4}; four u = (four)v; return u[0];",
        "narrow v = {1, 2}; v /= 2; return v[0];",
        "narrow v = {1, 2}; v = v << v; return v[0];",
    ] {
        unmodelled(&format!("{start} long f(void) {{ {body} }}"));
    }
}

/// What GCC gives, at every level of optimisation, for all kinds of halves: zeros of both signs, infinities, NaN.
#[test]
fn halves_are_computed_as_compilers_do() {
    let all = |part: &str, value: &str, expected| {
        let source = "#include <complex.h>
static unsigned long note(unsigned long h, T x) { union { double d; unsigned long b; } u; u.d = x; return h * 31 + (x != x ? 7 : u.b >> 3); }
long f(void) { T t[] = {0.0, -0.0, 1, -2.5, 1e30, 1 / 0.0, -1 / 0.0, 0.0 / 0.0}; unsigned long h = 0;
for (int i = 0; i < 4096; i += 5) { T _Complex z, w; __real__ z = t[i & 7]; __imag__ z = t[i >> 3 & 7]; __real__ w = t[i >> 6 & 7]; __imag__ w = t[i >> 9]; T x = __real__ w; T _Complex p = VALUE; h = note(note(h, __real__ p), __imag__ p); }
return h >> 1; }";
        check(&source.replace("VALUE", value).replace("T ", &format!("{part} ")), expected);
    };
    all("double", "z * w", 1807236215217577860);
    all("double", "z * x", 275501703085861566);
    all("double", "x * z", 275501703085861566);
    all("double", "x - z", 7549912823289652419);
    all("double", "z - x", 2361766052558841027);
    all("double", "x + z", 8625320666674982);
    all("double", "z + x", 8625320666674982);
    all("double", "z - w", 5244196695643207712);
    all("double", "z / x", 7264231795420297842);
    all("double", "-z + ~w", 5652140931382233981);
    all("double", "z * w * x", 4772158704333355925);
    all("float", "z * w", 6828579057101297010);
    all("float", "x - z", 1190776693754821542);
    all("float", "z / x", 6716284142857763420);
    all("long double", "z * w", 1591814416341532549);
    all("long double", "x - z", 7549912823289652419);
    all("long double", "z / x", 7264231795420297842);
}

/// What GCC gives, at every level of optimisation.
#[test]
fn lanes_are_computed_as_compilers_do() {
    let all = |lane: &str, value: &str, expected| {
        let source = "typedef T V __attribute__((vector_size(16)));
long f(void) { unsigned long h = 0, s = 12345; for (int i = 0; i < 40; i++) { V v = {0}, w = {0}; for (int k = 0; k < 16 / (int)sizeof(T); k++) { s = s * 6364136223846793005u + 1442695040888963407u; v[k] = (T)(long)(s >> 40); s = s * 6364136223846793005u + 1442695040888963407u; w[k] = (T)(long)(s >> 58) + 1; if (i % 3 == 0) w[k] = v[k]; }
__typeof__(VALUE) p = VALUE; for (int k = 0; k < 16 / (int)sizeof(T); k++) h = h * 31 + (unsigned long)(long)p[k]; }
return h >> 1; }";
        let source =
            source.replace("typedef T ", &format!("typedef {lane} ")).replace("(T)", &format!("({lane})"));
        check(&source.replace("VALUE", value), expected);
    };
    all("signed char", "v + w * v - w", 6733113875678053425);
    all("signed char", "v < w", 4808818615209220586);
    all("signed char", "v == w", 6036405312831108368);
    all("signed char", "v >= w", 8750277644034019862);
    all("signed char", "(v & w) ^ (v | ~w)", 6295144264184659207);
    all("signed char", "-v", 4689841273716555835);
    all("signed char", "v << 3", 7314664081294227240);
    all("signed char", "v >> 5", 1011526165417741460);
    all("unsigned short", "v + w * v - w", 4900275197790361399);
    all("unsigned short", "v == w", 1368483720390282368);
    all("unsigned short", "v >= w", 4248281198750250496);
    all("unsigned short", "(v & w) ^ (v | ~w)", 1234463067062217203);
    all("unsigned short", "-v", 3508448031923910276);
    all("unsigned short", "v << 3", 7493167794448255968);
    all("unsigned short", "v >> 5", 8172574368915066692);
    all("int", "v + w * v - w", 9126626899228099438);
    all("int", "v == w", 3399109316397024832);
    all("int", "v >= w", 8850264215767440128);
    all("int", "(v & w) ^ (v | ~w)", 6270743783671412815);
    all("int", "-v", 689707852508348669);
    all("int", "v << 3", 3705709216787986456);
    all("int", "v >> 5", 3236209310012525814);
    all("int", "v / w + v % w", 6088404636702984648);
    all("int", "v >> (w & 15)", 8230880827213399803);
    all("int", "v << (w & 15)", 7230940107554347923);
    all("unsigned", "v + w * v - w", 7821565221214094190);
    all("unsigned", "v == w", 3399109316397024832);
    all("unsigned", "v >= w", 8850264215767440128);
    all("unsigned", "(v & w) ^ (v | ~w)", 8780556095442204751);
    all("unsigned", "-v", 3199520164279140605);
    all("unsigned", "v << 3", 3705709216787986456);
    all("unsigned", "v >> 5", 3236209310012525814);
    all("unsigned", "v / w + v % w", 6088404636702984648);
    all("unsigned", "v >> (w & 15)", 8230880827213399803);
    all("unsigned", "v << (w & 15)", 1280766765854808979);
    all("long", "v + w * v - w", 4020340933455187525);
    all("long", "v == w", 6938259559073121056);
    all("long", "v >= w", 1621250426897771904);
    all("long", "(v & w) ^ (v | ~w)", 4937607472662409174);
    all("long", "-v", 8441882606843958755);
    all("long", "v << 3", 6251915440086536424);
    all("long", "v >> 5", 7896919432833617097);
    all("long", "v / w + v % w", 3176938258277793736);
    all("long", "v >> (w & 15)", 5220586580295534339);
    all("long", "v << (w & 15)", 6409513167470584855);
    all("unsigned long", "v + w * v - w", 4020340933455187525);
    all("unsigned long", "v == w", 6938259559073121056);
    all("unsigned long", "v >= w", 1621250426897771904);
    all("unsigned long", "(v & w) ^ (v | ~w)", 4937607472662409174);
    all("unsigned long", "-v", 8441882606843958755);
    all("unsigned long", "v << 3", 6251915440086536424);
    all("unsigned long", "v >> 5", 7896919432833617097);
    all("unsigned long", "v / w + v % w", 3176938258277793736);
    all("unsigned long", "v >> (w & 15)", 5220586580295534339);
    all("unsigned long", "v << (w & 15)", 6409513167470584855);
    all("float", "v + w * v - w", 5448401806417434538);
    all("float", "v == w", 3399109316397024832);
    all("float", "v >= w", 8850264215767440128);
    all("float", "v / w * -v", 4807530259453526693);
    all("double", "v + w * v - w", 4020340933455187525);
    all("double", "v == w", 6938259559073121056);
    all("double", "v >= w", 1621250426897771904);
    all("double", "v / w * -v", 2106066575754901790);
}
