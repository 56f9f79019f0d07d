//! A Z3 context of one's own.
//!
//! The z3 crate makes every constant, sort and parameter set in a context that it keeps for each
//! thread. Earlier queries change the later models and costs of a context, so every function's
//! analysis gets a fresh one (`docs/design/solver.md`) and enters it for the time of each call.

use z3::{Config, Context, with_z3_config, with_z3_context};

/// Lets a closure or its result through bounds that the z3 crate sets for the case that they travel
/// to another thread.
struct OnThisThread<T>(T);

// SAFETY: values of this type are made below only and handed to `with_z3_config` and
// `with_z3_context` only; both call the closure once, on the calling thread, before they return, and
// give its result back on that thread. Nothing is ever sent or shared.
unsafe impl<T> Send for OnThisThread<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for OnThisThread<T> {}

impl<T> OnThisThread<T> {
    /// Takes the whole wrapper, so that closures capture it and not the field.
    fn take(self) -> T {
        self.0
    }
}

/// Makes a context that no query has touched, in which every check may cost `rlimit` resource
/// units. The parameter of this name of a single solver has no effect in Z3 4.8.12.
pub(super) fn fresh(rlimit: u64) -> Context {
    let mut config = Config::new();
    config.set_model_generation(true);
    config.set_param_value("rlimit", &text(rlimit));
    with_z3_config(&config, || OnThisThread(Context::thread_local())).take()
}

/// Sets what every further check may cost.
pub(super) fn limit_to(context: &mut Context, rlimit: u64) {
    context.update_param_value("rlimit", &text(rlimit));
}

/// A limit as Z3 reads it; 0 would mean none.
fn text(rlimit: u64) -> String {
    rlimit.clamp(1, u64::from(u32::MAX)).to_string()
}

/// Runs `f` with `context` as the one that the z3 crate makes things in.
pub(super) fn within<R>(context: &Context, f: impl FnOnce() -> R) -> R {
    let f = OnThisThread(f);
    with_z3_context(context, move || OnThisThread(f.take()())).take()
}
