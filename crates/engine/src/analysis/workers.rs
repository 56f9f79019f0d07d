//! Threads with stacks that are large enough.

use super::request::Request;

/// Stack of a worker: evaluation recurses along a function's nodes.
const STACK: usize = 512 << 20;

/// Runs `work` with the worker threads that the request asks for.
pub(super) fn in_pool<T: Send>(request: &Request, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.analysis.jobs).stack_size(STACK).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Runs `work` where it may recurse along a function's nodes.
pub(super) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
