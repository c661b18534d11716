//! The tools that a server has.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use petalflow::tool::{FuncTool, ToolRegistry, ToolSet, ToolSource};
use petalflow_mcp::{self as mcp, McpError};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    OnDrop, all_tools, call, connect_in_process, output, server, sum_of, within_ten_seconds,
};

fn ping(name: &str) -> FuncTool {
    FuncTool::new(name, "Answers.", |_: Value| async { Ok("pong") })
}

#[tokio::test]
async fn tools_have_the_servers_descriptions_and_schemas() {
    let server = server(all_tools());
    let tools = server.tools().await.unwrap();
    assert_eq!(
        tools.names().collect::<Vec<_>>(),
        ["add", "count", "fail", "panic", "repeat"]
    );
    let spec = tools.get("add").unwrap().spec();
    assert_eq!(spec.description, "Adds two numbers.");
    assert_eq!(spec.parameters["type"], "object");
    assert_eq!(
        spec.parameters["properties"]["a"]["description"],
        "The first one."
    );
    assert_eq!(spec.parameters["required"], json!(["a", "b"]));
    assert_eq!(
        tools.get("fail").unwrap().spec().parameters["properties"],
        json!({})
    );
}

#[tokio::test]
async fn a_prefix_and_a_filter_separate_names() {
    let server = server(all_tools())
        .prefix("sums/")
        .filter(|tool| tool.starts_with('a'));
    let source: &dyn ToolSource = &server;
    let tools = source.tools().await.unwrap();
    assert_eq!(tools.names().collect::<Vec<_>>(), ["sums_add"]);
    let sum = call(&server, "sums_add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(sum.unwrap(), sum_of(5));
}

#[tokio::test]
async fn two_tools_of_one_name_are_an_error() {
    let tools = ToolSet::new().with(ping("a.b")).with(ping("a/b"));
    let server = server(tools);
    let error = server.tools().await.unwrap_err();
    assert!(matches!(error, McpError::DuplicateTool { .. }));
    assert_eq!(
        error.to_string(),
        "two tools of MCP server `within` are called `a_b`; exclude one of them with `filter`"
    );
    let server = server.filter(|tool| tool != "a/b");
    assert_eq!(server.tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_tool_without_a_name_is_an_error() {
    let tools = ToolSet::new().with(ping("ping")).with(ping(""));
    let server = server(tools);
    let error = server.tools().await.unwrap_err();
    assert!(matches!(error, McpError::NamelessTool { .. }));
    assert_eq!(
        error.to_string(),
        "a tool of MCP server `within` has no name, so no model can call it; exclude it with `.filter(|tool| \
         !tool.trim().is_empty())`"
    );
    let server = server.filter(|tool| !tool.trim().is_empty());
    assert_eq!(server.tools().await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tools_are_listed_once_and_again_when_they_change() {
    let registry = ToolRegistry::new();
    registry.register(ping("one"));
    let serve = mcp::serve(registry.clone());
    let changed = serve.changed();
    let (server, dials) = connect_in_process(serve);
    assert_eq!(server.tools().await.unwrap().len(), 1);
    registry.register(ping("two"));
    // The client was not notified.
    assert_eq!(server.tools().await.unwrap().len(), 1);
    changed.notify();
    for _ in 0..1_000 {
        if server.tools().await.unwrap().len() == 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(
        server.tools().await.unwrap().names().collect::<Vec<_>>(),
        ["one", "two"]
    );
    assert_eq!(dials.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn dropping_the_last_reference_ends_the_server() {
    let dropped = Arc::new(Notify::new());
    let on_drop = OnDrop(Arc::clone(&dropped));
    let tool = FuncTool::new("ping", "Answers.", move |_: Value| {
        let _held = &on_drop;
        async { Ok("pong") }
    });
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(mcp::serve(ToolSet::new().with(tool)).over(theirs));
    let ours = std::sync::Mutex::new(Some(ours));
    let server = mcp::McpClient::over("once", move || {
        let wire = ours
            .lock()
            .unwrap()
            .take()
            .ok_or(std::io::ErrorKind::NotConnected);
        async move { Ok(wire?) }
    });
    let tools = server.tools().await.unwrap();
    drop(server);
    // A tool holds its server.
    let ping = tools.get("ping").unwrap();
    let cx = petalflow::tool::ToolContext::new("1");
    assert_eq!(ping.call(json!({}), &cx).await.unwrap(), output("pong"));
    drop(tools);
    serving.await.unwrap().unwrap();
    within_ten_seconds(dropped.notified()).await;
}
