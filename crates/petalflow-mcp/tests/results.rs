//! Results with a schema, and results that come later.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::tool::ToolError;
use petalflow_mcp::{Elicited, McpClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Notify;

use super::{call, output, within_ten_seconds};

/// What the server has received, and a signal for each message.
#[derive(Clone, Default)]
struct Received(Arc<(Mutex<Vec<Value>>, Notify)>);

impl Received {
    /// The messages with this method.
    fn of(&self, method: &str) -> Vec<Value> {
        let all = self.0.0.lock().unwrap();
        let of_method = all.iter().filter(|message| message["method"] == method);
        of_method.cloned().collect()
    }

    async fn wait_for(&self, method: &str) {
        while self.of(method).is_empty() {
            within_ten_seconds(self.0.1.notified()).await;
        }
    }
}

/// Speaks as a server with the tool `weather`. `answer` gets each message, and how many of its method came before.
async fn speak(wire: DuplexStream, received: Received, answer: fn(&str, usize) -> Option<Value>) {
    let (read, mut write) = tokio::io::split(wire);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("our client writes JSON");
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let before = received.of(&method).len();
        received.0.0.lock().unwrap().push(message.clone());
        received.0.1.notify_one();
        let result = match &*method {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "by hand", "version": "0" },
            }),
            "tools/list" => json!({ "tools": [{
                "name": "weather", "description": "The weather.", "inputSchema": { "type": "object" }, "outputSchema": schema(),
            }] }),
            method => match answer(method, before) {
                Some(result) => result,
                None => continue,
            },
        };
        let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        let _ = write.write_all(format!("{reply}\n").as_bytes()).await;
    }
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "degrees": { "type": "number" } }, "required": ["degrees"] })
}

fn server(answer: fn(&str, usize) -> Option<Value>) -> (McpClient, Received) {
    let received = Received::default();
    let all = received.clone();
    let server = McpClient::over("by hand", move || {
        let all = all.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(speak(theirs, all, answer));
            Ok(ours)
        }
    });
    (server, received)
}

fn results(method: &str, before: usize) -> Option<Value> {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    (method == "tools/call").then(|| match before {
        0 => json!({ "content": text("warm"), "structuredContent": { "degrees": 21.5 } }),
        1 => json!({ "content": text("warm"), "structuredContent": { "degrees": "warm" } }),
        2 => json!({ "content": text("warm") }),
        _ => json!({ "content": text("no such town"), "isError": true }),
    })
}

#[tokio::test]
async fn f44_6_results_fit_the_schema_of_their_tool() {
    let (server, _) = server(results);
    assert_eq!(
        server.output_schema("weather").await.unwrap(),
        Some(schema())
    );
    assert_eq!(server.output_schema("none").await.unwrap(), None);
    let fits = call(&server, "weather", json!({})).await.unwrap();
    assert_eq!(fits, output(json!({ "degrees": 21.5 })));
    for problem in [
        "`degrees` is \"warm\", and must be a number",
        "`structuredContent` is missing",
    ] {
        let error = call(&server, "weather", json!({})).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the result of tool `weather` of MCP server `by hand` does not fit its `outputSchema`: {problem}; the call was made; correct the tool, or take its results as they are with `McpClient::unchecked_results`"
            )
        );
    }
    // An error has no schema.
    let error = call(&server, "weather", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "no such town");
}

#[tokio::test]
async fn f44_6_a_program_may_take_results_as_they_are_and_show_the_schema() {
    let (server, _) = server(results);
    let server = server.unchecked_results().describe_results();
    for expected in [
        json!({ "degrees": 21.5 }),
        json!({ "degrees": "warm" }),
        json!("warm"),
    ] {
        let result = call(&server, "weather", json!({})).await.unwrap();
        assert_eq!(result, output(expected));
    }
    let tools = server.tools().await.unwrap();
    assert_eq!(
        tools.get("weather").unwrap().spec().description,
        format!(
            "The weather.\n\nThe result fits this JSON Schema: {}",
            schema()
        )
    );
}

/// A task in this state.
fn task(kind: &str, status: &str, more: Value) -> Value {
    let mut task = json!({
        "resultType": kind, "taskId": "t-7", "status": status, "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null, "pollIntervalMs": 20,
    });
    let more = more.as_object().unwrap().clone();
    task.as_object_mut().unwrap().extend(more);
    task
}

fn asks_and_completes(method: &str, before: usize) -> Option<Value> {
    let question = json!({ "method": "elicitation/create", "params": {
        "mode": "form", "message": "Which town?", "requestedSchema": { "type": "object", "properties": {} } } });
    let asking = json!({ "inputRequests": { "town": question } });
    let done = json!({ "result": { "content": [], "structuredContent": { "degrees": 3 } } });
    Some(match (method, before) {
        ("tools/call", _) => task("task", "working", json!({})),
        ("tasks/get", 0) => task("complete", "working", json!({})),
        // It shows the question after its answer, too.
        ("tasks/get", 1 | 2) => task("complete", "input_required", asking),
        ("tasks/get", _) => task("complete", "completed", done),
        ("tasks/update", _) => json!({ "resultType": "complete" }),
        _ => return None,
    })
}

#[tokio::test]
async fn f44_6_the_result_of_a_task_is_awaited() {
    let (server, received) = server(asks_and_completes);
    let server = server.elicit(async |question| {
        assert_eq!(question.message, "Which town?");
        Elicited::Accept(json!({ "town": "Ghent" }))
    });
    let result = call(&server, "weather", json!({})).await.unwrap();
    assert_eq!(result, output(json!({ "degrees": 3 })));
    let announced = &received.of("initialize")[0]["params"]["capabilities"]["extensions"];
    assert_eq!(announced["io.modelcontextprotocol/tasks"], json!({}));
    let polls = received.of("tasks/get");
    assert_eq!(polls.len(), 4);
    assert!(polls.iter().all(|poll| poll["params"]["taskId"] == "t-7"));
    let updates = received.of("tasks/update");
    assert_eq!(updates.len(), 1, "a question is answered once");
    assert_eq!(
        updates[0]["params"]["inputResponses"]["town"]["content"],
        json!({ "town": "Ghent" })
    );
    assert!(received.of("tasks/cancel").is_empty());
}

fn fails(method: &str, before: usize) -> Option<Value> {
    let error = json!({ "error": { "code": -32603, "message": "the station is closed" } });
    let wrong = json!({ "result": { "content": [], "structuredContent": {} } });
    Some(match (method, before) {
        ("tools/call", _) => task("task", "working", json!({})),
        ("tasks/get", 0) => task("complete", "failed", error),
        ("tasks/get", 1) => task("complete", "cancelled", json!({})),
        ("tasks/get", _) => task("complete", "completed", wrong),
        _ => return None,
    })
}

#[tokio::test]
async fn f44_6_a_task_that_fails_is_an_error() {
    let (server, received) = server(fails);
    for problem in [
        "MCP server `by hand` refused `weather`: the station is closed",
        "MCP server `by hand` refused `weather`: it has cancelled the task",
        "does not fit its `outputSchema`: `degrees` is missing",
    ] {
        let error = call(&server, "weather", json!({})).await.unwrap_err();
        assert!(matches!(error, ToolError::Failed(_)));
        assert!(error.to_string().contains(problem), "{error}");
    }
    assert!(received.of("tasks/cancel").is_empty(), "they have ended");
}

fn works_for_ever(method: &str, _: usize) -> Option<Value> {
    Some(match method {
        "tools/call" => task("task", "working", json!({})),
        "tasks/get" => task("complete", "working", json!({})),
        "tasks/cancel" => json!({ "resultType": "complete" }),
        _ => return None,
    })
}

#[tokio::test]
async fn f44_6_a_task_is_cancelled_when_its_caller_leaves() {
    let (server, received) = server(works_for_ever);
    // Each answer is progress, also beyond the timeout of a call.
    let server = server.timeout(Duration::from_secs(5));
    let calling = {
        let server = server.clone();
        tokio::spawn(async move { call(&server, "weather", json!({})).await })
    };
    received.wait_for("tasks/get").await;
    calling.abort();
    assert!(calling.await.unwrap_err().is_cancelled());
    received.wait_for("tasks/cancel").await;
    assert_eq!(received.of("tasks/cancel")[0]["params"]["taskId"], "t-7");
}
