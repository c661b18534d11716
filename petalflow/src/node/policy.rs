//! Retries and timeouts of one node.

use std::time::Duration;

use backon::BackoffBuilder;

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
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    attempts: u32,
    first: Duration,
    max: Duration,
    factor: f32,
    jitter: bool,
    only: Option<fn(&crate::BoxError) -> bool>,
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
    pub const fn first(mut self, wait: Duration) -> Self {
        self.first = wait;
        self
    }

    /// The longest wait.
    #[must_use]
    pub const fn max(mut self, wait: Duration) -> Self {
        self.max = wait;
        self
    }

    /// What each wait is multiplied by to give the next; 1 keeps it constant.
    #[must_use]
    pub const fn factor(mut self, factor: f32) -> Self {
        self.factor = factor;
        self
    }

    /// Adds a random part of up to the wait itself, so that many runs do not try again at one instant.
    #[must_use]
    pub const fn jitter(mut self) -> Self {
        self.jitter = true;
        self
    }

    /// Tries again only after errors of which `only` is true.
    #[must_use]
    pub const fn only(mut self, only: fn(&crate::BoxError) -> bool) -> Self {
        self.only = Some(only);
        self
    }

    /// How many attempts there are in all.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether to try again after this error.
    pub(crate) fn covers(&self, error: &crate::BoxError) -> bool {
        self.only.is_none_or(|only| only(error))
    }

    /// The waits between the attempts.
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

/// What surrounds each run of a node: retries and timeouts. Unset parts leave what is set elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// How often to try.
    pub retry: Option<Retry>,
    /// The longest one attempt may take.
    pub timeout: Option<Duration>,
    /// The longest one attempt may go without an event of its own ([`Context::emit`](crate::Context::emit),
    /// [`Context::heartbeat`](crate::Context::heartbeat)).
    pub idle: Option<Duration>,
}

impl Policy {
    /// No retries and no timeouts.
    pub const NONE: Self = Policy {
        retry: None,
        timeout: None,
        idle: None,
    };

    /// This policy where it says something, else the other.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Policy {
            retry: self.retry.or(other.retry),
            timeout: self.timeout.or(other.timeout),
            idle: self.idle.or(other.idle),
        }
    }

    /// Whether it asks for nothing.
    pub fn is_none(&self) -> bool {
        self.retry.is_none() && self.timeout.is_none() && self.idle.is_none()
    }
}
