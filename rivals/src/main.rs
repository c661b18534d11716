//! A chain of nodes that count, with petalflow and with other crates: the time per node, in one run.
//!
//! Each crate is used as its documents show: a graph is built once, and then run many times with a new state. Each node
//! reads the counter and writes the next number. The result is checked.

mod adk;
mod graph_flow_crate;
mod juncture;
mod petal;

use std::future::Future;
use std::time::{Duration, Instant};

/// The lengths of the chains.
const LENGTHS: [usize; 3] = [10, 100, 1_000];

/// How long each case runs.
const TIME: Duration = Duration::from_secs(1);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("Time per node of a chain, the median of runs of {TIME:?}\n");
    println!("| nodes | petalflow | graph-flow | adk-graph | juncture |");
    println!("| --- | --- | --- | --- | --- |");
    for nodes in LENGTHS {
        let (petal, graph_flow) = (petal::chain(nodes), graph_flow_crate::chain(nodes));
        let (adk, juncture) = (adk::chain(nodes), juncture::chain(nodes));
        let times = [
            per_node(nodes, async || petal::run(&petal).await).await,
            per_node(nodes, async || graph_flow_crate::run(&graph_flow).await).await,
            per_node(nodes, async || adk::run(&adk).await).await,
            per_node(nodes, async || juncture::run(&juncture).await).await,
        ];
        let times = times.map(|time| format!("{:.1} ns", time.as_secs_f64() * 1e9));
        println!("| {nodes} | {} |", times.join(" | "));
    }
}

/// The median time of a run, divided by the number of nodes. The run returns the counter at its end.
async fn per_node<R: Future<Output = u64>>(nodes: usize, run: impl Fn() -> R) -> Duration {
    let mut times = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < TIME || times.len() < 3 {
        let start = Instant::now();
        let counted = run().await;
        times.push(start.elapsed());
        assert_eq!(counted, nodes as u64, "every node runs once");
    }
    times.sort_unstable();
    times[times.len() / 2] / u32::try_from(nodes).expect("a chain is short")
}
