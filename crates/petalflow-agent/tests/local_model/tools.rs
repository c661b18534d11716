//! Tools. The model calls them because its prompt has examples of calls; the server makes a grammar of their schemas.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_llm::request::ToolChoice;
use petalflow_llm::{ChatMessage, LlmClient, LlmErrorKind, LlmRequest, Part, Role};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};

use super::{local_model, one_call, short};

fn schema() -> Value {
    let zone = json!({ "enum": ["utc", "cet"] });
    json!({ "type": "object", "properties": { "zone": zone }, "required": ["zone"], "additionalProperties": false })
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "Tells the time.", schema())
}

/// A tool that counts its calls.
fn counted(calls: &Arc<AtomicUsize>) -> FuncTool {
    let calls = Arc::clone(calls);
    FuncTool::untyped(spec("clock"), move |arguments, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok(json!({ "zone": arguments["zone"] })))
    })
}

#[tokio::test]
async fn f44_10_a_tool_is_called_with_arguments_that_fit() {
    let Some(local) = local_model().await else {
        return;
    };
    let calls = Arc::new(AtomicUsize::new(0));
    let agent = local.agent(0).output_function(counted(&calls));
    let agent = agent.request(one_call);
    for agent in [agent.clone(), agent.streaming()] {
        let before = calls.load(Ordering::Relaxed);
        let talk = agent.run("What is the time?").await.unwrap();
        let answer: Value = talk.output().unwrap();
        assert!(
            answer == json!({ "zone": "utc" }) || answer == json!({ "zone": "cet" }),
            "{answer}"
        );
        assert_eq!(calls.load(Ordering::Relaxed), before + 1);
        assert_eq!(talk.usage().requests, 1);
    }
}

#[tokio::test]
async fn f44_10_the_model_calls_the_tool_that_the_request_names() {
    let Some(local) = local_model().await else {
        return;
    };
    let tools = [Arc::new(spec("clock")), Arc::new(spec("watch"))];
    let mut messages = vec![ChatMessage::user("What is the time?")];
    for name in ["watch", "clock"] {
        let mut request = LlmRequest::new(messages.clone()).with_tools(tools.clone());
        one_call(&mut request);
        request.tool_choice = ToolChoice::Tool(name.into());
        let response = local.model().complete(&request).await.unwrap();
        let calls: Vec<_> = response.calls().cloned().collect();
        let names: Vec<_> = calls.iter().map(|call| &*call.name).collect();
        assert_eq!(names, [name]);
        assert_contains(&response.meta["not_sent"], "cannot be told which tool");
        // The next request has the call and its result.
        messages.push(ChatMessage::new(
            Role::Assistant,
            calls.iter().cloned().map(Part::Call).collect(),
        ));
        let result = petalflow::tool::ToolResult {
            call_id: calls[0].id.clone(),
            name: name.into(),
            content: json!("noon"),
            is_error: false,
        };
        messages.push(ChatMessage::results([result]));
    }
}

#[tokio::test]
async fn f44_10_a_call_that_was_cut_is_not_made() {
    let Some(local) = local_model().await else {
        return;
    };
    let calls = Arc::new(AtomicUsize::new(0));
    let tool = counted(&calls);
    let mut request = LlmRequest::prompt("What is the time?").with_tools([Arc::new(spec("clock"))]);
    // The call begins with its name. The arguments are cut.
    short(&mut request, 20);
    let whole = local.model().complete(&request).await.unwrap_err();
    let streamed = local
        .model()
        .stream(&request)
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap_err();
    for error in [whole, streamed] {
        let LlmErrorKind::Arguments { response } = &error.kind else {
            panic!("{error:?}");
        };
        assert_eq!(response.calls().count(), 1);
        assert_eq!(response.usage.output, 20);
    }
    let agent = local.agent(20).tool(tool).max_model_calls(1);
    let ended = agent.run("What is the time?").await;
    assert!(ended.is_err(), "{ended:?}");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}
