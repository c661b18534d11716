//! The record of one turn of an agent.

use petalflow::tool::ToolCall;
use petalflow_agent::Conversation;

use super::CaseTurn;

/// What an agent did in a turn, and what was expected of it: what a [`Scorer`](crate::Scorer) gets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Turn<'a> {
    /// What was expected.
    pub expected: &'a CaseTurn,
    /// The answer.
    pub answer: &'a str,
    /// The calls of tools that the model made in the turn, in order.
    pub calls: &'a [ToolCall],
    /// The conversation after the turn.
    pub conversation: &'a Conversation,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        expected: &'a CaseTurn,
        answer: &'a str,
        calls: &'a [ToolCall],
        conversation: &'a Conversation,
    ) -> Self {
        Turn {
            expected,
            answer,
            calls,
            conversation,
        }
    }
}
