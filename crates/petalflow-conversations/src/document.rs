//! Documents of conversation flows: their forms, what is wrong with them, and the conversion between them.
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
//! use petalflow_conversations::document::{Source, check};
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

pub use petalflow_document_model::conversations::{
    Action, Checked, Code, Condition, ContextStrategy, Conversation, Converted, Decision,
    Diagnostic, Diagnostics, Document, Dropped, Finding, Format, Function, Handler, Message,
    MissingKey, Next, Node, Parameters, Pointer, Position, Severity, Source, Template,
    TemplateError, case_key, check, config, config_schema, decision, editor, editor_schema, legacy,
    static_schema,
};
