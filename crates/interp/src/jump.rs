//! `setjmp` and `longjmp` on the machine's frames.
//!
//! A *landing* is what `setjmp` keeps: the call that it returned from, found again by the buffer's
//! address. What a real library writes into the buffer is nobody's business, so its bytes become
//! indeterminate and a copy of a buffer leads nowhere.
//!
//! `longjmp` ends the frames above the landing's and makes those registers indeterminate that have
//! changed since `setjmp` (C11 7.13.2.1): a compiled program may find either value there. Locals in
//! memory keep what they hold.

use super::addresses::Region;
use super::code::{CodeNode, Step, Target};
use super::machine::{Landing, Machine};
use super::register::Register;
use super::stop::{Run, Stop};
use crate::ir::{Callee, Const, Expr, Instr, Linkage, Object, UndefinedKind};

/// Buffers of active calls that are remembered at once.
const MAX_LANDINGS: usize = 1024;

impl Machine<'_> {
    /// Notes that the call in progress may return again, by `buffer`.
    ///
    /// Errors: `Unsupported` for a call through a pointer, which C does not allow and after which
    /// lowering expects no second return, and for too many buffers.
    pub fn set_jump(&mut self, buffer: u64) -> Run<()> {
        let unsupported = |what: &str| Err(Stop::Unsupported(what.into()));
        let Some(frame) = self.stack.frames.last() else {
            return unsupported("setjmp outside of a function");
        };
        match frame.code.nodes.get(frame.node as usize) {
            Some(CodeNode { step: Step::Call(c), .. }) if matches!(c.target, Target::Library(_)) => {}
            _ => return unsupported("setjmp through a pointer"),
        }
        let registers = self.stack.registers.get(frame.base..).unwrap_or(&[]).to_vec();
        self.memory.add_work((registers.len() * size_of::<Register>()) as u64);
        let landing = Landing {
            frame: self.stack.frames.len() - 1,
            serial: frame.serial,
            node: frame.node,
            registers,
            allocas: frame.allocas.len(),
            callbacks: self.stack.callbacks,
        };
        if self.stack.landings.len() >= MAX_LANDINGS && !self.stack.landings.contains_key(&buffer) {
            let frames = &self.stack.frames;
            self.stack.landings.retain(|_, l| frames.get(l.frame).is_some_and(|f| f.serial == l.serial));
            if self.stack.landings.len() >= MAX_LANDINGS {
                return unsupported("too many setjmp buffers");
            }
        }
        self.stack.landings.insert(buffer, landing);
        Ok(())
    }

    /// Returns whether `longjmp` may go where `buffer` says; `None` when no `setjmp` of this run
    /// filled it.
    pub fn can_jump(&self, buffer: u64) -> Option<bool> {
        let landing = self.stack.landings.get(&buffer)?;
        Some(self.stack.frames.get(landing.frame).is_some_and(|f| f.serial == landing.serial))
    }

    /// Whether no call of `setjmp` can ever have filled a buffer: only its unit can name it, and nothing there calls
    /// one or lets the buffer's address get away but into `longjmp`.
    pub fn is_never_set(&mut self, buffer: u64) -> bool {
        const SETTING: [&str; 5] = ["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp"];
        let Some(found) = self.memory.find(buffer) else { return false };
        let Some(slot) = self.program.slots().get(found.index).filter(|_| found.region == Region::Global)
        else {
            return false;
        };
        let Some(unit) = self.program.unit_of_slot(found.index).and_then(|u| self.program.unit(u)) else {
            return false;
        };
        let is_own = unit.global(&slot.symbol).is_some_and(|g| g.linkage == Linkage::Internal);
        let takes = |instr: &Instr| match instr {
            Instr::Call { callee: Callee::Direct(name), .. } if &**name == "longjmp" => false,
            Instr::Call { callee: Callee::Direct(name), .. } if SETTING.contains(&&**name) => true,
            _ => {
                let mut named = false;
                instr.for_each_expr(&mut |e| {
                    named |= matches!(e, Expr::Addr(Object::Global(symbol)) if *symbol == slot.symbol);
                });
                named
            }
        };
        is_own && !unit.functions.iter().flat_map(|f| &f.nodes).any(|n| takes(&n.instr))
    }

    /// Arrives where a `longjmp` goes, when that is within the frames above `floor`; else the jump
    /// goes on through the library function that called back.
    pub(super) fn land(&mut self, buffer: u64, value: i32, floor: usize) -> Run<()> {
        let above = |l: &Landing| l.frame >= floor;
        let here = self.stack.landings.get(&buffer).is_some_and(above);
        let Some(landing) = here.then(|| self.stack.landings.remove(&buffer)).flatten() else {
            return Err(Stop::Jump { buffer, value });
        };
        while self.stack.frames.len() > landing.frame + 1 {
            self.drop_frame();
        }
        // What an abandoned `qsort` leaves behind is each library's own.
        self.noted.platform_dependent |= self.stack.callbacks != landing.callbacks;
        self.stack.callbacks = landing.callbacks;
        let dead = || Stop::from(UndefinedKind::DeadJump);
        let frame = self.stack.frames.last_mut().ok_or_else(dead)?;
        let (code, base) = (frame.code, frame.base);
        let Some(CodeNode { step: Step::Call(call), succs }) = code.nodes.get(landing.node as usize) else {
            return Err(dead());
        };
        frame.node = succs[0];
        frame.noreturn = false;
        for addr in frame.allocas.drain(landing.allocas.min(frame.allocas.len())..) {
            self.memory.end_local(addr);
        }
        for (now, then) in self.stack.registers.iter_mut().skip(base).zip(&landing.registers) {
            if now != then {
                *now = None;
            }
        }
        self.stack.landings.insert(buffer, landing);
        self.set_result(call, Some(Const::bv(32, value as i128)), base)
    }
}

#[cfg(test)]
mod tests {
    use crate::frontend;
    use crate::history::MemoryTree;
    use crate::ir::UndefinedKind;
    use crate::{End, Input, Limits, Outcome, Program, run};
    use std::path::Path;
    use std::sync::Arc;

    fn outcome(body: &str, entry: &str) -> Outcome {
        let source = format!("#include <setjmp.h>\n#include <stdlib.h>\nstatic jmp_buf b;\n{body}");
        let tree = MemoryTree::new([("t.c", source.as_bytes())]);
        let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
        let f = loaded.unit.function(entry).expect("it is there");
        assert!(f.unknowns.is_empty(), "{:?}", f.unknowns);
        run(&Program::new(vec![Arc::new(loaded.unit)]), entry, &Input::default(), &Limits::default())
    }

    /// Checks what `int f(void)` returns.
    #[track_caller]
    fn check(body: &str, expected: i128) {
        let o = outcome(body, "f");
        assert_eq!((&o.end, o.returned.and_then(|c| c.signed())), (&End::Return, Some(expected)), "{body}");
    }

    #[track_caller]
    fn undefined(body: &str, entry: &str, expected: UndefinedKind) {
        let end = outcome(body, entry).end;
        assert!(matches!(end, End::Undefined { kind, .. } if kind == expected), "{end:?} {body}");
    }

    #[test]
    fn jumps_arrive_behind_their_setjmp() {
        check("int f(void) { int v = setjmp(b); if (v < 3) longjmp(b, v + 1); return v; }", 3);
        check("int f(void) { int v = setjmp(b); if (!v) longjmp(b, 0); return v; }", 1);
        check(
            "static void g(int n) { char big[64]; big[n] = 0; if (n) g(n - 1); longjmp(b, 7); }\n\
             int f(void) { switch (setjmp(b)) { case 0: g(9); case 7: return 5; } return 6; }",
            5,
        );
        // The inner call arms the buffer anew, and the outer one stays where it was.
        check(
            "static jmp_buf c; static int g(void) { if (setjmp(b)) longjmp(c, 4); longjmp(b, 1); }\n\
             int f(void) { int v = setjmp(c); if (v) return v + 10; return g(); }",
            14,
        );
        check(
            "int f(void) { sigjmp_buf s; int v = sigsetjmp(s, 1); if (!v) siglongjmp(s, 8); return v; }",
            8,
        );
    }

    #[test]
    fn only_what_did_not_change_is_kept() {
        let f = |declare: &str| {
            format!("int f(void) {{ {declare} if (!setjmp(b)) {{ x = 2; longjmp(b, 1); }} return x + y; }}")
        };
        check(&f("volatile int x = 1; int y = 3;"), 5);
        check("int f(void) { int x = 1; if (!setjmp(b)) longjmp(b, 1); return x; }", 1);
        undefined(&f("int x = 1, y = 3;"), "f", UndefinedKind::Uninitialised);
    }

    #[test]
    fn calls_that_have_ended_are_no_place_to_go() {
        let dead = UndefinedKind::DeadJump;
        undefined(
            "static int *p; static void g(void) { int l = 1; p = &l; longjmp(b, 1); }\n\
             int f(void) { if (!setjmp(b)) g(); return *p; }",
            "f",
            UndefinedKind::UseAfterFree,
        );
        let arm = "static void arm(void) { setjmp(b); }";
        undefined(&format!("{arm} int f(void) {{ arm(); longjmp(b, 1); }}"), "f", dead);
        // Another call stands where that of `arm` was, even one of the same function.
        let again = "static void g(int n) { if (n) longjmp(b, 1); setjmp(b); }";
        undefined(&format!("{again} int f(void) {{ g(0); g(1); return 0; }}"), "f", dead);
        let handler = "static void bye(void) { longjmp(b, 1); }";
        undefined(
            &format!("{handler} int main(void) {{ atexit(bye); if (!setjmp(b)) exit(3); return 2; }}"),
            "main",
            dead,
        );
        undefined("int main(void) { longjmp(b, 1); }", "main", dead);
    }

    #[test]
    fn buffers_that_nobody_filled() {
        undefined("int f(void) { longjmp(b, 1); }", "f", UndefinedKind::DeadJump);
        // Another unit may fill this one.
        let o = outcome("jmp_buf e; int f(void) { longjmp(e, 1); }", "f");
        assert!(matches!(&o.end, End::NoReturn { callee, .. } if **callee == *"longjmp"), "{:?}", o.end);
        assert_eq!(o.assumed.calls.len(), 1);
        undefined("int f(void) { jmp_buf l; longjmp(l, 1); }", "f", UndefinedKind::Uninitialised);
        undefined("int f(void) { return setjmp(0); }", "f", UndefinedKind::NullDereference);
    }

    #[test]
    fn callbacks_may_be_jumped_out_of() {
        let f = "static int calls;\n\
            static int order(const void *x, const void *y) { if (++calls == 2) longjmp(b, 6); return 0; }\n\
            int f(void) { int a[4] = {4, 3, 2, 1}, v = setjmp(b); if (!v) qsort(a, 4, 4, order);\n\
            if (v == 6) { calls = 10; qsort(a, 4, 4, order); return calls > 11 ? v : 0; } return 1; }";
        check(f, 6);
        assert!(outcome(f, "f").portability.platform_dependent);
        // Each time the callback is over.
        check(
            "static int order(const void *x, const void *y) { longjmp(b, 1); }\n\
             int f(void) { int a[2] = {2, 1}; volatile int n = 0; setjmp(b);\n\
             if (n++ < 99) qsort(a, 2, 4, order); return n; }",
            100,
        );
    }

    #[test]
    fn buffers_are_limited_by_those_of_active_calls() {
        check(
            "static jmp_buf many[3000]; static void arm(jmp_buf p) { setjmp(p); }\n\
             int f(void) { for (int i = 0; i < 3000; i++) arm(many[i]); return 1; }",
            1,
        );
        let o = outcome(
            "static jmp_buf many[3000];\n\
             int f(void) { for (volatile int i = 0; i < 3000; i++) setjmp(many[i]); return 1; }",
            "f",
        );
        assert!(matches!(o.end, End::Unsupported { .. }), "{:?}", o.end);
        let o = outcome("int f(void) { int (*p)(jmp_buf) = setjmp; return p(b); }", "f");
        assert!(matches!(o.end, End::Unsupported { .. }), "{:?}", o.end);
    }
}
