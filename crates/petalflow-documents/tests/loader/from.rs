//! `flow_from!`, and the same graph three ways.

use std::sync::Arc;

use petalflow::prelude::*;
use petalflow_documents::Services;
use petalflow_documents::builder::EnvelopeBuilder;
use petalflow_documents::kinds::{AutoHandler, NoopNode, TransformConfig, TransformNode};
use petalflow_documents::{Envelope, flow_from};
use petalflow_llm::ScriptedModel;
use serde_json::json;

use super::{definition, load_flow, run_to_end, step};

flow_from!("greeting.graph.json");
flow_from!(Study = "research.agent.yaml");

#[tokio::test]
async fn a_document_is_a_type() -> petalflow::Result<()> {
    let greeting = Greeting::new()?;
    let envelope = greeting
        .run(Envelope::new().with_var("name", "Ann"))
        .await?;
    assert_eq!(
        envelope.get_var_string("greeting"),
        "Hello, Ann! Welcome to PetalFlow."
    );
    assert!(Greeting::SOURCE.contains("greeting_graph") && Greeting::WARNINGS.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_needs_of_a_document_are_fields() -> petalflow::Result<()> {
    let study = Study::new(StudyServices {
        anthropic: Arc::new(ScriptedModel::new(["Bees dance."])),
        openai: Arc::new(ScriptedModel::new(["A report about bees."])),
        human: Arc::new(AutoHandler::approve()),
    })?;
    let envelope = study.run(Envelope::new().with_var("topic", "bees")).await?;
    assert_eq!(
        envelope.get_var_string("write_report__writer_output"),
        "A report about bees."
    );
    Ok(())
}

fn adds(text: &str) -> TransformNode {
    let config = TransformConfig::Template {
        template: format!("{{{{.path | default \"\"}}}}{text}"),
        missing: petalflow_documents::MissingVariable::Error,
        output_var: "path".into(),
    };
    TransformNode::new(config).expect("it is a template")
}

flow! {
    Diamond(Envelope) {
        START -> a -> b -> d;
        a -> c;
        node a: TransformNode = adds("a");
        node b: TransformNode = adds("b");
        node c: NoopNode = NoopNode;
        node d: TransformNode = adds("d");
    }
}

/// The lines of a diagram without its order.
fn lines(diagram: &str) -> Vec<String> {
    let mut lines: Vec<String> = diagram.lines().map(|line| line.trim().to_owned()).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn the_same_graph_three_ways_has_the_same_results_and_diagrams() -> petalflow::Result<()> {
    let built = EnvelopeBuilder::new("Diamond")
        .add_node("a", adds("a"))
        .fan_out([
            ("b", petalflow_documents::kinds::AnyNode::new(adds("b"))),
            ("c", petalflow_documents::kinds::AnyNode::new(NoopNode)),
        ])
        .branch("b")
        .edge("d", adds("d"))
        .build()?;
    let mut document = definition(
        json!([step("a"), step("b"), ["c", "noop"], step("d")]),
        json!([["a", "b"], ["b", "d"], ["a", "c"]]),
    );
    document.id = "Diamond".into();
    let document = load_flow(&document, &Services::new());

    let by_macro = Diamond::run(Envelope::new()).await?;
    for flow in [&built, &document] {
        let envelope = run_to_end(flow, json!({})).await;
        assert_eq!(envelope.vars, by_macro.vars);
        assert_eq!(lines(&flow.graph().mermaid()), lines(&Diamond::mermaid()));
    }
    assert_eq!(by_macro.get_var_string("path"), "abd");
    Ok(())
}
