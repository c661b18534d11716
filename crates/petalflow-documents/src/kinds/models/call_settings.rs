//! Calls of models and tools: the output variable, the retries and the time limit of a node.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use super::retry_config::RetryConfig;
use crate::kinds::Call;
use petalflow::BoxError;
use petalflow::policy::Retry;

/// The settings that nodes which call models and tools share.
#[derive(Clone, Debug)]
pub(super) struct CallSettings {
    pub(super) output: Option<String>,
    pub(super) retry: Retry,
    pub(super) timeout: Duration,
}

/// Defines the builder methods that set [`CallSettings`]. `$new` creates a node in the examples.
macro_rules! call_settings {
    ($node:ident, $new:literal) => {
        impl $node {
            /// Sets the variable for the result. The default is `<node>_output`.
            ///
            /// ```
            #[doc = concat!("use petalflow_documents::kinds::", stringify!($node), ";")]
            ///
            #[doc = concat!("let node = ", $new, ".output(\"summary\");")]
            /// # let _ = node;
            /// ```
            #[must_use]
            pub fn output(mut self, name: impl Into<String>) -> Self {
                self.call.output = Some(name.into());
                self
            }

            /// Sets the retries of a failed call. Errors that a further attempt cannot avoid, such as invalid
            /// arguments, are not retried.
            ///
            /// ```
            /// use petalflow::policy::Retry;
            #[doc = concat!("use petalflow_documents::kinds::", stringify!($node), ";")]
            ///
            #[doc = concat!("let node = ", $new, ".retry(Retry::attempts(5));")]
            /// # let _ = node;
            /// ```
            #[must_use]
            pub fn retry(mut self, retry: petalflow::policy::Retry) -> Self {
                self.call.retry = retry;
                self
            }

            /// Sets the longest time of all attempts together. Zero means no limit.
            ///
            /// ```
            #[doc = concat!("use petalflow_documents::kinds::", stringify!($node), ";")]
            /// use std::time::Duration;
            ///
            #[doc = concat!("let node = ", $new, ".timeout(Duration::from_secs(20));")]
            /// # let _ = node;
            /// ```
            #[must_use]
            pub fn timeout(mut self, timeout: Duration) -> Self {
                self.call.timeout = timeout;
                self
            }
        }
    };
}
pub(super) use call_settings;

/// An error that may be retried.
pub(super) trait Retryable: Error + Send + Sync + 'static {
    /// Whether another attempt may succeed.
    fn is_transient(&self) -> bool;

    /// The shortest delay before the next attempt.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

/// The error of a call that failed at every attempt.
#[derive(Debug, thiserror::Error)]
#[error("{call} failed after {attempts} {}", if *attempts == 1 { "attempt" } else { "attempts" })]
struct CallFailed<E: Error + 'static> {
    call: String,
    attempts: u32,
    source: E,
}

impl CallSettings {
    /// The default settings, with this time limit.
    pub(super) fn with_timeout(timeout: Duration) -> Self {
        CallSettings {
            output: None,
            retry: RetryConfig::default().policy(),
            timeout,
        }
    }

    /// The same settings with these retries.
    pub(super) fn with_retry(self, retry: RetryConfig) -> Self {
        CallSettings {
            retry: retry.policy(),
            ..self
        }
    }

    /// The variable for the result.
    pub(super) fn output_name(&self, call: Call<'_>) -> String {
        call.output(self.output.as_deref())
    }

    /// Runs `attempt` until it succeeds, must not be retried, or times out. `attempt` takes its number, from 1. `call`
    /// names the call in errors.
    pub(super) async fn run<T, E: Retryable, F: Future<Output = Result<T, E>>>(
        &self,
        call: impl Into<String>,
        attempt: impl Fn(u32) -> F,
    ) -> Result<T, BoxError> {
        let attempts = self.attempts(attempt);
        let result = if self.timeout.is_zero() {
            attempts.await
        } else {
            let Ok(result) = tokio::time::timeout(self.timeout, attempts).await else {
                let (call, timeout) = (call.into(), self.timeout);
                return Err(format!(
                    "{call} timed out after {timeout:?}: raise `timeout`, or ask for less"
                )
                .into());
            };
            result
        };
        result.map_err(|(source, attempts)| {
            let call = call.into();
            CallFailed {
                call,
                attempts,
                source,
            }
            .into()
        })
    }

    /// The result, or the last error and the number of attempts.
    async fn attempts<T, E: Retryable, F: Future<Output = Result<T, E>>>(
        &self,
        attempt: impl Fn(u32) -> F,
    ) -> Result<T, (E, u32)> {
        let numbered = |number| {
            let attempt = attempt(number);
            async move { attempt.await.map_err(|error| (error, number)) }
        };
        let decide = |(error, _): &(E, u32), delay: Duration| {
            let retried = error.is_transient() && self.retry.covers(error);
            retried.then(|| delay.max(error.retry_after().unwrap_or_default()))
        };
        self.retry.run_with(numbered, decide).await
    }
}
