//! What a tool wants done beside its result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CredentialRequest;

/// What a tool wants done beside its result: the agent loop reads it after the call.
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
    /// Changes of the session's state.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state_delta: Map<String, Value>,
    /// The versions of artifacts that were saved.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub artifact_delta: BTreeMap<String, i64>,
    /// Calls that a person must confirm, by the call's id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requested_confirmations: BTreeMap<String, Confirmation>,
    /// Calls that need a credential, by the call's id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requested_credentials: BTreeMap<String, CredentialRequest>,
    /// The result is the answer: the model is not asked to put it in words.
    #[serde(skip_serializing_if = "is_false")]
    pub skip_summarization: bool,
    /// Whoever called the agent is to go on.
    #[serde(skip_serializing_if = "is_false")]
    pub escalate: bool,
    /// The agent that is to go on.
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

/// A confirmation that a person is asked for, or has given.
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
    /// What the person is told.
    pub hint: String,
    /// Whether they agreed.
    pub confirmed: bool,
    /// What they may look at, or have sent along.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

impl Confirmation {
    /// A question.
    pub fn ask(hint: impl Into<String>) -> Self {
        Confirmation {
            hint: hint.into(),
            ..Self::default()
        }
    }
}

impl Actions {
    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what a later call wants.
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

/// What several calls of one turn want, as one: in the order of the calls.
///
/// * State is merged key by key, as deep as objects go; where two disagree, the later wins.
/// * Of an artifact the highest version counts.
/// * Requested confirmations and credentials are all kept, of the same call the later.
/// * `skip_summarization` and `escalate` stand if one call sets them.
/// * Of several agents to go on, the last counts.
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
