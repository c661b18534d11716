//! The prebuilt agent for long work.

use std::sync::Arc;

use crate::kit::constant_tool;
use petalflow_agent::deep::{DeepAgent, Plan, Workspace};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use serde_json::json;

/// The number of answers that the model has given in this conversation.
fn answers(request: &LlmRequest) -> usize {
    let messages = request.messages.iter();
    messages
        .filter(|message| message.role == Role::Assistant)
        .count()
}

#[tokio::test]
async fn f44_a_deep_agent_plans_reads_long_results_and_gives_parts_away() {
    let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
        let is_worker = request.messages[0].text().contains("Read the");
        let part = if request.messages[0].text().contains("roses") {
            "roses"
        } else {
            "tulips"
        };
        match (is_worker, answers(request)) {
            (false, 0) => Reply::call(
                "write_plan",
                json!({ "items": [{ "text": "read", "state": "active" }] }),
            ),
            (false, 1) => Reply::call("worker", json!({ "request": "Read the roses." }))
                .and_call("worker", json!({ "request": "Read the tulips." })),
            (false, 2) => Reply::call("ls", json!({})),
            (true, 0) => Reply::call("library", json!({})),
            (true, 1) => Reply::call(
                "write_file",
                json!({ "path": format!("{part}.md"), "text": part }),
            ),
            _ => Reply::text("done"),
        }
    }));
    let library = constant_tool("library", json!("x".repeat(600)));
    let agent = DeepAgent::new(Arc::clone(&model))
        .tools([Arc::new(library) as Arc<dyn petalflow::tool::Tool>])
        .long_results(500)
        .build();
    let talk = agent.run("What is in the library?").await.unwrap();
    assert_eq!(talk.answer(), "done");
    assert_eq!(Plan::of(&talk).to_string(), "[>] read");
    let files = Workspace::files_in(&talk);
    let results = files
        .keys()
        .filter(|path| path.starts_with("results/library-"));
    assert_eq!(results.count(), 2, "{:?}", files.keys());
    assert_eq!((files["roses.md"], files["tulips.md"]), ("roses", "tulips"));
    let requests = model.requests();
    let tools = |request: &LlmRequest| -> Vec<String> {
        request.tools.iter().map(|tool| tool.name.clone()).collect()
    };
    let of_files = [
        "library",
        "ls",
        "read_file",
        "write_file",
        "edit_file",
        "glob",
        "grep",
    ];
    assert_eq!(
        tools(&requests[0]),
        [&["write_plan"], &of_files[..], &["worker"]].concat()
    );
    assert_eq!(tools(&requests[2]), of_files);
}
