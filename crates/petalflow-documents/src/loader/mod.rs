//! Makes graphs that can run of the definitions in documents.

mod edges;
mod error;
mod nodes;
mod schemas;
mod services;
mod version;
mod wrappers;

use crate::builder::{EnvelopeFlow, EnvelopeGraph, GraphError};
use crate::document::{Definition, GraphDefinition, ReadGraph, Source};
use crate::kinds::NoopNode;
use edges::Edges;
pub use error::LoadError;
pub use schemas::settings_schemas;
pub use services::Services;
pub use version::document_version;

/// Checks a document and makes a graph that can run of it. The document can name the tools and the providers of the services:
/// in a graph, the name of a tool is also a type of nodes.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::document::Source;
/// use petalflow_documents::{Services, load_source};
/// use serde_json::json;
///
/// /// Counts words.
/// #[tool]
/// fn word_count(text: String) -> serde_json::Value {
///     json!({ "words": text.split(' ').count() })
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let source = Source::new("count.graph.yaml", "
/// id: count
/// version: '1.0'
/// nodes:
///   - { id: count, type: word_count, config: { args_template: { text: text }, output_key: counted } }
/// edges: []
/// ");
/// let flow = load_source(&source, &Services::new().tool(word_count {}))?;
/// let envelope = flow.run(Envelope::new().with_var("text", "two words")).await?;
/// assert_eq!(envelope.get_var("counted"), Some(&json!({ "words": 2 })));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`Source::check`] and [`load`]: all problems.
pub fn load_source(source: &Source, services: &Services) -> Result<EnvelopeFlow, LoadError> {
    let catalog = services.providers();
    let read = source.read_graph(&catalog).or_else(|diagnostics| {
        // A workflow makes a node of a task of each tool that the catalog has, and calls the others.
        match source.inspect(&catalog) {
            (Some(Definition::Graph(_)), _) => source.read_graph(&services.and_tools(catalog)),
            _ => Err(diagnostics),
        }
    });
    match read {
        Ok(read) => load_nodes(read, services),
        Err(diagnostics) => Err(LoadError {
            graph: source.name().into(),
            problems: diagnostics.errors().map(ToString::to_string).collect(),
        }),
    }
}

/// Makes a graph that can run of a definition. [Check](GraphDefinition::check) the definition before: this function reports
/// only what prevents it from building the nodes.
///
/// A [`ReadGraph`] of [`Source::read_graph`] is checked, and its settings are not read again. Those of a
/// `&GraphDefinition` are read here.
///
/// ```
/// use petalflow_documents::document::GraphDefinition;
/// use petalflow_documents::{Services, load};
/// use serde_json::json;
///
/// let graph: GraphDefinition = serde_json::from_value(json!({
///     "id": "ask", "version": "1", "edges": [],
///     "nodes": [{ "id": "a", "type": "llm_prompt", "config": { "provider": "openai", "prompt_template": "Hi." } }],
/// }))?;
/// let error = load(&graph, &Services::new()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "graph `ask` cannot be loaded:\n  node `a`: there is no model for provider `openai`: add one with `Services::model`"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// All problems at once: missing models, tools, handlers or functions, settings that are wrong, edges that do not fit.
pub fn load(graph: impl Into<ReadGraph>, services: &Services) -> Result<EnvelopeFlow, LoadError> {
    load_nodes(graph.into(), services)
}

fn load_nodes(read: ReadGraph, services: &Services) -> Result<EnvelopeFlow, LoadError> {
    let graph = &read.definition;
    let edges = Edges::new(graph);
    let mut problems = Vec::new();
    let mut result = EnvelopeGraph::new(&graph.id);
    for (node, settings) in graph.nodes.iter().zip(read.settings) {
        let site = nodes::Site {
            graph,
            id: &node.id,
            edges: &edges,
            services,
        };
        let added = nodes::build(node, settings, &site).and_then(|built| {
            let added = result.add_node(&node.id, built);
            added.map_err(|error| error.to_string())
        });
        if let Err(problem) = added {
            problems.push(format!("node `{}`: {problem}", node.id));
        }
    }
    let error = |problems| LoadError {
        graph: graph.id.clone(),
        problems,
    };
    if !problems.is_empty() {
        return Err(error(problems));
    }
    connect(graph, &edges, &mut result).map_err(|it| error(vec![it.to_string()]))?;
    let version = document_version(graph);
    let version = version.map_err(|it| error(vec![format!("its version cannot be made: {it}")]))?;
    let built = result.build();
    let flow = built.map_err(|it| error(it.errors().iter().map(ToString::to_string).collect()))?;
    Ok(flow.with_version(version))
}

/// Adds the edges and the entry.
fn connect(
    graph: &GraphDefinition,
    edges: &Edges<'_>,
    result: &mut EnvelopeGraph,
) -> Result<(), GraphError> {
    for node in &graph.nodes {
        // The outputs of a node that chooses are its choices, except those that all nodes of its type have.
        let chooses = matches!(
            node.kind.as_str(),
            "conditional" | "rule_router" | "llm_router"
        );
        for edge in edges.leaving(&node.id) {
            match edge.source_handle.as_str() {
                "output" | "decision" | "" => result.add_edge(&node.id, &edge.target)?,
                choice if chooses => result.add_edge_on(&node.id, choice, &edge.target)?,
                _ => result.add_edge(&node.id, &edge.target)?,
            }
        }
        if edges.waits(&node.id) {
            result.wait_at(&node.id)?;
        }
    }
    match edges.first[..] {
        [] => Ok(()),
        [first] => result.set_entry(first),
        ref several => {
            // One node before all: a graph has one entry, and branches begin at one node.
            let start = format!("{}__start", graph.id);
            result.add_node(&start, NoopNode)?;
            for first in several {
                result.add_edge(&start, first)?;
            }
            result.set_entry(&start)
        }
    }
}
