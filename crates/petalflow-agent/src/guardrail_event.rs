//! The event of a guardrail: the check, and its effect.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a guardrail has done. It is part of the event that it has changed
/// ([`AgentEvent::guardrails`](crate::AgentEvent)), and listeners get it at once, as
/// [`AgentEventKind::Guardrail`](crate::stream::AgentEventKind::Guardrail).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GuardrailEvent {
    /// The name of the guardrail.
    pub guardrail: String,
    /// The agent whose content was checked.
    pub agent: String,
    /// What was checked.
    pub stage: GuardrailStage,
    /// What the guardrail has done.
    pub action: GuardrailAction,
}

/// What a guardrail checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardrailStage {
    /// The message that begins a turn.
    Input,
    /// An answer of the model.
    Output,
    /// A call of a tool.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        tool: String,
    },
}

/// What a guardrail has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardrailAction {
    /// It has replaced the content.
    Rewritten,
    /// It has blocked the content with this message.
    Blocked(String),
    /// It has failed the run, for this reason.
    Failed(String),
}

impl GuardrailEvent {
    pub(crate) fn new(
        guardrail: &str,
        agent: &str,
        stage: GuardrailStage,
        action: GuardrailAction,
    ) -> Self {
        GuardrailEvent {
            guardrail: guardrail.to_string(),
            agent: agent.to_string(),
            stage,
            action,
        }
    }

    /// Whether the input of a turn was blocked.
    pub(crate) fn blocks_input(&self) -> bool {
        self.stage == GuardrailStage::Input && matches!(self.action, GuardrailAction::Blocked(_))
    }
}

/// Displays what was checked.
impl fmt::Display for GuardrailStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuardrailStage::Input => f.write_str("the input"),
            GuardrailStage::Output => f.write_str("the output"),
            GuardrailStage::ToolCall { tool, .. } => write!(f, "a call of the tool `{tool}`"),
        }
    }
}
