//! Real threads for the cases about concurrency.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use petalflow::BoxError;

/// Runs the same work on several threads at once and gives their results in the order of the threads.
///
/// A current-thread runtime has one thread only, so each piece of work gets one of those for blocking work; sockets and
/// timers stay with the runtime, which goes on running meanwhile.
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
