//! The policy of one node: its retries, its timeouts and its cache.

use std::borrow::Cow;
use std::time::Duration;

use super::Retry;
use crate::error::BoxError;

/// What surrounds each run of a node: retries, timeouts, a cache. Unset parts leave what is set elsewhere.
///
/// ```
/// use petalflow::policy::{Policy, Retry};
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
