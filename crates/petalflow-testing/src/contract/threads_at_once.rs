//! Threads of the operating system, for cases about concurrency.

use std::future::Future;

use petalflow::BoxError;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

/// Runs the same work on several threads at once. Returns their results in the order of the threads.
///
/// A current-thread runtime has one thread, so each piece of work gets a thread for blocking work. Sockets and timers stay with the
/// runtime, which continues to run.
///
/// # Errors
///
/// The first error of the work, in the order of the threads.
pub async fn at_once<T, F>(threads: usize, work: impl Fn(usize) -> F) -> Result<Vec<T>, BoxError>
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
