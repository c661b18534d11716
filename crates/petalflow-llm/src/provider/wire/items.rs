//! OpenAI's responses: a list of items. Each item may arrive in chunks.

use serde_json::Value;

use super::common::{About, arguments, hidden, text};
use super::counts;
use crate::{Delta, Reasoning};

/// Reads the events of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct Items {
    calls: Vec<Begun>,
    /// Whether content has arrived before the last event, which repeats the whole response.
    any: bool,
    /// Whether reasoning has arrived that has no signature yet.
    thinking: bool,
}

/// A call that has begun.
#[derive(Debug)]
struct Begun {
    /// The number of the call's item.
    item: u64,
    /// The number of bytes of the arguments received.
    length: usize,
}

impl Items {
    pub(super) fn read(&mut self, event: &Value, about: &mut About) -> Vec<Delta> {
        let Some(kind) = event.get("type").and_then(Value::as_str) else {
            return self.whole(event, about);
        };
        let mut deltas = Vec::new();
        let number = event
            .get("output_index")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                deltas.extend(text(event, "/delta").map(Delta::Text));
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.thinking = true;
                deltas.extend(text(event, "/delta").map(Delta::Thought));
            }
            "response.output_item.added" => self.begin(number, &event["item"], &mut deltas),
            "response.function_call_arguments.delta" => {
                let piece = text(event, "/delta").unwrap_or_default();
                let place = self.place(number);
                self.calls[place].length += piece.len();
                deltas.push(call(place, None, None, piece));
            }
            "response.output_item.done" => self.done(number, &event["item"], about, &mut deltas),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.whole(&event["response"], about);
            }
            _ => about_response(event.get("response").unwrap_or(&Value::Null), about),
        }
        self.any |= !deltas.is_empty();
        deltas
    }

    /// Reads the complete response. Content that arrived in chunks is not repeated.
    fn whole(&mut self, response: &Value, about: &mut About) -> Vec<Delta> {
        let mut deltas = Vec::new();
        about_response(response, about);
        if response.get("error").is_some_and(Value::is_object) {
            about.error.get_or_insert_with(|| response.clone());
        }
        let cut = text(response, "/incomplete_details/reason").map(|reason| match &*reason {
            "max_output_tokens" => "length".to_string(),
            _ => reason,
        });
        about.finish = cut.or_else(|| text(response, "/status"));
        let items = response.get("output").and_then(Value::as_array);
        let said_before = self.any;
        for (number, item) in items.into_iter().flatten().enumerate() {
            if !said_before {
                self.said(item, &mut deltas);
                self.done(number as u64, item, about, &mut deltas);
            }
        }
        if !self.calls.is_empty() && about.finish.as_deref() == Some("completed") {
            about.finish = Some("tool_calls".to_string());
        }
        deltas
    }

    /// Reads the text of an item that arrived complete.
    fn said(&mut self, item: &Value, deltas: &mut Vec<Delta>) {
        let pieces = |field| {
            item.get(field)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        match item.get("type").and_then(Value::as_str) {
            Some("message") => deltas.extend(pieces("content").filter_map(|piece| {
                let words = text(piece, "/text").or_else(|| text(piece, "/refusal"))?;
                Some(Delta::Text(words))
            })),
            Some("reasoning") => {
                let thoughts = pieces("summary").chain(pieces("content"));
                let thoughts = thoughts.filter_map(|piece| text(piece, "/text"));
                let before = deltas.len();
                deltas.extend(thoughts.map(Delta::Thought));
                self.thinking = deltas.len() > before;
            }
            _ => {}
        }
    }

    fn begin(&mut self, number: u64, item: &Value, deltas: &mut Vec<Delta>) {
        if item.get("type").and_then(Value::as_str) == Some("function_call") {
            let place = self.place(number);
            let (id, name) = (text(item, "/call_id"), text(item, "/name"));
            deltas.push(call(place, id, name, String::new()));
        }
    }

    /// Reads a complete item. Only content that did not arrive in chunks is new.
    fn done(&mut self, number: u64, item: &Value, about: &mut About, deltas: &mut Vec<Delta>) {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let place = self.place(number);
                let written = arguments(item.get("arguments"));
                let so_far = self.calls[place].length;
                let rest = written.get(so_far..).unwrap_or_default().to_string();
                self.calls[place].length += rest.len();
                let (id, name) = (text(item, "/call_id"), text(item, "/name"));
                deltas.push(call(place, id, name, rest));
            }
            Some("reasoning") => {
                let seen = std::mem::take(&mut self.thinking);
                let signature = text(item, "/encrypted_content").filter(|text| !text.is_empty());
                deltas.extend(signature.map(|signature| {
                    if seen {
                        Delta::Signature(signature)
                    } else {
                        hidden(signature)
                    }
                }));
                let summary = item.get("summary").and_then(Value::as_array);
                let summary = summary.into_iter().flatten();
                let summary: Vec<_> = summary.filter_map(|one| text(one, "/text")).collect();
                about.reasoning = Some(Reasoning {
                    id: text(item, "/id"),
                    summary: summary.join("\n\n"),
                });
            }
            _ => {}
        }
    }

    /// The index of the call for the item with this number, added if it is missing.
    fn place(&mut self, item: u64) -> usize {
        let known = self.calls.iter().rposition(|begun| begun.item == item);
        known.unwrap_or_else(|| {
            self.calls.push(Begun { item, length: 0 });
            self.calls.len() - 1
        })
    }
}

fn about_response(response: &Value, about: &mut About) {
    about.id = about.id.take().or_else(|| text(response, "/id"));
    about.model = about.model.take().or_else(|| text(response, "/model"));
    if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
        about.usage = counts::openai(usage);
    }
}

fn call(place: usize, id: Option<String>, name: Option<String>, arguments: String) -> Delta {
    Delta::Call {
        place,
        id,
        name,
        arguments,
    }
}
