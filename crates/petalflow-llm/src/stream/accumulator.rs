//! Joins the deltas of a response.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::delta::Delta;
use super::json_path::{self, Step};
use crate::message::Text;
use crate::{ChatMessage, LlmResponse, Part, Role};
use petalflow::tool::ToolCall;

/// The deltas of a response, joined: parts in the order in which they began, with their signatures.
///
/// Consecutive text deltas form one part, and so do consecutive reasoning deltas. Deltas of calls may arrive in any
/// order; `index` tells the calls apart. The cost of a delta is its own length, however long the response is.
///
/// ```
/// use petalflow_llm::LlmResponse;
/// use petalflow_llm::stream::{Delta, StreamAccumulator};
/// use serde_json::json;
///
/// let mut accumulator = StreamAccumulator::new();
/// accumulator.push(&Delta::Text("Let me ".into()));
/// accumulator.push(&Delta::Text("see.".into()));
/// let chunk = |arguments: &str| Delta::Call {
///     index: 0,
///     id: Some("1".into()),
///     name: Some("search".into()),
///     arguments: arguments.into(),
/// };
/// accumulator.push(&chunk(r#"{"for": "pe"#));
/// accumulator.push(&chunk(r#"tals"}"#));
///
/// let response = accumulator.finish(LlmResponse::default());
/// assert_eq!(response.text(), "Let me see.");
/// assert_eq!(response.calls().next().unwrap().arguments, json!({"for": "petals"}));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamAccumulator {
    parts: Vec<Part>,
    calls: Vec<PartialCall>,
    /// The call with each index.
    with_index: HashMap<usize, usize>,
}

/// A call whose arguments are still incomplete.
#[derive(Clone, Debug)]
struct PartialCall {
    /// The index among the parts.
    part: usize,
    /// The arguments received as text.
    text: String,
    /// The arguments received by path.
    object: Value,
}

impl StreamAccumulator {
    /// An empty accumulator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether no content has arrived yet.
    ///
    /// ```
    /// assert!(petalflow_llm::stream::StreamAccumulator::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text so far, without reasoning. Borrowed if it is in a single part.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => [first, second].into_iter().chain(texts).collect(),
        }
    }

    /// Adds a delta.
    pub fn push(&mut self, delta: &Delta) {
        match delta {
            Delta::None => {}
            Delta::Text(text) => self.push_text(text, false),
            Delta::Thought(text) => self.push_text(text, true),
            Delta::Signature(signature) => self.add_signature(signature),
            Delta::Call {
                index,
                id,
                name,
                arguments,
            } => {
                let partial = self.call(*index);
                partial.text.push_str(arguments);
                let part = partial.part;
                if let Some(Part::Call(call)) = self.parts.get_mut(part) {
                    // Some providers send them once, some with every chunk, and some send empty ones later.
                    for (existing, new) in [(&mut call.id, id), (&mut call.name, name)] {
                        if let Some(new) = new.as_ref().filter(|new| !new.is_empty()) {
                            existing.clone_from(new);
                        }
                    }
                }
            }
            Delta::Argument { index, path, value } => {
                let steps = json_path::parse(path);
                set_at_path(&mut self.call(*index).object, &steps, value);
            }
            Delta::Origin { index, origin } => {
                let part = match index {
                    Some(index) => Some(self.call(*index).part),
                    None => self.parts.len().checked_sub(1),
                };
                if let Some(part) = part.and_then(|part| self.parts.get_mut(part)) {
                    part.add_origin(origin);
                }
            }
            Delta::Part(part) => self.parts.push(part.clone()),
        }
    }

    /// The response: the deltas joined, and everything else from `rest`. A message in `rest` replaces the deltas.
    ///
    /// Arguments that are not JSON become a JSON string; [`LlmResponse::checked`] reports them.
    pub fn finish(mut self, rest: LlmResponse) -> LlmResponse {
        if rest.message.is_some() {
            return rest;
        }
        for partial in self.calls {
            if let Some(Part::Call(call)) = self.parts.get_mut(partial.part) {
                call.arguments = partial.arguments();
            }
        }
        let message = ChatMessage::new(Role::Assistant, self.parts);
        LlmResponse {
            message: (!message.parts.is_empty()).then_some(message),
            ..rest
        }
    }

    fn push_text(&mut self, text: &str, thought: bool) {
        if text.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            // A part with a signature or an origin has ended: they do not cover later text.
            Some(Part::Text(last)) if !thought && is_open(last) => last.text.push_str(text),
            Some(Part::Thought(last)) if thought && is_open(last) => last.text.push_str(text),
            _ if thought => self.parts.push(Part::Thought(text.into())),
            _ => self.parts.push(Part::text(text)),
        }
    }

    fn add_signature(&mut self, signature: &str) {
        let slot = match self.parts.last_mut() {
            Some(Part::Text(text) | Part::Thought(text)) => Some(&mut text.signature),
            Some(Part::Call(call)) => Some(&mut call.signature),
            _ => None,
        };
        match slot {
            Some(slot @ None) => *slot = Some(signature.to_string()),
            // There is no part to sign: the signature is a part of its own, and is sent back as one.
            _ => self.parts.push(Part::Text(Text {
                text: String::new(),
                signature: Some(signature.to_string()),
                origin: None,
            })),
        }
    }

    /// The call with this index, added if missing.
    fn call(&mut self, index: usize) -> &mut PartialCall {
        let existing = *self.with_index.entry(index).or_insert_with(|| {
            self.calls.push(PartialCall {
                part: self.parts.len(),
                text: String::new(),
                object: Value::Null,
            });
            self.parts.push(Part::Call(ToolCall::default()));
            self.calls.len() - 1
        });
        &mut self.calls[existing]
    }
}

fn is_open(text: &Text) -> bool {
    text.signature.is_none() && text.origin.is_none()
}

impl PartialCall {
    fn arguments(self) -> Value {
        match (self.text.trim().is_empty(), self.object) {
            (true, Value::Null) => Value::Object(Map::new()),
            (true, object) => object,
            (false, _) => serde_json::from_str(&self.text).unwrap_or(Value::String(self.text)),
        }
    }
}

/// Stores a value at the path. A string is appended to the string that is already there.
pub(super) fn set_at_path(target: &mut Value, steps: &[Step<'_>], value: &Value) {
    let Some(target) = json_path::resolve(target, steps) else {
        return;
    };
    match (target, value) {
        (Value::String(so_far), Value::String(more)) => so_far.push_str(more),
        (target, value) => *target = value.clone(),
    }
}
