//! The record of a request to a model.

use serde_json::{Value, json};

#[cfg(feature = "engine")]
use petalflow_store::codec::from_form;
use petalflow_store::codec::{CodecError, decode, encode};

/// A recorded request of a task to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NotedRequest {
    /// The number of the attempt of the task among those of all runs, from 1. 0 in the record of an older program.
    pub(crate) attempt: u32,
    /// The effects in which it was made, the innermost last.
    pub(crate) effects: Vec<String>,
    /// The effects, and what it was for. Requests of a task are compared with those of the same group.
    pub(crate) group: Vec<String>,
    /// The answers to earlier requests of the task.
    #[cfg(feature = "engine")]
    pub(crate) answers: Vec<NotedAnswer>,
    /// The parts, as a list.
    #[cfg(feature = "engine")]
    pub(crate) parts: Value,
}

/// A recorded answer to a request.
#[cfg(feature = "engine")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotedAnswer {
    pub(crate) group: Vec<String>,
    /// The index of the request in its group.
    pub(crate) index: u32,
    pub(crate) bytes: Vec<u8>,
}

impl NotedRequest {
    pub(crate) fn encode(
        attempt: u32,
        (effects, of): (&[String], Option<&str>),
        answers: Vec<Value>,
        parts: Value,
    ) -> Result<Vec<u8>, CodecError> {
        let mut record = json!({ "attempt": attempt, "parts": parts });
        if !effects.is_empty() {
            record["in"] = effects.into();
        }
        if let Some(of) = of {
            record["of"] = of.into();
        }
        if !answers.is_empty() {
            record["answers"] = answers.into();
        }
        let mut bytes = Vec::new();
        encode(&record, &mut bytes)?;
        Ok(bytes)
    }

    /// Whether it was made in this effect.
    pub(crate) fn is_within(&self, effect: &str) -> bool {
        self.effects.iter().any(|name| name == effect)
    }

    /// Reads a record. What is damaged is left out: it is compared as missing. The record of an older program is its list of parts.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let form: Value = decode(bytes).unwrap_or_default();
        let attempt = form.get("attempt").and_then(Value::as_u64).unwrap_or(0);
        NotedRequest {
            attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
            effects: texts(&form),
            group: group(&form),
            #[cfg(feature = "engine")]
            answers: {
                let answers = form.get("answers").and_then(Value::as_array);
                let answers = answers.into_iter().flatten();
                answers.filter_map(NotedAnswer::read).collect()
            },
            #[cfg(feature = "engine")]
            parts: match form {
                Value::Array(_) => form,
                mut form => form.get_mut("parts").map(Value::take).unwrap_or_default(),
            },
        }
    }
}

#[cfg(feature = "engine")]
impl NotedAnswer {
    fn read(form: &Value) -> Option<Self> {
        Some(NotedAnswer {
            group: group(form),
            index: u32::try_from(form.get("index")?.as_u64()?).ok()?,
            bytes: from_form(form.get("is")?).ok()?,
        })
    }
}

fn group(form: &Value) -> Vec<String> {
    let of = form.get("of").and_then(Value::as_str);
    let mut group = texts(form);
    group.extend(of.map(Into::into));
    group
}

/// The effects of a request or of an answer.
fn texts(form: &Value) -> Vec<String> {
    let texts = form.get("in").and_then(Value::as_array);
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    texts.map(Into::into).collect()
}
