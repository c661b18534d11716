//! Calls whose results come later.

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::FuncTool;
use petalflow_agent::{ConversationInput, Pending};
use petalflow_llm::Reply;
use serde_json::{Value, json};

use crate::kit::{call, constant_tool, events, scripted_agent, sent_messages, shape};

/// The events of a run whose model calls this tool once.
async fn run_of(tool: FuncTool) -> Vec<String> {
    let (agent, _) = scripted_agent([Reply::call("t", json!({})), "done".into()]);
    shape(&events(&agent.tool(tool), "go").await.0)
}

fn returning(value: Value) -> FuncTool {
    constant_tool("t", value)
}

#[tokio::test]
async fn a045_a046_c102_which_results_make_an_event() {
    let nothing = || returning(Value::Null);
    assert_eq!(run_of(nothing().deferred()).await, ["t{}", "done"]);
    assert_eq!(
        run_of(nothing().long_running()).await,
        ["t{}"],
        "the run parks"
    );
    assert_eq!(run_of(nothing().deferred().long_running()).await, ["t{}"]);
    assert_eq!(run_of(nothing()).await, ["t{}", "t = null", "done"]);
    assert_eq!(
        run_of(returning(json!({"answer": "ok"})).deferred()).await,
        ["t{}", r#"t = {"answer":"ok"}"#, "done"]
    );
    assert_eq!(
        run_of(returning(json!({"status": "pending"})).long_running()).await,
        ["t{}", r#"t = {"status":"pending"}"#, "done"]
    );
}

#[tokio::test]
async fn a_waiting_run_resumes_with_the_result_as_the_next_input() {
    let (agent, model) = scripted_agent([
        Reply::from(call("1", "build", json!({}))),
        "It is built.".into(),
    ]);
    let agent = agent.tool(constant_tool("build", Value::Null).long_running());
    let store = InMemoryStore::new();
    let thread = agent.store(&store).thread("house");
    let parked = thread
        .run("build a house")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(parked.answer(), "");
    let pending = parked.pending();
    assert!(matches!(&pending[..], [Pending::Result { call }] if call.name == "build"));

    let input = ConversationInput::default().result(pending[0].id(), json!({"rooms": 4}));
    let built = thread.run(input).await.unwrap().into_finished().unwrap();
    assert_eq!(built.answer(), "It is built.");
    assert!(built.pending().is_empty());
    assert_eq!(
        sent_messages(&model),
        [
            "user: build a house",
            "assistant: build{}",
            r#"tool: build = {"rooms":4}"#
        ]
    );
}

#[tokio::test]
async fn progress_of_a_long_call_may_come_before_its_result() {
    let (agent, model) = scripted_agent([
        Reply::from(call("1", "build", json!({}))),
        "I have begun.".into(),
        "Half of it stands.".into(),
        "It is built.".into(),
    ]);
    let agent = agent.tool(constant_tool("build", json!({"status": "begun"})).long_running());
    let talk = agent.run("build a house").await.unwrap();
    assert_eq!(talk.answer(), "I have begun.");
    let half = ConversationInput::default().result("1", json!({"status": "half"}));
    let talk = agent.run(talk.next_input(half)).await.unwrap();
    assert_eq!(talk.answer(), "Half of it stands.");
    let whole = ConversationInput::default().result("1", json!({"status": "done"}));
    let talk = agent.run(talk.next_input(whole)).await.unwrap();
    assert_eq!(talk.answer(), "It is built.");
    assert_eq!(
        sent_messages(&model),
        [
            "user: build a house",
            "assistant: build{}",
            r#"tool: build = {"status":"done"}"#
        ],
        "only the last result counts, and it is what is new"
    );
}

#[tokio::test]
async fn a_result_of_an_unknown_call_is_refused() {
    let (agent, _) = scripted_agent(["hello"]);
    let stray = ConversationInput::default().result("9", json!(1));
    assert_eq!(
        crate::kit::failure(&agent, stray).await,
        "no call `9` comes before its result in the conversation: give results the id of their call"
    );
}

#[tokio::test]
async fn a_result_that_is_sent_again_changes_nothing_and_another_one_counts() {
    let (agent, model) = scripted_agent([
        Reply::call("build", json!({})),
        "half is built".into(),
        "it is built".into(),
    ]);
    let agent = agent.tool(constant_tool("build", Value::Null).long_running());
    let talk = agent.run("a house").await.unwrap();
    let id = talk.pending()[0].id().to_string();
    let result = |percent: u32| ConversationInput::default().result(&id, percent);
    let talk = agent.run(talk.next_input(result(50))).await.unwrap();
    let before = talk.events.clone();
    let talk = agent.run(talk.next_input(result(50))).await.unwrap();
    assert_eq!(
        (&talk.events, talk.answer()),
        (&before, "half is built".into())
    );
    assert_eq!(model.requests().len(), 2);
    let talk = agent.run(talk.next_input(result(100))).await.unwrap();
    assert_eq!(talk.answer(), "it is built");
}
