//! The requests of a tool beside its result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CredentialRequest;

/// The requests of a tool beside its result. The agent loop reads them after the call.
///
/// ```
/// use petalflow::tool::Actions;
///
/// let actions = Actions { escalate: true, ..Actions::default() };
/// assert_eq!(serde_json::to_string(&actions)?, r#"{"escalate":true}"#);
/// assert!(!actions.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Actions {
    /// Changes to the session's state.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state_delta: Map<String, Value>,
    /// The versions of saved artifacts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub artifact_delta: BTreeMap<String, i64>,
    /// Calls that a person must confirm, by the call's id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requested_confirmations: BTreeMap<String, Confirmation>,
    /// Calls that need a credential, by the call's id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requested_credentials: BTreeMap<String, CredentialRequest>,
    /// The result is the final answer: no model summarizes it.
    #[serde(skip_serializing_if = "is_false")]
    pub skip_summarization: bool,
    /// The caller of the agent continues.
    #[serde(skip_serializing_if = "is_false")]
    pub escalate: bool,
    /// The agent that continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_to_agent: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A confirmation that is requested from a person, or was given.
///
/// ```
/// use petalflow::tool::Confirmation;
///
/// let asked = Confirmation::ask("delete all books?");
/// assert!(!asked.confirmed);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confirmation {
    /// The question for the person.
    pub hint: String,
    /// Whether the person agreed.
    pub confirmed: bool,
    /// Why the person refused. The model reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The arguments with which the person wants the call to be made: a JSON object. `None`: those of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// Data for the person, or from the person.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

impl Confirmation {
    /// A request for confirmation.
    pub fn ask(hint: impl Into<String>) -> Self {
        Confirmation {
            hint: hint.into(),
            ..Self::default()
        }
    }
}

impl Actions {
    /// Whether there are no requests.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the requests of a later call.
    fn add(&mut self, later: Self) {
        merge_into(&mut self.state_delta, later.state_delta);
        for (name, version) in later.artifact_delta {
            let known = self.artifact_delta.entry(name).or_insert(version);
            *known = version.max(*known);
        }
        self.requested_confirmations
            .extend(later.requested_confirmations);
        self.requested_credentials
            .extend(later.requested_credentials);
        self.skip_summarization |= later.skip_summarization;
        self.escalate |= later.escalate;
        let target = later.transfer_to_agent.filter(|agent| !agent.is_empty());
        self.transfer_to_agent = target.or(self.transfer_to_agent.take());
    }
}

/// Merges the requests of several calls of one turn, in the order of the calls.
///
/// * State is merged key by key, recursively for objects. On a conflict the later value wins.
/// * Of each artifact, the highest version is used.
/// * All requested confirmations and credentials are kept; the later one for the same call.
/// * `skip_summarization` and `escalate` are set if any call sets them.
/// * `transfer_to_agent` is the last one that is set.
///
/// ```
/// use petalflow::tool::{Actions, merge};
///
/// let stop = Actions { escalate: true, ..Actions::default() };
/// let go = Actions { transfer_to_agent: Some("critic".into()), ..Actions::default() };
/// let both = merge([Some(stop), None, Some(go)]).unwrap();
/// assert!(both.escalate && both.transfer_to_agent.as_deref() == Some("critic"));
/// assert_eq!(merge([None, None]), None);
/// ```
pub fn merge(actions: impl IntoIterator<Item = Option<Actions>>) -> Option<Actions> {
    actions.into_iter().flatten().reduce(|mut all, later| {
        all.add(later);
        all
    })
}

fn merge_into(into: &mut Map<String, Value>, later: Map<String, Value>) {
    for (key, value) in later {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(value)) => merge_into(known, value),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
