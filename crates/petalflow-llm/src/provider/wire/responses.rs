//! OpenAI's responses: a list of items. Each item may arrive in chunks.

use serde_json::Value;

use super::response_data::{ResponseData, arguments_text, hidden_reasoning, text};
use super::usage;
use crate::{Delta, Reasoning};

/// Reads the events of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct ResponsesParser {
    calls: Vec<StartedCall>,
    /// Whether content has arrived before the last event, which repeats the whole response.
    has_content: bool,
    /// Whether reasoning has arrived that has no signature yet.
    unsigned_reasoning: bool,
}

/// A call that has started.
#[derive(Debug)]
struct StartedCall {
    /// The number of the call's item.
    item: u64,
    /// The number of bytes of the arguments received.
    length: usize,
}

impl ResponsesParser {
    pub(super) fn read(&mut self, event: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let Some(kind) = event.get("type").and_then(Value::as_str) else {
            return self.complete_response(event, data);
        };
        let mut deltas = Vec::new();
        let index = event
            .get("output_index")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                deltas.extend(text(event, "/delta").map(Delta::Text));
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.unsigned_reasoning = true;
                deltas.extend(text(event, "/delta").map(Delta::Thought));
            }
            "response.output_item.added" => self.start_item(index, &event["item"], &mut deltas),
            "response.function_call_arguments.delta" => {
                let chunk = text(event, "/delta").unwrap_or_default();
                let index = self.call_index(index);
                self.calls[index].length += chunk.len();
                deltas.push(call(index, None, None, chunk));
            }
            "response.output_item.done" => self.end_item(index, &event["item"], data, &mut deltas),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.complete_response(&event["response"], data);
            }
            _ => read_metadata(event.get("response").unwrap_or(&Value::Null), data),
        }
        self.has_content |= !deltas.is_empty();
        deltas
    }

    /// Reads the complete response. Content that arrived in chunks is not repeated.
    fn complete_response(&mut self, response: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let mut deltas = Vec::new();
        read_metadata(response, data);
        if response.get("error").is_some_and(Value::is_object) {
            data.error.get_or_insert_with(|| response.clone());
        }
        let incomplete_reason =
            text(response, "/incomplete_details/reason").map(|reason| match &*reason {
                "max_output_tokens" => "length".to_string(),
                _ => reason,
            });
        data.finish = incomplete_reason.or_else(|| text(response, "/status"));
        let items = response.get("output").and_then(Value::as_array);
        let streamed = self.has_content;
        for (index, item) in items.into_iter().flatten().enumerate() {
            if !streamed {
                self.item_text(item, &mut deltas);
                self.end_item(index as u64, item, data, &mut deltas);
            }
        }
        if !self.calls.is_empty() && data.finish.as_deref() == Some("completed") {
            data.finish = Some("tool_calls".to_string());
        }
        deltas
    }

    /// Reads the text of an item that arrived complete.
    fn item_text(&mut self, item: &Value, deltas: &mut Vec<Delta>) {
        let chunks = |field| {
            item.get(field)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        match item.get("type").and_then(Value::as_str) {
            Some("message") => deltas.extend(chunks("content").filter_map(|chunk| {
                let text = text(chunk, "/text").or_else(|| text(chunk, "/refusal"))?;
                Some(Delta::Text(text))
            })),
            Some("reasoning") => {
                let reasoning = chunks("summary").chain(chunks("content"));
                let reasoning = reasoning.filter_map(|chunk| text(chunk, "/text"));
                let before = deltas.len();
                deltas.extend(reasoning.map(Delta::Thought));
                self.unsigned_reasoning = deltas.len() > before;
            }
            _ => {}
        }
    }

    fn start_item(&mut self, index: u64, item: &Value, deltas: &mut Vec<Delta>) {
        if item.get("type").and_then(Value::as_str) == Some("function_call") {
            let index = self.call_index(index);
            let (id, name) = (text(item, "/call_id"), text(item, "/name"));
            deltas.push(call(index, id, name, String::new()));
        }
    }

    /// Reads a complete item. Only content that did not arrive in chunks is new.
    fn end_item(
        &mut self,
        index: u64,
        item: &Value,
        data: &mut ResponseData,
        deltas: &mut Vec<Delta>,
    ) {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let index = self.call_index(index);
                let arguments = arguments_text(item.get("arguments"));
                let received = self.calls[index].length;
                let rest = arguments.get(received..).unwrap_or_default().to_string();
                self.calls[index].length += rest.len();
                let (id, name) = (text(item, "/call_id"), text(item, "/name"));
                deltas.push(call(index, id, name, rest));
            }
            Some("reasoning") => {
                let visible = std::mem::take(&mut self.unsigned_reasoning);
                let signature = text(item, "/encrypted_content").filter(|text| !text.is_empty());
                deltas.extend(signature.map(|signature| {
                    if visible {
                        Delta::Signature(signature)
                    } else {
                        hidden_reasoning(signature)
                    }
                }));
                let summary = item.get("summary").and_then(Value::as_array);
                let summary = summary.into_iter().flatten();
                let summary: Vec<_> = summary.filter_map(|one| text(one, "/text")).collect();
                data.reasoning = Some(Reasoning {
                    id: text(item, "/id"),
                    summary: summary.join("\n\n"),
                });
            }
            _ => {}
        }
    }

    /// The index of the call for the item with this number, added if it is missing.
    fn call_index(&mut self, item: u64) -> usize {
        let existing = self.calls.iter().rposition(|call| call.item == item);
        existing.unwrap_or_else(|| {
            self.calls.push(StartedCall { item, length: 0 });
            self.calls.len() - 1
        })
    }
}

fn read_metadata(response: &Value, data: &mut ResponseData) {
    data.id = data.id.take().or_else(|| text(response, "/id"));
    data.model = data.model.take().or_else(|| text(response, "/model"));
    if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
        data.usage = usage::openai(usage);
    }
}

fn call(index: usize, id: Option<String>, name: Option<String>, arguments: String) -> Delta {
    Delta::Call {
        index,
        id,
        name,
        arguments,
    }
}
