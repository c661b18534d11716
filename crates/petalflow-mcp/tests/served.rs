//! Our server with tools that need a confirmation or run long, and with unknown tools.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use petalflow::prelude::*;
use petalflow::tool::{Confirmation, FuncTool, ToolContext, ToolRegistry, ToolSet};
use petalflow_mcp::{self as mcp, Elicited, McpClient};
use petalflow_test_support::assert_starts_with;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::{call, connect_in_process, server};

/// Deletes everything.
#[tool(confirm)]
fn delete() -> &'static str {
    "deleted"
}

/// Asks while it runs.
#[tool]
fn ask(cx: ToolContext) -> Option<&'static str> {
    if cx.confirmation().is_some_and(|given| given.confirmed) {
        return Some("yes");
    }
    cx.request_confirmation(Confirmation::ask("really?"));
    None
}

/// Takes a week.
#[tool(long_running)]
fn order() -> Option<String> {
    None
}

#[tokio::test]
async fn a_tool_that_needs_confirmation_is_not_run_if_the_client_cannot_ask() {
    let (server, _) = connect_in_process(mcp::serve(tools![delete, ask]));
    let error = call(&server, "delete", json!({})).await.unwrap_err();
    assert_starts_with(
        &error,
        "tool `delete` needs a person's confirmation, and this client does not support elicitation, by which a server asks: ",
    );
    let error = call(&server, "ask", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `ask` needs a person's confirmation, and this client does not support elicitation, by which a server asks: \
         really?"
    );
    let (server, _) = connect_in_process(mcp::serve(tools![delete]).without_confirmation());
    assert_eq!(
        call(&server, "delete", json!({})).await.unwrap(),
        json!({ "output": "deleted" })
    );
}

/// A client whose user answers all questions so, and the questions.
fn answering(elicited: Elicited) -> (McpClient, Arc<Mutex<Vec<String>>>) {
    let questions = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&questions);
    let (server, _) = connect_in_process(mcp::serve(tools![delete, ask]));
    let server = server.elicit(move |question| {
        asked.lock().unwrap().push(question.message);
        let elicited = elicited.clone();
        async move { elicited }
    });
    (server, questions)
}

#[tokio::test]
async fn a_call_is_confirmed_by_the_person_behind_the_client() {
    let (server, questions) = answering(Elicited::Accept(json!({})));
    let deleted = call(&server, "delete", json!({})).await.unwrap();
    assert_eq!(deleted, json!({ "output": "deleted" }));
    // It asks while it runs, and is called again.
    let asked = call(&server, "ask", json!({})).await.unwrap();
    assert_eq!(asked, json!({ "output": "yes" }));
    let questions = questions.lock().unwrap().clone();
    assert_eq!(questions.len(), 2);
    assert!(questions[0].contains("delete"), "{questions:?}");
    assert_eq!(questions[1], "really?\n\nThe call: `ask` with {}");
}

/// Asks while it runs, and says by an error that it waits.
#[tool]
fn ask_by_error(what: String, cx: ToolContext) -> petalflow::Result<String> {
    if cx.confirmation().is_some_and(|given| given.confirmed) {
        return Ok(what);
    }
    cx.request_confirmation(Confirmation::ask("really?"));
    Err("waits for the confirmation".into())
}

#[tokio::test]
async fn a_tool_that_waits_by_an_error_is_confirmed_too_and_the_question_shows_the_call() {
    let questions = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&questions);
    let (server, _) = connect_in_process(mcp::serve(tools![ask_by_error]));
    let server = server.elicit(move |question| {
        asked.lock().unwrap().push(question.message);
        async { Elicited::Accept(json!({})) }
    });
    let done = call(&server, "ask_by_error", json!({ "what": "backups" })).await;
    assert_eq!(done.unwrap(), json!({ "output": "backups" }));
    let long = "x".repeat(5_000);
    let done = call(&server, "ask_by_error", json!({ "what": long })).await;
    assert_eq!(done.unwrap(), json!({ "output": long }));
    let questions = questions.lock().unwrap();
    assert_eq!(
        questions[0],
        "really?\n\nThe call: `ask_by_error` with {\"what\":\"backups\"}"
    );
    assert!(
        questions[1].ends_with("x .. (5011 bytes)"),
        "{}",
        questions[1]
    );
}

#[tokio::test]
async fn without_confirmation_holds_for_tools_that_ask_while_they_run() {
    let serve = mcp::serve(tools![ask, ask_by_error]).without_confirmation();
    let (server, _) = connect_in_process(serve);
    let done = call(&server, "ask", json!({})).await;
    assert_eq!(done.unwrap(), json!({ "output": "yes" }));
    let done = call(&server, "ask_by_error", json!({ "what": "it" })).await;
    assert_eq!(done.unwrap(), json!({ "output": "it" }));
}

#[tokio::test]
async fn a_call_that_nobody_confirms_is_not_made() {
    let (server, _) = answering(Elicited::Decline);
    let error = call(&server, "delete", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a person has refused the call of tool `delete`"
    );
    let (server, _) = answering(Elicited::Cancel);
    let error = call(&server, "ask", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "nobody has decided whether tool `ask` may be called, so it was not called"
    );
}

/// Removes something.
#[tool(confirm)]
fn remove(what: String) -> String {
    format!("removed {what}")
}

/// Sends one call of `remove` as a client of the protocol without `initialize` does, and returns the result.
async fn call_of_remove(what: &str, state: &Value, answer: Value) -> Value {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(mcp::serve(tools![remove]).over(theirs));
    let (read, mut write) = tokio::io::split(ours);
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "remove", "arguments": { "what": what },
            "requestState": state, "inputResponses": { "confirm": answer },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "by hand", "version": "0" },
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
            },
        },
    });
    write
        .write_all(format!("{request}\n").as_bytes())
        .await
        .unwrap();
    let mut lines = BufReader::new(read).lines();
    let line = lines.next_line().await.unwrap().unwrap();
    let mut response: Value = serde_json::from_str(&line).unwrap();
    response["result"].take()
}

#[tokio::test]
async fn without_initialize_the_client_asks_and_calls_again() {
    let yes = || json!({ "action": "accept", "content": {} });
    // An answer that was not asked for is none.
    let first = call_of_remove("a", &Value::Null, yes()).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let question = &first["inputRequests"]["confirm"];
    assert_eq!(question["method"], "elicitation/create", "{first}");
    let state = &first["requestState"];
    let second = call_of_remove("a", state, yes()).await;
    assert_eq!(second["content"][0]["text"], "removed a", "{second}");
    // Nor is an answer about a call with other arguments.
    let other = call_of_remove("b", state, yes()).await;
    assert_eq!(other["resultType"], "input_required", "{other}");
    let refused = call_of_remove("a", state, json!({ "action": "decline" })).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(
        refused["content"][0]["text"],
        "a person has refused the call of tool `remove`"
    );
}

#[tokio::test]
async fn a_long_running_tool_is_marked() {
    let server = server(tools![order]);
    let error = call(&server, "order", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `order` has started, and its result comes later; MCP clients cannot wait for it"
    );
}

#[tokio::test]
async fn an_unknown_tool_is_refused() {
    // The list is the client's of an hour ago.
    let registry = ToolRegistry::new();
    registry.register(FuncTool::new("ping", "Answers.", |_: Value| async {
        Ok("pong")
    }));
    let (server, _) = connect_in_process(mcp::serve(Shrinking(registry, AtomicBool::new(false))));
    let error = call(&server, "ping", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `within` refused `ping`: unknown tool `ping`; there are "
    );
}

/// Has its tools once.
struct Shrinking(ToolRegistry, AtomicBool);

#[petalflow::async_trait]
impl petalflow::tool::ToolSource for Shrinking {
    async fn tools(&self) -> Result<ToolSet, petalflow::BoxError> {
        let first = !self.1.swap(true, Ordering::SeqCst);
        let tools = if first {
            self.0.tools()
        } else {
            ToolSet::new()
        };
        Ok(tools)
    }
}
