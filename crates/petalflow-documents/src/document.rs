//! What a document says, and what is wrong with it.
//!
//! A document is a [graph definition](GraphDefinition) or an [agent workflow](AgentWorkflow), in the formats of PetalFlow.
//! [`Source::check`] reads one and reports everything that is wrong with it at once, with codes, JSON pointers, lines and
//! columns. [`AgentWorkflow::compile`] makes a graph of a workflow.
//!
//! ```
//! use petalflow_documents::document::{Catalog, Source};
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
//! # Ok::<(), petalflow_documents::document::Diagnostics>(())
//! ```

pub use petalflow_document_model::documents::{
    AGENT_SCHEMA, Agent, AgentWorkflow, CallLimits, Catalog, Code, Definition, Dependencies,
    Diagnostic, Diagnostics, Document, EdgeDefinition, Execution, Format, GRAPH_SCHEMA,
    GraphDefinition, Needs, NodeDefinition, Position, ReadGraph, SETTINGS_SCHEMAS, Severity,
    Source, Strategy, Task, ToolMode, inner_node_setting,
};
