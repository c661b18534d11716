//! Actions before and after the model's turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that happens when a node is entered, or after the model responded there.
///
/// Other types than the built-in ones need a handler in the program.
///
/// ```
/// use petalflow_document_model::conversations::Action;
///
/// let action: Action = serde_json::from_str(r#"{ "type": "tts_say", "text": "One moment.", "voice": "ann" }"#)?;
/// assert_eq!(action.text.as_deref(), Some("One moment."));
/// assert_eq!(action.extra["voice"], "ann");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// `tts_say`, `end_conversation`, `function`, or a type of the program's own.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name of the handler. `function` needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// What to say. `tts_say` needs it; `end_conversation` says it before the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// All other fields. They are passed on to the handler.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Action {
    /// Says a text.
    pub const TTS_SAY: &'static str = "tts_say";
    /// Ends the conversation.
    pub const END_CONVERSATION: &'static str = "end_conversation";
    /// Calls a handler when the model's turn is over.
    pub const FUNCTION: &'static str = "function";

    /// Creates an action of a type.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Action;
    ///
    /// assert_eq!(Action::new(Action::END_CONVERSATION).kind, "end_conversation");
    /// ```
    pub fn new(kind: impl Into<String>) -> Self {
        Action {
            kind: kind.into(),
            handler: None,
            text: None,
            extra: Map::new(),
        }
    }
}
