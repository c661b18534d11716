//! Messages of a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message that a node adds to the conversation.
///
/// ```
/// use petalflow_document_model::conversations::Message;
///
/// let message: Message = serde_json::from_str(r#"{ "role": "developer", "content": "Greet {{ name }}." }"#)?;
/// assert_eq!(message, Message::new("developer", "Greet {{ name }}."));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Who says it: `developer`, `system`, `user` or `assistant`.
    pub role: String,
    /// The text. It may have [placeholders](crate::conversations::Template).
    pub content: String,
}

impl Message {
    /// Creates a message.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Message;
    ///
    /// assert_eq!(Message::new("developer", "Say hello.").role, "developer");
    /// ```
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Message {
            role: role.into(),
            content: content.into(),
        }
    }
}
