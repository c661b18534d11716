//! Gemini's responses, in the order of their parts. The `genai` library returns text, reasoning, signatures and calls
//! one after the other, which loses the relation of signatures to parts. It also omits code and images.

use serde_json::{Map, Value};

use super::common::About;
use super::counts;
use crate::{Delta, Media, MediaSource, Part, Text};

/// Reads the chunks of a response.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    calls: usize,
    /// The call whose arguments are still incomplete.
    open: Option<usize>,
    /// Whether the last part was a call.
    called: bool,
}

impl Chunks {
    pub(super) fn read(&mut self, chunk: &Value, about: &mut About) -> Vec<Delta> {
        about.id = about.id.take().or_else(|| text(chunk, "responseId"));
        about.model = about.model.take().or_else(|| text(chunk, "modelVersion"));
        if let Some(usage) = chunk.get("usageMetadata").filter(|usage| usage.is_object()) {
            about.usage = counts::gemini(usage);
        }
        let feedback = chunk.get("promptFeedback");
        let blocked = feedback.and_then(|feedback| text(feedback, "blockReason"));
        about.blocked = about.blocked.take().or(blocked);
        let Some(candidate) = chunk.pointer("/candidates/0") else {
            return Vec::new();
        };
        about.finish = text(candidate, "finishReason").or_else(|| about.finish.take());
        about.meta.extend(beside(candidate));
        let parts = candidate
            .pointer("/content/parts")
            .and_then(Value::as_array);
        let mut deltas = Vec::new();
        for part in parts.into_iter().flatten() {
            let signature = text(part, "thoughtSignature");
            // A signature on empty text after a call does not sign the call.
            if self.called
                && signature.is_some()
                && text(part, "text").is_some_and(|words| words.is_empty())
            {
                let text = String::new();
                deltas.push(Delta::Part(Part::Text(Text { text, signature })));
                self.called = false;
                continue;
            }
            self.part(part, &mut deltas);
            deltas.extend(signature.map(Delta::Signature));
            self.called = part.get("functionCall").is_some();
        }
        deltas
    }

    fn part(&mut self, part: &Value, deltas: &mut Vec<Delta>) {
        if let Some(call) = part.get("functionCall") {
            self.call(call, deltas);
        } else if let Some(words) = text(part, "text") {
            let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            deltas.push(if thought {
                Delta::Thought(words)
            } else {
                Delta::Text(words)
            });
        } else {
            deltas.extend(whole(part).map(Delta::Part));
        }
    }

    /// A call, or a chunk of one: some calls send their arguments by path.
    fn call(&mut self, call: &Value, deltas: &mut Vec<Delta>) {
        let name = text(call, "name").filter(|name| !name.is_empty());
        let place = self.open.filter(|_| name.is_none());
        let place = place.unwrap_or_else(|| {
            self.calls += 1;
            self.calls - 1
        });
        let goes_on = call.get("willContinue").and_then(Value::as_bool) == Some(true);
        self.open = goes_on.then_some(place);
        deltas.push(Delta::Call {
            place,
            id: text(call, "id"),
            name,
            arguments: match call.get("args") {
                None | Some(Value::Null) => String::new(),
                Some(arguments) => arguments.to_string(),
            },
        });
        let pieces = call.get("partialArgs").and_then(Value::as_array);
        for piece in pieces.into_iter().flatten() {
            let value = ["stringValue", "numberValue", "boolValue"]
                .iter()
                .find_map(|kind| piece.get(kind));
            deltas.extend(text(piece, "jsonPath").map(|path| Delta::Argument {
                place,
                path,
                value: value.cloned().unwrap_or(Value::Null),
            }));
        }
    }
}

/// The data of a candidate that is outside its parts: the sources of the answer.
fn beside(candidate: &Value) -> Map<String, Value> {
    let kinds = [
        "groundingMetadata",
        "citationMetadata",
        "urlContextMetadata",
    ];
    let said = kinds.into_iter().filter_map(|kind| {
        let value = candidate.get(kind)?;
        (!value.is_null()).then(|| (kind.to_string(), value.clone()))
    });
    said.collect()
}

/// A part that arrives complete.
fn whole(part: &Value) -> Option<Part> {
    let media = |kind: &str, at: &str, source: fn(String) -> MediaSource| {
        let data = part.get(kind)?;
        Some(Part::Media(Media {
            media_type: text(data, "mimeType")?,
            source: source(text(data, at)?),
        }))
    };
    let code = |kind: &str, first: &str, second: &str| {
        let code = part.get(kind)?;
        Some((
            text(code, first).unwrap_or_default(),
            text(code, second).unwrap_or_default(),
        ))
    };
    media("inlineData", "data", MediaSource::Base64)
        .or_else(|| media("fileData", "fileUri", MediaSource::Url))
        .or_else(|| {
            let (language, code) = code("executableCode", "language", "code")?;
            Some(Part::Code { language, code })
        })
        .or_else(|| {
            let (outcome, output) = code("codeExecutionResult", "outcome", "output")?;
            Some(Part::CodeResult { outcome, output })
        })
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field)?.as_str().map(str::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{LlmResponse, StreamAccumulator};

    fn joined(chunks: &[Value]) -> LlmResponse {
        let (mut reader, mut answer) = (Chunks::default(), StreamAccumulator::new());
        for parts in chunks {
            let chunk = json!({"candidates": [{"content": {"parts": parts}}]});
            let deltas = reader.read(&chunk, &mut About::default());
            deltas.iter().for_each(|delta| answer.push(delta));
        }
        answer.finish(LlmResponse::default())
    }

    #[test]
    fn parts_keep_their_order_and_their_signatures() {
        let response = joined(&[
            json!([{"text": "Hm.", "thought": true}]),
            json!([
                {"text": "Two calls:"},
                {"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": "s1"},
                {"functionCall": {"name": "b", "id": "7"}, "thoughtSignature": "s2"},
                {"executableCode": {"language": "PYTHON", "code": "1"}},
            ]),
        ]);
        assert_eq!(
            serde_json::to_value(response.message.unwrap().parts).unwrap(),
            json!([
                {"thought": {"text": "Hm."}},
                {"text": {"text": "Two calls:"}},
                {"call": {"id": "", "name": "a", "arguments": {"x": 1}, "signature": "s1"}},
                {"call": {"id": "7", "name": "b", "arguments": {}, "signature": "s2"}},
                {"code": {"language": "PYTHON", "code": "1"}},
            ])
        );
    }

    #[test]
    fn a064_a_signature_behind_calls_is_not_the_last_calls() {
        let response = joined(&[
            json!([{"functionCall": {"name": "a"}, "thoughtSignature": "s1"}, {"functionCall": {"name": "b"}}]),
            json!([{"text": "", "thoughtSignature": "s2"}]),
        ]);
        assert_eq!(
            serde_json::to_value(response.message.unwrap().parts).unwrap(),
            json!([
                {"call": {"id": "", "name": "a", "arguments": {}, "signature": "s1"}},
                {"call": {"id": "", "name": "b", "arguments": {}}},
                {"text": {"text": "", "signature": "s2"}},
            ])
        );
        let response = joined(&[
            json!([{"text": "so"}]),
            json!([{"text": "", "thoughtSignature": "s"}]),
        ]);
        assert_eq!(
            serde_json::to_value(response.message.unwrap().parts).unwrap(),
            json!([{"text": {"text": "so", "signature": "s"}}])
        );
    }

    #[test]
    fn arguments_that_come_by_path_are_joined() {
        let response = joined(&[
            json!([{"functionCall": {"name": "book", "willContinue": true}}]),
            json!([{"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "New "}], "willContinue": true}}]),
            json!([{"functionCall": {"partialArgs": [
                {"jsonPath": "$.city", "stringValue": "York"},
                {"jsonPath": "$.nights", "numberValue": 2},
                {"jsonPath": "$.note", "nullValue": "NULL_VALUE"},
            ], "willContinue": true}}]),
            json!([{"functionCall": {}}]),
            json!([{"functionCall": {"name": "pay", "args": {}}}]),
        ]);
        let calls: Vec<_> = response.calls().collect();
        assert_eq!(
            calls[0].arguments,
            json!({"city": "New York", "nights": 2, "note": null})
        );
        assert_eq!((calls.len(), calls[1].name.as_str()), (2, "pay"));
    }

    #[test]
    fn nonsense_is_nothing() {
        let mut reader = Chunks::default();
        for nonsense in [
            json!({"candidates": null}),
            json!({"candidates": [{"content": {"parts": [1, null, {"functionCall": 3}, {"inlineData": {}}]}}]}),
        ] {
            reader.read(&nonsense, &mut About::default());
        }
    }
}
