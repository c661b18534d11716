//! Graphs and agent workflows in JSON and YAML.
//!
//! A document is a [graph definition](GraphDefinition) or an [agent workflow](AgentWorkflow), in the formats of PetalFlow.
//! [`Source::check`] reads one and reports everything that is wrong with it at once, with codes, JSON pointers, lines and
//! columns. [`AgentWorkflow::compile`] makes a graph of a workflow.
//!
//! The macro `flow_from!` checks documents with this module while a program compiles.
//!
//! ```
//! use petalflow_document_model::documents::{Catalog, Source};
//!
//! let source = Source::new("greeting.graph.yaml", "
//! id: greeting
//! version: '1.0'
//! kind: graph
//! nodes:
//!   - id: greet
//!     type: transform
//!     config: { transform: template, template: 'Hello, {{.name}}!', output_var: greeting }
//! edges: []
//! ");
//! let document = source.check(&Catalog::default())?;
//! assert_eq!(document.graph(&Catalog::default()).entry(), Some("greet"));
//! # Ok::<(), petalflow_document_model::documents::Diagnostics>(())
//! ```

mod agent;
mod catalog;
mod compile;
mod diagnostic;
mod graph;
mod needs;
mod rules;
mod schemas;
mod source;
pub mod template;

pub use crate::source::{Format, Position, Severity};
pub use agent::{Agent, AgentWorkflow, CallLimits, Dependencies, Execution, Strategy, Task};
pub use catalog::{Catalog, ToolMode};
pub use diagnostic::{Code, Diagnostic, Diagnostics};
pub use graph::{EdgeDefinition, GraphDefinition, NodeDefinition};
pub use needs::Needs;
pub use rules::inner_node_setting;
pub use schemas::{AGENT_SCHEMA, GRAPH_SCHEMA, SETTINGS_SCHEMAS};
#[cfg(feature = "schema")]
#[cfg_attr(docsrs, doc(cfg(feature = "schema")))]
pub use schemas::{agent_schema, graph_schema};
pub use source::{Definition, Document, ReadGraph, Source};
