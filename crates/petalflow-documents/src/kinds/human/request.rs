//! The request to a person, and the response.

use std::hash::{BuildHasher, RandomState};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Period;

/// What a person is asked for.
///
/// ```
/// use petalflow_documents::kinds::RequestType;
///
/// assert_eq!(RequestType::default(), RequestType::Approval);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestType {
    /// Yes or no.
    #[default]
    Approval,
    /// One of several options.
    Choice,
    /// Changed data.
    Edit,
    /// A text.
    Input,
    /// Notes.
    Review,
}

/// An option of a choice.
///
/// ```
/// use petalflow_documents::kinds::HumanOption;
///
/// let option = HumanOption { id: "later".into(), label: "Ask me later".into(), ..HumanOption::default() };
/// assert!(option.description.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HumanOption {
    /// The identifier.
    pub id: String,
    /// The text for the person.
    #[serde(default)]
    pub label: String,
    /// More text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A question of a [`HumanNode`](super::HumanNode).
///
/// ```
/// use petalflow_documents::kinds::{HumanRequest, RequestType};
///
/// let request = HumanRequest { prompt: "Publish?".into(), node: "review".into(), ..HumanRequest::default() };
/// assert_eq!(request.kind, RequestType::Approval);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HumanRequest {
    /// The identifier, which no other request has.
    pub id: String,
    /// What is asked for.
    #[serde(rename = "type")]
    pub kind: RequestType,
    /// The text.
    pub prompt: String,
    /// The variables that the person sees.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// The options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<HumanOption>,
    /// A JSON Schema of the data of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// How long the node waits. Zero means without end.
    #[serde(default)]
    pub timeout: Period,
    /// When it was made, in the form of RFC 3339.
    pub created_at: String,
    /// The run that asks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run_id: String,
    /// The node that asks.
    pub node: String,
}

/// The response of a person.
///
/// ```
/// use petalflow_documents::kinds::HumanResponse;
///
/// let response = HumanResponse { approved: true, ..HumanResponse::default() };
/// assert!(response.approved);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HumanResponse {
    /// The identifier of the request.
    pub request_id: String,
    /// The chosen option.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub choice: String,
    /// The data of an edit or an input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Notes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub notes: String,
    /// Whether it is approved.
    pub approved: bool,
    /// Who responded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub responded_by: String,
    /// When, in the form of RFC 3339.
    pub responded_at: String,
    /// Further fields.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A random identifier. The keys of the standard library's hash maps are random.
pub(super) fn new_id() -> String {
    let random = || RandomState::new().hash_one(crate::clock::now_ms());
    format!("{:016x}{:016x}", random(), random())
}
