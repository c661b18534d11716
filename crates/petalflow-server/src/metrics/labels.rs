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

/// A call of a model, with the names of the semantic conventions.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
#[allow(
    clippy::struct_field_names,
    reason = "the semantic conventions name them"
)]
pub(super) struct ModelLabels {
    pub(super) gen_ai_operation_name: &'static str,
    pub(super) gen_ai_provider_name: String,
    pub(super) gen_ai_request_model: String,
}

/// The end of a call of a model.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct CallLabels {
    pub(super) gen_ai_operation_name: &'static str,
    pub(super) gen_ai_provider_name: String,
    pub(super) gen_ai_request_model: String,
    /// Empty if the call has succeeded.
    pub(super) error_type: String,
}

/// Tokens of calls of a model.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
#[allow(
    clippy::struct_field_names,
    reason = "the semantic conventions name them"
)]
pub(super) struct TokenLabels {
    pub(super) gen_ai_operation_name: &'static str,
    pub(super) gen_ai_provider_name: String,
    pub(super) gen_ai_request_model: String,
    /// `input` or `output`.
    pub(super) gen_ai_token_type: &'static str,
}

/// Threads of a flow with a status.
#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
pub(super) struct ThreadLabels {
    pub(super) flow: String,
    pub(super) status: &'static str,
}
