//! From one form of a document to another.

mod from_config;
mod from_editor;
mod from_static;
mod lost_fields;
mod of_document;
mod to_config;
mod to_editor;

use std::fmt;

use serde::Serialize;

use crate::source::Pointer;

/// A document in another form, and what that form cannot say.
///
/// ```
/// # use petalflow_document_model::conversations::Conversation;
/// # let config = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// let conversation = Conversation::from_config(&config).unwrap();
/// let converted = conversation.to_editor();
/// assert_eq!(converted.document.nodes[0].id, "a");
/// for lost in &converted.dropped {
///     eprintln!("{lost}");
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Converted<T> {
    /// The document.
    pub document: T,
    /// What is not in it.
    pub dropped: Vec<Dropped>,
}

/// Something that the new form of a document cannot say.
///
/// ```
/// use petalflow_document_model::conversations::{Dropped, Pointer};
///
/// let dropped = Dropped { pointer: Pointer::root().name("name"), message: "the form has no name".into() };
/// assert_eq!(dropped.to_string(), "/name: the form has no name");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The value in the [`Conversation`](crate::conversations::Conversation), or in the document if only that has it.
    pub pointer: Pointer,
    /// What it was, and what to do.
    pub message: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

/// Collects what was dropped.
#[derive(Default)]
struct Drops(Vec<Dropped>);

impl Drops {
    fn add(&mut self, pointer: Pointer, message: impl Into<String>) {
        self.0.push(Dropped {
            pointer,
            message: message.into(),
        });
    }
}
