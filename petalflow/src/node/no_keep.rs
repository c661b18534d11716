//! Why the sub-flows inside a sub-flow cannot keep their states.

use crate::policy::node_policy::NodePolicy;

/// Why the sub-flows inside a sub-flow cannot keep their states: what is around them.
///
/// The types of the flows do not show it. A constant of each flow could not either: a flow may contain itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKeep {
    /// A sub-flow that runs for an item.
    Item,
    /// A sub-flow whose results are cached.
    Cache,
    /// A sub-flow that is tried again.
    Retry,
}

impl NoKeep {
    /// Why the sub-flows inside a sub-flow with this policy cannot, if it is why. `index` is that of its item.
    pub(crate) fn inside(policy: &NodePolicy, index: Option<usize>) -> Option<Self> {
        if index.is_some() {
            Some(NoKeep::Item)
        } else if policy.cache.is_some() {
            Some(NoKeep::Cache)
        } else if !policy.retry.is_empty() {
            Some(NoKeep::Retry)
        } else {
            None
        }
    }

    /// The error of a sub-flow that keeps its state.
    pub(crate) fn refuse(self, subflow: &str) -> String {
        let (around, why, fix) = match self {
            NoKeep::Item => (
                "runs for an item",
                "the state would belong to the position of the item, and the next item there would get it",
                "remove `keep: thread`, and store what belongs to an item in the state of the outer flow",
            ),
            NoKeep::Cache => (
                "is cached",
                "another thread would get the result of this one",
                "remove `keep: thread`, or the `cache` of the sub-flow around it",
            ),
            NoKeep::Retry => (
                "is tried again after a failure",
                "an attempt begins anew, and this state would have what the failed attempt has left",
                "remove `keep: thread`, or move the `retry` to the nodes inside, of which this sub-flow is one",
            ),
        };
        format!(
            "PF028: the sub-flow `{subflow}` keeps its state, and a sub-flow around it {around}: {why}; {fix}"
        )
    }
}
