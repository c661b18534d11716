//! Rows P020 to P032; P026 is with the retries, P027 with the models, P030 and P031 with the tools.

use std::error::Error;

use petalflow::prelude::*;
use petalflow_documents::kinds::FuncNode;
use petalflow_documents::{Changes, Envelope, NodeFailure, NodeKind, RouteDecision};
use petalflow_llm::stream::Delta;
use petalflow_llm::{LlmClient, LlmRequest, Reply, ScriptedModel, TokenUsage};
use serde_json::json;

#[test]
fn p020_kinds_have_these_names() {
    let names: Vec<_> = NodeKind::ALL.iter().map(NodeKind::as_str).collect();
    assert_eq!(
        names.join(" "),
        "llm tool router merge map gate noop filter transform guardian cache webhook_call webhook_trigger human conditional"
    );
    for kind in NodeKind::ALL {
        assert_eq!(&NodeKind::parse(kind.as_str()), kind);
        let text = serde_json::to_string(kind).expect("it is text");
        assert_eq!(text, format!("\"{kind}\""));
        assert_eq!(
            &serde_json::from_str::<NodeKind>(&text).expect("it reads"),
            kind
        );
    }
}

#[test]
fn p021_an_unknown_kind_is_preserved() {
    let kind = NodeKind::parse("anything");
    assert_eq!(
        (kind.as_str(), &kind),
        ("anything", &NodeKind::Other("anything".into()))
    );
    let text = serde_json::to_string(&kind).expect("it is text");
    assert_eq!(
        serde_json::from_str::<NodeKind>(&text).expect("it reads"),
        kind
    );
    assert_eq!(NodeKind::parse("LLM"), NodeKind::Other("LLM".into()));
}

async fn run(node: FuncNode, envelope: Envelope) -> Envelope {
    let flow = Graph::<Envelope>::builder("one").node(node).build();
    flow.expect("it is a graph")
        .run(envelope)
        .await
        .expect("it runs")
}

#[tokio::test]
async fn p022_a_node_takes_an_envelope_and_gives_changes() {
    // Upstream a node returns the whole envelope, so that branches have to be merged; here it returns what it writes.
    let node = FuncNode::new(|envelope: Envelope| async move {
        Ok(Changes::new().var("seen", envelope.vars.len()))
    });
    let envelope = run(node, Envelope::new().with_var("a", 1)).await;
    assert_eq!(envelope.get_var("seen"), Some(&json!(1)));
    assert_eq!(envelope.get_var("a"), Some(&json!(1)));
}

#[tokio::test]
async fn p023_a_function_node_is_a_noop_unless_it_says_otherwise() {
    let node = FuncNode::new(|_| async { Ok(Changes::new()) });
    assert_eq!(node.kind(), &NodeKind::Noop);
    assert_eq!(node.with_kind(NodeKind::Gate).kind(), &NodeKind::Gate);
}

#[tokio::test]
async fn p024_a_node_without_a_function_changes_nothing() {
    let before = Envelope::new().with_var("a", 1).with_input("q");
    let after = run(FuncNode::noop(), before.clone()).await;
    assert_eq!((after.vars, after.input), (before.vars, before.input));
    assert_eq!(after.trace, before.trace);
}

#[test]
fn p025_a_failure_has_a_message_and_a_source() {
    let failure = NodeFailure::new("fetch", "no page").with_cause("refused");
    assert_eq!(failure.to_string(), "no page");
    assert_eq!(
        failure.source().map(ToString::to_string).as_deref(),
        Some("refused")
    );
    assert!(NodeFailure::new("fetch", "no page").source().is_none());
    let text = serde_json::to_string(&failure).expect("it is JSON");
    assert_eq!(
        serde_json::from_str::<NodeFailure>(&text).expect("it reads"),
        failure
    );
}

#[test]
fn p028_zero_confidence_is_not_none() {
    let unsure = RouteDecision::default();
    let sure_of_nothing = RouteDecision {
        confidence: Some(0.0),
        ..RouteDecision::default()
    };
    assert_ne!(unsure, sure_of_nothing);
    let text = |decision| serde_json::to_string(decision).expect("it is JSON");
    assert!(!text(&unsure).contains("confidence"));
    assert!(text(&sure_of_nothing).contains("\"confidence\":0.0"));
}

#[tokio::test]
async fn p032_deltas_are_numbered_and_the_last_has_the_usage() {
    let usage = TokenUsage {
        output: 2,
        ..TokenUsage::default()
    };
    let model = ScriptedModel::new([Reply::chunks(["Hel", "lo"]).with_usage(usage)]);
    let mut stream = model
        .stream(&LlmRequest::prompt("?"))
        .await
        .expect("it answers");
    let mut seen = Vec::new();
    let mut accumulated = Vec::new();
    while let Some(chunk) = stream.next().await {
        accumulated.push(stream.accumulated().into_owned());
        assert!(chunk.error.is_none());
        seen.push((
            chunk.index,
            chunk.delta.clone(),
            chunk.done,
            chunk.usage().copied(),
        ));
    }
    let text = |text: &str| Delta::Text(text.into());
    assert_eq!(
        seen,
        [
            (0, text("Hel"), false, None),
            (1, text("lo"), false, None),
            (2, Delta::None, true, Some(usage)),
        ]
    );
    // What the provider repeats in each chunk is in the stream once.
    assert_eq!(accumulated, ["Hel", "Hello", "Hello"]);
}
