//! What an agent has is freed with the agent.

use std::sync::Arc;

use petalflow::tool::FuncTool;
use petalflow_agent::{Agent, Mode};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

#[tokio::test]
async fn f44_an_agent_that_has_run_is_freed() {
    let model = ScriptedModel::new([
        Reply::call("ping", json!({})),
        Reply::call("helper", json!({ "request": "help" })),
        "helped".into(),
        "done".into(),
    ]);
    let held = Arc::new(());
    let of_tool = Arc::downgrade(&held);
    let ping = FuncTool::new("ping", "Answers.", move |_: Value| {
        let held = Arc::clone(&held);
        async move {
            drop(held);
            Ok("pong")
        }
    });
    let helper = Agent::named("helper").mode(Mode::SingleTurn);
    let agent = Agent::new(model).tool(ping).sub_agent(helper);
    assert_eq!(agent.run("hi").await.unwrap().answer(), "done");
    assert!(of_tool.upgrade().is_some());
    drop(agent);
    assert!(of_tool.upgrade().is_none());
}
