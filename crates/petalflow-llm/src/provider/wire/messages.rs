//! Anthropic's messages: blocks with a start, deltas and a stop.

use serde_json::Value;

use super::common::{About, hidden, redacted, text};
use super::counts;
use crate::Delta;

/// Reads the events of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    calls: usize,
    /// The current block.
    open: Open,
}

#[derive(Debug, Default)]
enum Open {
    /// Text, or a block that only the provider uses.
    #[default]
    Other,
    /// The index of a call.
    Call(usize),
    /// A reasoning block: its signature so far, and whether any of its text was visible.
    Thought { signature: String, seen: bool },
}

impl Blocks {
    pub(super) fn read(&mut self, event: &Value, about: &mut About) -> Vec<Delta> {
        let mut deltas = Vec::new();
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => about_message(&event["message"], about),
            Some("message_delta") => {
                let reason = text(event, "/delta/stop_reason");
                about.finish = reason.or_else(|| about.finish.take());
                counts::anthropic(&event["usage"], &mut about.usage);
            }
            // The response is complete, even if no event had a finish reason.
            Some("message_stop") => {
                about.finish.get_or_insert_with(|| "end_turn".to_string());
            }
            Some("content_block_start") => self.begin(&event["content_block"], &mut deltas),
            Some("content_block_delta") => self.grow(&event["delta"], &mut deltas),
            Some("content_block_stop") => self.end(&mut deltas),
            _ => {
                let blocks = event.get("content").and_then(Value::as_array);
                for block in blocks.into_iter().flatten() {
                    self.begin(block, &mut deltas);
                    self.end(&mut deltas);
                }
                about_message(event, about);
            }
        }
        deltas
    }

    fn begin(&mut self, block: &Value, deltas: &mut Vec<Delta>) {
        // Some servers do not send the end of a block.
        self.end(deltas);
        match block.get("type").and_then(Value::as_str) {
            Some("text") => deltas.extend(words(block, "/text").map(Delta::Text)),
            Some("thinking") => {
                let thought = words(block, "/thinking");
                self.open = Open::Thought {
                    signature: text(block, "/signature").unwrap_or_default(),
                    seen: thought.is_some(),
                };
                deltas.extend(thought.map(Delta::Thought));
            }
            Some("tool_use") => {
                let input = block.get("input").and_then(Value::as_object);
                let input = input.filter(|input| !input.is_empty());
                self.open = Open::Call(self.calls);
                deltas.push(Delta::Call {
                    place: self.calls,
                    id: text(block, "/id"),
                    name: text(block, "/name"),
                    // In a stream the input is empty at the start.
                    arguments: input
                        .map(|_| block["input"].to_string())
                        .unwrap_or_default(),
                });
                self.calls += 1;
            }
            _ => deltas.extend(redacted(block).map(Delta::Part)),
        }
    }

    fn grow(&mut self, delta: &Value, deltas: &mut Vec<Delta>) {
        deltas.extend(words(delta, "/text").map(Delta::Text));
        match &mut self.open {
            Open::Other => {}
            Open::Call(place) => {
                let piece = words(delta, "/partial_json").map(|arguments| Delta::Call {
                    place: *place,
                    id: None,
                    name: None,
                    arguments,
                });
                deltas.extend(piece);
            }
            Open::Thought { signature, seen } => {
                if let Some(thought) = words(delta, "/thinking") {
                    *seen = true;
                    deltas.push(Delta::Thought(thought));
                }
                signature.extend(text(delta, "/signature"));
            }
        }
    }

    fn end(&mut self, deltas: &mut Vec<Delta>) {
        let Open::Thought { signature, seen } = std::mem::take(&mut self.open) else {
            return;
        };
        match (signature.is_empty(), seen) {
            (true, _) => {}
            (false, true) => deltas.push(Delta::Signature(signature)),
            (false, false) => deltas.push(hidden(signature)),
        }
    }
}

fn about_message(message: &Value, about: &mut About) {
    about.id = text(message, "/id").or_else(|| about.id.take());
    about.model = text(message, "/model").or_else(|| about.model.take());
    about.finish = text(message, "/stop_reason").or_else(|| about.finish.take());
    counts::anthropic(&message["usage"], &mut about.usage);
}

fn words(value: &Value, path: &str) -> Option<String> {
    text(value, path).filter(|words| !words.is_empty())
}
