//! Where a router goes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a router has decided, and why.
///
/// ```
/// use petalflow_envelope::RouteDecision;
///
/// let decision = RouteDecision { targets: vec!["billing".into()], ..RouteDecision::default() };
/// assert_eq!(serde_json::to_string(&decision)?, r#"{"targets":["billing"],"reason":""}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RouteDecision {
    /// The nodes to go on with; none ends the path.
    pub targets: Vec<String>,
    /// Why, for people.
    #[serde(default)]
    pub reason: String,
    /// How sure it is, from 0 to 1; none where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}
