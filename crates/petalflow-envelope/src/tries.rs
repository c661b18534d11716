//! Retries of the nodes over an envelope.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use petalflow::policy::Retry;

/// Three attempts, the second after one second, the third after two more.
pub(super) const DEFAULT_RETRY: Retry = Retry::times(3).first(Duration::from_secs(1)).linear();

/// The failure of all attempts.
pub(super) enum Failed<E> {
    /// The last error and the number of attempts.
    Error(E, u32),
    /// All attempts together exceeded the timeout.
    Late,
}

/// An error that may be retried.
pub(super) trait Trouble: Error + 'static {
    /// Whether another attempt may succeed.
    fn may_pass(&self) -> bool;

    /// The shortest wait before the next attempt.
    fn wait(&self) -> Option<Duration> {
        None
    }
}

/// Runs `attempt` until it succeeds, must not be retried, or times out. `attempt` takes its number, from 1.
pub(super) async fn tries<T, E: Trouble, F: Future<Output = Result<T, E>>>(
    retry: Retry,
    timeout: Duration,
    attempt: impl Fn(u32) -> F,
) -> Result<T, Failed<E>> {
    let numbered = |number| {
        let attempt = attempt(number);
        async move { attempt.await.map_err(|error| (error, number)) }
    };
    let decide = |(error, _): &(E, u32), delay: Duration| {
        let retried = error.may_pass() && retry.covers(error);
        retried.then(|| delay.max(error.wait().unwrap_or_default()))
    };
    let all = async {
        let result = retry.run_with(numbered, decide).await;
        result.map_err(|(error, number)| Failed::Error(error, number))
    };
    if timeout.is_zero() {
        return all.await;
    }
    let ended = tokio::time::timeout(timeout, all).await;
    ended.unwrap_or(Err(Failed::Late))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p026_three_attempts_a_second_apart() {
        let waits: Vec<_> = DEFAULT_RETRY.waits().collect();
        assert_eq!(waits, [1, 2].map(Duration::from_secs));
    }
}
