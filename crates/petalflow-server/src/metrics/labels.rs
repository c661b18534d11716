//! The labels of the numbers.

use prometheus_client::encoding::EncodeLabelSet;

/// A number of a flow.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct OfFlow {
    pub(super) flow: String,
}

/// The end of a run.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct RunLabels {
    pub(super) flow: String,
    /// The status of the thread.
    pub(super) status: &'static str,
}

/// The end of a node.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct NodeLabels {
    pub(super) flow: String,
    pub(super) node: String,
    /// `finished` or `failed`.
    pub(super) outcome: &'static str,
}

/// A request.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct RequestLabels {
    pub(super) method: String,
    pub(super) route: String,
    pub(super) status: u16,
}

/// The address of a request, with names in the place of ids.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct RouteLabels {
    pub(super) method: String,
    pub(super) route: String,
}

/// Threads of a flow with a status.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct ThreadLabels {
    pub(super) flow: String,
    pub(super) status: &'static str,
}
