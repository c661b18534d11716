//! Messages and their parts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::citation::Citation;
use petalflow::tool::{Origin, ToolCall, ToolResult};

/// The author of a message.
///
/// ```
/// use petalflow_llm::Role;
///
/// assert_eq!("assistant".parse::<Role>()?, Role::Assistant);
/// assert!("robot".parse::<Role>().is_err());
/// # Ok::<(), petalflow_llm::message::ParseRoleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The developer, who gives the model its instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl Role {
    /// The name: `system`, `user`, `assistant`, `tool`.
    ///
    /// ```
    /// assert_eq!(petalflow_llm::Role::Assistant.as_str(), "assistant");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = ParseRoleError;

    fn from_str(name: &str) -> Result<Self, ParseRoleError> {
        match name {
            "system" => Ok(Role::System),
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            "tool" => Ok(Role::Tool),
            _ => Err(ParseRoleError(name.to_string())),
        }
    }
}

/// The error for a text that is not the name of a [`Role`].
///
/// ```
/// let error = "robot".parse::<petalflow_llm::Role>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown role `robot`; roles are `system`, `user`, `assistant` and `tool`");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown role `{0}`; roles are `system`, `user`, `assistant` and `tool`")]
pub struct ParseRoleError(String);

/// The message, which is what `main` prints if it returns the error.
impl fmt::Debug for ParseRoleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&petalflow::error::message_with_sources(self))
    }
}

/// One message of a conversation.
///
/// It is a [`Message`](petalflow::state::Message): a key with the reducer `messages` holds a conversation.
///
/// ```
/// use petalflow_llm::{ChatMessage, Role};
/// use serde_json::json;
///
/// let message = ChatMessage::user("Where is Kyoto?");
/// assert_eq!((message.role, message.text()), (Role::User, "Where is Kyoto?".into()));
/// assert_eq!(
///     serde_json::to_value(&message)?,
///     json!({"role": "user", "parts": [{"text": {"text": "Where is Kyoto?"}}]})
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// The id within a list of messages. Lists with the reducer `messages` assign one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The author's role.
    pub role: Role,
    /// The parts of the message, in order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// The author's name, for several authors with the same role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Other data. It is not sent to the model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A part of a message.
///
/// ```
/// use petalflow_llm::{ChatMessage, Part, Role};
/// use petalflow_llm::message::{Media, MediaSource};
///
/// let picture = Media {
///     media_type: "image/png".into(),
///     source: MediaSource::Url("https://example.com/map.png".into()),
///     origin: None,
/// };
/// let message = ChatMessage::new(Role::User, vec![Part::text("Where is this?"), Part::Media(picture)]);
/// assert_eq!(message.text(), "Where is this?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(Text),
    /// The model's reasoning. It is not part of the answer.
    Thought(Text),
    /// A tool call.
    Call(ToolCall),
    /// A tool result.
    Result(ToolResult),
    /// An image, an audio clip or a document.
    Media(Media),
    /// Code that the model has run on the provider's side, or wants the program to run.
    Code {
        /// The programming language.
        language: String,
        /// The code.
        code: String,
        /// The provider that wrote it, and what it needs back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Box<Origin>>,
    },
    /// The output of such code.
    CodeResult {
        /// The outcome of the execution.
        outcome: String,
        /// The text that the code printed.
        output: String,
        /// The provider that ran the code, and what it needs back with the output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Box<Origin>>,
    },
    /// A source that the text before it cites. It is not sent to models: what the provider needs back is in the origin of
    /// the text.
    Citation(Citation),
    /// Something of one provider: the use of a tool that the provider runs itself
    /// ([`ChatMessage::native_uses`] reads them), a container, a compaction. It is stored, and sent back unchanged in its
    /// place to the same provider. It is left out for others.
    Provider {
        /// The provider's name, such as `anthropic`.
        provider: String,
        /// What the provider sent.
        value: Value,
    },
}

/// Text, and the data that the provider needs back with it.
///
/// ```
/// use petalflow_llm::Part;
/// use petalflow_llm::message::Text;
///
/// let signed = Part::Thought(Text { text: "It is in Japan.".into(), signature: Some("c2ln".into()), origin: None });
/// assert_ne!(signed, Part::Thought("It is in Japan.".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The provider's signature of the model's reasoning. It is sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider that wrote the text, and what else it needs back with it. `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
}

/// Content that is not text.
///
/// ```
/// use petalflow_llm::message::{Media, MediaSource};
///
/// let dot = Media { media_type: "image/gif".into(), source: MediaSource::Base64("R0lGODlhAQABAAAAACw=".into()), origin: None };
/// assert!(matches!(dot.source, MediaSource::Base64(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The location of the data.
    pub source: MediaSource,
    /// The provider that made it, and what it needs back with it. `None` for media of the user and of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
}

/// The location of media data; see [`Media`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// A URL from which the provider can load the data.
    Url(String),
    /// The data itself, in base64.
    Base64(String),
}

impl Media {
    /// The block that the result of a tool has for a medium. Models are sent it as a medium, and not as text.
    ///
    /// Tools of MCP servers write the same blocks.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_llm::message::{Media, MediaSource};
    /// use serde_json::Value;
    ///
    /// /// Draws a dot.
    /// #[tool]
    /// fn draw() -> Value {
    ///     let dot = Media { media_type: "image/gif".into(), source: MediaSource::Base64("R0lGODlhAQABAAAAACw=".into()), origin: None };
    ///     dot.to_block()
    /// }
    /// ```
    pub fn to_block(&self) -> Value {
        let kind = self.media_type.split('/').next();
        let kind = kind.filter(|kind| matches!(*kind, "image" | "audio" | "video"));
        let kind = kind.unwrap_or("resource");
        let (field, source) = match &self.source {
            MediaSource::Base64(data) => ("data", data),
            MediaSource::Url(url) => ("uri", url),
        };
        json!({ "type": kind, "media_type": self.media_type, field: source })
    }

    /// Takes the media with data out of the result of a tool: the blocks that [`to_block`](Self::to_block) writes. Each
    /// block remains, with the note in place of the data.
    ///
    /// ```
    /// use petalflow_llm::message::Media;
    /// use serde_json::json;
    ///
    /// let mut result = json!({ "output": [{ "type": "image", "media_type": "image/gif", "data": "R0lGODlhAQABAAAAACw=" }] });
    /// let media = Media::take_from(&mut result, "attached");
    /// assert_eq!(media[0].media_type, "image/gif");
    /// assert_eq!(result, json!({ "output": [{ "type": "image", "media_type": "image/gif", "note": "attached" }] }));
    /// ```
    pub fn take_from(result: &mut Value, note: &str) -> Vec<Self> {
        let mut media = Vec::new();
        Self::take_each(result, &mut |medium| {
            media.push(medium);
            note.into()
        });
        media
    }

    /// Takes the media with data out of the result of a tool. The function returns the note for each.
    pub(crate) fn take_each(result: &mut Value, taken: &mut impl FnMut(Media) -> String) {
        match result {
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| Self::take_each(item, taken)),
            Value::Object(fields) => {
                let Some(medium) = Media::from_block(fields) else {
                    return fields
                        .values_mut()
                        .for_each(|field| Self::take_each(field, taken));
                };
                fields.remove("data");
                fields.insert("note".into(), taken(medium).into());
            }
            _ => {}
        }
    }

    /// The medium with its data in such a block.
    pub(crate) fn from_block(block: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| block.get(name).and_then(Value::as_str);
        if !matches!(text("type")?, "image" | "audio" | "video" | "resource") {
            return None;
        }
        Some(Media {
            media_type: text("media_type")?.to_string(),
            source: MediaSource::Base64(text("data")?.to_string()),
            origin: None,
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::from(text.to_string())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text {
            text,
            ..Text::default()
        }
    }
}

impl Part {
    /// The provider that wrote the part, and what it needs back with it. `None` if it is not known, and for results.
    ///
    /// ```
    /// assert!(petalflow_llm::Part::text("hello").origin().is_none());
    /// ```
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Part::Text(text) | Part::Thought(text) => text.origin.as_deref(),
            Part::Call(call) => call.origin.as_deref(),
            Part::Media(media) => media.origin.as_deref(),
            Part::Code { origin, .. } | Part::CodeResult { origin, .. } => origin.as_deref(),
            Part::Result(_) | Part::Citation(_) | Part::Provider { .. } => None,
        }
    }

    pub(crate) fn origin_mut(&mut self) -> Option<&mut Option<Box<Origin>>> {
        match self {
            Part::Text(text) | Part::Thought(text) => Some(&mut text.origin),
            Part::Call(call) => Some(&mut call.origin),
            Part::Media(media) => Some(&mut media.origin),
            Part::Code { origin, .. } | Part::CodeResult { origin, .. } => Some(origin),
            Part::Result(_) | Part::Citation(_) | Part::Provider { .. } => None,
        }
    }

    pub(crate) fn as_call_mut(&mut self) -> Option<&mut ToolCall> {
        match self {
            Part::Call(call) => Some(call),
            _ => None,
        }
    }

    /// Adds what is known about the origin of the part. What was known of another provider is replaced.
    pub(crate) fn add_origin(&mut self, new: &Origin) {
        match self.origin_mut() {
            Some(Some(known)) if known.provider == new.provider => {
                known.fields.extend(new.fields.clone());
            }
            Some(known) => *known = Some(Box::new(new.clone())),
            None => {}
        }
    }

    /// A text part.
    ///
    /// ```
    /// use petalflow_llm::Part;
    ///
    /// assert!(matches!(Part::text("hello"), Part::Text(text) if text.text == "hello"));
    /// ```
    pub fn text(text: impl Into<Text>) -> Self {
        Part::Text(text.into())
    }

    /// A call or a result as text, for a request without tools: some providers accept calls only together with their tools.
    /// `None` for other parts.
    ///
    /// ```
    /// use petalflow::tool::ToolCall;
    /// use petalflow_llm::Part;
    /// use serde_json::json;
    ///
    /// let call = ToolCall { name: "search".into(), arguments: json!({ "for": "petals" }), ..ToolCall::default() };
    /// assert_eq!(Part::Call(call).call_as_text().unwrap(), r#"call of `search` with {"for":"petals"}"#);
    /// ```
    pub fn call_as_text(&self) -> Option<String> {
        match self {
            Part::Call(call) => Some(format!("call of `{}` with {}", call.name, call.arguments)),
            Part::Result(result) => {
                let mut content = result.content.clone();
                Media::take_from(&mut content, "not shown");
                Some(format!("result of `{}`: {content}", result.name))
            }
            _ => None,
        }
    }

    /// Code or its output as text, in the format that models are told to use. `None` for other parts.
    ///
    /// ```
    /// use petalflow_llm::Part;
    ///
    /// let code = Part::Code { language: "python".into(), code: "1 + 2".into(), origin: None };
    /// assert_eq!(code.code_as_text().unwrap(), "```tool_code\n1 + 2\n```");
    /// ```
    pub fn code_as_text(&self) -> Option<String> {
        match self {
            Part::Code { code, .. } => Some(format!("```tool_code\n{code}\n```")),
            Part::CodeResult {
                outcome, output, ..
            } => Some(match &**outcome {
                "OUTCOME_OK" => format!("```tool_output\n{output}\n```"),
                other => format!("```tool_output\n{other}: {output}\n```"),
            }),
            _ => None,
        }
    }
}

impl ChatMessage {
    /// A message with these parts.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        ChatMessage {
            id: None,
            role,
            parts,
            name: None,
            meta: Map::new(),
        }
    }

    /// A system message, with instructions for the model.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, Role};
    ///
    /// assert_eq!(ChatMessage::system("You are terse.").role, Role::System);
    /// ```
    pub fn system(text: impl Into<Text>) -> Self {
        Self::new(Role::System, vec![Part::text(text)])
    }

    /// A message from the user.
    pub fn user(text: impl Into<Text>) -> Self {
        Self::new(Role::User, vec![Part::text(text)])
    }

    /// A message from the model.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, Role};
    ///
    /// assert_eq!(ChatMessage::assistant("Hello.").role, Role::Assistant);
    /// ```
    pub fn assistant(text: impl Into<Text>) -> Self {
        Self::new(Role::Assistant, vec![Part::text(text)])
    }

    /// A message with tool results.
    ///
    /// ```
    /// use petalflow::tool::ToolResult;
    /// use petalflow_llm::ChatMessage;
    ///
    /// let found = ToolResult { call_id: "1".into(), name: "search".into(), ..ToolResult::default() };
    /// assert_eq!(ChatMessage::results([found]).tool_results().count(), 1);
    /// ```
    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Self::new(Role::Tool, results.into_iter().map(Part::Result).collect())
    }

    /// Sets the author's name.
    ///
    /// ```
    /// let message = petalflow_llm::ChatMessage::user("Hello.").with_name("ann");
    /// assert_eq!(message.name.as_deref(), Some("ann"));
    /// ```
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The text of all text parts, concatenated. Reasoning is not included.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The tool calls in the message, in order.
    ///
    /// ```
    /// use petalflow::tool::ToolCall;
    /// use petalflow_llm::{ChatMessage, Part, Role};
    ///
    /// let call = ToolCall { id: "1".into(), name: "search".into(), ..ToolCall::default() };
    /// let message = ChatMessage::new(Role::Assistant, vec![Part::text("Let me see."), Part::Call(call)]);
    /// assert_eq!(message.calls().next().unwrap().name, "search");
    /// ```
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The sources that the text cites, in order, each with the passage that it supports.
    ///
    /// ```
    /// use petalflow_llm::native::{Citation, Source};
    /// use petalflow_llm::{ChatMessage, Part, Role};
    ///
    /// let source = Source::Web { url: "https://tokio.rs".into(), title: None };
    /// let parts = vec![Part::text("It is 1.5."), Part::Citation(Citation::of(source))];
    /// let message = ChatMessage::new(Role::Assistant, parts);
    /// assert_eq!(message.citations().next().unwrap().0, "It is 1.5.");
    /// ```
    pub fn citations(&self) -> impl Iterator<Item = (&str, &Citation)> {
        let mut text = "";
        self.parts.iter().filter_map(move |part| match part {
            Part::Text(content) => {
                text = &content.text;
                None
            }
            Part::Citation(citation) => {
                let range = citation.range.clone();
                let passage = range.and_then(|range| text.get(range));
                Some((passage.unwrap_or(text), citation))
            }
            _ => None,
        })
    }

    /// The tool results in the message, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
    }
}

impl petalflow::state::Message for ChatMessage {
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn set_id(&mut self, id: String) {
        self.id = Some(id);
    }
}
