//! The origins of parts: what is sent back, and to whom.
//!
//! A part belongs to a provider and one of its formats: the ids and items of OpenAI's responses mean nothing to its chat
//! completions.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::chat_opaque;
use crate::provider::catalog::{Family, Target};
use crate::stream::Delta;
use crate::{LlmRequest, Part, Role};
use petalflow::tool::Origin;

/// What follows the name of a provider in the origins of its responses.
const RESPONSES: &str = "_resp";

impl Target<'_> {
    /// The name of the provider and the format in the origins of parts. A provider that has two formats has two names.
    pub(super) fn origin(&self) -> Cow<'_, str> {
        match self.family {
            Family::Responses => format!("{}{RESPONSES}", self.provider).into(),
            _ => self.provider.into(),
        }
    }

    fn is_own(&self, provider: &str) -> bool {
        match self.family {
            Family::Responses => provider.strip_suffix(RESPONSES) == Some(self.provider),
            _ => provider == self.provider,
        }
    }

    /// Whether the provider understands what belongs to this origin. What is not known counts as its own: threads that
    /// were stored by earlier versions name no provider.
    pub(super) fn owns(&self, origin: Option<&Origin>) -> bool {
        origin.is_none_or(|origin| self.is_own(&origin.provider))
    }

    /// The signature of a part, if it is one of the provider.
    pub(super) fn signature<'p>(
        &self,
        signature: Option<&'p str>,
        origin: Option<&Origin>,
    ) -> Option<&'p str> {
        signature.filter(|_| self.owns(origin))
    }

    /// Adds what the provider needs back with a part.
    pub(super) fn add_fields(&self, sent: &mut Value, origin: Option<&Origin>) {
        for (name, value) in self.own_fields(origin).into_iter().flatten() {
            restore(&mut sent[name.as_str()], value);
        }
    }

    /// What the provider needs back with a part, if the part is one of the provider.
    pub(super) fn own_fields<'o>(
        &self,
        origin: Option<&'o Origin>,
    ) -> Option<&'o Map<String, Value>> {
        let own = origin.filter(|origin| self.is_own(&origin.provider));
        own.map(|origin| &origin.fields)
    }

    /// An opaque part, if it is one of the provider.
    pub(super) fn opaque<'p>(&self, part: &'p Part) -> Option<&'p Value> {
        match part {
            Part::Provider { provider, value } if self.is_own(provider) => Some(value),
            _ => None,
        }
    }

    /// Whether the provider takes back an opaque part that it sent.
    fn takes_back(&self, value: &Value) -> bool {
        let fields = value.as_object().filter(|_| self.family == Family::Chat);
        fields.is_none_or(|fields| {
            let mut names = fields.keys();
            names.any(|name| chat_opaque::is_taken_back(&self.quirks, name))
        })
    }

    /// How many signatures and opaque parts the request does without: those of other providers, and those that the
    /// provider itself does not take back.
    pub(super) fn foreign_parts(&self, request: &LlmRequest) -> Map<String, Value> {
        let mut left_out = Map::new();
        let answers = request.messages.iter();
        let answers = answers.filter(|message| message.role == Role::Assistant);
        for part in answers.flat_map(|message| &message.parts) {
            let provider = match part {
                Part::Provider { provider, .. } => Some(provider),
                part => part
                    .origin()
                    .filter(|origin| is_signed(part) || !origin.fields.is_empty())
                    .map(|origin| &origin.provider),
            };
            let is_sent = |provider: &String| {
                self.is_own(provider)
                    && self.opaque(part).is_none_or(|value| self.takes_back(value))
            };
            let Some(provider) = provider.filter(|provider| !is_sent(provider)) else {
                continue;
            };
            let count = left_out.get(provider).and_then(Value::as_u64).unwrap_or(0);
            left_out.insert(provider.clone(), (count + 1).into());
        }
        left_out
    }
}

fn is_signed(part: &Part) -> bool {
    match part {
        Part::Text(text) | Part::Thought(text) => text.signature.is_some(),
        Part::Call(call) => call.signature.is_some(),
        _ => false,
    }
}

/// Writes the provider into what a parser has read: thoughts, and what is signed.
#[derive(Debug)]
pub(super) struct Origins {
    provider: String,
    /// Whether the last content was a thought, which has no origin yet.
    in_thought: bool,
}

impl Origins {
    pub(super) fn of(provider: &str) -> Self {
        Origins {
            provider: provider.to_string(),
            in_thought: false,
        }
    }

    /// The deltas with their origins. `thought` is what the provider needs back with a thought.
    pub(super) fn add(&mut self, deltas: Vec<Delta>, thought: &Map<String, Value>) -> Vec<Delta> {
        let mut all = Vec::with_capacity(deltas.len());
        for mut delta in deltas {
            match &mut delta {
                Delta::Thought(_) => {
                    self.in_thought = true;
                    all.push(delta);
                    continue;
                }
                Delta::Signature(_) => {
                    let fields = Some(thought).filter(|_| self.in_thought).cloned();
                    self.in_thought = false;
                    all.push(delta);
                    all.push(self.origin(fields.unwrap_or_default()));
                    continue;
                }
                Delta::Origin { index, origin } => {
                    origin.provider.clone_from(&self.provider);
                    if index.is_none() {
                        self.in_thought = false;
                    }
                }
                Delta::Part(part) => self.sign(part),
                _ => {}
            }
            self.end_thought(&mut all, thought);
            all.push(delta);
        }
        all
    }

    /// Adds the origin of a thought that has ended.
    pub(super) fn end_thought(&mut self, deltas: &mut Vec<Delta>, fields: &Map<String, Value>) {
        if std::mem::take(&mut self.in_thought) {
            deltas.push(self.origin(fields.clone()));
        }
    }

    fn origin(&self, fields: Map<String, Value>) -> Delta {
        Delta::Origin {
            index: None,
            origin: Origin::new(&*self.provider).with_fields(fields),
        }
    }

    fn sign(&self, part: &mut Part) {
        if let Part::Provider { provider, .. } = part {
            provider.clone_from(&self.provider);
            return;
        }
        let needs_one = is_signed(part) || matches!(part, Part::Thought(_) | Part::Media(_));
        match part.origin_mut() {
            Some(Some(origin)) => origin.provider.clone_from(&self.provider),
            Some(origin @ None) if needs_one => {
                *origin = Some(Box::new(Origin::new(&*self.provider)));
            }
            _ => {}
        }
    }
}

/// An origin whose provider is not written yet.
pub(super) fn fields(fields: Map<String, Value>) -> Option<Box<Origin>> {
    (!fields.is_empty()).then(|| Box::new(Origin::default().with_fields(fields)))
}

/// What a provider sent and needs back, as a part. The provider is written later.
pub(super) fn opaque(value: Value) -> Delta {
    Delta::Part(Part::Provider {
        provider: String::new(),
        value,
    })
}

/// What a provider needs back with the last part, or with the call with this index.
pub(super) fn needed_back(index: Option<usize>, fields: Map<String, Value>) -> Option<Delta> {
    let origin = Origin::default().with_fields(fields);
    (!origin.fields.is_empty()).then_some(Delta::Origin { index, origin })
}

/// The end of a text: the text after it is another part.
pub(super) fn end_of_text() -> Delta {
    Delta::Origin {
        index: None,
        origin: Origin::default(),
    }
}

/// The fields of an object that are not read, without those that are null. The provider may need back what a later version
/// of its interface adds.
pub(super) fn left_over(object: &Value, read: &[&str]) -> Map<String, Value> {
    let fields = object.as_object().into_iter().flatten();
    let rest = fields.filter(|(name, value)| !read.contains(&&***name) && !value.is_null());
    rest.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Puts back what was not read: fields into objects, and the items of a list each into its own.
fn restore(into: &mut Value, rest: &Value) {
    match (into, rest) {
        (Value::Object(into), Value::Object(rest)) => {
            for (name, value) in rest {
                restore(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(rest)) => {
            for (index, value) in rest.iter().enumerate() {
                match into.get_mut(index) {
                    Some(item) => restore(item, value),
                    None => into.push(value.clone()),
                }
            }
        }
        (into, rest) => *into = rest.clone(),
    }
}
