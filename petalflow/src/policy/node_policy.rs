//! The policy of one node: its retries, its timeouts, its cache, and where it runs.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::Retry;
use crate::error::BoxError;

/// The policy of a node: retries, timeouts, cache time, where it runs. Unset parts keep the value set elsewhere.
///
/// ```
/// use petalflow::policy::{Policy, Retry};
/// use std::time::Duration;
///
/// const PATIENT: Policy = Policy { retry: &[Retry::attempts(5)], ..Policy::NONE };
/// let quick = Policy { timeout: Some(Duration::from_secs(1)), ..Policy::NONE };
/// assert_eq!(quick.or(PATIENT).retry[0].max_attempts(), 5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// The retries: the first one that covers the error decides. Empty if unset.
    pub retry: &'static [Retry],
    /// The maximum duration of one attempt.
    pub timeout: Option<Duration>,
    /// The maximum time of an attempt without activity ([`Context::emit`](crate::Context::emit),
    /// [`Context::heartbeat`](crate::Context::heartbeat)).
    pub idle: Option<Duration>,
    /// How long a result of the node is reused for equal reads, if the launch has a [cache](crate::Launch::cache).
    pub cache: Option<Duration>,
    /// The pool of processes that run the node, if an engine places nodes: see [`engine`](crate::engine). Other runs ignore it.
    pub remote: Option<&'static str>,
}

impl Policy {
    /// No retries, no timeouts, no cache and no pool.
    pub const NONE: Self = Policy {
        retry: &[],
        timeout: None,
        idle: None,
        cache: None,
        remote: None,
    };

    /// This policy, with its unset parts taken from the other.
    #[must_use]
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
            remote: if self.remote.is_some() {
                self.remote
            } else {
                other.remote
            },
        }
    }

    /// Whether no part is set.
    pub const fn is_none(&self) -> bool {
        self.retry.is_empty()
            && self.timeout.is_none()
            && self.idle.is_none()
            && self.cache.is_none()
            && self.remote.is_none()
    }
}

/// The policy of a node in a graph, and the retries that were set at run time, which a [`Policy`] cannot own.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct NodePolicy {
    policy: Policy,
    retries: Option<Arc<[Retry]>>,
}

impl From<Policy> for NodePolicy {
    fn from(policy: Policy) -> Self {
        NodePolicy {
            policy,
            retries: None,
        }
    }
}

impl Deref for NodePolicy {
    type Target = Policy;

    fn deref(&self) -> &Policy {
        &self.policy
    }
}

impl NodePolicy {
    /// A policy with retries only.
    #[cfg(feature = "builder")]
    pub(crate) fn retrying(retry: Vec<Retry>) -> Self {
        NodePolicy {
            retries: Some(retry.into()),
            ..NodePolicy::default()
        }
    }

    /// Replaces the retries, and nothing else.
    pub(crate) fn set_retries(&mut self, retries: Vec<Retry>) {
        self.retries = Some(retries.into());
    }

    /// The retries that hold: those that were set at run time, or those of the policy.
    pub(crate) fn retries(&self) -> &[Retry] {
        self.retries.as_deref().unwrap_or(self.policy.retry)
    }

    /// This policy, with its unset parts taken from the other.
    #[cfg(feature = "builder")]
    pub(crate) fn or(self, other: Self) -> Self {
        let retries = if self.retries().is_empty() {
            other.retries
        } else {
            self.retries
        };
        NodePolicy {
            policy: self.policy.or(other.policy),
            retries,
        }
    }

    /// Whether nothing surrounds an attempt in this process.
    pub(crate) fn is_bare(&self) -> bool {
        self.retries().is_empty()
            && self.timeout.is_none()
            && self.idle.is_none()
            && self.cache.is_none()
    }

    /// The wait before the next attempt, or `None` without one. `attempt` is the failed one, from 1.
    pub(crate) fn wait_after(&self, attempt: u32, error: &BoxError) -> Option<Duration> {
        Retry::delay_after(self.retries(), attempt, &**error)
    }
}
