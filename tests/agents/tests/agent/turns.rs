//! How a turn goes from the user's words to an answer.

use petalflow::agent::Agent;
use petalflow::llm::{Reply, ScriptedModel};
use petalflow::tool::{FuncTool, ToolSpec};
use serde_json::{Value, json};

use super::kit::{events, shape};

fn sum() -> FuncTool {
    let spec = ToolSpec::new("sum", "Adds two numbers.", json!({"type": "object"}));
    FuncTool::untyped(spec, |args: Value, _| async move {
        Ok(json!({ "sum": args["a"].as_i64().unwrap_or(0) + args["b"].as_i64().unwrap_or(0) }))
    })
}

#[tokio::test]
async fn a001_a027_the_loop_goes_on_from_model_to_tools_until_the_last_event_is_final() {
    let model = ScriptedModel::new([Reply::call("sum", json!({"a": 1, "b": 2})), "3".into()]);
    let agent = Agent::new(model).tool(sum());
    let (events, talk) = events(&agent, "what is the sum of 1 + 2?").await;
    assert_eq!(
        shape(&events),
        [r#"sum{"a":1,"b":2}"#, r#"sum = {"sum":3}"#, "3"]
    );
    assert_eq!(talk.answer(), "3");
    assert_eq!(talk.events[1..], events);
}
