//! What runs before `main` and after it: constructors, destructors, functions that `atexit` and its like
//! registered. A run of another function than `main` is one of a part of a program: only `exit` ends it.

use super::ids::DefinitionId;
use super::left::Handler;
use super::library::Arguments;
use super::machine::Machine;
use super::resolve::code_of;
use super::stop::{Leaving, Run, Stop};
use crate::ir::Const;

impl Machine<'_> {
    /// Registers a function; what it returns is the call's result. In a run of a part of a program, what
    /// is registered is something that a caller can see.
    pub fn register(&mut self, a: &Arguments<'_>, handler: Handler) -> Run<Option<Const>> {
        let quick = a.name == "at_quick_exit";
        let entry = self.stack.frames.first().and_then(|f| self.program.function_of(f.definition));
        let is_program = entry.is_some_and(|f| &*f.name == "main") || self.stack.before_main;
        let list = if quick { &mut self.left.at_quick_exit } else { &mut self.left.at_exit };
        list.push(handler);
        let result = if is_program { 0 } else { self.external(a, a.name) };
        a.integer(result)
    }

    /// Runs what runs before `main`.
    pub(super) fn run_constructors(&mut self) -> Run<()> {
        if self.program.is_opaque() {
            return Err(Stop::Unsupported("what the linker is told beside C".into()));
        }
        let (constructors, depends) = self.program.constructors();
        self.noted.platform_dependent |= depends;
        self.stack.before_main = true;
        for definition in constructors {
            self.run_hook(definition)?;
        }
        self.stack.before_main = false;
        Ok(())
    }

    fn run_hook(&mut self, definition: DefinitionId) -> Run<()> {
        let code = code_of(self.program, definition).filter(|c| c.params.is_empty());
        let code = code.ok_or_else(|| Stop::Unsupported("a constructor with parameters".into()))?;
        self.stack.callbacks += 1;
        let floor = self.stack.frames.len();
        self.push_frame(definition, code, &[], &[], None, None)?;
        self.execute(floor, None)?;
        self.stack.callbacks -= 1;
        Ok(())
    }

    /// Runs what runs at the end of a program, and flushes its streams.
    pub(super) fn finish(&mut self, status: i32, leaving: Leaving) -> Run<()> {
        let result = self.handed.result;
        match leaving {
            Leaving::AtOnce => return Ok(()),
            Leaving::Quick => {
                while let Some(handler) = self.left.at_quick_exit.pop() {
                    self.callback(handler.function, &[])?;
                }
                return Ok(());
            }
            Leaving::Exit => {}
        }
        let bits = self.program.pointer_bits();
        while let Some(Handler { function, argument }) = self.left.at_exit.pop() {
            let arguments = argument.map(|a| [Const::bv(32, status.into()), Const::bv(bits, a as i128)]);
            self.callback(function, arguments.as_ref().map_or(&[], |a| &a[..]))?;
        }
        let (destructors, depends) = self.program.destructors();
        self.noted.platform_dependent |= depends;
        for definition in destructors {
            self.run_hook(definition)?;
        }
        self.handed.result = result;
        self.streams.flush();
        Ok(())
    }
}
