//! What the linker and the run-up to `main` make of functions: other names of theirs, definitions that
//! others may take the place of, functions that nobody calls and that run all the same.

use super::{Function, Unit};
use std::sync::Arc;

/// How a definition is known outside of its unit, and when it runs without being called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The symbol, where an `asm` label gives another one than the name.
    pub label: Option<Arc<str>>,
    /// Another definition of the symbol may be what calls lead to, those of this unit, too: it is
    /// `weak`, or an inline definition beside which an external one stands elsewhere.
    pub replaceable: bool,
    /// It is such an inline definition: a call in its unit leads to it or to the external one.
    pub is_inline: bool,
    /// `__attribute__((constructor))`: runs before `main`, in this order.
    pub before_main: Option<Order>,
    /// `__attribute__((destructor))`: runs after `main` and in `exit`, in the reverse of this order.
    pub after_main: Option<Order>,
    /// What `__attribute__((const))` or `((pure))` promises compilers, where the body may break it: a call may
    /// be left out, or share the result of another one.
    pub promise: Option<Promise>,
    /// Nothing of the body is modelled: hash of its text after preprocessing.
    pub unmodelled: Option<Arc<str>>,
    /// Not every `return` of the text is where the function ends: cleanups run behind it, or it is one of
    /// a nested function.
    pub odd_exits: bool,
}

impl Binding {
    /// Whether the function runs although nobody calls it.
    pub fn is_hook(&self) -> bool {
        self.before_main.is_some() || self.after_main.is_some()
    }
}

/// What calls of a function do beside their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Promise {
    /// They write nothing.
    Pure,
    /// They read nothing, either.
    Const,
}

/// A place in the order of constructors; those without a number come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    Numbered(u16),
    Unnumbered,
}

/// Another name of a function, or of an object, of the unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    pub name: Arc<str>,
    /// Name of the function, or symbol of the object, in this unit.
    pub target: Arc<str>,
    /// A definition elsewhere takes its place.
    pub is_weak: bool,
}

impl Unit {
    /// Returns the function that a call of this name in the unit leads to, whatever it is linked with;
    /// `None`: it is elsewhere, or may be.
    pub fn callee(&self, name: &str) -> Option<&Function> {
        self.meant(name).filter(|(f, is_weak)| !f.binding.replaceable && !is_weak).map(|(f, _)| f)
    }

    /// Returns the function of the unit that a name stands for (its own, its `asm` label's, an alias),
    /// and whether the name is a weak one, beside whatever the function is.
    pub fn meant(&self, name: &str) -> Option<(&Function, bool)> {
        let own = self.function(name).map(|f| (f, false));
        let labelled = || self.functions.iter().find(|f| f.binding.label.as_deref() == Some(name));
        let aliased = || {
            let alias = self.aliases.iter().find(|a| *a.name == *name)?;
            self.function(&alias.target).map(|f| (f, alias.is_weak))
        };
        own.or_else(|| labelled().map(|f| (&**f, false))).or_else(aliased)
    }
}
