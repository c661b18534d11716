//! The crate `graph-flow`.

use std::sync::Arc;

use async_trait::async_trait;
use graph_flow::{Context, Graph, GraphBuilder, NextAction, Session, Task, TaskResult};

struct Add(String);

#[async_trait]
impl Task for Add {
    fn id(&self) -> &str {
        &self.0
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        let n: u64 = context.get("n").unwrap_or_default();
        context.set("n", n + 1)?;
        Ok(TaskResult::new(None, NextAction::ContinueAndExecute))
    }
}

pub fn chain(nodes: usize) -> Graph {
    let name = |node: usize| format!("n{node}");
    let mut builder = GraphBuilder::new("chain").with_max_execution_steps(2_000);
    for node in 0..nodes {
        builder = builder.add_task(Arc::new(Add(name(node))));
    }
    for node in 1..nodes {
        builder = builder.add_edge(name(node - 1), name(node));
    }
    builder.build().expect("it is a chain")
}

pub async fn run(chain: &Graph) -> u64 {
    let mut session = Session::new_from_task("s".to_string(), "n0");
    chain.execute_session(&mut session).await.expect("it runs");
    session.context.get("n").expect("it was counted")
}
