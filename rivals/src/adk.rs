//! The crate `adk-graph`.

use adk_graph::edge::{END, START};
use adk_graph::graph::{CompiledGraph, StateGraph};
use adk_graph::node::{ExecutionConfig, NodeContext, NodeOutput};
use adk_graph::state::State;
use serde_json::{Value, json};

fn counter(state: &State) -> u64 {
    state.get("n").and_then(Value::as_u64).unwrap_or(0)
}

pub fn chain(nodes: usize) -> CompiledGraph {
    let mut graph = StateGraph::with_channels(&["n"]);
    let mut before = START.to_string();
    for node in 0..nodes {
        let name = format!("n{node}");
        graph = graph.add_node_fn(&name, |cx: NodeContext| async move {
            Ok(NodeOutput::new().with_update("n", json!(counter(&cx.state) + 1)))
        });
        graph = graph.add_edge(&before, &name);
        before = name;
    }
    let graph = graph
        .add_edge(&before, END)
        .compile()
        .expect("it is a chain");
    graph.with_recursion_limit(2_000)
}

pub async fn run(chain: &CompiledGraph) -> u64 {
    let mut config = ExecutionConfig::new("t");
    config.recursion_limit = 2_000;
    let state = chain.invoke(State::new(), config).await.expect("it runs");
    counter(&state)
}
