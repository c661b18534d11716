//! What an event does besides being said, and how the actions of several are taken together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What an event does besides being said.
///
/// ```
/// use petalflow::agent::Actions;
///
/// let mut actions = Actions::default();
/// actions.merge(Actions { transfer_to: Some("writer".into()), ..Actions::default() });
/// actions.merge(Actions { skip_summarization: true, ..Actions::default() });
/// assert!(actions.skip_summarization);
/// assert_eq!(actions.transfer_to.as_deref(), Some("writer"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Actions {
    /// The result is the answer: the model is not called again to put it into words.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_summarization: bool,
    /// Hands the work back to whoever gave it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// The agent that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_to: Option<String>,
    /// What it writes to the conversation's state.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state_delta: Map<String, Value>,
    /// The versions of the artifacts that it saved, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub artifact_delta: BTreeMap<String, i64>,
    /// What a person must confirm, by the id of the call.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub confirmations: BTreeMap<String, ToolConfirmation>,
}

/// What a person is asked about a call, and what they decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolConfirmation {
    /// What the person is told.
    pub hint: String,
    /// What they decided; not confirmed until they do.
    pub confirmed: bool,
    /// What else they say, or are asked for.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

impl Actions {
    /// Adds the actions of a later event. Flags add up; the last agent named wins; state is merged deeply, the later leaf
    /// winning; of an artifact the highest version counts.
    pub fn merge(&mut self, later: Actions) {
        self.skip_summarization |= later.skip_summarization;
        self.escalate |= later.escalate;
        if later
            .transfer_to
            .as_ref()
            .is_some_and(|name| !name.is_empty())
        {
            self.transfer_to = later.transfer_to;
        }
        merge_deeply(&mut self.state_delta, later.state_delta);
        for (name, version) in later.artifact_delta {
            let highest = self.artifact_delta.entry(name).or_insert(version);
            *highest = version.max(*highest);
        }
        self.confirmations.extend(later.confirmations);
    }

    /// Both together, where there are two.
    pub fn merged(earlier: Option<Self>, later: Option<Self>) -> Option<Self> {
        match (earlier, later) {
            (Some(mut earlier), Some(later)) => {
                earlier.merge(later);
                Some(earlier)
            }
            (earlier, later) => earlier.or(later),
        }
    }
}

/// Objects in both are merged in turn; anything else that is later takes the place of what is there.
fn merge_deeply(current: &mut Map<String, Value>, later: Map<String, Value>) {
    for (key, value) in later {
        match (current.get_mut(&key), value) {
            (Some(Value::Object(current)), Value::Object(later)) => merge_deeply(current, later),
            (_, value) => {
                current.insert(key, value);
            }
        }
    }
}
