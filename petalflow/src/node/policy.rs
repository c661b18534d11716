//! Retries, timeouts and the cache of one node.

use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;

use backon::BackoffBuilder;

use crate::BoxError;

/// How often to try a failing node, and how long to wait between.
///
/// The wait doubles from `first` up to `max`, as in the exponential backoff of the `backon` crate.
///
/// ```
/// use petalflow::Retry;
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
/// use petalflow::Retry;
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
    /// use petalflow::Retry;
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
    /// use petalflow::Retry;
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
    /// use petalflow::Retry;
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
    /// use petalflow::Retry;
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
    /// use petalflow::Retry;
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

/// What surrounds each run of a node: retries, timeouts, a cache. Unset parts leave what is set elsewhere.
///
/// ```
/// use petalflow::{Policy, Retry};
/// use std::time::Duration;
///
/// const PATIENT: Policy = Policy { retry: &[Retry::times(5)], ..Policy::NONE };
/// let quick = Policy { timeout: Some(Duration::from_secs(1)), ..Policy::NONE };
/// assert_eq!(quick.or(PATIENT).retry[0].attempts(), 5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// How often to try: the first that covers the error decides. Empty where it is unset.
    pub retry: &'static [Retry],
    /// The longest one attempt may take.
    pub timeout: Option<Duration>,
    /// The longest one attempt may go without an event of its own ([`Context::emit`](crate::Context::emit),
    /// [`Context::heartbeat`](crate::Context::heartbeat)).
    pub idle: Option<Duration>,
    /// How long a result of the node stands for the next run that reads the same, where the launch has a
    /// [cache](crate::Launch::cache).
    pub cache: Option<Duration>,
}

impl Policy {
    /// No retries, no timeouts and no cache.
    pub const NONE: Self = Policy {
        retry: &[],
        timeout: None,
        idle: None,
        cache: None,
    };

    /// This policy where it says something, else the other.
    #[must_use]
    #[inline]
    pub const fn or(self, other: Self) -> Self {
        Policy {
            retry: if self.retry.is_empty() {
                other.retry
            } else {
                self.retry
            },
            timeout: if self.timeout.is_some() {
                self.timeout
            } else {
                other.timeout
            },
            idle: if self.idle.is_some() {
                self.idle
            } else {
                other.idle
            },
            cache: if self.cache.is_some() {
                self.cache
            } else {
                other.cache
            },
        }
    }

    /// Whether it asks for nothing.
    #[inline]
    pub const fn is_none(&self) -> bool {
        self.retry.is_empty()
            && self.timeout.is_none()
            && self.idle.is_none()
            && self.cache.is_none()
    }
}

/// A policy of a node in a graph: its retries may have been listed at run time.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct NodePolicy {
    pub(crate) retry: Cow<'static, [Retry]>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) cache: Option<Duration>,
}

impl From<Policy> for NodePolicy {
    fn from(policy: Policy) -> Self {
        NodePolicy {
            retry: Cow::Borrowed(policy.retry),
            timeout: policy.timeout,
            idle: policy.idle,
            cache: policy.cache,
        }
    }
}

impl NodePolicy {
    /// Retries alone.
    #[inline]
    pub(crate) fn retrying(retry: Vec<Retry>) -> Self {
        NodePolicy {
            retry: Cow::Owned(retry),
            ..NodePolicy::default()
        }
    }

    /// This policy where it says something, else the other.
    #[inline]
    pub(crate) fn or(self, other: Self) -> Self {
        NodePolicy {
            retry: if self.retry.is_empty() {
                other.retry
            } else {
                self.retry
            },
            timeout: self.timeout.or(other.timeout),
            idle: self.idle.or(other.idle),
            cache: self.cache.or(other.cache),
        }
    }

    /// Whether it asks for nothing.
    pub(crate) fn is_none(&self) -> bool {
        self.retry.is_empty()
            && self.timeout.is_none()
            && self.idle.is_none()
            && self.cache.is_none()
    }

    /// How long to wait before the node is tried again, if it is. `attempt` is the one that failed, from 1.
    pub(crate) fn wait_after(&self, attempt: u32, error: &BoxError) -> Option<Duration> {
        let retry = self.retry.iter().find(|retry| retry.covers(error))?;
        retry.waits().nth(attempt as usize - 1)
    }
}
