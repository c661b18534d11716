//! Gemini's responses, in the order of their parts. The `genai` library returns text, reasoning, signatures and calls
//! one after the other, which loses the relation of signatures to parts. It also omits code and images.

use serde_json::{Map, Value};

use super::response_data::ResponseData;
use super::usage;
use crate::{Delta, Media, MediaSource, Part, Text};

/// Reads the chunks of a response.
#[derive(Debug, Default)]
pub(super) struct GeminiParser {
    calls: usize,
    /// The call whose arguments are still incomplete.
    open_call: Option<usize>,
    /// Whether the last part was a call.
    after_call: bool,
}

impl GeminiParser {
    pub(super) fn read(&mut self, chunk: &Value, data: &mut ResponseData) -> Vec<Delta> {
        data.id = data.id.take().or_else(|| text(chunk, "responseId"));
        data.model = data.model.take().or_else(|| text(chunk, "modelVersion"));
        if let Some(usage) = chunk.get("usageMetadata").filter(|usage| usage.is_object()) {
            data.usage = usage::gemini(usage);
        }
        let feedback = chunk.get("promptFeedback");
        let blocked = feedback.and_then(|feedback| text(feedback, "blockReason"));
        data.blocked = data.blocked.take().or(blocked);
        let Some(candidate) = chunk.pointer("/candidates/0") else {
            return Vec::new();
        };
        data.finish = text(candidate, "finishReason").or_else(|| data.finish.take());
        data.meta.extend(source_metadata(candidate));
        let parts = candidate
            .pointer("/content/parts")
            .and_then(Value::as_array);
        let mut deltas = Vec::new();
        for part in parts.into_iter().flatten() {
            let signature = text(part, "thoughtSignature");
            // A signature on empty text after a call does not sign the call.
            if self.after_call
                && signature.is_some()
                && text(part, "text").is_some_and(|text| text.is_empty())
            {
                let text = String::new();
                deltas.push(Delta::Part(Part::Text(Text { text, signature })));
                self.after_call = false;
                continue;
            }
            self.part(part, &mut deltas);
            deltas.extend(signature.map(Delta::Signature));
            self.after_call = part.get("functionCall").is_some();
        }
        deltas
    }

    fn part(&mut self, part: &Value, deltas: &mut Vec<Delta>) {
        if let Some(call) = part.get("functionCall") {
            self.call(call, deltas);
        } else if let Some(text) = text(part, "text") {
            let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            deltas.push(if thought {
                Delta::Thought(text)
            } else {
                Delta::Text(text)
            });
        } else {
            deltas.extend(complete_part(part).map(Delta::Part));
        }
    }

    /// A call, or a chunk of one: some calls send their arguments by path.
    fn call(&mut self, call: &Value, deltas: &mut Vec<Delta>) {
        let name = text(call, "name").filter(|name| !name.is_empty());
        let index = self.open_call.filter(|_| name.is_none());
        let index = index.unwrap_or_else(|| {
            self.calls += 1;
            self.calls - 1
        });
        let continues = call.get("willContinue").and_then(Value::as_bool) == Some(true);
        self.open_call = continues.then_some(index);
        deltas.push(Delta::Call {
            index,
            id: text(call, "id"),
            name,
            arguments: match call.get("args") {
                None | Some(Value::Null) => String::new(),
                Some(arguments) => arguments.to_string(),
            },
        });
        let chunks = call.get("partialArgs").and_then(Value::as_array);
        for chunk in chunks.into_iter().flatten() {
            let value = ["stringValue", "numberValue", "boolValue"]
                .iter()
                .find_map(|kind| chunk.get(kind));
            deltas.extend(text(chunk, "jsonPath").map(|path| Delta::Argument {
                index,
                path,
                value: value.cloned().unwrap_or(Value::Null),
            }));
        }
    }
}

/// The data of a candidate that is outside its parts: the sources of the answer.
fn source_metadata(candidate: &Value) -> Map<String, Value> {
    let kinds = [
        "groundingMetadata",
        "citationMetadata",
        "urlContextMetadata",
    ];
    let metadata = kinds.into_iter().filter_map(|kind| {
        let value = candidate.get(kind)?;
        (!value.is_null()).then(|| (kind.to_string(), value.clone()))
    });
    metadata.collect()
}

/// A part that arrives complete.
fn complete_part(part: &Value) -> Option<Part> {
    let media = |kind: &str, field: &str, source: fn(String) -> MediaSource| {
        let data = part.get(kind)?;
        Some(Part::Media(Media {
            media_type: text(data, "mimeType")?,
            source: source(text(data, field)?),
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
        let (mut reader, mut accumulator) = (GeminiParser::default(), StreamAccumulator::new());
        for parts in chunks {
            let chunk = json!({"candidates": [{"content": {"parts": parts}}]});
            let deltas = reader.read(&chunk, &mut ResponseData::default());
            deltas.iter().for_each(|delta| accumulator.push(delta));
        }
        accumulator.finish(LlmResponse::default())
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
        let mut reader = GeminiParser::default();
        for nonsense in [
            json!({"candidates": null}),
            json!({"candidates": [{"content": {"parts": [1, null, {"functionCall": 3}, {"inlineData": {}}]}}]}),
        ] {
            reader.read(&nonsense, &mut ResponseData::default());
        }
    }
}
