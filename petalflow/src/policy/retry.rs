//! Retries: how often, after which errors, and with which delays.

use std::error::Error;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use siphasher::sip::SipHasher13;

use crate::outcome::RunError;

/// How often an operation is attempted, and the delays between the attempts.
///
/// Nodes, tools, model clients and connections use it. [`run`](Self::run) retries any other operation. The delay doubles
/// from `first` up to `max`.
///
/// ```
/// use petalflow::policy::Retry;
/// use std::time::Duration;
///
/// let retry = Retry::attempts(3).first(Duration::from_millis(10));
/// let waits: Vec<_> = retry.waits().collect();
/// assert_eq!(waits, [Duration::from_millis(10), Duration::from_millis(20)]);
/// ```
///
/// # Several
///
/// A node may have several policies, for different errors: `retry = [.., ..]` on `#[node(..)]`, `retry: [.., ..]` in
/// `with`, [`GraphBuilder::retry`](crate::graph::GraphBuilder::retry). After each failure the first policy that
/// [covers](Self::on) the error decides. If none does, the node has failed.
///
/// All attempts count, whatever their errors were. A policy of three attempts ends after the third failure, even if another
/// policy covered an earlier one. The delay after the n-th failure is the n-th delay of the policy.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::policy::Retry;
/// use std::time::Duration;
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("the model is busy")]
/// struct Busy;
///
/// #[state]
/// struct Chat {
///     reply: String,
/// }
///
/// // Five attempts while the model is busy, two for any other error.
/// #[node(Chat, retry = [Retry::attempts(5).first(Duration::ZERO).on::<Busy>(), 2])]
/// async fn ask(cx: Context) -> petalflow::Result<ChatReply> {
///     if cx.attempt() < 5 {
///         return Err(Busy.into());
///     }
///     Ok(ChatReply(format!("after {} attempts", cx.attempt())))
/// }
///
/// flow!(Ask(Chat) { ask });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Ask::run(()).await?.reply, "after 5 attempts");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    attempts: u32,
    first: Duration,
    max: Duration,
    factor: f32,
    /// Whether the n-th delay is n times the first one.
    linear: bool,
    jitter: Jitter,
    only: Option<fn(&(dyn Error + 'static)) -> bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Jitter {
    None,
    Random,
    /// The same delays in each run, for tests.
    Seeded(u64),
}

impl PartialEq for Retry {
    fn eq(&self, other: &Self) -> bool {
        let only = match (self.only, other.only) {
            (Some(a), Some(b)) => std::ptr::fn_addr_eq(a, b),
            (a, b) => a.is_none() == b.is_none(),
        };
        let parts = |retry: &Self| {
            (
                retry.attempts,
                retry.first,
                retry.max,
                retry.factor,
                retry.linear,
                retry.jitter,
            )
        };
        only && parts(self) == parts(other)
    }
}

impl Retry {
    /// At most this many attempts: 1 means no retry. The first delay is 100 ms, each is twice the one before, and none is
    /// longer than 5 s.
    ///
    /// # Panics
    ///
    /// If `attempts` is 0: the operation would never run.
    pub const fn attempts(attempts: u32) -> Self {
        assert!(
            attempts > 0,
            "a node is tried at least once: `retry` counts all attempts, so 1 means no retry"
        );
        Retry {
            attempts,
            first: Duration::from_millis(100),
            max: Duration::from_secs(5),
            factor: 2.0,
            linear: false,
            jitter: Jitter::None,
            only: None,
        }
    }

    /// Sets the delay after the first failure.
    #[must_use]
    pub const fn first(mut self, wait: Duration) -> Self {
        self.first = wait;
        self
    }

    /// Sets the longest delay.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// let retry = Retry::attempts(9).max(Duration::from_secs(1));
    /// assert_eq!(retry.waits().last(), Some(Duration::from_secs(1)));
    /// ```
    #[must_use]
    pub const fn max(mut self, wait: Duration) -> Self {
        self.max = wait;
        self
    }

    /// Sets the factor between one delay and the next. With 1 all delays are equal.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// let constant = Retry::attempts(4).first(Duration::from_secs(1)).factor(1.0);
    /// assert!(constant.waits().all(|wait| wait == Duration::from_secs(1)));
    /// ```
    #[must_use]
    pub const fn factor(mut self, factor: f32) -> Self {
        self.factor = factor;
        self
    }

    /// Lets delays grow by the first delay: the n-th is n times as long.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    ///
    /// let retry = Retry::attempts(4).linear();
    /// assert_eq!(retry.waits().map(|wait| wait.as_millis()).collect::<Vec<_>>(), [100, 200, 300]);
    /// ```
    #[must_use]
    pub const fn linear(mut self) -> Self {
        self.factor = 1.0;
        self.linear = true;
        self
    }

    /// Adds a random part of up to the delay itself, so that many clients do not retry at the same moment. No delay is longer
    /// than the [maximum](Self::max): the longest is a random one between half of it and all of it.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// let retry = Retry::attempts(2).first(Duration::from_secs(1)).jitter();
    /// let wait = retry.waits().next().unwrap();
    /// assert!((1.0..=2.0).contains(&wait.as_secs_f64()));
    /// ```
    #[must_use]
    pub const fn jitter(mut self) -> Self {
        self.jitter = Jitter::Random;
        self
    }

    /// [`jitter`](Self::jitter) with the same random parts each time, for tests.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    ///
    /// let retry = Retry::attempts(5).jitter_with_seed(7);
    /// assert!(retry.waits().eq(retry.waits()));
    /// ```
    #[must_use]
    pub const fn jitter_with_seed(mut self, seed: u64) -> Self {
        self.jitter = Jitter::Seeded(seed);
        self
    }

    /// Retries only after errors for which `only` is true. Replaces an earlier `only` or [`on`](Self::on).
    ///
    /// ```
    /// use petalflow::BoxError;
    /// use petalflow::policy::Retry;
    ///
    /// let retry = Retry::attempts(3).only(|error| error.to_string().contains("busy"));
    /// let (busy, unknown): (BoxError, BoxError) = ("the model is busy".into(), "no such model".into());
    /// assert!(retry.covers(&*busy) && !retry.covers(&*unknown));
    /// ```
    #[must_use]
    pub const fn only(mut self, only: fn(&(dyn Error + 'static)) -> bool) -> Self {
        self.only = Some(only);
        self
    }

    /// Retries only after errors that are an `E`, or have one among their [sources](Error::source). Replaces an earlier
    /// [`only`](Self::only) or `on`.
    ///
    /// The timeout of a node is not an error of its own, so only policies without a condition cover it.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::num::{ParseFloatError, ParseIntError};
    ///
    /// let retry = Retry::attempts(3).on::<ParseIntError>();
    /// assert!(retry.covers(&"x".parse::<u32>().unwrap_err()));
    /// assert!(!retry.covers(&"x".parse::<f32>().unwrap_err()));
    /// assert!(Retry::attempts(3).on::<ParseFloatError>().covers(&"x".parse::<f32>().unwrap_err()));
    /// ```
    #[must_use]
    pub const fn on<E: Error + 'static>(self) -> Self {
        self.only(caused_by::<E>)
    }

    /// The maximum number of attempts.
    pub const fn max_attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether there are retries after this error: always, without [`only`](Self::only) and [`on`](Self::on).
    pub fn covers(&self, error: &(dyn Error + 'static)) -> bool {
        self.only.is_none_or(|only| only(error))
    }

    /// The delays between the attempts.
    pub fn waits(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let Retry { first, max, .. } = *self;
        let (linear, factor) = (self.linear, f64::from(self.factor));
        let seed = match self.jitter {
            Jitter::None => None,
            Jitter::Random => Some(RandomState::new().hash_one(())),
            Jitter::Seeded(seed) => Some(seed),
        };
        let mut exponential = first;
        (1..self.attempts).map(move |number| {
            let delay = if linear {
                first.saturating_mul(number)
            } else {
                exponential
            };
            exponential = multiplied(exponential.min(max), factor);
            match seed {
                None => delay.min(max),
                Some(seed) => {
                    // At most half of the maximum, so that the random part is not cut off.
                    let delay = delay.min(max / 2);
                    let random = multiplied(delay, fraction(seed, number));
                    delay.saturating_add(random).min(max)
                }
            }
        })
    }

    /// The delay after an attempt that failed, or `None` if it was the last one. The first policy that covers the error
    /// decides. Attempts count from 1.
    pub(crate) fn delay_after(
        policies: &[Self],
        attempt: u32,
        error: &(dyn Error + 'static),
    ) -> Option<Duration> {
        let retry = policies.iter().find(|retry| retry.covers(error))?;
        retry.waits().nth(attempt as usize - 1)
    }
}

/// The product. A delay that is too long for a [`Duration`] is [`Duration::MAX`].
fn multiplied(delay: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(delay.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

/// A random number from 0 to 1, always the same for a seed and an attempt.
fn fraction(seed: u64, attempt: u32) -> f64 {
    let hash = SipHasher13::new_with_keys(seed, attempt.into()).hash(&[]);
    f64::from((hash >> 32) as u32) / f64::from(u32::MAX)
}

/// Waits. A delay of zero needs no timer.
pub(crate) async fn pause(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

/// Whether an error, or one of its sources, is an `E`. That of a sub-flow has no source.
fn caused_by<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    let of_subflow = error.downcast_ref().and_then(RunError::get_ref);
    error.is::<E>()
        || error.source().is_some_and(caused_by::<E>)
        || of_subflow.is_some_and(|error| caused_by::<E>(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_delay_is_longer_than_the_maximum() {
        let max = Duration::from_secs(5);
        for seed in 0..100 {
            let retry = Retry::attempts(9).max(max).jitter_with_seed(seed);
            assert!(retry.waits().all(|wait| wait <= max), "seed {seed}");
        }
    }

    #[test]
    fn clients_that_wait_for_the_longest_time_do_not_retry_at_the_same_moment() {
        let last = |seed| Retry::attempts(20).jitter_with_seed(seed).waits().last();
        assert_ne!(last(1), last(2));
    }
}
