//! Joins the deltas of a response.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::path::{self, Step};
use super::{ChatMessage, Delta, LlmResponse, Part, Role, Text};
use petalflow::tool::ToolCall;

/// The deltas of a response, joined: parts in the order in which they began, with their signatures.
///
/// Consecutive text deltas form one part, and so do consecutive reasoning deltas. Deltas of calls may arrive in any
/// order; `place` tells the calls apart. The cost of a delta is its own length, however long the response is.
///
/// ```
/// use petalflow_llm::{StreamAccumulator, Delta, LlmResponse};
/// use serde_json::json;
///
/// let mut answer = StreamAccumulator::new();
/// answer.push(&Delta::Text("Let me ".into()));
/// answer.push(&Delta::Text("see.".into()));
/// let piece = |arguments: &str| Delta::Call {
///     place: 0,
///     id: Some("1".into()),
///     name: Some("search".into()),
///     arguments: arguments.into(),
/// };
/// answer.push(&piece(r#"{"for": "pe"#));
/// answer.push(&piece(r#"tals"}"#));
///
/// let response = answer.finish(LlmResponse::default());
/// assert_eq!(response.text(), "Let me see.");
/// assert_eq!(response.calls().next().unwrap().arguments, json!({"for": "petals"}));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamAccumulator {
    parts: Vec<Part>,
    calls: Vec<Growing>,
}

/// A call whose arguments are still incomplete.
#[derive(Clone, Debug)]
struct Growing {
    /// The index among the response's calls, as the provider counts.
    place: usize,
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
    /// assert!(petalflow_llm::StreamAccumulator::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The text so far, without reasoning. Borrowed if it is in a single part.
    pub fn text(&self) -> Cow<'_, str> {
        let mut words = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let first = words.next().unwrap_or_default();
        match words.next() {
            None => Cow::Borrowed(first),
            Some(second) => [first, second].into_iter().chain(words).collect(),
        }
    }

    /// Adds a delta.
    pub fn push(&mut self, delta: &Delta) {
        match delta {
            Delta::None => {}
            Delta::Text(words) => self.words(words, false),
            Delta::Thought(words) => self.words(words, true),
            Delta::Signature(signature) => self.sign(signature),
            Delta::Call {
                place,
                id,
                name,
                arguments,
            } => {
                let growing = self.call(*place);
                growing.text.push_str(arguments);
                let part = growing.part;
                if let Some(Part::Call(call)) = self.parts.get_mut(part) {
                    // Some providers send them once, some with every chunk, and some send empty ones later.
                    for (known, said) in [(&mut call.id, id), (&mut call.name, name)] {
                        if let Some(said) = said.as_ref().filter(|said| !said.is_empty()) {
                            known.clone_from(said);
                        }
                    }
                }
            }
            Delta::Argument { place, path, value } => {
                let steps = path::steps(path);
                put(&mut self.call(*place).object, &steps, value);
            }
            Delta::Part(part) => self.parts.push(part.clone()),
        }
    }

    /// The response: the deltas joined, and everything else from `rest`. A message in `rest` is kept.
    ///
    /// Arguments that are not JSON become a JSON string; [`LlmResponse::checked`] reports them.
    pub fn finish(mut self, rest: LlmResponse) -> LlmResponse {
        if rest.message.is_some() {
            return rest;
        }
        for growing in self.calls {
            if let Some(Part::Call(call)) = self.parts.get_mut(growing.part) {
                call.arguments = growing.arguments();
            }
        }
        let message = ChatMessage::new(Role::Assistant, self.parts);
        LlmResponse {
            message: (!message.parts.is_empty()).then_some(message),
            ..rest
        }
    }

    fn words(&mut self, words: &str, thought: bool) {
        if words.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            // The signed part has ended: the signature does not cover later text.
            Some(Part::Text(last)) if !thought && last.signature.is_none() => {
                last.text.push_str(words);
            }
            Some(Part::Thought(last)) if thought && last.signature.is_none() => {
                last.text.push_str(words);
            }
            _ if thought => self.parts.push(Part::Thought(words.into())),
            _ => self.parts.push(Part::text(words)),
        }
    }

    fn sign(&mut self, signature: &str) {
        let place = match self.parts.last_mut() {
            Some(Part::Text(text) | Part::Thought(text)) => Some(&mut text.signature),
            Some(Part::Call(call)) => Some(&mut call.signature),
            _ => None,
        };
        match place {
            Some(place @ None) => *place = Some(signature.to_string()),
            // There is no part to sign: the signature is a part of its own, and is sent back as one.
            _ => self.parts.push(Part::Text(Text {
                text: String::new(),
                signature: Some(signature.to_string()),
            })),
        }
    }

    /// The call with this index, added if missing. A response has few calls, and usually the last one grows.
    fn call(&mut self, place: usize) -> &mut Growing {
        let known = self.calls.iter().rposition(|call| call.place == place);
        let known = known.unwrap_or_else(|| {
            self.calls.push(Growing {
                place,
                part: self.parts.len(),
                text: String::new(),
                object: Value::Null,
            });
            self.parts.push(Part::Call(ToolCall::default()));
            self.calls.len() - 1
        });
        &mut self.calls[known]
    }
}

impl Growing {
    fn arguments(self) -> Value {
        match (self.text.trim().is_empty(), self.object) {
            (true, Value::Null) => Value::Object(Map::new()),
            (true, object) => object,
            (false, _) => serde_json::from_str(&self.text).unwrap_or(Value::String(self.text)),
        }
    }
}

/// Stores a value at the path. A string is appended to the string that is already there.
fn put(target: &mut Value, steps: &[Step<'_>], value: &Value) {
    let Some(target) = path::reach(target, steps) else {
        return;
    };
    match (target, value) {
        (Value::String(so_far), Value::String(more)) => so_far.push_str(more),
        (target, value) => *target = value.clone(),
    }
}
