//! What is said: messages and their parts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::LlmError;
use petalflow::tool::{ToolCall, ToolResult};

/// Who says something.
///
/// ```
/// use petalflow_llm::Role;
///
/// assert_eq!("assistant".parse::<Role>()?, Role::Assistant);
/// assert!("robot".parse::<Role>().is_err());
/// # Ok::<(), petalflow_llm::LlmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever sets the model up.
    System,
    /// Whoever talks to the model.
    User,
    /// The model.
    Assistant,
    /// A tool that the model called.
    Tool,
}

impl Role {
    /// Its name: `system`, `user`, `assistant`, `tool`.
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
    type Err = LlmError;

    fn from_str(name: &str) -> Result<Self, LlmError> {
        match name {
            "system" => Ok(Role::System),
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            "tool" => Ok(Role::Tool),
            _ => Err(LlmError::request(format!(
                "unknown role `{name}`; roles are `system`, `user`, `assistant` and `tool`"
            ))),
        }
    }
}

/// One message of a conversation.
///
/// It is a [`Message`](petalflow::Message): a key with the reducer `messages` holds a conversation.
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
    /// What names it within its list; lists with the reducer `messages` give it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// The name of whoever says it, where several have the same role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Anything else, which no model sees.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A piece of a message.
///
/// ```
/// use petalflow_llm::{ChatMessage, Media, MediaSource, Part, Role};
///
/// let picture = Media {
///     media_type: "image/png".into(),
///     source: MediaSource::Url("https://example.com/map.png".into()),
/// };
/// let message = ChatMessage::new(Role::User, vec![Part::text("Where is this?"), Part::Media(picture)]);
/// assert_eq!(message.text(), "Where is this?");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Words.
    Text(Text),
    /// What a model thought before it spoke; not part of its answer.
    Thought(Text),
    /// A tool that the model wants called.
    Call(ToolCall),
    /// What a tool returned.
    Result(ToolResult),
    /// A picture, a sound, a document.
    Media(Media),
    /// Code that the model has run on the provider's side, or wants the program to run.
    Code {
        /// Its language.
        language: String,
        /// The code.
        code: String,
    },
    /// What such code printed.
    CodeResult {
        /// How it ended.
        outcome: String,
        /// What it printed.
        output: String,
    },
}

/// Words, and what a provider wants back with them.
///
/// ```
/// use petalflow_llm::{Part, Text};
///
/// let signed = Part::Thought(Text { text: "It is in Japan.".into(), signature: Some("c2ln".into()) });
/// assert_ne!(signed, Part::Thought("It is in Japan.".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The words.
    pub text: String,
    /// A provider's signature over what the model thought, sent back as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// Something that is not words.
///
/// ```
/// use petalflow_llm::{Media, MediaSource};
///
/// let dot = Media { media_type: "image/gif".into(), source: MediaSource::Base64("R0lGODlhAQABAAAAACw=".into()) };
/// assert!(matches!(dot.source, MediaSource::Base64(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Where it is.
    pub source: MediaSource,
}

/// Where media is; see [`Media`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaSource {
    /// Somewhere the provider can fetch it.
    Url(String),
    /// Here, in base64.
    Base64(String),
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text {
            text: text.to_string(),
            signature: None,
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text {
            text,
            signature: None,
        }
    }
}

impl Part {
    /// A piece of text.
    ///
    /// ```
    /// use petalflow_llm::Part;
    ///
    /// assert!(matches!(Part::text("hello"), Part::Text(text) if text.text == "hello"));
    /// ```
    pub fn text(text: impl Into<Text>) -> Self {
        Part::Text(text.into())
    }

    /// Code or its output as text, in the form in which models are told to write it; `None` for other parts.
    ///
    /// ```
    /// use petalflow_llm::Part;
    ///
    /// let code = Part::Code { language: "python".into(), code: "1 + 2".into() };
    /// assert_eq!(code.code_as_text().unwrap(), "```tool_code\n1 + 2\n```");
    /// ```
    pub fn code_as_text(&self) -> Option<String> {
        match self {
            Part::Code { code, .. } => Some(format!("```tool_code\n{code}\n```")),
            Part::CodeResult { outcome, output } => Some(match &**outcome {
                "OUTCOME_OK" => format!("```tool_output\n{output}\n```"),
                other => format!("```tool_output\n{other}: {output}\n```"),
            }),
            _ => None,
        }
    }
}

impl ChatMessage {
    /// A message of these parts.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        ChatMessage {
            id: None,
            role,
            parts,
            name: None,
            meta: Map::new(),
        }
    }

    /// What sets the model up.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, Role};
    ///
    /// assert_eq!(ChatMessage::system("You are terse.").role, Role::System);
    /// ```
    pub fn system(text: impl Into<Text>) -> Self {
        Self::new(Role::System, vec![Part::text(text)])
    }

    /// What the user says.
    pub fn user(text: impl Into<Text>) -> Self {
        Self::new(Role::User, vec![Part::text(text)])
    }

    /// What the model says.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, Role};
    ///
    /// assert_eq!(ChatMessage::assistant("Hello.").role, Role::Assistant);
    /// ```
    pub fn assistant(text: impl Into<Text>) -> Self {
        Self::new(Role::Assistant, vec![Part::text(text)])
    }

    /// What tools returned.
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

    /// The same, said by someone of this name.
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

    /// All its words in one, without what was only thought.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls in it, in order.
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

    /// The results in it, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result),
            _ => None,
        })
    }
}

impl petalflow::Message for ChatMessage {
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn set_id(&mut self, id: String) {
        self.id = Some(id);
    }
}
