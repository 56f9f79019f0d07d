//! The functions of the library, as data: what a call reads, writes and gives, and what it does to control
//! ([`control`]). Every executor reads this table.
//!
//! One row a function: which pointer arguments it reads or writes through (and does not keep), and
//! which parts of the outside it touches. A function with a row never runs away with a pointer, so
//! locals passed to it stay private. What a row does not say in more detail (`result`) is an
//! uninterpreted function of everything it reads: equal calls have equal results.

pub mod control;

use crate::{App, Const, Expr, Leaf, Op, Rounding, Sort, TermId, TermPool, Uf};

/// How the result follows from the arguments.
#[derive(Clone, Copy)]
pub enum ResultIs {
    /// Uninterpreted function of all that is read.
    Opaque,
    /// Exactly this term of the arguments.
    Term(fn(&mut TermPool, &[TermId]) -> Option<TermId>),
    /// Uninterpreted function of the arguments alone, by the row's name.
    Pure,
}

/// One library function.
pub struct Row {
    pub name: &'static str,
    /// Bits: arguments that point to memory it reads.
    read: u32,
    /// Bits: arguments that point to memory it writes.
    write: u32,
    pub stdin: bool,
    pub out: bool,
    pub world: bool,
    /// Common memory changes in a way that no argument shows.
    pub memory: bool,
    /// May set `errno`.
    pub errno: bool,
    /// A member of the `scanf` family on standard input: writes through its arguments by format.
    pub scans: bool,
    /// A member of the `printf` family on standard output.
    pub prints: bool,
    /// What it writes through its argument, where that is not null, is one pointer.
    pub stores_pointer: bool,
    /// Its result tells of what was read from streams or printed to them.
    pub asks_streams: bool,
    /// Which argument is a format of the `printf` family.
    format: Option<usize>,
    pub result: ResultIs,
}

impl Row {
    /// Which argument is a format of the `printf` family.
    pub fn format_arg(&self) -> Option<usize> {
        self.format
    }

    pub fn reads_arg(&self, k: usize) -> bool {
        self.names_arg(self.read, k)
    }

    pub fn writes_arg(&self, k: usize) -> bool {
        self.names_arg(self.write, k)
    }

    /// Returns whether the function writes through an argument: the null pointer stands for "nothing there"
    /// in every row that allows it, and is undefined in the others.
    pub fn writes_through(&self, k: usize, argument: &Expr) -> bool {
        let is_null = matches!(argument, Expr::Const(c) if c.unsigned() == Some(0));
        self.writes_arg(k) && !is_null
    }

    /// Bit 31 stands for all arguments behind the last one that a bit names: those of `...`.
    fn names_arg(&self, bits: u32, k: usize) -> bool {
        let named = 32 - ((self.read | self.write) & !REST).leading_zeros() as usize;
        k < 31 && bits >> k & 1 == 1 || bits & REST != 0 && k >= named
    }

    /// Returns whether it reads from streams or writes to them.
    pub fn touches_streams(&self) -> bool {
        self.stdin || self.out || self.asks_streams
    }

    /// Returns whether signals may arrive while it runs, or by what it does.
    pub fn waits(&self) -> bool {
        self.world
            && self.errno
            && !matches!(self.name, "malloc" | "calloc" | "realloc" | "signal" | "sigaction")
    }

    /// Returns whether the result follows from the arguments alone.
    pub fn is_pure(&self) -> bool {
        matches!(self.result, ResultIs::Pure | ResultIs::Term(_))
    }

    /// Returns whether a call does nothing but to give what follows from its arguments: `errno` is left alone, too.
    pub fn only_computes(&self) -> bool {
        self.is_pure() && !self.errno && !self.has_effect()
    }

    /// Returns whether the function does more than to compute its result.
    pub fn has_effect(&self) -> bool {
        self.write != 0 || self.stdin || self.out || self.world || self.memory
    }

    /// Returns whether the argument is a pointer that must not be null, whatever the other arguments are (C17, 7.1.4
    /// and 7.24.1; `free`, `realloc`, `strtol` and `snprintf` allow for it).
    pub fn needs_pointer(&self, k: usize) -> bool {
        let which: &[usize] = match self.name {
            "strlen" | "strdup" | "strndup" | "strchr" | "strrchr" | "atoi" | "atol" | "atoll" | "atof"
            | "puts" | "fclose" | "fgetc" | "getc" | "feof" | "ferror" | "ftell" | "rewind" | "fseek"
            | "memset" | "memchr" | "sprintf" | "fprintf" | "sscanf" | "fscanf" => &[0],
            "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "strcpy" | "strncpy" | "strcat"
            | "strncat" | "strstr" | "strspn" | "strcspn" | "strpbrk" | "memcpy" | "memmove" | "memcmp"
            | "fputs" | "fopen" => &[0, 1],
            "fputc" | "putc" => &[1],
            "fgets" => &[0, 2],
            "fread" | "fwrite" => &[3],
            _ => &[],
        };
        which.contains(&k)
    }

    /// Returns whether the function may use the argument as a pointer, without keeping it.
    pub fn borrows(&self, k: usize) -> bool {
        self.reads_arg(k) || self.writes_arg(k)
    }
}

const fn base(name: &'static str) -> Row {
    Row {
        name,
        read: 0,
        write: 0,
        stdin: false,
        out: false,
        world: false,
        memory: false,
        errno: false,
        scans: false,
        prints: false,
        stores_pointer: false,
        asks_streams: false,
        format: None,
        result: ResultIs::Opaque,
    }
}

const REST: u32 = 1 << 31;

const fn pure(name: &'static str) -> Row {
    Row { result: ResultIs::Pure, ..base(name) }
}

const fn term(name: &'static str, f: fn(&mut TermPool, &[TermId]) -> Option<TermId>) -> Row {
    Row { result: ResultIs::Term(f), ..base(name) }
}

const fn reads(name: &'static str, read: u32) -> Row {
    Row { read, ..base(name) }
}

const fn writes(name: &'static str, read: u32, write: u32) -> Row {
    Row { read, write, ..base(name) }
}

/// Reads a number at the beginning of a text and stores where that ends.
const fn number(name: &'static str) -> Row {
    Row { errno: true, stores_pointer: true, ..writes(name, 1, 2) }
}

/// Prints by the format at this place.
const fn formatted(format: usize, row: Row) -> Row {
    Row { format: Some(format), ..row }
}

/// Tells of streams, and changes nothing that was read or printed.
const fn asks(row: Row) -> Row {
    Row { asks_streams: true, ..row }
}

/// A mathematical function that may fail.
const fn math(name: &'static str) -> Row {
    Row { errno: true, ..pure(name) }
}

/// May set `errno`, beside what the row says.
const fn may_fail(row: Row) -> Row {
    Row { errno: true, ..row }
}

/// Works on streams: what they hold is part of the world, and any of them may be a standard one.
const fn stream(name: &'static str, read: u32, write: u32) -> Row {
    Row { read, write, stdin: true, out: true, world: true, errno: true, ..base(name) }
}

/// Asks the operating system.
const fn system(name: &'static str, read: u32, write: u32) -> Row {
    Row { read, write, world: true, errno: true, ..base(name) }
}

/// Symbol that stands for `errno`, which no pointer of a program leads to but `__errno_location()`.
pub const ERRNO: &str = "\\errno";

/// Returns the row of a library function.
pub fn row(name: &str) -> Option<&'static Row> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    ROWS.iter().find(|r| r.name == name)
}

/// Returns all rows, in their order.
pub fn rows() -> &'static [Row] {
    ROWS
}

static ROWS: &[Row] = &[
    // Output.
    formatted(0, Row { read: 1 | REST, out: true, prints: true, ..base("printf") }),
    Row { read: 1, out: true, ..base("puts") },
    Row { out: true, ..base("putchar") },
    // Input.
    Row { read: 1, write: REST, stdin: true, scans: true, ..base("scanf") },
    Row { stdin: true, ..base("getchar") },
    // Arithmetic that IEEE or C fixes.
    term("fabs", |p, a| float1(p, a, Sort::F64, Op::FAbs)),
    term("fabsf", |p, a| float1(p, a, Sort::F32, Op::FAbs)),
    may_fail(term("sqrt", |p, a| float1(p, a, Sort::F64, Op::FSqrt))),
    may_fail(term("sqrtf", |p, a| float1(p, a, Sort::F32, Op::FSqrt))),
    term("floor", |p, a| float1(p, a, Sort::F64, Op::FRound(Rounding::Floor))),
    term("floorf", |p, a| float1(p, a, Sort::F32, Op::FRound(Rounding::Floor))),
    term("ceil", |p, a| float1(p, a, Sort::F64, Op::FRound(Rounding::Ceil))),
    term("ceilf", |p, a| float1(p, a, Sort::F32, Op::FRound(Rounding::Ceil))),
    term("trunc", |p, a| float1(p, a, Sort::F64, Op::FRound(Rounding::Trunc))),
    term("truncf", |p, a| float1(p, a, Sort::F32, Op::FRound(Rounding::Trunc))),
    term("round", |p, a| float1(p, a, Sort::F64, Op::FRound(Rounding::Away))),
    term("roundf", |p, a| float1(p, a, Sort::F32, Op::FRound(Rounding::Away))),
    term("rint", |p, a| float1(p, a, Sort::F64, Op::FRound(Rounding::Even))),
    term("rintf", |p, a| float1(p, a, Sort::F32, Op::FRound(Rounding::Even))),
    term("nearbyint", |p, a| float1(p, a, Sort::F64, Op::FRound(Rounding::Even))),
    may_fail(term("fmod", |p, a| float2(p, a, Sort::F64, Op::FRem))),
    may_fail(term("fmodf", |p, a| float2(p, a, Sort::F32, Op::FRem))),
    term("fmin", |p, a| float2(p, a, Sort::F64, Op::FMin)),
    term("fminf", |p, a| float2(p, a, Sort::F32, Op::FMin)),
    term("fmax", |p, a| float2(p, a, Sort::F64, Op::FMax)),
    term("fmaxf", |p, a| float2(p, a, Sort::F32, Op::FMax)),
    term("copysign", |p, a| float2(p, a, Sort::F64, Op::FCopysign)),
    term("copysignf", |p, a| float2(p, a, Sort::F32, Op::FCopysign)),
    term("fabsl", |p, a| float1(p, a, Sort::F80, Op::FAbs)),
    may_fail(term("sqrtl", |p, a| float1(p, a, Sort::F80, Op::FSqrt))),
    term("floorl", |p, a| float1(p, a, Sort::F80, Op::FRound(Rounding::Floor))),
    term("ceill", |p, a| float1(p, a, Sort::F80, Op::FRound(Rounding::Ceil))),
    term("truncl", |p, a| float1(p, a, Sort::F80, Op::FRound(Rounding::Trunc))),
    term("roundl", |p, a| float1(p, a, Sort::F80, Op::FRound(Rounding::Away))),
    term("rintl", |p, a| float1(p, a, Sort::F80, Op::FRound(Rounding::Even))),
    term("nearbyintl", |p, a| float1(p, a, Sort::F80, Op::FRound(Rounding::Even))),
    may_fail(term("fmodl", |p, a| float2(p, a, Sort::F80, Op::FRem))),
    term("fminl", |p, a| float2(p, a, Sort::F80, Op::FMin)),
    term("fmaxl", |p, a| float2(p, a, Sort::F80, Op::FMax)),
    term("copysignl", |p, a| float2(p, a, Sort::F80, Op::FCopysign)),
    term("abs", |p, a| integer_abs(p, a, 32)),
    term("labs", |p, a| integer_abs(p, a, 64)),
    term("llabs", |p, a| integer_abs(p, a, 64)),
    // Characters, C locale.
    term("isdigit", |p, a| in_ranges(p, a, "isdigit", &[(b'0', b'9')])),
    term("isupper", |p, a| in_ranges(p, a, "isupper", &[(b'A', b'Z')])),
    term("islower", |p, a| in_ranges(p, a, "islower", &[(b'a', b'z')])),
    term("tolower", |p, a| shift_case(p, a, b'A', b'Z', 32)),
    term("toupper", |p, a| shift_case(p, a, b'a', b'z', -32)),
    pure("isalpha"),
    pure("isalnum"),
    pure("isspace"),
    pure("isblank"),
    pure("ispunct"),
    pure("isprint"),
    pure("isxdigit"),
    pure("iscntrl"),
    pure("isgraph"),
    // Other mathematics: functions of their arguments, nothing more is known.
    math("sin"),
    math("cos"),
    math("tan"),
    math("asin"),
    math("acos"),
    pure("atan"),
    math("atan2"),
    math("sinh"),
    math("cosh"),
    pure("tanh"),
    math("exp"),
    math("exp2"),
    math("log"),
    math("log2"),
    math("log10"),
    math("pow"),
    math("powf"),
    math("sinf"),
    math("cosf"),
    math("expf"),
    math("logf"),
    math("sinl"),
    math("cosl"),
    pure("atanl"),
    math("expl"),
    math("logl"),
    math("powl"),
    pure("cbrt"),
    math("hypot"),
    // Strings and bytes.
    reads("strlen", 1),
    reads("strcmp", 3),
    reads("strncmp", 3),
    reads("strcasecmp", 3),
    reads("strncasecmp", 3),
    reads("memcmp", 3),
    reads("strnlen", 1),
    reads("strchr", 1),
    reads("strrchr", 1),
    reads("strstr", 3),
    reads("strcasestr", 3),
    reads("strspn", 3),
    reads("strcspn", 3),
    reads("strpbrk", 3),
    reads("memchr", 1),
    reads("memrchr", 1),
    reads("strcoll", 3),
    reads("atoi", 1),
    reads("atol", 1),
    reads("atoll", 1),
    may_fail(reads("atof", 1)),
    number("strtol"),
    number("strtoll"),
    number("strtoul"),
    number("strtoull"),
    number("strtod"),
    number("strtof"),
    number("strtold"),
    first("memcpy", 2, 1),
    first("memmove", 2, 1),
    first("memset", 0, 1),
    first("strcpy", 2, 1),
    first("strncpy", 2, 1),
    first("strcat", 3, 1),
    first("strncat", 3, 1),
    writes("bzero", 0, 1),
    may_fail(formatted(1, writes("sprintf", 2 | REST, 1))),
    may_fail(formatted(2, writes("snprintf", 4 | REST, 1))),
    may_fail(formatted(1, writes("vsprintf", 2 | 4, 1 | 4))),
    may_fail(formatted(2, writes("vsnprintf", 4 | 8, 1 | 8))),
    may_fail(writes("sscanf", 3, REST)),
    may_fail(writes("__isoc99_sscanf", 3, REST)),
    // Further arguments: what a list stands for follows from what it holds. That `va_start` gives the same
    // list in each call of it is so in one function, and variadic ones are not inlined.
    writes("va_start", 0, 1),
    writes("va_copy", 2, 1),
    writes("va_arg", 1, 1),
    reads("va_end", 1),
    // Objects. What they are made of is part of the world; an object that is gone is not looked at.
    Row { world: true, ..base("alloca") },
    Row { world: true, errno: true, ..base("malloc") },
    Row { world: true, errno: true, ..base("calloc") },
    Row { world: true, ..writes("free", 0, 1) },
    Row { world: true, memory: true, errno: true, ..writes("realloc", 1, 1) },
    Row { world: true, memory: true, errno: true, ..reads("strdup", 1) },
    Row { world: true, memory: true, errno: true, ..reads("strndup", 1) },
    // Streams.
    stream("fopen", 3, 0),
    stream("fdopen", 2, 0),
    stream("freopen", 3, 0),
    stream("fclose", 0, 0),
    stream("fflush", 0, 0),
    formatted(1, stream("fprintf", 2 | REST, 0)),
    formatted(1, stream("vfprintf", 2 | 4, 4)),
    formatted(0, stream("vprintf", 1 | 2, 2)),
    formatted(1, stream("dprintf", 2 | REST, 0)),
    stream("fputs", 1, 0),
    stream("fputc", 0, 0),
    stream("putc", 0, 0),
    stream("fwrite", 1, 0),
    stream("fread", 0, 1),
    stream("fgets", 0, 1),
    stream("fgetc", 0, 0),
    stream("getc", 0, 0),
    stream("ungetc", 0, 0),
    stream("fscanf", 2, REST),
    stream("fseek", 0, 0),
    stream("fseeko", 0, 0),
    stream("rewind", 0, 0),
    // It prints what `errno` says, which is in common memory.
    Row { memory: true, ..stream("perror", 1, 0) },
    asks(system("ftell", 0, 0)),
    asks(system("ftello", 0, 0)),
    system("fileno", 0, 0),
    asks(Row { world: true, ..base("feof") }),
    asks(Row { world: true, ..base("ferror") }),
    Row { world: true, ..base("clearerr") },
    // The operating system.
    stream("read", 0, 2),
    stream("write", 2, 0),
    stream("close", 0, 0),
    system("open", 1, 0),
    system("creat", 1, 0),
    // Of a standard stream, too.
    stream("lseek", 0, 0),
    stream("ftruncate", 0, 0),
    system("truncate", 1, 0),
    system("fsync", 0, 0),
    system("isatty", 0, 0),
    system("unlink", 1, 0),
    system("remove", 1, 0),
    system("rename", 3, 0),
    system("mkdir", 1, 0),
    system("rmdir", 1, 0),
    system("chdir", 1, 0),
    system("chmod", 1, 0),
    system("access", 1, 0),
    system("stat", 1, 2),
    system("lstat", 1, 2),
    system("fstat", 0, 2),
    system("utime", 3, 0),
    system("ioctl", 4, 4),
    system("fcntl", 4, 4),
    system("tcgetattr", 0, 2),
    system("tcsetattr", 4, 0),
    system("time", 0, 1),
    system("clock", 0, 0),
    system("gettimeofday", 0, 3),
    system("usleep", 0, 0),
    system("sleep", 0, 0),
    system("nanosleep", 1, 2),
    system("clock_gettime", 0, 2),
    system("getpid", 0, 0),
    system("getppid", 0, 0),
    system("getuid", 0, 0),
    system("geteuid", 0, 0),
    system("dup", 0, 0),
    stream("dup2", 0, 0),
    system("pipe", 0, 1),
    system("poll", 1, 1),
    system("select", 2 | 4 | 8 | 16, 2 | 4 | 8 | 16),
    system("pread", 0, 2),
    system("pwrite", 2, 0),
    system("link", 3, 0),
    system("symlink", 3, 0),
    system("readlink", 1, 2),
    system("chown", 1, 0),
    system("fchmod", 0, 0),
    system("umask", 0, 0),
    system("mkstemp", 1, 1),
    system("setenv", 3, 0),
    system("unsetenv", 1, 0),
    system("socket", 0, 0),
    system("bind", 2, 0),
    system("connect", 2, 0),
    system("listen", 0, 0),
    system("accept", 2 | 4, 2 | 4),
    system("shutdown", 0, 0),
    system("send", 2, 0),
    system("recv", 0, 2),
    system("sendto", 2 | 16, 0),
    system("recvfrom", 32, 2 | 16 | 32),
    system("setsockopt", 8, 0),
    system("getsockopt", 16, 8 | 16),
    // Handlers run at another time: `raise` and `kill`, which may call them, have no row.
    system("signal", 0, 0),
    system("atexit", 0, 0),
    system("sigaction", 2, 4),
    system("sigprocmask", 2, 4),
    system("sigemptyset", 0, 1),
    system("sigfillset", 0, 1),
    system("sigaddset", 1, 1),
    system("mktime", 1, 1),
    system("strftime", 4 | 8, 1),
    Row { world: true, ..base("rand") },
    Row { world: true, ..base("random") },
    Row { world: true, ..base("srand") },
    Row { world: true, ..base("srandom") },
    term("__errno_location", errno_location),
];

/// Where `errno` is.
fn errno_location(p: &mut TermPool, _: &[TermId]) -> Option<TermId> {
    Some(p.leaf(Leaf::SymbolAddr { symbol: ERRNO.into(), bits: 64 }))
}

/// Returns the first argument.
const fn first(name: &'static str, read: u32, write: u32) -> Row {
    Row { read, write, ..term(name, |_, a| a.first().copied()) }
}

fn float1(p: &mut TermPool, a: &[TermId], sort: Sort, op: Op) -> Option<TermId> {
    let [x] = a else { return None };
    (p.sort(*x) == sort).then(|| p.op(op, &[*x]))
}

fn float2(p: &mut TermPool, a: &[TermId], sort: Sort, op: Op) -> Option<TermId> {
    let [x, y] = a else { return None };
    (p.sort(*x) == sort && p.sort(*y) == sort).then(|| p.op(op, &[*x, *y]))
}

fn integer_abs(p: &mut TermPool, a: &[TermId], width: u16) -> Option<TermId> {
    let [x] = a else { return None };
    if p.sort(*x) != Sort::Bv(width) {
        return None;
    }
    let zero = p.bv(width, 0);
    let negative = p.op(Op::Slt, &[*x, zero]);
    let minus = p.op(Op::Neg, &[*x]);
    Some(p.ite(negative, minus, *x))
}

fn range(p: &mut TermPool, x: TermId, low: u8, high: u8) -> TermId {
    let (l, h) = (p.bv(32, low as i128), p.bv(32, high as i128));
    let above = p.op(Op::Sle, &[l, x]);
    let below = p.op(Op::Sle, &[x, h]);
    p.and(above, below)
}

/// A predicate that yields some nonzero value inside the ranges and zero outside.
fn in_ranges(p: &mut TermPool, a: &[TermId], name: &str, ranges: &[(u8, u8)]) -> Option<TermId> {
    let c = membership(p, a, ranges)?;
    let opaque = p.app(App::Uf(Uf::Library { name: name.into(), sort: Sort::Bv(32) }), a);
    let (zero, one) = (p.bv(32, 0), p.bv(32, 1));
    let is_zero = p.eq(opaque, zero);
    let nonzero = p.ite(is_zero, one, opaque);
    Some(p.ite(c, nonzero, zero))
}

fn membership(p: &mut TermPool, a: &[TermId], ranges: &[(u8, u8)]) -> Option<TermId> {
    let [x] = a else { return None };
    if p.sort(*x) != Sort::Bv(32) {
        return None;
    }
    let mut any = p.constant(Const::FALSE);
    for &(l, h) in ranges {
        let r = range(p, *x, l, h);
        any = p.or(any, r);
    }
    Some(any)
}

fn shift_case(p: &mut TermPool, a: &[TermId], low: u8, high: u8, by: i128) -> Option<TermId> {
    let c = membership(p, a, &[(low, high)])?;
    let [x] = a else { return None };
    let x = *x;
    let k = p.bv(32, by);
    let moved = p.op(Op::Add, &[x, k]);
    Some(p.ite(c, moved, x))
}
