//! The plan of an agent.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Conversation;

/// The key of the conversation's state with the plan.
pub(super) const KEY: &str = "plan";

/// The plan of an agent: a list that its model keeps with the tool `write_plan`. See [`Agent::plan`](crate::Agent::plan).
///
/// Displayed as text, it has a line for each item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plan {
    /// The items, in the order in which they are worked on.
    pub items: Vec<PlanItem>,
}

/// An item of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: PlanState,
}

/// How far an item of a [`Plan`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// It has not begun.
    Pending,
    /// It is being worked on.
    Active,
    /// It is finished.
    Done,
}

/// The plan of an agent has changed: the payload of a [`CustomEvent`](petalflow::event::CustomEvent) with the name
/// `agent_plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanChanged {
    /// The new plan.
    pub plan: Plan,
}

impl PlanChanged {
    pub(super) fn new(plan: Plan) -> Self {
        PlanChanged { plan }
    }
}

impl Plan {
    /// The plan in a conversation. Empty if there is none.
    pub fn of(conversation: &Conversation) -> Self {
        let stored = conversation.state.get(KEY);
        stored
            .and_then(|plan| Plan::deserialize(plan).ok())
            .unwrap_or_default()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.items.iter().enumerate() {
            let mark = match item.state {
                PlanState::Pending => ' ',
                PlanState::Active => '>',
                PlanState::Done => 'x',
            };
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}[{mark}] {}", item.text)?;
        }
        Ok(())
    }
}
