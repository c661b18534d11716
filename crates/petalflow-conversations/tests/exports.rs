//! Conversations as documents of the editor.

use std::sync::Arc;

use petalflow::prelude::*;
use petalflow::tool::{FuncTool, ToolContext};
use petalflow_conversations::document::{Dropped, Source, check};
use petalflow_conversations::{ConversationBuilder, ConversationFlow, ConversationStateInput};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::{builder, event_texts, message_texts, node, tool_names, turn};

/// Orders a dish.
#[tool]
fn order(
    /// What the guest wants.
    dish: String,
    /// How many.
    count: Option<u32>,
    cx: ToolContext,
) -> Value {
    cx.set_state("dish", dish.clone());
    json!({ "available": dish != "caviar", "count": count })
}

/// What is heard in two turns, and what the model was sent.
async fn run(flow: ConversationBuilder) -> (Vec<String>, Vec<String>) {
    let model = Arc::new(ScriptedModel::new([
        "What would you like?".into(),
        Reply::call("order", json!({ "dish": "caviar" })),
        "There is none.".into(),
        Reply::call("order", json!({ "dish": "soup", "count": 2 })),
        Reply::call("pay", json!({})),
        "Goodbye.".into(),
    ]));
    let pay = FuncTool::new("pay", "Pays.", |_: Value| async { Ok("paid") });
    let flow = flow.model(Arc::clone(&model)).tool(order {}).tool(pay);
    let flow = flow.build().expect("all handlers are there");
    let mut input = ConversationStateInput::start().with_value("kitchen", "La Maison");
    let mut all = Vec::new();
    for answer in ["Caviar.", "Soup.", ""] {
        let (state, events) = turn(&flow, input).await;
        all.extend(event_texts(&events));
        input = state.next_input(answer);
    }
    let sent = model.requests().into_iter().flat_map(|request| {
        let system = request.system.clone().unwrap_or_default();
        let offered = tool_names(&request).join(", ");
        let schemas = request.tools.iter().map(|tool| tool.description.clone());
        let schemas: Vec<String> = schemas.collect();
        [vec![system, offered], schemas, message_texts(&request)].concat()
    });
    (all, sent.collect())
}

fn hand_built() -> ConversationBuilder {
    builder(json!({
        "a": node("Take the order.", json!({
            "role_message": "You work for {{ kitchen }}.",
            "functions": [{ "name": "order", "transition_to": { "field": "available", "cases": { "true": "b" } } }],
        })),
        "b": node("Let them pay for {{ dish }}.", json!({
            "functions": [{ "name": "pay", "transition_to": "c" }],
            "pre_actions": [{ "type": "tts_say", "text": "{{ dish }} it is." }],
        })),
        "c": node("Say goodbye.", json!({ "post_actions": [{ "type": "end_conversation" }] })),
    }))
}

#[tokio::test]
async fn an_exported_conversation_runs_as_the_one_in_code() {
    let pay = FuncTool::new("pay", "Pays.", |_: Value| async { Ok("paid") });
    let flow = hand_built()
        .model(ScriptedModel::new(["Hello."]))
        .tool(order {})
        .tool(pay);
    let flow = flow.build().unwrap();
    let exported = flow.conversation().to_editor();
    // The branch has no default, and the picture needs one. The editor has no role `developer`.
    let of_roles = |it: &&Dropped| it.message.starts_with("the role 'developer'");
    assert_eq!(exported.dropped.iter().filter(of_roles).count(), 3);
    assert_eq!(exported.dropped.len(), 4, "{:?}", exported.dropped);
    let text = serde_json::to_string_pretty(&exported.document).unwrap();
    let function = &exported.document.nodes[0].data.functions.as_ref().unwrap()[0];
    assert_eq!(function.description, "Orders a dish.");
    assert_eq!(function.required.as_deref(), Some(&["dish".to_owned()][..]));

    let checked = check(&Source::new("exported.json", text)).unwrap();
    assert!(checked.warnings.is_empty(), "{}", checked.warnings);
    let again = run(ConversationFlow::builder(checked.conversation)).await;
    assert_eq!(again, run(hand_built()).await);
    assert_eq!(again.0.last().map(String::as_str), Some("ended"));
}
