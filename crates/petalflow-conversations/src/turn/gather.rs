//! Collects the results of functions and decides where the conversation continues.

use petalflow::tool::ToolResult;
use petalflow_llm::ChatMessage;
use serde_json::{Map, Value};

use super::go;
use crate::program::Program;
use crate::step::{Outcome, Step};
use crate::{ConversationError, ConversationState};

/// The collected results.
pub(crate) struct Results {
    pub(crate) message: ChatMessage,
    pub(crate) values: Map<String, Value>,
    pub(crate) step: Step,
}

/// Collects the results in the order of the calls.
///
/// If several functions lead to a node, the last call in the model's answer decides. In Pipecat it is the function that
/// happens to finish last.
pub(crate) fn gather(
    program: &Program,
    state: &ConversationState,
) -> Result<Results, ConversationError> {
    let mut outcomes: Vec<&Outcome> = state.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| outcome.index);
    let results = outcomes.iter().map(|outcome| ToolResult {
        call_id: outcome.call.id.clone(),
        name: outcome.call.name.clone(),
        content: outcome.result.clone(),
        is_error: outcome.is_error,
    });
    let message = ChatMessage::results(results);
    let next = outcomes
        .iter()
        .rev()
        .find_map(|outcome| outcome.next.as_deref());
    let step = match next {
        Some(node) => go(program, node)?,
        None if !outcomes.is_empty() && outcomes.iter().all(|it| it.is_silent) => Step::Done,
        None => Step::Ask,
    };
    let values = outcomes.iter().flat_map(|outcome| outcome.values.clone());
    Ok(Results {
        message,
        values: values.collect(),
        step,
    })
}
