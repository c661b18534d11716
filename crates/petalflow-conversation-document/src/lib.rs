//! Documents of conversation flows: their forms, what is wrong with them, and the conversion between them.
//!
//! | form | type | written by |
//! | --- | --- | --- |
//! | declarative | [`config::FlowConfig`] | people, in YAML or JSON; the functions are in code |
//! | editor | [`editor::EditorDocument`] | Pipecat's graphical editor |
//! | static, and the oldest | [`legacy::StaticFlow`] | older programs |
//!
//! Each form becomes a [`Conversation`], and a conversation becomes a document of the declarative or the editor's form.
//! What a form cannot say is [named](Dropped).
//!
//! ```
//! use petalflow_conversation_document::Conversation;
//!
//! let text = r#"{ "initial_node": "start", "nodes": {
//!     "start": { "messages": [{ "role": "system", "content": "Greet the caller." }],
//!         "functions": [{ "type": "function", "function": { "name": "end", "description": "Say goodbye." } }] },
//!     "end": { "messages": [] } } }"#;
//! let conversation = Conversation::from_static(&serde_json::from_str(text)?).unwrap();
//! let converted = conversation.to_config();
//! assert!(converted.dropped.is_empty());
//! assert!(converted.document.nodes["start"].functions[0].transition_only);
//! # Ok::<(), serde_json::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod action;
mod case_key;
mod common_rules;
pub mod config;
mod conversation;
mod convert;
pub mod decision;
pub mod editor;
mod finding;
pub mod legacy;
mod message;
mod names;
mod template;

pub use action::Action;
pub use case_key::case_key;
pub use conversation::{
    Condition, ContextStrategy, Conversation, Decision, Function, Handler, Next, Node, Parameters,
};
pub use convert::{Converted, Dropped};
pub use finding::{Code, Finding, Pointer, Severity};
pub use message::Message;
pub use template::{MissingKey, Template, TemplateError};
