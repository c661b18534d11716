//! Graphs and agent workflows in JSON and YAML, checked and run.
//!
//! [`load`] makes an [`EnvelopeFlow`](builder::EnvelopeFlow) of a [`document`]: nodes of the [kinds], and edges. The program
//! supplies what a document cannot contain: models, tools, and the handler that asks people. See [`Services`].
//! [`flow_from!`] checks the document while the program compiles.
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow_documents::Envelope;
//! use petalflow_documents::document::{Catalog, Source};
//! use petalflow_documents::{Services, load};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let source = Source::new("greeting.graph.json", r#"{
//!   "id": "greeting", "version": "1.0", "kind": "graph", "edges": [],
//!   "nodes": [{ "id": "greet", "type": "transform",
//!     "config": { "transform": "template", "template": "Hello, {{.name}}!", "output_var": "greeting" } }]
//! }"#);
//! let document = source.check(&Catalog::default())?;
//! let flow = load(&document.graph(&Catalog::default()), &Services::new())?;
//! let envelope = flow.run(Envelope::new().with_var("name", "Ann")).await?;
//! assert_eq!(envelope.get_var_string("greeting"), "Hello, Ann!");
//! # Ok(())
//! # }
//! ```
//!
//! The state of these graphs is the [`Envelope`], whose keys are known at run time only. A program can also build them
//! itself, with the [builder]. If you know the keys, define a state of your own. The compiler checks it.
//!
//! # Differences to PetalFlow
//!
//! | PetalFlow | here | reason |
//! | --- | --- | --- |
//! | a node with several edges to it runs once for each | it runs once, after all that can still come | results do not depend on timing |
//! | a merge behind a route that skips a side never runs | it merges the sides that come | |
//! | without `entry` only the first node without edges to it runs | all nodes without edges to them begin | the tasks of a parallel workflow all run |
//! | a choice leads to the node with its name | it leads along the edges with its name as `sourceHandle`, or else to the node with its name | |
//! | after a gate or guardian that passes, the node of its redirection runs too | it runs only after a redirection | |
//! | the redirection of a guardian has no effect | it leads to the node | |
//! | a router with its own `decision_key` takes all edges | it takes the chosen ones | |
//! | a rejected review of a task has no effect | the node fails | the next tasks would use what was rejected |
//! | a reference to a task with `output_key` or `review` is empty | it is the result of the task | |
//! | a missing variable in a template is `<no value>` | it is an error, or empty with `missing: empty`, or `<no value>` with `missing: no_value` | |
//! | a node of type `func` does nothing | it needs a function, see [`Services::function`] | |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod artifact;
mod branch;
pub mod builder;
mod changes;
mod clock;
mod config;
mod decision;
pub mod document;
pub mod expression;
mod failure;
mod kind;
pub mod kinds;
mod loader;
mod lookup;
pub mod run;
mod template;
mod trace;
mod values;
mod var_key;
mod wire;

#[doc(hidden)]
pub mod __private;

use std::sync::Arc;

use serde_json::{Map, Value};

pub use artifact::Artifact;
pub use branch::Branch;
pub use changes::{Branches, Changes};
pub use config::{ConfigError, Period};
pub use decision::RouteDecision;
pub use failure::NodeFailure;
pub use kind::NodeKind;
pub use loader::{LoadError, Services, document_version, load, load_source, settings_schemas};
pub use template::MissingVariable;
pub use trace::Trace;
pub use var_key::{VarError, VarKey};
pub use wire::{WireArtifact, WireEnvelope, WireError, WireFailure, WireMessage, WireTrace};

use petalflow::state;
use petalflow_llm::ChatMessage;

/// A flow of a document: a graph or an agent workflow in JSON or YAML. The document is checked while the crate compiles,
/// and each mistake is an error with the line and the column in the document. The crate is compiled again when the file
/// changes.
///
/// The path is relative to the file with the macro, or else to the folder of the package. The name of the type is that of
/// the file: `greeting.graph.json` is `Greeting`. `flow_from!(pub Welcome = "greeting.graph.json")` gives it another name.
///
/// The type has a constructor, `new`, and dereferences to an
/// [`EnvelopeFlow`](builder::EnvelopeFlow), which runs it. If the document
/// needs models, tools, functions or people, `new` takes a struct with a field for each, `GreetingServices`: a missing one is
/// a compile error. The fields are named after the provider, the tool or the node; `human` asks people.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::{Envelope, flow_from};
///
/// flow_from!("tests/loader/greeting.graph.json");
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = Greeting::new()?;
/// let envelope = flow.run(Envelope::new().with_var("name", "Ann")).await?;
/// assert_eq!(envelope.get_var_string("greeting"), "Hello, Ann! Welcome to PetalFlow.");
/// # Ok(())
/// # }
/// ```
///
/// This document has an edge to a node that does not exist:
///
/// ```compile_fail
/// petalflow_documents::flow_from!("tests/loader/wrong.graph.json");
/// ```
#[macro_export]
macro_rules! flow_from {
    ($($flow:tt)*) => {
        $crate::__private::flow_from_impl! { [$crate] $($flow)* }
    };
}

/// A state with an input, named variables, artifacts, messages, error records and a trace.
///
/// ```
/// use petalflow_documents::{Envelope, EnvelopeVars};
/// use petalflow::prelude::*;
/// use serde_json::{Map, json};
///
/// #[node(Envelope)]
/// async fn shout(vars: &Map<String, serde_json::Value>) -> EnvelopeVars {
///     let name = vars.get("name").and_then(|name| name.as_str()).unwrap_or_default();
///     EnvelopeVars(Map::from_iter([("loud".into(), json!(name.to_uppercase()))]))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = Graph::<Envelope>::builder("shout").node(shout {}).build()?;
/// let envelope = flow.run(Envelope::new().with_var("name", "ann")).await?;
/// assert_eq!(envelope.get_var_string("loud"), "ANN");
/// # Ok(())
/// # }
/// ```
#[state]
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The input of the flow. Clones share it. It does not change.
    #[key(input, default, name = EnvelopeGiven)]
    pub input: Option<Arc<Value>>,
    /// The variables by name.
    #[key(input, merge)]
    pub vars: Map<String, Value>,
    /// The artifacts: documents, chunks, pictures.
    #[key(input, append)]
    pub artifacts: Vec<Artifact>,
    /// The messages.
    #[key(input, append)]
    pub messages: Vec<ChatMessage>,
    /// The error records. See [`Launch::continue_on_error`](petalflow::Launch::continue_on_error).
    #[key(input, append)]
    pub errors: Vec<NodeFailure>,
    /// The run that the envelope belongs to.
    #[key(input, default = Trace::now())]
    pub trace: Trace,
    /// The results of branches that wait for their [`MergeNode`](kinds::MergeNode).
    #[key(reduce = changes::fold_branches, default)]
    pub branches: Branches,
}

impl Envelope {
    /// Creates an empty envelope that starts now.
    pub fn new() -> Self {
        Envelope {
            input: None,
            vars: Map::new(),
            artifacts: Vec::new(),
            messages: Vec::new(),
            errors: Vec::new(),
            trace: Trace::now(),
            branches: Branches::default(),
        }
    }

    /// Sets the input.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    ///
    /// assert_eq!(**Envelope::new().with_input(7).input.as_ref().unwrap(), 7);
    /// ```
    #[must_use]
    pub fn with_input(mut self, input: impl Into<Value>) -> Self {
        self.input = Some(Arc::new(input.into()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with_var(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set_var(name, value);
        self
    }

    /// Sets the trace.
    ///
    /// ```
    /// use petalflow_documents::{Envelope, Trace};
    ///
    /// let trace = Trace { run_id: "r1".into(), ..Trace::now() };
    /// assert_eq!(Envelope::new().with_trace(trace.clone()).trace, trace);
    /// ```
    #[must_use]
    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.trace = trace;
        self
    }

    /// Sets a variable.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.set_var("n", 7);
    /// assert_eq!(envelope.get_var("n"), Some(&7.into()));
    /// ```
    pub fn set_var(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.vars.insert(name.into(), value.into());
    }

    /// Appends an artifact.
    ///
    /// ```
    /// use petalflow_documents::{Artifact, Envelope};
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_artifact(Artifact::new("chunk"));
    /// assert_eq!(envelope.artifacts.len(), 1);
    /// ```
    pub fn append_artifact(&mut self, artifact: Artifact) {
        self.artifacts.push(artifact);
    }

    /// Appends a message.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    /// use petalflow_llm::ChatMessage;
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_message(ChatMessage::user("Hello."));
    /// assert_eq!(envelope.messages.len(), 1);
    /// ```
    pub fn append_message(&mut self, message: ChatMessage) {
        self.messages.push(message);
    }

    /// Appends an error record.
    ///
    /// ```
    /// use petalflow_documents::{Envelope, NodeFailure};
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_error(NodeFailure::new("fetch", "the line is dead"));
    /// assert!(envelope.has_errors());
    /// ```
    pub fn append_error(&mut self, error: NodeFailure) {
        self.errors.push(error);
    }
}

impl Default for Envelope {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Envelope> for EnvelopeInput {
    fn from(envelope: Envelope) -> Self {
        EnvelopeInput {
            input: envelope.input,
            vars: envelope.vars,
            artifacts: envelope.artifacts,
            messages: envelope.messages,
            errors: envelope.errors,
            trace: envelope.trace,
        }
    }
}
