//! Anthropic's messages: blocks with a start, deltas and a stop.

use serde_json::Value;

use super::response_data::{ResponseData, hidden_reasoning, redacted, text};
use super::usage;
use crate::Delta;

/// Reads the events of a response, or a complete response.
#[derive(Debug, Default)]
pub(super) struct MessagesParser {
    calls: usize,
    /// The current block.
    open_block: OpenBlock,
}

#[derive(Debug, Default)]
enum OpenBlock {
    /// Text, or a block that only the provider uses.
    #[default]
    Other,
    /// The index of a call.
    Call(usize),
    /// A reasoning block: its signature so far, and whether any of its text was visible.
    Thought { signature: String, visible: bool },
}

impl MessagesParser {
    pub(super) fn read(&mut self, event: &Value, data: &mut ResponseData) -> Vec<Delta> {
        let mut deltas = Vec::new();
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => read_metadata(&event["message"], data),
            Some("message_delta") => {
                let reason = text(event, "/delta/stop_reason");
                data.finish = reason.or_else(|| data.finish.take());
                usage::anthropic(&event["usage"], &mut data.usage);
            }
            // The response is complete, even if no event had a finish reason.
            Some("message_stop") => {
                data.finish.get_or_insert_with(|| "end_turn".to_string());
            }
            Some("content_block_start") => self.start_block(&event["content_block"], &mut deltas),
            Some("content_block_delta") => self.read_delta(&event["delta"], &mut deltas),
            Some("content_block_stop") => self.end_block(&mut deltas),
            _ => {
                let blocks = event.get("content").and_then(Value::as_array);
                for block in blocks.into_iter().flatten() {
                    self.start_block(block, &mut deltas);
                    self.end_block(&mut deltas);
                }
                read_metadata(event, data);
            }
        }
        deltas
    }

    fn start_block(&mut self, block: &Value, deltas: &mut Vec<Delta>) {
        // Some servers do not send the end of a block.
        self.end_block(deltas);
        match block.get("type").and_then(Value::as_str) {
            Some("text") => deltas.extend(non_empty_text(block, "/text").map(Delta::Text)),
            Some("thinking") => {
                let reasoning = non_empty_text(block, "/thinking");
                self.open_block = OpenBlock::Thought {
                    signature: text(block, "/signature").unwrap_or_default(),
                    visible: reasoning.is_some(),
                };
                deltas.extend(reasoning.map(Delta::Thought));
            }
            Some("tool_use") => {
                let input = block.get("input").and_then(Value::as_object);
                let input = input.filter(|input| !input.is_empty());
                self.open_block = OpenBlock::Call(self.calls);
                deltas.push(Delta::Call {
                    index: self.calls,
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

    fn read_delta(&mut self, delta: &Value, deltas: &mut Vec<Delta>) {
        deltas.extend(non_empty_text(delta, "/text").map(Delta::Text));
        match &mut self.open_block {
            OpenBlock::Other => {}
            OpenBlock::Call(index) => {
                let chunk = non_empty_text(delta, "/partial_json").map(|arguments| Delta::Call {
                    index: *index,
                    id: None,
                    name: None,
                    arguments,
                });
                deltas.extend(chunk);
            }
            OpenBlock::Thought { signature, visible } => {
                if let Some(reasoning) = non_empty_text(delta, "/thinking") {
                    *visible = true;
                    deltas.push(Delta::Thought(reasoning));
                }
                signature.extend(text(delta, "/signature"));
            }
        }
    }

    fn end_block(&mut self, deltas: &mut Vec<Delta>) {
        let OpenBlock::Thought { signature, visible } = std::mem::take(&mut self.open_block) else {
            return;
        };
        match (signature.is_empty(), visible) {
            (true, _) => {}
            (false, true) => deltas.push(Delta::Signature(signature)),
            (false, false) => deltas.push(hidden_reasoning(signature)),
        }
    }
}

fn read_metadata(message: &Value, data: &mut ResponseData) {
    data.id = text(message, "/id").or_else(|| data.id.take());
    data.model = text(message, "/model").or_else(|| data.model.take());
    data.finish = text(message, "/stop_reason").or_else(|| data.finish.take());
    usage::anthropic(&message["usage"], &mut data.usage);
}

fn non_empty_text(value: &Value, path: &str) -> Option<String> {
    text(value, path).filter(|text| !text.is_empty())
}
