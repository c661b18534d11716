//! When a failed attempt is repeated.

use std::error::Error;
use std::time::Duration;

use backon::BackoffBuilder;

use crate::error::BoxError;

/// How often to try a failing node, and how long to wait between.
///
/// The wait doubles from `first` up to `max`, as in the exponential backoff of the `backon` crate.
///
/// ```
/// use petalflow::policy::Retry;
/// use std::time::Duration;
///
/// let retry = Retry::times(3).first(Duration::from_millis(10));
/// let waits: Vec<_> = retry.waits().collect();
/// assert_eq!(waits, [Duration::from_millis(10), Duration::from_millis(20)]);
/// ```
///
/// # Several
///
/// A node may have several, for different errors: `retry = [.., ..]` on `#[node(..)]`, `retry: [.., ..]` in `with`,
/// [`GraphBuilder::retry`](crate::graph::GraphBuilder::retry). After each failure the first that [covers](Self::on) the error
/// decides; if none does, the node has failed for good.
///
/// Attempts are counted in all, whatever they failed with, so the sum of the policies is never tried: a policy of three
/// attempts gives up after the third failure, even if an earlier one was covered by another policy. Likewise the wait after
/// the n-th failure is the policy's n-th.
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
/// // A busy model is asked up to five times; anything else is tried once more.
/// #[node(Chat, retry = [Retry::times(5).first(Duration::ZERO).on::<Busy>(), 2])]
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
    jitter: bool,
    only: Option<fn(&BoxError) -> bool>,
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
                retry.jitter,
            )
        };
        only && parts(self) == parts(other)
    }
}

impl Retry {
    /// At most this many attempts in all: 1 never tries again. Waits start at 100 ms, double, and stay below 5 s.
    ///
    /// # Panics
    ///
    /// If `attempts` is 0: the node would never run.
    #[inline]
    pub const fn times(attempts: u32) -> Self {
        assert!(
            attempts > 0,
            "a node is tried at least once: `retry` counts all attempts, so 1 means no retry"
        );
        Retry {
            attempts,
            first: Duration::from_millis(100),
            max: Duration::from_secs(5),
            factor: 2.0,
            jitter: false,
            only: None,
        }
    }

    /// The wait after the first failure.
    #[must_use]
    #[inline]
    pub const fn first(mut self, wait: Duration) -> Self {
        self.first = wait;
        self
    }

    /// The longest wait.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// let retry = Retry::times(9).max(Duration::from_secs(1));
    /// assert_eq!(retry.waits().last(), Some(Duration::from_secs(1)));
    /// ```
    #[must_use]
    #[inline]
    pub const fn max(mut self, wait: Duration) -> Self {
        self.max = wait;
        self
    }

    /// What each wait is multiplied by to give the next; 1 keeps it constant.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// let constant = Retry::times(4).first(Duration::from_secs(1)).factor(1.0);
    /// assert!(constant.waits().all(|wait| wait == Duration::from_secs(1)));
    /// ```
    #[must_use]
    #[inline]
    pub const fn factor(mut self, factor: f32) -> Self {
        self.factor = factor;
        self
    }

    /// Adds a random part of up to the wait itself, so that many runs do not try again at one instant.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::time::Duration;
    ///
    /// let retry = Retry::times(2).first(Duration::from_secs(1)).jitter();
    /// let wait = retry.waits().next().unwrap();
    /// assert!((1.0..=2.0).contains(&wait.as_secs_f64()));
    /// ```
    #[must_use]
    #[inline]
    pub const fn jitter(mut self) -> Self {
        self.jitter = true;
        self
    }

    /// Tries again only after errors of which `only` is true. Takes the place of an earlier `only` or [`on`](Self::on).
    ///
    /// ```
    /// use petalflow::policy::Retry;
    ///
    /// let retry = Retry::times(3).only(|error| error.to_string().contains("busy"));
    /// assert!(retry.covers(&"the model is busy".into()));
    /// assert!(!retry.covers(&"no such model".into()));
    /// ```
    #[must_use]
    #[inline]
    pub const fn only(mut self, only: fn(&BoxError) -> bool) -> Self {
        self.only = Some(only);
        self
    }

    /// Tries again only after errors that are an `E`, or have one among their [sources](Error::source). Takes the place of an
    /// earlier [`only`](Self::only) or `on`.
    ///
    /// A timeout is no error of the node's own, so it is covered only by policies without a condition.
    ///
    /// ```
    /// use petalflow::policy::Retry;
    /// use std::num::{ParseFloatError, ParseIntError};
    ///
    /// let retry = Retry::times(3).on::<ParseIntError>();
    /// assert!(retry.covers(&"x".parse::<u32>().unwrap_err().into()));
    /// assert!(!retry.covers(&"x".parse::<f32>().unwrap_err().into()));
    /// assert!(Retry::times(3).on::<ParseFloatError>().covers(&"x".parse::<f32>().unwrap_err().into()));
    /// ```
    #[must_use]
    pub const fn on<E: Error + 'static>(self) -> Self {
        self.only(caused_by::<E>)
    }

    /// How many attempts there are in all.
    #[inline]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether it is for this error: always, without [`only`](Self::only) and [`on`](Self::on).
    #[inline]
    pub fn covers(&self, error: &BoxError) -> bool {
        self.only.is_none_or(|only| only(error))
    }

    /// The waits between the attempts.
    #[inline]
    pub fn waits(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let backoff = backon::ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(self.max)
            .with_factor(self.factor)
            .with_max_times(self.attempts as usize - 1);
        if self.jitter {
            backoff.with_jitter()
        } else {
            backoff
        }
        .build()
    }
}

/// Whether an error, or one that it came from, is an `E`.
fn caused_by<E: Error + 'static>(error: &BoxError) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if error.is::<E>() {
            return true;
        }
        cause = error.source();
    }
    false
}
