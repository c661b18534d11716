//! OpenAI's chat completions and their variants: ids that arrive late, twice or never, calls without an index,
//! arguments that are objects.

use serde_json::Value;

use super::response_data::{ResponseData, arguments_text, text};
use super::usage;
use crate::Delta;

/// Reads the chunks of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct ChatParser {
    calls: Vec<StartedCall>,
}

/// A call that has started.
#[derive(Debug)]
struct StartedCall {
    /// The index that the provider gave.
    index: Option<u64>,
    id: String,
}

impl ChatParser {
    pub(super) fn read(&mut self, frame: &Value, data: &mut ResponseData) -> Vec<Delta> {
        data.id = data.id.take().or_else(|| text(frame, "/id"));
        data.model = data.model.take().or_else(|| text(frame, "/model"));
        let usage = frame.get("usage").filter(|usage| usage.is_object());
        if let Some(usage) = usage.or_else(|| frame.pointer("/x_groq/usage")) {
            data.usage = usage::openai(usage);
        }
        let choices = frame.get("choices").and_then(Value::as_array);
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.into_iter().flatten().find(first) else {
            return Vec::new();
        };
        let reason = text(choice, "/finish_reason").filter(|reason| !reason.is_empty());
        data.finish = reason.or_else(|| data.finish.take());
        match (choice.get("delta"), choice.get("message")) {
            (Some(message @ Value::Object(_)), _) => self.message(message, false),
            (_, Some(message @ Value::Object(_))) => self.message(message, true),
            _ => Vec::new(),
        }
    }

    fn message(&mut self, message: &Value, is_complete: bool) -> Vec<Delta> {
        let mut deltas = Vec::new();
        let reasoning = text(message, "/reasoning_content").or_else(|| text(message, "/reasoning"));
        deltas.extend(reasoning.map(Delta::Thought));
        match message.get("content") {
            Some(Value::String(text)) => deltas.push(Delta::Text(text.clone())),
            Some(Value::Array(chunks)) => chunks
                .iter()
                .for_each(|chunk| typed_content(chunk, &mut deltas)),
            _ => {}
        }
        deltas.extend(text(message, "/refusal").map(Delta::Text));
        let calls = message.get("tool_calls").and_then(Value::as_array);
        deltas.extend(
            calls
                .into_iter()
                .flatten()
                .filter_map(|call| self.call(call, is_complete)),
        );
        // The older format, which allows only one call.
        let function_call = message.get("function_call").filter(|call| call.is_object());
        deltas.extend(
            function_call.and_then(|function| self.chunk(Some(0), None, function, is_complete)),
        );
        deltas.retain(
            |delta| !matches!(delta, Delta::Text(text) | Delta::Thought(text) if text.is_empty()),
        );
        deltas
    }

    fn call(&mut self, call: &Value, is_complete: bool) -> Option<Delta> {
        let index = call.get("index").and_then(Value::as_u64);
        self.chunk(index, text(call, "/id"), call.get("function")?, is_complete)
    }

    /// A chunk of a call, or a complete call.
    fn chunk(
        &mut self,
        index: Option<u64>,
        id: Option<String>,
        function: &Value,
        is_complete: bool,
    ) -> Option<Delta> {
        let id = id.filter(|id| !id.is_empty());
        let name = text(function, "/name").filter(|name| !name.is_empty());
        let arguments = arguments_text(function.get("arguments"));
        let existing = self.find(index, id.as_deref(), name.is_some());
        let call_index = match existing.filter(|_| !is_complete) {
            Some(existing) => existing,
            // The chunk is empty.
            None if id.is_none() && name.is_none() && arguments.is_empty() => return None,
            None => {
                self.calls.push(StartedCall {
                    index,
                    id: id.clone().unwrap_or_default(),
                });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[call_index];
        if call.id.is_empty() {
            call.id = id.clone().unwrap_or_default();
        }
        Some(Delta::Call {
            index: call_index,
            id,
            name,
            arguments,
        })
    }

    /// The call that a chunk continues. Some providers give every call the index 0, and distinguish calls by id.
    fn find(&self, index: Option<u64>, id: Option<&str>, named: bool) -> Option<usize> {
        let is_other =
            |call: &StartedCall| named && id.is_some_and(|id| !call.id.is_empty() && call.id != id);
        match (index, id) {
            (Some(index), _) => {
                let same_index = |call: &StartedCall| call.index == Some(index);
                let found = self.calls.iter().rposition(same_index)?;
                (!is_other(&self.calls[found])).then_some(found)
            }
            (None, Some(id)) => self.calls.iter().rposition(|call| call.id == id),
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        }
    }
}

/// A typed chunk of content, as Mistral sends.
fn typed_content(chunk: &Value, deltas: &mut Vec<Delta>) {
    deltas.extend(text(chunk, "/text").map(Delta::Text));
    deltas.extend(text(chunk, "/thinking").map(Delta::Thought));
    let reasoning = chunk.get("thinking").and_then(Value::as_array);
    let reasoning = reasoning.into_iter().flatten();
    deltas.extend(
        reasoning
            .filter_map(|one| text(one, "/text"))
            .map(Delta::Thought),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{LlmResponse, StreamAccumulator};

    fn calls(chunks: &[Value]) -> Vec<(String, String, Value)> {
        let (mut parser, mut accumulator) = (ChatParser::default(), StreamAccumulator::new());
        for chunk in chunks {
            let frame = json!({"choices": [{"delta": {"tool_calls": [chunk]}}]});
            let deltas = parser.read(&frame, &mut ResponseData::default());
            deltas.iter().for_each(|delta| accumulator.push(delta));
        }
        let accumulator = accumulator.finish(LlmResponse::default());
        accumulator
            .calls()
            .map(|call| (call.id.clone(), call.name.clone(), call.arguments.clone()))
            .collect()
    }

    fn call(id: &str, name: &str, n: u64) -> (String, String, Value) {
        (id.to_string(), name.to_string(), json!({"n": n}))
    }

    #[test]
    fn pieces_find_their_call_whatever_the_server_leaves_out() {
        let both = [call("a", "x", 1), call("b", "y", 2)];
        let start = |index: Value, id: Value, name: &str, text: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": text}});
        let next = |index: Value, id: Value, text: &str| json!({"index": index, "id": id, "function": {"arguments": text}});
        let null = Value::Null;
        for chunks in [
            // The standard form, with a gap between the indexes.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\""),
                start(json!(7), json!("b"), "y", "{\"n\""),
                next(json!(0), null.clone(), ": 1}"),
                next(json!(7), null.clone(), ": 2}"),
            ],
            // Later ids are empty.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\""),
                next(json!(0), json!(""), ": 1}"),
                start(json!(1), json!("b"), "y", "{\"n\""),
                next(json!(1), json!(""), ": 2}"),
            ],
            // No indexes.
            vec![
                start(null.clone(), json!("a"), "x", "{\"n\""),
                next(null.clone(), null.clone(), ": 1}"),
                start(null.clone(), json!("b"), "y", "{\"n\""),
                next(null.clone(), json!("b"), ": 2}"),
            ],
            // Every index is 0.
            vec![
                start(json!(0), json!("a"), "x", "{\"n\": 1}"),
                start(json!(0), json!("b"), "y", "{\"n\": 2}"),
            ],
        ] {
            assert_eq!(calls(&chunks), both, "{chunks:?}");
        }
        let same_id = [
            start(json!(0), json!("a"), "x", "{\"n\": 1}"),
            start(json!(1), json!("a"), "y", "{\"n\": 2}"),
        ];
        assert_eq!(calls(&same_id), [call("a", "x", 1), call("a", "y", 2)]);
        let no_id = [
            json!({"function": {"name": "x", "arguments": {"n": 1}}}),
            json!({"function": {"name": "y", "arguments": {"n": 2}}}),
        ];
        assert_eq!(calls(&no_id), [call("", "x", 1), call("", "y", 2)]);
    }
}
