//! The decision of a router.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The decision of a router, and the reason for it.
///
/// ```
/// use petalflow_documents::RouteDecision;
///
/// let decision = RouteDecision { targets: vec!["billing".into()], ..RouteDecision::default() };
/// assert_eq!(serde_json::to_string(&decision)?, r#"{"targets":["billing"],"reason":""}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RouteDecision {
    /// The nodes to run next. An empty list ends the path.
    pub targets: Vec<String>,
    /// The reason, as text for a person.
    #[serde(default)]
    pub reason: String,
    /// The confidence, from 0 to 1. `None` if the router does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Further fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}
