//! The form of envelopes in JSON documents and messages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::error::Error;
use std::sync::Arc;

use crate::{Artifact, Envelope, NodeFailure, NodeKind, Trace};
use petalflow_llm::{ChatMessage, Role};

/// An envelope as JSON: bytes are base64, times are RFC 3339, and empty lists are left out.
///
/// ```
/// use petalflow_documents::{Envelope, Trace, WireEnvelope};
///
/// let envelope = Envelope::new().with_var("n", 7).with_trace(Trace::default());
/// let text = serde_json::to_string(&WireEnvelope::from(&envelope))?;
/// assert_eq!(text, r#"{"vars":{"n":7}}"#);
///
/// let wire: WireEnvelope = serde_json::from_str(&text)?;
/// assert_eq!(Envelope::try_from(wire)?.get_var("n"), Some(&7.into()));
/// # Ok::<(), petalflow::BoxError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireEnvelope {
    /// The input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The variables.
    #[serde(default)]
    pub vars: Map<String, Value>,
    /// The messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<WireMessage>,
    /// The artifacts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<WireArtifact>,
    /// The error records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<WireFailure>,
    /// The trace, if it has an identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<WireTrace>,
}

/// A message in a [`WireEnvelope`].
///
/// ```
/// use petalflow_documents::{Envelope, WireEnvelope};
/// use petalflow_llm::ChatMessage;
///
/// let mut envelope = Envelope::new();
/// envelope.append_message(ChatMessage::user("Hello."));
/// let wire = WireEnvelope::from(&envelope);
/// assert_eq!((wire.messages[0].role.as_str(), wire.messages[0].content.as_str()), ("user", "Hello."));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireMessage {
    /// The role: `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// The text.
    #[serde(default)]
    pub content: String,
    /// The author.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Further fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// An artifact in a [`WireEnvelope`].
///
/// ```
/// use petalflow_documents::{Artifact, Envelope, WireEnvelope};
///
/// let mut envelope = Envelope::new();
/// envelope.append_artifact(Artifact::new("chunk"));
/// assert_eq!(WireEnvelope::from(&envelope).artifacts[0].kind, "chunk");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireArtifact {
    /// The identifier.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// A name for people. It is written as the identifier, and not read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The media type.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mime_type: String,
    /// The text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The bytes, in base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// The location.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// Further fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// An error record in a [`WireEnvelope`].
///
/// ```
/// use petalflow_documents::{Envelope, NodeFailure, WireEnvelope};
///
/// let mut envelope = Envelope::new();
/// envelope.append_error(NodeFailure::new("fetch", "no page"));
/// assert_eq!(WireEnvelope::from(&envelope).errors[0].node_id, "fetch");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireFailure {
    /// The name of the node.
    pub node_id: String,
    /// The kind of the node.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The error message.
    pub message: String,
    /// The number of the last attempt.
    #[serde(default)]
    pub attempt: u32,
    /// The time, in the form of RFC 3339.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// Further fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// The message of the cause, if it differs from the message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
}

/// A trace in a [`WireEnvelope`].
///
/// ```
/// use petalflow_documents::WireTrace;
///
/// let trace: WireTrace = serde_json::from_str(r#"{ "run_id": "run-7" }"#)?;
/// assert_eq!(trace.run_id, "run-7");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireTrace {
    /// The identifier of the run.
    #[serde(default)]
    pub run_id: String,
    /// The identifier of the parent run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parent_id: String,
    /// The identifier of the part of the run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub span_id: String,
    /// The start time, in the form of RFC 3339.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub started_at: String,
}

/// An error in a [`WireEnvelope`]: a field, and what is wrong with it.
///
/// ```
/// use petalflow_documents::{Envelope, WireEnvelope};
/// use serde_json::json;
///
/// let wire: WireEnvelope = serde_json::from_value(json!({ "messages": [{ "role": "robot" }] }))?;
/// let error = Envelope::try_from(wire).unwrap_err();
/// assert!(error.to_string().contains("role"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` of the envelope {problem}")]
pub struct WireError {
    field: String,
    problem: String,
}

impl WireError {
    fn new(field: String, problem: impl Into<String>) -> Self {
        WireError {
            field,
            problem: problem.into(),
        }
    }
}

impl From<&Envelope> for WireEnvelope {
    fn from(envelope: &Envelope) -> Self {
        let trace = &envelope.trace;
        let identified = [&trace.run_id, &trace.parent_id, &trace.span_id];
        let identified = identified.iter().any(|id| !id.is_empty());
        WireEnvelope {
            input: envelope.input.as_deref().cloned(),
            vars: envelope.vars.clone(),
            messages: envelope.messages.iter().map(WireMessage::from).collect(),
            artifacts: envelope.artifacts.iter().map(WireArtifact::from).collect(),
            errors: envelope.errors.iter().map(WireFailure::from).collect(),
            trace: identified.then(|| trace.into()),
        }
    }
}

impl TryFrom<WireEnvelope> for Envelope {
    type Error = WireError;

    fn try_from(wire: WireEnvelope) -> Result<Self, WireError> {
        let mut envelope = Envelope {
            input: wire.input.map(Arc::new),
            vars: wire.vars,
            ..Envelope::new()
        };
        for (index, message) in wire.messages.into_iter().enumerate() {
            envelope.messages.push(message.read(index)?);
        }
        for (index, artifact) in wire.artifacts.into_iter().enumerate() {
            envelope.artifacts.push(artifact.read(index)?);
        }
        for (index, failure) in wire.errors.into_iter().enumerate() {
            envelope.errors.push(failure.read(index)?);
        }
        if let Some(trace) = wire.trace {
            envelope.trace = Trace {
                run_id: trace.run_id,
                parent_id: trace.parent_id,
                span_id: trace.span_id,
                started_ms: milliseconds(&trace.started_at, || "trace.started_at".into())?,
            };
        }
        Ok(envelope)
    }
}

impl From<&ChatMessage> for WireMessage {
    fn from(message: &ChatMessage) -> Self {
        WireMessage {
            role: message.role.to_string(),
            content: message.text(),
            name: message.name.clone().unwrap_or_default(),
            meta: message.meta.clone(),
        }
    }
}

impl WireMessage {
    fn read(self, index: usize) -> Result<ChatMessage, WireError> {
        let role: Role = self.role.parse().map_err(|_| {
            let problem = format!(
                "is `{}`: use `system`, `user`, `assistant` or `tool`",
                self.role
            );
            WireError::new(format!("messages[{index}].role"), problem)
        })?;
        let mut message = ChatMessage {
            role,
            ..ChatMessage::user(self.content)
        };
        message.name = (!self.name.is_empty()).then_some(self.name);
        message.meta = self.meta;
        Ok(message)
    }
}

impl From<&Artifact> for WireArtifact {
    fn from(artifact: &Artifact) -> Self {
        WireArtifact {
            id: artifact.id.clone(),
            name: artifact.id.clone(),
            kind: artifact.kind.clone(),
            mime_type: artifact.mime_type.clone(),
            text: artifact.text.clone(),
            content: STANDARD.encode(&artifact.bytes),
            uri: artifact.uri.clone(),
            meta: artifact.meta.clone(),
        }
    }
}

impl WireArtifact {
    fn read(self, index: usize) -> Result<Artifact, WireError> {
        let bytes = STANDARD.decode(&self.content).map_err(|error| {
            let field = format!("artifacts[{index}].content");
            WireError::new(field, format!("is not base64: {error}"))
        })?;
        Ok(Artifact {
            id: self.id,
            kind: self.kind,
            mime_type: self.mime_type,
            text: self.text,
            bytes,
            uri: self.uri,
            meta: self.meta,
        })
    }
}

impl From<&NodeFailure> for WireFailure {
    fn from(failure: &NodeFailure) -> Self {
        let cause = failure.source().map(ToString::to_string);
        let kind = failure.kind.as_ref().map(NodeKind::to_string);
        WireFailure {
            node_id: failure.node.clone(),
            kind: kind.unwrap_or_default(),
            message: failure.message.clone(),
            attempt: failure.attempt,
            at: rfc3339(failure.at_ms),
            details: failure.details.clone(),
            cause: cause
                .filter(|cause| *cause != failure.message)
                .unwrap_or_default(),
        }
    }
}

impl WireFailure {
    fn read(self, index: usize) -> Result<NodeFailure, WireError> {
        let mut failure = NodeFailure::new(self.node_id, self.message);
        failure.kind = (!self.kind.is_empty()).then(|| NodeKind::parse(&self.kind));
        failure.attempt = self.attempt;
        failure.at_ms = milliseconds(&self.at, || format!("errors[{index}].at"))?;
        failure.details = self.details;
        Ok(if self.cause.is_empty() {
            failure
        } else {
            failure.with_cause(self.cause)
        })
    }
}

impl From<&Trace> for WireTrace {
    fn from(trace: &Trace) -> Self {
        WireTrace {
            run_id: trace.run_id.clone(),
            parent_id: trace.parent_id.clone(),
            span_id: trace.span_id.clone(),
            started_at: rfc3339(trace.started_ms),
        }
    }
}

/// The time in the form of RFC 3339. 0 is not a time.
pub(crate) fn rfc3339(ms: u64) -> String {
    let ms = i64::try_from(ms).ok().filter(|ms| *ms != 0);
    let time = ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    time.map_or_else(String::new, |time| time.to_string())
}

fn milliseconds(text: &str, field: impl FnOnce() -> String) -> Result<u64, WireError> {
    if text.is_empty() {
        return Ok(0);
    }
    let time: Option<Timestamp> = text.parse().ok();
    let ms = time.and_then(|time| u64::try_from(time.as_millisecond()).ok());
    ms.ok_or_else(|| WireError::new(field(), format!("is not a time after 1970: `{text}`")))
}

/// An artifact as JSON, with all of its fields.
pub(crate) fn artifact_to_wire(artifact: &Artifact) -> Value {
    to_value(&WireArtifact::from(artifact))
}

/// A message as JSON.
pub(crate) fn message_to_wire(message: &ChatMessage) -> Value {
    to_value(&WireMessage::from(message))
}

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("texts and objects with text keys can be JSON")
}
