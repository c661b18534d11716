//! What a [`ChatMessage`](crate::ChatMessage) contains.

pub(crate) mod call_id;
pub(crate) mod chat_message;
pub(crate) mod citation;

pub use chat_message::{Media, MediaSource, ParseRoleError, Text};
