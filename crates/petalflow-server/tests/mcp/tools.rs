//! What the tools are, and what a call returns.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::tool::ToolContext;
use petalflow_mcp::{Elicited, ToolProgress};
use petalflow_server::SetupError;
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};

use super::kit::{Served, Slow, builder, call, try_call};

#[tokio::test(flavor = "multi_thread")]
async fn f43_flows_and_agents_are_tools() {
    let served = Served::start(builder(&Slow::default())).await;
    let tools = served.client().tools().await.expect("they are listed");
    let names: Vec<&str> = tools.names().collect();
    assert_eq!(names, ["DoWork", "answer", "helper", "refunds"]);
    let refunds = tools.get("refunds").expect("it is there").spec();
    assert_eq!(refunds.description, "Pays a refund.");
    assert_eq!(refunds.parameters["required"], json!(["cents"]));
    assert_eq!(
        tools.get("DoWork").expect("it is there").spec().description,
        "Runs the flow `DoWork`."
    );
    let helper = tools.get("helper").expect("it is there").spec();
    assert_eq!(helper.parameters["required"], json!(["text"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_call_returns_the_state_without_secrets() {
    let served = Served::start(builder(&Slow::default())).await;
    let client = served.asking(Elicited::Accept(json!({ "pays": true })));
    let result = call(&client, "refunds", json!({ "cents": 7 })).await;
    let thread = result["thread"].as_str().expect("a thread").to_string();
    assert_eq!(
        result,
        json!({
            "thread": thread,
            "status": "finished",
            "state": { "cents": 7, "account": null, "paid": true },
        })
    );
    assert_eq!(served.thread(&thread).await["status"], "finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_failures_are_errors_of_the_tool() {
    let served = Served::start(builder(&Slow::default())).await;
    let client = served.client();
    for (tool, arguments, problem) in [
        ("refunds", json!({ "cents": 0 }), "there is nothing to pay"),
        (
            "refunds",
            json!({ "cents": "many" }),
            "no input of `refunds`",
        ),
        ("helper", json!({}), "the argument `text` is missing"),
        (
            "helper",
            json!({ "text": "hi", "thread": "helper:none" }),
            "there is no such thread",
        ),
        (
            "answer",
            json!({ "thread": "refunds:none", "question": "a", "answer": 1 }),
            "there is no such thread",
        ),
        (
            "answer",
            json!({ "thread": "refunds:none" }),
            "missing field `question`",
        ),
    ] {
        let error = try_call(&client, tool, arguments).await;
        assert_contains(&error.expect_err("it fails").to_string(), problem);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_conversation_with_an_agent_goes_on() {
    let served = Served::start(builder(&Slow::default())).await;
    let client = served.client();
    let first = call(&client, "helper", json!({ "text": "hello" })).await;
    assert_eq!(first["answer"], "You said hello.");
    assert_eq!(first["status"], "finished");
    let next = json!({ "text": "count", "thread": first["thread"] });
    let second = call(&client, "helper", next).await;
    assert_eq!(second["thread"], first["thread"]);
    assert_eq!(second["answer"], "3");
    // A thread of another flow is none of this one.
    let refund = call(&client, "refunds", json!({ "cents": 7 })).await;
    let other = json!({ "text": "hi", "thread": refund["thread"] });
    let refused = try_call(&client, "helper", other).await;
    assert_contains(
        &refused.expect_err("it is another flow").to_string(),
        "there is no such thread",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_client_is_told_what_happens() {
    let served = Served::start(builder(&Slow::default())).await;
    let client = served.client();
    let tools = client.tools().await.expect("they are listed");
    let tool = tools.get("refunds").expect("it is there");
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let context = ToolContext::new("call-1").with_listener(move |event| {
        let progress: &ToolProgress = event.downcast_ref().expect("it is progress");
        let message = progress.message.clone().expect("it has words");
        heard
            .lock()
            .expect("no panic")
            .push((progress.progress, message));
    });
    tool.call(json!({ "cents": 7 }), &context)
        .await
        .expect("it waits");
    let told = told.lock().expect("no panic").clone();
    let messages: Vec<&str> = told.iter().map(|(_, message)| &**message).collect();
    assert_eq!(messages, ["`review` begins", "I look at it"]);
    assert!(told[0].0 < told[1].0, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_cancelled_call_cancels_the_run() {
    let slow = Slow::default();
    let served = Served::start(builder(&slow)).await;
    let client = Arc::new(served.client());
    let of_call = Arc::clone(&client);
    let calling = tokio::spawn(async move { call(&of_call, "DoWork", json!({ "n": 1 })).await });
    slow.begun.notified().await;
    let threads = served.threads().await;
    assert_eq!(threads[0]["status"], "running");
    let id = threads[0]["id"].as_str().expect("an id").to_string();
    // The client cancels a call that is dropped.
    calling.abort();
    let status = async || served.thread(&id).await["status"].clone();
    for _ in 0..600 {
        if status().await == "held" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the thread is {}", status().await);
}

#[test]
fn f43_a_flow_named_as_a_tool_of_the_server_is_refused() {
    let agent = super::kit::helper();
    let builder = builder(&Slow::default()).agent("answer", &agent);
    let errors = builder.build().expect_err("the name is taken");
    assert_eq!(
        errors.errors(),
        [SetupError::ToolName {
            name: "answer".into()
        }]
    );
    let errors = builder_without_events().build();
    let errors = errors.expect_err("there are no events");
    assert_contains(&errors.to_string(), "MCP needs the events of threads");
}

fn builder_without_events() -> petalflow_server::ServerBuilder {
    builder(&Slow::default()).event_log(0)
}

impl Served {
    /// All threads.
    async fn threads(&self) -> Vec<Value> {
        let request = axum::http::Request::get("/threads")
            .header("x-token", "secret")
            .body(axum::body::Body::empty())
            .expect("a request");
        let listed = crate::kit::send(&self.server.router(), request)
            .await
            .json();
        listed["threads"].as_array().expect("a list").clone()
    }
}
