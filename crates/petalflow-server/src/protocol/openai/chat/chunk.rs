//! The answer to a request for a chat completion, in chunks.

use serde_json::{Value, json};

use super::completion::{Added, Completion};
use crate::protocol::openai::calls::{self, FunctionCall};
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::usage;
use crate::protocol::turn::{ItemKind, TurnEnd, TurnItem};

/// What ends a stream of chunks.
const DONE: &str = "[DONE]";

/// Makes chunks from the items of a turn.
#[derive(Debug)]
pub(super) struct Chunks {
    completion: Completion,
    with_usage: bool,
    has_begun: bool,
}

impl Chunks {
    pub(super) fn new(completion: Completion, with_usage: bool) -> Self {
        Chunks {
            completion,
            with_usage,
            has_begun: false,
        }
    }

    /// The chunks of an item, as texts.
    pub(super) fn of(&mut self, thread: &str, item: &TurnItem) -> Vec<String> {
        if let ItemKind::End(end) = &item.kind {
            return self.end(thread, end);
        }
        let delta = match self.completion.add(item) {
            None => return Vec::new(),
            Some(Added::Text(text)) => json!({ "content": text }),
            Some(Added::Refusal(text)) => json!({ "refusal": text }),
            Some(Added::Annotations(cited)) => json!({ "annotations": cited }),
        };
        let mut chunks = self.begin();
        chunks.push(self.chunk(&delta, None));
        chunks
    }

    /// The first chunk has the role.
    fn begin(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Vec::new();
        }
        vec![self.chunk(
            &json!({ "role": "assistant", "content": "", "refusal": null }),
            None,
        )]
    }

    fn end(&mut self, thread: &str, end: &TurnEnd) -> Vec<String> {
        if let Some(error) = ApiError::of_turn(&end.outcome) {
            // A client raises it. There is no answer that could be done.
            return vec![error.body().to_string()];
        }
        let mut chunks = self.begin();
        let calls = calls::at_end(thread, end);
        for (index, call) in calls.iter().enumerate() {
            for delta in deltas(index, call) {
                chunks.push(self.chunk(&delta, None));
            }
        }
        let finish = self.completion.finish_reason(&calls);
        chunks.push(self.chunk(&json!({}), Some(finish)));
        if self.with_usage {
            let mut last = self.value(&json!([]));
            last["usage"] = usage::of_chat(&end.turn.usage.tokens);
            chunks.push(last.to_string());
        }
        chunks.push(DONE.to_string());
        chunks
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> String {
        let choice =
            json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        let mut chunk = self.value(&json!([choice]));
        if self.with_usage {
            chunk["usage"] = Value::Null;
        }
        chunk.to_string()
    }

    fn value(&self, choices: &Value) -> Value {
        let Completion {
            id, created, model, ..
        } = &self.completion;
        json!({
            "id": id,
            "object": "chat.completion.chunk",
            "created": created,
            "model": model,
            "choices": choices,
        })
    }
}

/// The deltas of a call: its name, then its arguments.
fn deltas(index: usize, call: &FunctionCall) -> [Value; 2] {
    let name = json!({
        "index": index,
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": "" },
    });
    let arguments = json!({ "index": index, "function": { "arguments": call.arguments } });
    [name, arguments].map(|call| json!({ "tool_calls": [call] }))
}
