//! Shared support for the tests of crates over models: servers that act as providers, and recordings of real providers.

pub mod httprr;
pub mod replay;
pub mod server;
#[cfg(feature = "spans")]
pub mod spans;
#[cfg(feature = "voice")]
pub mod voice;

use petalflow::event::EventKind;
use petalflow::{Flow, Run};
use petalflow_llm::nodes::NodeOutput;

/// Runs to the end. Returns what the nodes of the run emitted.
///
/// # Panics
///
/// If an event does not name its task.
pub async fn node_outputs<F: Flow>(run: Run<F>) -> Vec<NodeOutput> {
    let mut events = run.events();
    let mut outputs = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom(custom) = event.kind {
            assert!(event.task.is_some(), "the event names its task");
            outputs.extend(custom.downcast_ref::<NodeOutput>().cloned());
        }
    }
    outputs
}
