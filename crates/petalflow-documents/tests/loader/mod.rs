//! Documents that run.

mod from;
mod load;
mod replayed;
mod schemas;
mod versions;
mod workflows;

use petalflow_documents::Envelope;
use petalflow_documents::builder::EnvelopeFlow;
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::{Services, load};
use serde_json::{Value, json};

/// A graph of these nodes, `[id, type, settings]`, and edges, `[from, to]` or `[from, handle, to]`.
fn definition(nodes: Value, edges: Value) -> GraphDefinition {
    let nodes: Vec<Value> = nodes
        .as_array()
        .expect("a list")
        .iter()
        .map(|node| json!({ "id": node[0], "type": node[1], "config": node.get(2).unwrap_or(&json!({})) }))
        .collect();
    let edges: Vec<Value> = edges
        .as_array()
        .expect("a list")
        .iter()
        .map(|edge| match edge.get(2) {
            Some(to) => json!({ "source": edge[0], "sourceHandle": edge[1], "target": to }),
            None => json!({ "source": edge[0], "target": edge[1] }),
        })
        .collect();
    let graph = json!({ "id": "g", "version": "1", "nodes": nodes, "edges": edges });
    serde_json::from_value(graph).expect("it is a definition")
}

/// A node that appends its name to the variable `path`.
fn step(id: &str) -> Value {
    let template = format!("{{{{ .path | default \"\" }}}}{id}");
    json!([id, "transform", { "transform": "template", "template": template, "output_var": "path" }])
}

fn load_flow(graph: &GraphDefinition, services: &Services) -> EnvelopeFlow {
    load(graph, services).unwrap_or_else(|error| panic!("{error}"))
}

fn problems(graph: &GraphDefinition, services: &Services) -> Vec<String> {
    match load(graph, services) {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().to_vec(),
    }
}

/// Runs a graph with these variables, and returns those at the end.
async fn run(
    graph: &GraphDefinition,
    services: &Services,
    vars: Value,
) -> petalflow::Result<Value> {
    let envelope = load_flow(graph, services)
        .run(crate::support::vars(vars))
        .await?;
    Ok(Value::Object(envelope.vars))
}

/// Runs a flow with these variables, and returns the envelope.
async fn run_to_end(flow: &EnvelopeFlow, vars: Value) -> Envelope {
    let run = flow.run(crate::support::vars(vars)).await;
    run.unwrap_or_else(|error| panic!("{error}"))
}
