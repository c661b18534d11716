//! One change of a file for each answer of a model.

use serde_json::Value;

use super::path::normalized;
use super::tool_names::{EDIT, WRITE};
use crate::extension::{Callbacks, ToolStep};
use crate::{AgentEvent, Conversation};
use petalflow::tool::ToolCall;
use petalflow::{BoxError, async_trait};

/// Refuses a call that changes a file which an earlier call of the same answer changes. Calls of one answer run at once, so one
/// of the changes would be lost.
pub(super) struct OneChange;

#[async_trait]
impl Callbacks for OneChange {
    async fn before_tool(&self, step: &mut ToolStep<'_>) -> Result<Option<Value>, BoxError> {
        let Some(path) = changed_path(&step.call().name, &step.arguments) else {
            return Ok(None);
        };
        if is_changed_before(step.conversation(), step.call(), &path) {
            return Err(format!(
                "another call of the same answer changes `{path}`: call this one again after its result"
            )
            .into());
        }
        Ok(None)
    }
}

/// The file that a call changes.
fn changed_path(tool: &str, arguments: &Value) -> Option<String> {
    let path = matches!(tool, WRITE | EDIT).then_some(arguments)?;
    normalized(path["path"].as_str()?).ok()
}

/// Whether an earlier call of the same answer changes this file, and has no result yet.
fn is_changed_before(conversation: &Conversation, call: &ToolCall, path: &str) -> bool {
    let events = &conversation.events;
    let Some(at) = events.iter().rposition(|event| event.has_call(&call.id)) else {
        return false;
    };
    let results = || events[at..].iter().flat_map(AgentEvent::results);
    let earlier = events[at].calls().take_while(|other| other.id != call.id);
    earlier
        .filter(|other| changed_path(&other.name, &other.arguments).as_deref() == Some(path))
        .any(|other| results().all(|result| result.call_id != other.id))
}
