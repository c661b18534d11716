//! Documents of conversation flows, what is wrong with them, and the conversion between their forms.
//!
//! | form | type | written by |
//! | --- | --- | --- |
//! | declarative | [`config::FlowConfig`] | people and Pipecat's graphical editor, in YAML or JSON; the functions are in code |
//! | editor | [`editor::EditorDocument`] | that editor, until September 2026 |
//! | static, and the oldest | [`legacy::StaticFlow`] | older programs |
//!
//! [`check`] reads a text in any of them and reports everything that is wrong at once, with file, line and column. Each form
//! becomes a [`Conversation`], and a conversation becomes a document of the declarative or the editor's form.
//! What a form cannot say is [named](Dropped).
//!
//! ```
//! use petalflow_document_model::conversations::{Source, check};
//!
//! let source = Source::new("greeting.flow.yaml", "
//! initial_node: start
//! nodes:
//!   start:
//!     task_messages:
//!       - { role: developer, content: Greet the caller. }
//!     functions:
//!       - { name: goodbye, transition_only: true, description: The caller is done., transition_to: ende }
//!   end:
//!     task_messages: []
//! ");
//! let errors = check(&source).unwrap_err();
//! assert_eq!(errors.to_string(), "greeting.flow.yaml:8:98: error[CV-002]: node 'start' function 'goodbye' \
//!     transitions to unknown node 'ende'; did you mean `end`?");
//! ```

mod action;
mod case_key;
mod common_rules;
pub mod config;
mod conversation;
mod convert;
pub mod decision;
mod diagram;
pub mod editor;
mod finding;
pub mod legacy;
mod lenient;
mod message;
mod names;
mod parameter_rules;
mod parameters;
mod source;
mod template;

pub use crate::source::{Format, Pointer, Position, Severity, Source};
pub use action::Action;
pub use case_key::case_key;
pub use conversation::{
    Condition, ContextStrategy, Conversation, Decision, Function, Handler, Next, Node,
};
pub use convert::{Converted, Dropped};
pub use finding::{Code, Diagnostic, Diagnostics, Finding};
#[doc(hidden)]
pub use lenient::check_leniently;
pub use message::Message;
pub use parameters::Parameters;
pub use source::{Checked, Document, check, config_schema, editor_schema, static_schema};
pub use template::{MissingKey, Template, TemplateError};
