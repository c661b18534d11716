//! petalflow, with its run-time builder: the other crates have no macro for graphs. A graph of `flow!` is faster.

use petalflow::Graph;
use petalflow::graph::START;
use petalflow::prelude::*;

#[state]
pub struct Count {
    n: u64,
}

pub fn chain(nodes: usize) -> Graph<Count> {
    let mut builder = Graph::<Count>::builder("chain");
    let mut before = START.to_string();
    for node in 0..nodes {
        let name = format!("n{node}");
        builder = builder
            .node_fn(&*name, |count: &Count, _| {
                let n = count.n + 1;
                async move { CountN(n) }
            })
            .edge(&*before, &*name);
        before = name;
    }
    builder
        .edge(&*before, petalflow::graph::END)
        .build()
        .expect("it is a chain")
}

pub async fn run(chain: &Graph<Count>) -> u64 {
    chain
        .launch()
        .limit(2_000)
        .run(())
        .await
        .expect("it runs")
        .n
}
