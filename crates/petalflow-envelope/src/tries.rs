//! Trying again, as the nodes over an envelope do.

use std::future::Future;
use std::time::Duration;

use crate::RetryPolicy;

/// How the last try failed.
pub(super) enum Failed<E> {
    /// With this error, after so many tries.
    Error(E, u32),
    /// All tries together took too long.
    Late,
}

/// What may be tried again.
pub(super) trait Trouble {
    /// Whether trying again may help.
    fn may_pass(&self) -> bool;

    /// How long to wait at least.
    fn wait(&self) -> Option<Duration> {
        None
    }
}

/// Tries until it succeeds, cannot, or the time is over. `attempt` gets its number, from 1.
pub(super) async fn tries<T, E: Trouble, F: Future<Output = Result<T, E>>>(
    policy: RetryPolicy,
    timeout: Duration,
    attempt: impl Fn(u32) -> F,
) -> Result<T, Failed<E>> {
    let all = async {
        let mut number = 1;
        loop {
            let error = match attempt(number).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if number >= policy.attempts || !error.may_pass() {
                return Err(Failed::Error(error, number));
            }
            let asked = error.wait().unwrap_or_default();
            tokio::time::sleep(policy.wait_after(number).max(asked)).await;
            number += 1;
        }
    };
    if timeout.is_zero() {
        return all.await;
    }
    let ended = tokio::time::timeout(timeout, all).await;
    ended.unwrap_or(Err(Failed::Late))
}
