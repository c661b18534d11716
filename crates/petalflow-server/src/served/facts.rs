//! What clients are told of a flow.

use petalflow::checkpoint::AttributeKind;
use serde_json::{Value, json};

use super::plain_words;
use crate::MultitaskStrategy;

/// What a client is told of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) name: String,
    /// The name of the flow in the store.
    pub(super) stored_name: String,
    pub(crate) kind: FlowKind,
    /// What the program says about it.
    pub(crate) description: Option<String>,
    /// The JSON Schema of its input.
    pub(crate) input: Option<Value>,
    /// The JSON Schema of its state.
    pub(crate) state: Option<Value>,
    /// The keys of the state whose values nobody sees.
    pub(crate) secrets: Vec<String>,
    /// The names and types of its search attributes.
    pub(crate) attributes: Vec<(String, AttributeKind)>,
    pub(super) graph: Value,
    pub(crate) drawing: String,
    /// Whether the pieces of its answers are kept back, because an answer may go back to the model.
    #[cfg(feature = "protocol")]
    pub(crate) holds_pieces: bool,
    /// The webhook trigger that starts its threads, if it is one.
    pub(super) trigger: Option<String>,
    /// What happens to a message while a run works.
    pub(crate) multitask: MultitaskStrategy,
}

/// What kind of flow clients see.
///
/// ```
/// use petalflow_server::FlowKind;
///
/// assert_eq!(FlowKind::Agent.as_str(), "agent");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlowKind {
    /// A flow of the program.
    #[default]
    Flow,
    /// An agent: its input is a message.
    Agent,
    /// A conversation: its input is what a person says.
    Conversation,
    /// The graph of a document.
    Document,
    /// A flow of another program, whose threads are in the store and can only be read.
    Stored,
}

impl FlowKind {
    /// Its name for clients.
    pub fn as_str(self) -> &'static str {
        match self {
            FlowKind::Flow => "flow",
            FlowKind::Agent => "agent",
            FlowKind::Conversation => "conversation",
            FlowKind::Document => "document",
            FlowKind::Stored => "stored",
        }
    }
}

impl Facts {
    /// The types of its search attributes by their names.
    fn attributes_value(&self) -> Value {
        let attributes = self.attributes.iter();
        attributes
            .map(|(name, kind)| (name.clone(), Value::from(kind.to_string())))
            .collect()
    }

    /// What clients are told.
    pub(super) fn value(&self, questions: Value) -> Value {
        json!({
            "name": self.name,
            "kind": self.kind.as_str(),
            "description": self.description,
            "graph": self.graph,
            "input": self.input.clone().map(plain_words::of),
            "state": self.state.clone().map(plain_words::of),
            "questions": plain_words::of(questions),
            "attributes": self.attributes_value(),
        })
    }
}
