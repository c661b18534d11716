//! Nodes that ask models and call tools.

mod conversation;
mod llm_node;
mod prompt;
mod tool_node;

use futures_util::StreamExt;
use petalflow::event::EventKind;
use petalflow::{Flow, Run};
use petalflow_llm::nodes::NodeOutput;

/// What the nodes of a run say, with the attempt of the task, until it ends.
async fn said<F: Flow>(run: Run<F>) -> Vec<NodeOutput> {
    let mut events = run.events();
    let mut said = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom(custom) = event.kind {
            assert!(event.task.is_some(), "it is known who speaks");
            said.extend(custom.downcast_ref::<NodeOutput>().cloned());
        }
    }
    said
}
