//! The ids of tool calls as providers accept them: unique within a request.

use std::collections::{HashSet, VecDeque};

use petalflow::tool::{ToolCall, ToolResult};

use crate::message::call_id::is_generated;

/// The call ids in one request, for models that send none or the same id twice. Providers use the ids to match results
/// with calls.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    generated: usize,
    /// Calls without a result.
    open: VecDeque<OpenCall>,
    /// The ids that were sent for all calls.
    used: HashSet<String>,
}

#[derive(Debug)]
struct OpenCall {
    /// The id in the conversation.
    id: String,
    name: String,
    sent_id: String,
}

impl CallIds {
    /// Starts a new message from the model: later results do not belong to older calls.
    pub(super) fn new_turn(&mut self) {
        self.open.clear();
    }

    /// The id to send for a call: the model's id if there is one that is unused.
    pub(super) fn for_call(&mut self, call: &ToolCall) -> String {
        let used = self.used.contains(&call.id);
        let sent_id = if call.id.is_empty() || is_generated(&call.id) || used {
            self.generated += 1;
            // Nine letters and digits, the format that Mistral accepts.
            format!("call{:05}", self.generated)
        } else {
            call.id.clone()
        };
        self.used.insert(sent_id.clone());
        self.open.push_back(OpenCall {
            id: call.id.clone(),
            name: call.name.clone(),
            sent_id: sent_id.clone(),
        });
        sent_id
    }

    /// The id to send for a result: the id of the first call that matches it.
    pub(super) fn for_result(&mut self, result: &ToolResult) -> String {
        let same_id = |open: &OpenCall| open.id == result.call_id;
        let same_name = |open: &OpenCall| same_id(open) && open.name == result.name;
        let index = self.open.iter().position(same_name);
        let index = index.or_else(|| self.open.iter().position(same_id));
        match index.and_then(|index| self.open.remove(index)) {
            Some(open) => open.sent_id,
            None => result.call_id.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_find_their_calls_without_ids_and_with_the_same() {
        let call = |id: &str, name: &str| ToolCall {
            id: id.into(),
            name: name.into(),
            ..ToolCall::default()
        };
        let result = |id: &str, name: &str| ToolResult {
            call_id: id.into(),
            name: name.into(),
            ..ToolResult::default()
        };
        let mut ids = CallIds::default();
        assert_eq!(ids.for_call(&call("", "x")), "call00001");
        assert_eq!(ids.for_call(&call("", "y")), "call00002");
        assert_eq!(ids.for_call(&call("a", "x")), "a");
        assert_eq!(ids.for_call(&call("a", "x")), "call00003");
        assert_eq!(ids.for_result(&result("", "y")), "call00002");
        assert_eq!(ids.for_result(&result("", "x")), "call00001");
        assert_eq!(ids.for_result(&result("a", "x")), "a");
        assert_eq!(ids.for_result(&result("a", "x")), "call00003");
        assert_eq!(ids.for_result(&result("b", "x")), "b");
        let own = crate::generated_call_id(1);
        assert_eq!(ids.for_call(&call(&own, "x")), "call00004");
        assert_eq!(ids.for_result(&result(&own, "x")), "call00004");
    }
}
