//! Runs the graphs of documents.
//!
//! [`load`] makes a [`Graph`] of a definition in JSON or YAML: nodes of the [kinds](crate::kinds), and edges. The program
//! supplies what a document cannot contain: models, tools, and who asks people. See [`Services`].
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow_envelope::Envelope;
//! use petalflow_envelope::documents::{Catalog, Services, Source, load};
//!
//! let source = Source::new("greeting.graph.json", r#"{
//!   "id": "greeting", "version": "1.0", "kind": "graph", "edges": [],
//!   "nodes": [{ "id": "greet", "type": "transform",
//!     "config": { "transform": "template", "template": "Hello, {{.name}}!", "output_var": "greeting" } }]
//! }"#);
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let document = source.check(&Catalog::default())?;
//! let flow = load(&document.graph(&Catalog::default()), &Services::new())?;
//! let envelope = flow.run(Envelope::new().with_var("name", "Ann")).await?;
//! assert_eq!(envelope.get_var_string("greeting"), "Hello, Ann!");
//! # Ok(())
//! # }
//! ```
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
//! | a missing variable in a template is `<no value>` | it is an error, or empty with `missing: empty` | |
//! | a node of type `func` does nothing | it needs a function, see [`Services::function`] | |

mod edges;
mod error;
mod nodes;
mod schemas;
mod services;
mod wrappers;

use petalflow::Graph;
pub use petalflow_documents::*;

use crate::Envelope;
pub use error::LoadError;
pub use schemas::settings_schemas;
pub use services::Services;

/// What the code of [`flow_from!`](crate::flow_from) names.
#[doc(hidden)]
pub mod __private {
    pub use petalflow::tool::Tool;
    pub use petalflow_documents_macros::flow_from_impl;
    pub use petalflow_llm::LlmClient;

    pub use crate::kinds::{EnvelopeNode, HumanHandler};

    /// The type of the flows of documents.
    pub type Flow = petalflow::Graph<crate::Envelope>;
}

/// Checks a document and makes a graph that can run of it.
///
/// # Errors
///
/// As [`Source::check`] and [`load`]: all problems.
pub fn load_source(source: &Source, services: &Services) -> Result<Graph<Envelope>, LoadError> {
    let catalog = Catalog::default();
    match source.check(&catalog) {
        Ok(document) => load(&document.graph(&catalog), services),
        Err(diagnostics) => Err(LoadError {
            graph: source.name().into(),
            problems: diagnostics.errors().map(ToString::to_string).collect(),
        }),
    }
}

/// Makes a graph that can run of a definition. [Check](GraphDefinition::check) the definition before: this function reports
/// only what prevents it from building the nodes.
///
/// ```
/// use petalflow_envelope::documents::{GraphDefinition, Services, load};
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
pub fn load(graph: &GraphDefinition, services: &Services) -> Result<Graph<Envelope>, LoadError> {
    let wiring = edges::Wiring::new(graph);
    let mut problems = Vec::new();
    let mut builder = Graph::<Envelope>::builder(&graph.id);
    for node in wiring.nodes() {
        let site = nodes::Site {
            graph,
            id: &node.id,
            successors: wiring.successors(&node.id),
            predecessors: wiring.predecessors(&node.id),
            in_cycle: wiring.is_in_cycle(&node.id),
            services,
        };
        match nodes::build(node, &site) {
            Ok(built) => builder = wiring.add(builder, &node.id, built, &mut problems),
            Err(problem) => problems.push(format!("node `{}`: {problem}", node.id)),
        }
    }
    let error = |problems| LoadError {
        graph: graph.id.clone(),
        problems,
    };
    if !problems.is_empty() {
        return Err(error(problems));
    }
    builder.build().map_err(|errors| {
        let lines = errors.diagnostics().iter().map(ToString::to_string);
        error(lines.collect())
    })
}
