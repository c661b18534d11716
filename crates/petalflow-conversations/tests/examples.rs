//! The shapes of Pipecat's own examples, in documents of this repository.

use std::sync::Arc;

use petalflow::tool::{FuncTool, ToolContext};
use petalflow_conversations::{ConversationFlow, ConversationStateInput};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::{builder, message_texts, node, transition, turn};

#[tokio::test]
async fn f096_a_reservation_stays_until_a_table_is_free() {
    let check = FuncTool::new("check", "Checks.", |arguments: Value| async move {
        Ok(json!({ "status": match arguments["time"].as_str() {
            Some("18:00") => "available",
            Some("19:00") => "unavailable",
            _ => "closed",
        } }))
    });
    let branch = json!({ "name": "check", "transition_to": { "field": "status",
        "cases": { "available": "confirm", "unavailable": "sorry" } } });
    let time = |time: &str| Reply::call("check", json!({ "time": time }));
    let model = ScriptedModel::new([
        time("03:00"),
        "We are closed then.".into(),
        time("19:00"),
        "Sorry.".into(),
        time("18:00"),
        "Confirmed.".into(),
    ]);
    let flow = builder(json!({
        "a": node("Ask for a time.", json!({ "functions": [branch.clone()] })),
        "sorry": node("Offer another time.", json!({ "functions": [branch] })),
        "confirm": node("Confirm.", json!({})),
    }));
    let flow = flow.model(model).tool(check).build().unwrap();
    let mut nodes = Vec::new();
    let (mut state, _) = turn(&flow, ConversationStateInput::start()).await;
    for answer in ["At seven.", "At six."] {
        nodes.push(state.position.node.clone().unwrap());
        state = turn(&flow, state.next_input(answer)).await.0;
    }
    nodes.push(state.position.node.unwrap());
    assert_eq!(nodes, ["a", "sorry", "confirm"]);
}

#[tokio::test]
async fn f097_a_node_that_is_entered_again_reads_the_new_values() {
    let set = FuncTool::with_context(
        "set",
        "Sets.",
        |arguments: Value, cx: ToolContext| async move {
            cx.set_state("quote", json!({ "premium": arguments["premium"] }));
            Ok(())
        },
    );
    let model = Arc::new(ScriptedModel::new([
        Reply::call("set", json!({ "premium": 80 })),
        "Eighty.".into(),
        Reply::call("set", json!({ "premium": 75 })),
        "Seventy-five.".into(),
    ]));
    let flow = builder(json!({
        "a": node("Calculate.", json!({ "functions": [{ "name": "set", "transition_to": "quote" }] })),
        "quote": node("It costs {{ quote.premium }}.", json!({ "functions": [
            { "name": "set", "transition_to": "quote" }, transition("end", "a")] })),
    }));
    let flow: ConversationFlow = flow.model(Arc::clone(&model)).tool(set).build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    turn(&flow, state.next_input("Cheaper, please.")).await;
    let last = message_texts(&model.requests()[3]);
    let prices: Vec<_> = last
        .iter()
        .filter(|it| it.starts_with("system: It costs"))
        .collect();
    assert_eq!(prices, ["system: It costs 80.", "system: It costs 75."]);
}
