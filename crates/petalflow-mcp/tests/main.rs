//! Our client with our server, and with broken servers.

mod agents;
mod annotated;
mod asks;
mod broken;
mod calls;
mod changed;
mod child;
mod completed;
mod exposed;
mod http;
mod lists;
mod oauth;
mod peers;
mod prompted;
mod recorded;
mod resourced;
mod results;
mod served;
mod subscribed;
mod unavailable;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::tool::{ToolContext, ToolError, ToolSet};
use petalflow_mcp::{self as mcp, McpClient, McpServer};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Adds two numbers.
#[tool]
fn add(
    /// The first one.
    a: i64,
    /// The second one.
    b: i64,
) -> Value {
    json!({ "sum": a + b })
}

/// Repeats a text.
#[tool]
fn repeat(text: String, times: usize) -> String {
    text.repeat(times)
}

/// Fails.
#[tool]
fn fail() -> petalflow::Result<()> {
    Err("out of order".into())
}

/// Panics.
#[tool]
fn panic() {
    panic!("out of paper");
}

/// Counts, and reports progress every 50 milliseconds.
#[tool]
async fn count(to: u64, cx: ToolContext) -> petalflow::Result<String> {
    for n in 1..=to {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cx.emit(json!({ "progress": n, "total": to, "message": format!("at {n}") }));
    }
    Ok("counted".into())
}

/// Notifies when it is dropped.
struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A tool that never ends, and reports that it was called and dropped.
#[derive(Clone, Default)]
struct Waiting {
    begun: Arc<Notify>,
    dropped: Arc<Notify>,
}

impl Waiting {
    fn tool(&self) -> petalflow::tool::FuncTool {
        let waiting = self.clone();
        petalflow::tool::FuncTool::new("wait", "Waits for ever.", move |_: Value| {
            let waiting = waiting.clone();
            async move {
                let _on_drop = OnDrop(waiting.dropped);
                waiting.begun.notify_one();
                std::future::pending::<petalflow::Result<()>>().await
            }
        })
    }

    async fn wait_until_begun(&self) {
        within_ten_seconds(self.begun.notified()).await;
    }

    async fn wait_until_dropped(&self) {
        within_ten_seconds(self.dropped.notified()).await;
    }
}

/// Waits for something that must happen within ten seconds.
async fn within_ten_seconds<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(10);
    let result = tokio::time::timeout(limit, future).await;
    result.expect("it happens within ten seconds")
}

fn all_tools() -> ToolSet {
    tools![add, repeat, fail, panic, count]
}

/// A server of these tools at the other end of a pipe in this process, with the count of its connections.
fn connect_in_process(serve: McpServer) -> (McpClient, Arc<AtomicUsize>) {
    let dials = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dials);
    let server = McpClient::over("within", move || {
        count.fetch_add(1, Ordering::SeqCst);
        let serve = serve.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(serve.over(theirs));
            Ok(ours)
        }
    });
    (server, dials)
}

/// A server of these tools.
fn server(tools: ToolSet) -> McpClient {
    connect_in_process(mcp::serve(tools)).0
}

/// A result as it arrives.
fn output(value: impl Into<Value>) -> Value {
    json!({ "output": value.into() })
}

/// The result of `add` as it arrives.
fn sum_of(sum: impl Into<Value>) -> Value {
    output(json!({ "sum": sum.into() }))
}

async fn call(server: &McpClient, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    let tools = server.tools().await.expect("the tools are listed");
    let tool = tools.get(tool).expect("the tool is there");
    tool.call(arguments, &ToolContext::new("call-1")).await
}
