//! The crate `juncture`.

use juncture_core::node::NodeFnUpdate;
use juncture_core::{CompiledGraph, GraphOutput, RunnableConfig, StateGraph};
use juncture_derive::State;

#[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Count {
    n: u64,
}

pub fn chain(nodes: usize) -> CompiledGraph<Count> {
    let mut graph = StateGraph::new();
    for node in 0..nodes {
        let add = NodeFnUpdate(|count: &Count| {
            let n = count.n + 1;
            async move { Ok(CountUpdate { n: Some(n) }) }
        });
        graph
            .add_node_simple(format!("n{node}"), add)
            .expect("names differ");
    }
    graph.set_entry_point("n0");
    for node in 1..nodes {
        graph.add_edge(format!("n{}", node - 1), format!("n{node}"));
    }
    graph.set_finish_point(format!("n{}", nodes - 1));
    graph.compile().expect("it is a chain")
}

pub async fn run(chain: &CompiledGraph<Count>) -> u64 {
    let config = RunnableConfig {
        recursion_limit: 2_000,
        ..RunnableConfig::new()
    };
    let output: GraphOutput<Count, Count> = chain
        .invoke_async(Count::default(), &config)
        .await
        .expect("it runs");
    output.value.n
}
