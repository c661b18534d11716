//! OpenAI's chat completions and their variants: ids that arrive late, twice or never, calls without an index,
//! arguments that are objects.

use serde_json::Value;

use super::common::{About, arguments, text};
use super::counts;
use crate::Delta;

/// Reads the chunks of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    calls: Vec<Begun>,
}

/// A call that has begun.
#[derive(Debug)]
struct Begun {
    /// The index that the provider gave.
    index: Option<u64>,
    id: String,
}

impl Chunks {
    pub(super) fn read(&mut self, frame: &Value, about: &mut About) -> Vec<Delta> {
        about.id = about.id.take().or_else(|| text(frame, "/id"));
        about.model = about.model.take().or_else(|| text(frame, "/model"));
        let usage = frame.get("usage").filter(|usage| usage.is_object());
        if let Some(usage) = usage.or_else(|| frame.pointer("/x_groq/usage")) {
            about.usage = counts::openai(usage);
        }
        let choices = frame.get("choices").and_then(Value::as_array);
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.into_iter().flatten().find(first) else {
            return Vec::new();
        };
        let reason = text(choice, "/finish_reason").filter(|reason| !reason.is_empty());
        about.finish = reason.or_else(|| about.finish.take());
        match (choice.get("delta"), choice.get("message")) {
            (Some(said @ Value::Object(_)), _) => self.said(said, false),
            (_, Some(said @ Value::Object(_))) => self.said(said, true),
            _ => Vec::new(),
        }
    }

    fn said(&mut self, said: &Value, at_once: bool) -> Vec<Delta> {
        let mut deltas = Vec::new();
        let thoughts = text(said, "/reasoning_content").or_else(|| text(said, "/reasoning"));
        deltas.extend(thoughts.map(Delta::Thought));
        match said.get("content") {
            Some(Value::String(words)) => deltas.push(Delta::Text(words.clone())),
            Some(Value::Array(pieces)) => pieces.iter().for_each(|piece| typed(piece, &mut deltas)),
            _ => {}
        }
        deltas.extend(text(said, "/refusal").map(Delta::Text));
        let calls = said.get("tool_calls").and_then(Value::as_array);
        deltas.extend(
            calls
                .into_iter()
                .flatten()
                .filter_map(|call| self.call(call, at_once)),
        );
        // The older format, which allows only one call.
        let alone = said.get("function_call").filter(|call| call.is_object());
        deltas.extend(alone.and_then(|function| self.piece(Some(0), None, function, at_once)));
        deltas.retain(|delta| !matches!(delta, Delta::Text(words) | Delta::Thought(words) if words.is_empty()));
        deltas
    }

    fn call(&mut self, call: &Value, at_once: bool) -> Option<Delta> {
        let index = call.get("index").and_then(Value::as_u64);
        self.piece(index, text(call, "/id"), call.get("function")?, at_once)
    }

    /// A chunk of a call, or a complete call.
    fn piece(
        &mut self,
        index: Option<u64>,
        id: Option<String>,
        function: &Value,
        at_once: bool,
    ) -> Option<Delta> {
        let id = id.filter(|id| !id.is_empty());
        let name = text(function, "/name").filter(|name| !name.is_empty());
        let arguments = arguments(function.get("arguments"));
        let place = self.place(index, id.as_deref(), name.is_some());
        let place = match place.filter(|_| !at_once) {
            Some(place) => place,
            // The chunk is empty.
            None if id.is_none() && name.is_none() && arguments.is_empty() => return None,
            None => {
                self.calls.push(Begun {
                    index,
                    id: id.clone().unwrap_or_default(),
                });
                self.calls.len() - 1
            }
        };
        let begun = &mut self.calls[place];
        if begun.id.is_empty() {
            begun.id = id.clone().unwrap_or_default();
        }
        Some(Delta::Call {
            place,
            id,
            name,
            arguments,
        })
    }

    /// The call that a chunk continues. Some providers give every call the index 0, and distinguish calls by id.
    fn place(&self, index: Option<u64>, id: Option<&str>, named: bool) -> Option<usize> {
        let other =
            |begun: &Begun| named && id.is_some_and(|id| !begun.id.is_empty() && begun.id != id);
        match (index, id) {
            (Some(index), _) => {
                let same = |begun: &Begun| begun.index == Some(index);
                let place = self.calls.iter().rposition(same)?;
                (!other(&self.calls[place])).then_some(place)
            }
            (None, Some(id)) => self.calls.iter().rposition(|begun| begun.id == id),
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        }
    }
}

/// A typed chunk of content, as Mistral sends.
fn typed(piece: &Value, deltas: &mut Vec<Delta>) {
    deltas.extend(text(piece, "/text").map(Delta::Text));
    deltas.extend(text(piece, "/thinking").map(Delta::Thought));
    let thoughts = piece.get("thinking").and_then(Value::as_array);
    let thoughts = thoughts.into_iter().flatten();
    deltas.extend(
        thoughts
            .filter_map(|one| text(one, "/text"))
            .map(Delta::Thought),
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{LlmResponse, StreamAccumulator};

    fn calls(pieces: &[Value]) -> Vec<(String, String, Value)> {
        let (mut chunks, mut answer) = (Chunks::default(), StreamAccumulator::new());
        for piece in pieces {
            let frame = json!({"choices": [{"delta": {"tool_calls": [piece]}}]});
            let deltas = chunks.read(&frame, &mut About::default());
            deltas.iter().for_each(|delta| answer.push(delta));
        }
        let answer = answer.finish(LlmResponse::default());
        answer
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
        let begin = |index: Value, id: Value, name: &str, text: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": text}});
        let go_on = |index: Value, id: Value, text: &str| json!({"index": index, "id": id, "function": {"arguments": text}});
        let null = Value::Null;
        for pieces in [
            // The standard form, with a gap between the indexes.
            vec![
                begin(json!(0), json!("a"), "x", "{\"n\""),
                begin(json!(7), json!("b"), "y", "{\"n\""),
                go_on(json!(0), null.clone(), ": 1}"),
                go_on(json!(7), null.clone(), ": 2}"),
            ],
            // Later ids are empty.
            vec![
                begin(json!(0), json!("a"), "x", "{\"n\""),
                go_on(json!(0), json!(""), ": 1}"),
                begin(json!(1), json!("b"), "y", "{\"n\""),
                go_on(json!(1), json!(""), ": 2}"),
            ],
            // No indexes.
            vec![
                begin(null.clone(), json!("a"), "x", "{\"n\""),
                go_on(null.clone(), null.clone(), ": 1}"),
                begin(null.clone(), json!("b"), "y", "{\"n\""),
                go_on(null.clone(), json!("b"), ": 2}"),
            ],
            // Every index is 0.
            vec![
                begin(json!(0), json!("a"), "x", "{\"n\": 1}"),
                begin(json!(0), json!("b"), "y", "{\"n\": 2}"),
            ],
        ] {
            assert_eq!(calls(&pieces), both, "{pieces:?}");
        }
        let same_id = [
            begin(json!(0), json!("a"), "x", "{\"n\": 1}"),
            begin(json!(1), json!("a"), "y", "{\"n\": 2}"),
        ];
        assert_eq!(calls(&same_id), [call("a", "x", 1), call("a", "y", 2)]);
        let no_id = [
            json!({"function": {"name": "x", "arguments": {"n": 1}}}),
            json!({"function": {"name": "y", "arguments": {"n": 2}}}),
        ];
        assert_eq!(calls(&no_id), [call("", "x", 1), call("", "y", 2)]);
    }
}
