//! Our server with tools that need a confirmation or run long, and with unknown tools.

use std::sync::atomic::{AtomicBool, Ordering};

use petalflow::prelude::*;
use petalflow::tool::{Confirmation, FuncTool, ToolContext, ToolRegistry, ToolSet};
use petalflow_mcp as mcp;
use petalflow_test_support::assert_starts_with;
use serde_json::{Value, json};

use super::{call, connect_in_process, server};

/// Deletes everything.
#[tool(confirm)]
fn delete() -> &'static str {
    "deleted"
}

/// Asks while it runs.
#[tool]
fn ask(cx: ToolContext) {
    cx.request_confirmation(Confirmation::ask("really?"));
}

/// Takes a week.
#[tool(long_running)]
fn order() -> Option<String> {
    None
}

#[tokio::test]
async fn a_tool_that_needs_confirmation_is_not_run_by_default() {
    let (server, _) = connect_in_process(mcp::serve(tools![delete, ask]));
    let error = call(&server, "delete", json!({})).await.unwrap_err();
    assert_starts_with(
        &error,
        "tool `delete` needs a person's confirmation, which this server cannot ask for: ",
    );
    let error = call(&server, "ask", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `ask` asks for a person's confirmation, which this server cannot ask for"
    );
    let (server, _) = connect_in_process(mcp::serve(tools![delete]).without_confirmation());
    assert_eq!(
        call(&server, "delete", json!({})).await.unwrap(),
        json!({ "output": "deleted" })
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
