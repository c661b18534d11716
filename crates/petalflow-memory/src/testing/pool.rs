//! Threads for the concurrency cases.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use petalflow::BoxError;

/// Runs the same work on several threads at once. Returns the results in the order of the threads.
///
/// A current-thread runtime has only one thread, so each piece of work runs on a thread of the blocking pool. Sockets
/// and timers stay with the runtime, which continues to run.
pub(super) async fn at_once<T, F>(
    threads: usize,
    work: impl Fn(usize) -> F,
) -> Result<Vec<T>, BoxError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, BoxError>> + Send + 'static,
{
    let tasks: Vec<_> = (0..threads)
        .map(|index| {
            let (handle, work) = (Handle::current(), work(index));
            spawn_blocking(move || handle.block_on(work))
        })
        .collect();
    let mut results = Vec::with_capacity(threads);
    for task in tasks {
        results.push(task.await??);
    }
    Ok(results)
}
