//! What a person decides about a call of an agent.

use petalflow_agent::ConversationInput;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A person's decision about a call.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallDecision {
    /// The id of the request.
    pub(crate) id: String,
    /// Whether the call is made.
    pub(crate) approve: bool,
    /// Why not. The model reads it.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// Other arguments for the call.
    #[serde(default)]
    pub(crate) arguments: Option<Map<String, Value>>,
}

impl CallDecision {
    /// Adds the decision to an input.
    pub(crate) fn add_to(self, input: ConversationInput) -> ConversationInput {
        match (self.approve, self.arguments, self.reason) {
            (true, Some(arguments), _) => input.confirm_with(self.id, arguments),
            (false, _, Some(reason)) => input.refuse(self.id, reason),
            (approve, ..) => input.confirm(self.id, approve),
        }
    }
}
