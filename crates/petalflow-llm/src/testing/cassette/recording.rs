//! The content of a cassette file.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::secrets::Secrets;
use crate::stream::{Delta, StreamAccumulator};
use crate::testing::differences;
use crate::usage::{Price, TokenCount};
use crate::{Capabilities, ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse};

/// The version of the file format.
const VERSION: u32 = 1;

/// The most differences that an error shows.
const MOST_DIFFERENCES: usize = 3;

/// A cassette file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Recordings {
    version: u32,
    provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default)]
    capabilities: Option<Capabilities>,
    /// The only capability in files without `capabilities`.
    #[serde(default, skip_serializing)]
    schema_with_tools: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    prices: BTreeMap<String, Price>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<Count>,
    entries: Vec<Recording>,
}

/// The number of tokens of a request.
#[derive(Debug, Serialize, Deserialize)]
struct Count {
    request: Value,
    tokens: u64,
    exact: bool,
}

/// One request and its response.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Recording {
    request: Value,
    /// The deltas of a streamed response.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    deltas: Value,
    response: Value,
    #[serde(skip)]
    used: bool,
}

impl Recordings {
    /// An empty file for this model.
    pub(super) fn new(source: &dyn LlmClient) -> Self {
        let mut recordings = Recordings {
            version: VERSION,
            provider: source.name().to_string(),
            model: source.model().map(String::from),
            capabilities: Some(source.capabilities()),
            schema_with_tools: false,
            prices: BTreeMap::new(),
            counts: Vec::new(),
            entries: Vec::new(),
        };
        if let Some(model) = source.model() {
            recordings.record_price(source, model);
        }
        recordings
    }

    /// Whether the version of the file is supported.
    pub(super) fn is_supported(&self) -> bool {
        self.version == VERSION
    }

    pub(super) fn provider(&self) -> &str {
        &self.provider
    }

    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        let unknown = Capabilities::default();
        match self.capabilities {
            Some(capabilities) => capabilities,
            None if self.schema_with_tools => unknown.with_schema_with_tools(),
            None => unknown,
        }
    }

    /// The price of a model that was asked.
    pub(super) fn price(&self, model: &str) -> Option<Price> {
        self.prices.get(model).copied()
    }

    pub(super) fn record_price(&mut self, source: &dyn LlmClient, model: &str) {
        if let Some(price) = source.price(model) {
            self.prices.insert(model.to_string(), price);
        }
    }

    /// The recorded count of a request that is equal to this one.
    pub(super) fn count(&self, request: &Value) -> Option<TokenCount> {
        let request = comparable(request);
        let mut counts = self.counts.iter();
        let count = counts.find(|count| comparable(&count.request) == request)?;
        Some(TokenCount {
            tokens: count.tokens,
            exact: count.exact,
        })
    }

    pub(super) fn record_count(&mut self, request: &Value, count: TokenCount) {
        if self.count(request).is_none() {
            self.counts.push(Count {
                request: without_unset(request.clone()),
                tokens: count.tokens,
                exact: count.exact,
            });
        }
    }

    pub(super) fn remaining(&self) -> usize {
        self.entries
            .iter()
            .filter(|recording| !recording.used)
            .count()
    }

    pub(super) fn record(&mut self, recording: Recording) {
        self.entries.push(recording);
    }

    /// The first unused response to an equal request, or the reason why there is none: the differences from the unused
    /// request that is most similar, and of several such ones from the first.
    pub(super) fn take(
        &mut self,
        request: &Value,
        secrets: &Secrets,
    ) -> Result<(Vec<Delta>, LlmResponse), String> {
        let total = self.entries.len();
        let mut nearest: Option<(usize, Vec<String>)> = None;
        let recordings = self.entries.iter_mut().enumerate();
        for (index, recording) in recordings.filter(|(_, recording)| !recording.used) {
            // Files of earlier versions contain texts that are secrets now.
            let recorded = comparable(&secrets.redact(recording.request.clone()));
            let found = differences(&recorded, request);
            if found.is_empty() {
                recording.used = true;
                return recording.read().map_err(|error| error.to_string());
            }
            if nearest
                .as_ref()
                .is_none_or(|(_, least)| found.len() < least.len())
            {
                nearest = Some((index, found));
            }
        }
        let Some((index, mut found)) = nearest else {
            return Err(format!("all {total} recorded ones are used"));
        };
        let more = found.len().saturating_sub(MOST_DIFFERENCES);
        found.truncate(MOST_DIFFERENCES);
        if more > 0 {
            found.push(format!("and {more} more"));
        }
        Err(format!(
            "the most similar of the unused ones, number {} of {total}, differs: {}",
            index + 1,
            found.join("; ")
        ))
    }
}

impl Recording {
    pub(super) fn new(
        request: &LlmRequest,
        deltas: &[Delta],
        response: &LlmResponse,
        secrets: &Secrets,
    ) -> Result<Self, LlmError> {
        let deltas = match deltas {
            [] => Value::Null,
            deltas => without_secrets(deltas, secrets)?,
        };
        Ok(Recording {
            request: secrets.redact(without_unset(value(request)?)),
            deltas,
            response: secrets.redact(value(response)?),
            used: true,
        })
    }

    fn read(&self) -> Result<(Vec<Delta>, LlmResponse), serde_json::Error> {
        let response = LlmResponse::deserialize(&self.response)?;
        let deltas = match &self.deltas {
            Value::Null => response
                .message
                .as_ref()
                .map(Delta::from_message)
                .unwrap_or_default(),
            deltas => Vec::deserialize(deltas)?,
        };
        Ok((deltas, response))
    }
}

/// The deltas without their secrets. Unset if a secret is split into several deltas: a replay then makes its deltas from
/// the response.
fn without_secrets(deltas: &[Delta], secrets: &Secrets) -> Result<Value, LlmError> {
    let redacted = secrets.redact(value(deltas)?);
    let Ok(read) = Vec::<Delta>::deserialize(&redacted) else {
        return Ok(Value::Null);
    };
    let is_redacted = value(&joined(&read))? == secrets.redact(value(&joined(deltas))?);
    Ok(if is_redacted { redacted } else { Value::Null })
}

fn joined(deltas: &[Delta]) -> Option<ChatMessage> {
    let mut response = StreamAccumulator::new();
    deltas.iter().for_each(|delta| response.push(delta));
    response.finish(LlmResponse::default()).message
}

/// Converts a value through JSON text, where an `f32` of 0.7 is 0.7.
pub(super) fn value<T: Serialize + ?Sized>(value: &T) -> Result<Value, LlmError> {
    let text = serde_json::to_string(value);
    text.and_then(|text| serde_json::from_str(&text))
        .map_err(|error| LlmError::request(format!("a cassette cannot hold this: {error}")))
}

/// The request without the data that changes in each run. Ids of calls become numbers, in the order of their first use.
pub(super) fn comparable(request: &Value) -> Value {
    let mut request = without_unset(request.clone());
    let mut numbers = HashMap::new();
    let messages = request.get_mut("messages").and_then(Value::as_array_mut);
    for message in messages.into_iter().flatten() {
        if let Some(message) = message.as_object_mut() {
            message.remove("id");
            message.remove("meta");
        }
        let parts = message.get_mut("parts").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            for path in ["/call/id", "/result/call_id"] {
                if let Some(id) = part.pointer_mut(path) {
                    let next = numbers.len();
                    let number = numbers.entry(id.to_string()).or_insert(next);
                    *id = Value::from(*number);
                }
            }
        }
    }
    request
}

/// Removes the fields that are not set.
fn without_unset(mut request: Value) -> Value {
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            _ => true,
        });
    }
    request
}
