//! Retries of the nodes over an envelope.

use std::future::Future;
use std::time::Duration;

use crate::RetryPolicy;

/// The failure of all attempts.
pub(super) enum Failed<E> {
    /// The last error and the number of attempts.
    Error(E, u32),
    /// All attempts together exceeded the timeout.
    Late,
}

/// An error that may be retried.
pub(super) trait Trouble {
    /// Whether another attempt may succeed.
    fn may_pass(&self) -> bool;

    /// The shortest wait before the next attempt.
    fn wait(&self) -> Option<Duration> {
        None
    }
}

/// Runs `attempt` until it succeeds, must not be retried, or times out. `attempt` takes its number, from 1.
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
