//! The answer to a request for a chat completion.

use std::time::{SystemTime, UNIX_EPOCH};

use petalflow_llm::response::FinishReason;
use serde_json::{Value, json};

use crate::protocol::openai::annotations;
use crate::protocol::openai::calls::{self, FunctionCall};
use crate::protocol::openai::usage;
use crate::protocol::turn::{ItemKind, MessageEnd, TurnEnd, TurnItem};

/// What is between the texts of two messages of one turn.
pub(super) const BETWEEN: &str = "\n\n";

/// An answer that is made from the items of a turn.
#[derive(Debug)]
pub(super) struct Completion {
    pub(super) id: String,
    pub(super) created: u64,
    pub(super) model: String,
    text: String,
    pub(super) refusal: Option<String>,
    finish: Option<FinishReason>,
    /// Whether the next text belongs to another message.
    separates: bool,
    /// The character at which the text of the message begins.
    message_start: usize,
    /// The sources that the texts cite.
    annotations: Vec<Value>,
}

/// What an item adds to the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    Text(String),
    Refusal(String),
    Annotations(Vec<Value>),
}

impl Completion {
    /// The answer of the turn of a thread that this model gives.
    pub(super) fn of(thread: &str, model: String) -> Self {
        let own = thread.rsplit(':').next().unwrap_or(thread);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Completion {
            id: format!("chatcmpl-{own}"),
            created: now.map_or(0, |now| now.as_secs()),
            model,
            text: String::new(),
            refusal: None,
            finish: None,
            separates: false,
            message_start: 0,
            annotations: Vec::new(),
        }
    }

    /// Adds an item. The words of agents that were called are not for the user, and the reasoning has no place in this form.
    pub(super) fn add(&mut self, item: &TurnItem) -> Option<Added> {
        if item.voice.is_called() {
            return None;
        }
        match &item.kind {
            ItemKind::Text(text) => {
                let between = if self.separates { BETWEEN } else { "" };
                self.separates = false;
                let added = format!("{between}{text}");
                if !between.is_empty() {
                    self.message_start = self.text.chars().count() + between.len();
                }
                self.text.push_str(&added);
                Some(Added::Text(added))
            }
            ItemKind::MessageEnd(end) => self.end_message(end),
            _ => None,
        }
    }

    fn end_message(&mut self, end: &MessageEnd) -> Option<Added> {
        self.separates = !self.text.is_empty();
        if end.is_void {
            return None;
        }
        self.finish.clone_from(&end.finish);
        if let Some(refusal) = end.refusal.clone() {
            self.refusal = Some(refusal.clone());
            return Some(Added::Refusal(refusal));
        }
        let cited = annotations::of_chat(&end.cited, self.message_start);
        self.annotations.extend(cited.iter().cloned());
        (!cited.is_empty()).then_some(Added::Annotations(cited))
    }

    /// The reason for the end, with these calls.
    pub(super) fn finish_reason(&self, calls: &[FunctionCall]) -> &'static str {
        match &self.finish {
            _ if !calls.is_empty() => "tool_calls",
            Some(FinishReason::Length) => "length",
            Some(FinishReason::ContentFilter | FinishReason::Blocked) => "content_filter",
            _ => "stop",
        }
    }

    /// The whole answer.
    pub(super) fn value(&self, thread: &str, end: &TurnEnd) -> Value {
        let calls = calls::at_end(thread, end);
        let has_text = !self.text.is_empty() || (calls.is_empty() && self.refusal.is_none());
        let mut message = json!({
            "role": "assistant",
            "content": has_text.then_some(&self.text),
            "refusal": self.refusal,
            "annotations": self.annotations,
        });
        if !calls.is_empty() {
            message["tool_calls"] = calls.iter().map(tool_call).collect();
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": self.finish_reason(&calls),
            }],
            "usage": usage::of_chat(&end.turn.usage.tokens),
        })
    }
}

fn tool_call(call: &FunctionCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments },
    })
}
