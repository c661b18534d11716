//! Calls of a server's tools.

use std::time::Duration;

use futures_util::future::join_all;
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::tool::{ToolContext, ToolError, ToolSet};
use petalflow_mcp::{self as mcp, McpClient};
use serde_json::{Value, json};

use super::{Waiting, all_tools, call, connect_in_process, output, server, sum_of};

#[tokio::test]
async fn results_and_errors_come_back() {
    let server = server(all_tools());
    let sum = call(&server, "add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(sum.unwrap(), sum_of(3));
    let text = call(&server, "repeat", json!({ "text": "ho", "times": 2 })).await;
    assert_eq!(text.unwrap(), output("hoho"));
    let error = call(&server, "fail", json!({})).await.unwrap_err();
    assert!(matches!(error, ToolError::Failed(_)));
    assert_eq!(error.to_string(), "out of order");
}

#[tokio::test]
async fn wrong_arguments_are_errors_that_a_model_can_read() {
    let server = server(all_tools());
    let error = call(&server, "add", json!({ "a": 1, "b": "two" }))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the arguments of tool `add` do not fit at `b`: invalid type: string \"two\", expected i64; call it again with arguments that fit its schema"
    );
    let error = call(&server, "add", json!("not an object"))
        .await
        .unwrap_err();
    assert!(matches!(error, ToolError::Arguments(_)));
    let error = call(&server, "add", Value::Null).await.unwrap_err();
    assert!(error.to_string().contains("`a` is missing"), "{error}");
}

#[tokio::test]
async fn a_tool_that_panics_still_answers() {
    let server = server(all_tools());
    let error = call(&server, "panic", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "panicked: out of paper");
    call(&server, "add", json!({ "a": 1, "b": 2 }))
        .await
        .unwrap();
}

#[tokio::test]
async fn many_calls_at_once_each_get_their_own_answer() {
    let server = server(all_tools());
    let calls = (0..200).map(|n| {
        let server = &server;
        async move {
            call(server, "add", json!({ "a": n, "b": n }))
                .await
                .unwrap()
        }
    });
    let sums = join_all(calls).await;
    for (n, sum) in sums.iter().enumerate() {
        assert_eq!(*sum, sum_of(2 * n));
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let waiting = Waiting::default();
    let server = server(ToolSet::new().with(waiting.tool()));
    let tools = server.tools().await.unwrap();
    let cx = ToolContext::new("call-1");
    let tool = tools.get("wait").unwrap();
    {
        let mut call = tool.call(json!({}), &cx);
        tokio::select! {
            _ = &mut call => panic!("it waits for ever"),
            () = waiting.wait_until_begun() => {}
        }
    }
    waiting.wait_until_dropped().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_cancelled_and_others_continue() {
    let waiting = Waiting::default();
    let server = server(all_tools().with(waiting.tool())).timeout(Duration::from_millis(100));
    let error = call(&server, "wait", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "tool `wait` timed out after 100ms");
    assert!(matches!(error, ToolError::Timeout(..)));
    waiting.wait_until_dropped().await;
    call(&server, "add", json!({ "a": 1, "b": 2 }))
        .await
        .unwrap();
}

#[state]
struct Count {
    #[key(append)]
    lines: Vec<String>,
}

#[node(Count)]
async fn count_far(server: Managed<McpClient>, cx: Context) -> petalflow::Result<CountLines> {
    let tools = server.tools().await?;
    let tool = tools.get("count").ok_or("no tool")?;
    let cx = ToolContext::within("call-7", cx);
    let result = tool.call(json!({ "to": 5 }), &cx).await?;
    Ok(CountLines(vec![result.to_string()]))
}

flow!(CountFar(Count) { count_far });

// On several threads, where the result could overtake what was reported before it.
#[tokio::test(flavor = "multi_thread")]
async fn progress_reaches_the_runs_events_while_the_call_lasts_and_keeps_it_alive() {
    // Five times 50 milliseconds are more than the timeout; each report restarts it.
    let server = server(all_tools()).timeout(Duration::from_millis(200));
    let launch = CountFar::new().manage(server);
    let mut events = launch.run(()).events();
    let mut reports = Vec::new();
    let mut lines = Vec::new();
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::Custom(custom) => {
                assert!(lines.is_empty());
                reports.push(serde_json::to_value(custom.value().unwrap()).unwrap());
            }
            EventKind::Finished { state } => lines = state.lines,
            EventKind::Failed { error } => panic!("{error}"),
            _ => {}
        }
    }
    assert_eq!(lines, [output("counted").to_string()]);
    assert_eq!(reports.len(), 5, "{reports:?}");
    assert_eq!(
        reports[0],
        json!({ "tool": "count", "call_id": "call-7", "progress": 1.0, "total": 5.0, "message": "at 1" })
    );
}

#[tokio::test]
async fn a_large_result_arrives_up_to_the_limit_and_is_an_error_beyond_it() {
    let (server, dials) = connect_in_process(mcp::serve(all_tools()));
    let server = server.message_limit(4 << 20);
    let text = call(&server, "repeat", json!({ "text": "x", "times": 3 << 20 })).await;
    assert_eq!(text.unwrap()["output"].as_str().unwrap().len(), 3 << 20);
    let error = call(&server, "repeat", json!({ "text": "x", "times": 5 << 20 }))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the connection to MCP server `within` was lost during `repeat`: a message is longer than `message_limit`; it is not known whether the request was processed"
    );
    // The next call has a new connection.
    call(&server, "add", json!({ "a": 1, "b": 2 }))
        .await
        .unwrap();
    assert_eq!(dials.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_program_decides_which_calls_need_a_confirmation() {
    let server = server(all_tools())
        .prefix("sums_")
        .confirm(|tool, arguments| {
            (tool == "add" && arguments["a"] == 1).then(|| format!("add {arguments}?"))
        });
    let tools = server.tools().await.unwrap();
    let add = tools.get("sums_add").unwrap();
    assert_eq!(add.confirm(&json!({ "a": 1 })).unwrap(), r#"add {"a":1}?"#);
    assert_eq!(add.confirm(&json!({ "a": 2 })), None);
    assert_eq!(
        tools.get("sums_fail").unwrap().confirm(&json!({ "a": 1 })),
        None
    );
}
