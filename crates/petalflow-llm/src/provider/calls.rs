//! Tool calls as providers accept them: with unique ids, and with arguments that are objects.

use std::collections::VecDeque;

use serde_json::{Value, json};

use petalflow::tool::{ToolCall, ToolResult};

/// The call ids in one request, for models that send none or the same id twice. Providers use the ids to match results
/// with calls.
#[derive(Debug, Default)]
pub(super) struct Ids {
    made: usize,
    /// Calls without a result.
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    /// The id in the conversation.
    id: String,
    name: String,
    sent: String,
}

impl Ids {
    /// Starts a new message from the model: later results do not belong to older calls.
    pub(super) fn new_turn(&mut self) {
        self.open.clear();
    }

    /// The id to send for a call: its own id if it has one that is unused.
    pub(super) fn of_call(&mut self, call: &ToolCall) -> String {
        let taken = self.open.iter().any(|open| open.sent == call.id);
        let sent = if call.id.is_empty() || taken {
            self.made += 1;
            // Nine letters and digits, the format that Mistral accepts.
            format!("call{:05}", self.made)
        } else {
            call.id.clone()
        };
        self.open.push_back(Open {
            id: call.id.clone(),
            name: call.name.clone(),
            sent: sent.clone(),
        });
        sent
    }

    /// The id to send for a result: the id of the first call that matches it.
    pub(super) fn of_result(&mut self, result: &ToolResult) -> String {
        let same = |open: &Open| open.id == result.call_id;
        let named = |open: &Open| same(open) && open.name == result.name;
        let place = self.open.iter().position(named);
        let place = place.or_else(|| self.open.iter().position(same));
        match place.and_then(|place| self.open.remove(place)) {
            Some(open) => open.sent,
            None => result.call_id.clone(),
        }
    }
}

/// Arguments as an object, the only form that providers accept. The model sees its own arguments, and the tool result
/// describes the error.
pub(super) fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(arguments) => Value::Object(arguments.clone()),
        Value::Null => Value::Object(serde_json::Map::new()),
        written => json!({ "invalid": written }),
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
        let mut ids = Ids::default();
        assert_eq!(ids.of_call(&call("", "x")), "call00001");
        assert_eq!(ids.of_call(&call("", "y")), "call00002");
        assert_eq!(ids.of_call(&call("a", "x")), "a");
        assert_eq!(ids.of_call(&call("a", "x")), "call00003");
        assert_eq!(ids.of_result(&result("", "y")), "call00002");
        assert_eq!(ids.of_result(&result("", "x")), "call00001");
        assert_eq!(ids.of_result(&result("a", "x")), "a");
        assert_eq!(ids.of_result(&result("a", "x")), "call00003");
        assert_eq!(ids.of_result(&result("b", "x")), "b");
    }
}
