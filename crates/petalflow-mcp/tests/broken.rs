//! Servers that violate the protocol, and connections that break.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow::tool::{ToolError, ToolSet};
use petalflow_mcp::{self as mcp, McpClient, McpError};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::{call, output};

/// How the hand-written server answers a call of its tool `act`.
#[derive(Clone, Copy)]
enum Answer {
    /// These bytes, with the call's id in place of `$id`.
    Say(&'static str),
    /// Nothing, and closes the connection.
    HangUp,
    /// The correct answer.
    Right,
}

/// The hand-written server: answers line by line until it closes the connection.
async fn speak(wire: DuplexStream, answer: impl Fn() -> Answer) {
    let (read, mut write) = tokio::io::split(wire);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("our client writes JSON");
        let id = &message["id"];
        let reply = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "by hand", "version": "0" },
            }),
            Some("tools/list") => json!({
                "tools": [{ "name": "act", "inputSchema": { "type": "object" } }],
            }),
            Some("tools/call") => match answer() {
                Answer::Say(text) => {
                    let text = text.replace("$id", &id.to_string());
                    write.write_all(text.as_bytes()).await.unwrap();
                    continue;
                }
                Answer::HangUp => return,
                Answer::Right => json!({ "content": [{ "type": "text", "text": "done" }] }),
            },
            _ => continue,
        };
        let reply = json!({ "jsonrpc": "2.0", "id": id, "result": reply });
        let _ = write.write_all(format!("{reply}\n").as_bytes()).await;
    }
}

/// A server with these answers in turn, then the correct one. It counts its connections.
fn scripted_server(answers: &'static [Answer]) -> (McpClient, Arc<AtomicUsize>) {
    let (dials, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&dials);
    let server = McpClient::over("by hand", move || {
        count.fetch_add(1, Ordering::SeqCst);
        let asked = Arc::clone(&asked);
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(speak(theirs, move || {
                let place = asked.fetch_add(1, Ordering::SeqCst);
                answers.get(place).copied().unwrap_or(Answer::Right)
            }));
            Ok(ours)
        }
    });
    (server.timeout(Duration::from_millis(300)), dials)
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape_is_an_error_and_the_next_call_works() {
    let answers = &[
        Answer::Say("{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"strange\":1}}\n"),
        Answer::Say("{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[]}}\n"),
        Answer::Say(
            "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32603,\"message\":\"out of order\"}}\n",
        ),
    ];
    let (server, dials) = scripted_server(answers);
    for _ in 0..2 {
        let error = call(&server, "act", json!({})).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "MCP server `by hand` sent an invalid answer to `act`: fields are missing, or of another type"
        );
    }
    let error = call(&server, "act", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `by hand` refused `act`: out of order"
    );
    assert_eq!(
        call(&server, "act", json!({})).await.unwrap(),
        output("done")
    );
    assert_eq!(dials.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_task_of_an_earlier_version_is_refused() {
    let (server, _) = scripted_server(&[Answer::Say(
        "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"task\":{\"taskId\":\"7\",\"status\":\"working\"}}}\n",
    )]);
    let error = call(&server, "act", json!({})).await.unwrap_err();
    assert_contains(
        &error,
        "it began a task of the version 2025-11-25 of the protocol",
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_not_an_answer_ends_with_the_timeout() {
    let answers = &[
        Answer::Say("this is not JSON\n"),
        Answer::Say("{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\""),
    ];
    let (server, dials) = scripted_server(answers);
    for _ in answers {
        let error = call(&server, "act", json!({})).await.unwrap_err();
        assert!(matches!(error, ToolError::Timeout(..)), "{error}");
    }
    // The incomplete line damages only the next message.
    let _ = call(&server, "act", json!({})).await;
    assert_eq!(
        call(&server, "act", json!({})).await.unwrap(),
        output("done")
    );
    assert_eq!(dials.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_during_a_call_is_replaced_for_the_next() {
    let (server, dials) = scripted_server(&[Answer::HangUp, Answer::Right, Answer::HangUp]);
    for _ in 0..2 {
        let error = call(&server, "act", json!({})).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the connection to MCP server `by hand` was lost during `act`: the server closed the connection; it is not known whether the request was processed"
        );
        assert_eq!(
            call(&server, "act", json!({})).await.unwrap(),
            output("done")
        );
    }
    assert_eq!(dials.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn an_existing_tool_uses_the_new_connection() {
    let (server, dials) = scripted_server(&[Answer::HangUp]);
    let tools = server.tools().await.unwrap();
    let tool = tools.get("act").unwrap();
    let cx = petalflow::tool::ToolContext::new("1");
    tool.call(json!({}), &cx).await.unwrap_err();
    assert_eq!(tool.call(json!({}), &cx).await.unwrap(), output("done"));
    assert_eq!(dials.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_server_is_retried_and_then_an_error() {
    let dials = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dials);
    let server = McpClient::over("gone", move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { Err::<DuplexStream, _>(std::io::Error::other("nobody is there")) }
    });
    let error = server.tools().await.unwrap_err();
    assert!(matches!(error, McpError::Connect { .. }));
    assert_eq!(
        error.to_string(),
        "cannot connect to MCP server `gone`: nobody is there; check that it starts and that it is an MCP server"
    );
    assert_eq!(dials.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_a_handshake_times_out() {
    let server = McpClient::over("mute", || async {
        let (ours, theirs) = tokio::io::duplex(64);
        tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(theirs);
        });
        Ok(ours)
    });
    let server = server.attempts(2).connect_timeout(Duration::from_secs(5));
    let begun = tokio::time::Instant::now();
    let error = server.tools().await.unwrap_err();
    assert_contains(&error, "no answer within 5s");
    assert!(begun.elapsed() >= Duration::from_secs(10));
}

/// A server that answers the first message with these bytes, and closes the connection.
fn once(answer: &'static str) -> McpClient {
    let server = McpClient::over("rude", move || async move {
        let (ours, theirs) = tokio::io::duplex(1024);
        tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(theirs);
            let _ = BufReader::new(read).lines().next_line().await;
            let _ = write.write_all(answer.as_bytes()).await;
        });
        Ok(ours)
    });
    server.attempts(1).message_limit(1024)
}

#[tokio::test]
async fn a_server_with_a_wrong_handshake_is_an_error() {
    for (answer, problem) in [
        (
            "go away\n".into(),
            "the server closed the connection before it answered `initialize`",
        ),
        (
            "x".repeat(2048),
            "a message is longer than `message_limit`",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"tools\":[]}}\n".into(),
            "the server sent an invalid answer to `initialize`",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32603,\"message\":\"out of order\"}}\n".into(),
            "the server refused `initialize`: out of order",
        ),
    ] {
        let error = once(String::leak(answer)).tools().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot connect to MCP server `rude`: {problem}; check that it starts and that it is an MCP server"
            )
        );
    }
}

#[tokio::test]
async fn a_client_with_a_wrong_handshake_is_an_error() {
    for (message, problem) in [
        (
            "",
            "the client closed the connection before it was initialized",
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
            "the client did not begin with `initialize`",
        ),
    ] {
        let (mut ours, theirs) = tokio::io::duplex(1024);
        ours.write_all(message.as_bytes()).await.unwrap();
        ours.shutdown().await.unwrap();
        let error = mcp::serve(ToolSet::new()).over(theirs).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot serve over MCP: {problem}")
        );
    }
}

/// A server with this version of the protocol and this schema of its tool. A call of it sends this number of log messages
/// before its result.
async fn say(wire: DuplexStream, version: Option<&'static str>, schema: Value, logs: usize) {
    let (read, mut write) = tokio::io::split(wire);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("our client writes JSON");
        let asked = message["params"]["protocolVersion"].as_str();
        let reply = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": version.or(asked),
                "capabilities": { "tools": {}, "logging": {} },
                "serverInfo": { "name": "by hand", "version": "0" },
            }),
            Some("tools/list") => json!({ "tools": [{ "name": "act", "inputSchema": schema }] }),
            Some("tools/call") => {
                for number in 0..logs {
                    let log = format!(
                        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":{number}}}}}\n"
                    );
                    if write.write_all(log.as_bytes()).await.is_err() {
                        return;
                    }
                }
                json!({ "content": [{ "type": "text", "text": "done" }] })
            }
            Some("logging/setLevel") => json!({}),
            _ => continue,
        };
        let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": reply });
        let _ = write.write_all(format!("{reply}\n").as_bytes()).await;
    }
}

fn saying(version: Option<&'static str>, schema: Value, logs: usize) -> McpClient {
    McpClient::over("by hand", move || {
        let schema = schema.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(say(theirs, version, schema, logs));
            Ok(ours)
        }
    })
}

#[tokio::test]
async fn f42_a_version_of_the_protocol_that_does_not_exist_is_refused() {
    for version in ["2099-01-01", "1.0", "2025-06-17", ""] {
        let server = saying(Some(version), json!({ "type": "object" }), 0).attempts(1);
        let error = server.tools().await.unwrap_err();
        assert!(
            matches!(error, McpError::Connect { .. }),
            "{version}: {error}"
        );
        let words = format!(
            "the MCP version `{version}`, which this client does not know; it knows 2024-11-05, "
        );
        assert_contains(&error, &words);
    }
    for version in ["2024-11-05", "2025-06-18"] {
        let server = saying(Some(version), json!({ "type": "object" }), 0).attempts(1);
        let result = call(&server, "act", json!({})).await.unwrap();
        assert_eq!(result, output("done"), "{version}");
    }
}

#[tokio::test]
async fn f42_a_tool_whose_arguments_are_no_object_is_refused_by_its_name() {
    let server = saying(None, json!({ "type": "string" }), 0);
    let error = server.tools().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the arguments of tool `act` of MCP server `by hand` have the type \"string\", and only an object can be arguments; \
         correct `inputSchema` in the server, or exclude the tool with `.filter(|tool| tool != \"act\")`"
    );
    let server = server.filter(|tool| tool != "act");
    assert!(server.tools().await.unwrap().is_empty());
}

#[tokio::test]
async fn f42_tens_of_thousands_of_log_messages_are_read_in_order_before_the_result() {
    const LOGS: usize = 50_000;
    let read = Arc::new(AtomicUsize::new(0));
    let in_order = Arc::new(AtomicUsize::new(0));
    let (count, right) = (Arc::clone(&read), Arc::clone(&in_order));
    // With the usual timeout.
    let server = saying(None, json!({ "type": "object" }), LOGS);
    let server = server.logs(mcp::LogLevel::Debug, move |message| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        right.fetch_add(usize::from(message.data == number), Ordering::SeqCst);
        assert!(
            number != 7,
            "a panic of the function does not end the connection"
        );
    });
    let result = call(&server, "act", json!({})).await.unwrap();
    assert_eq!(result, output("done"));
    let read = [read, in_order].map(|count| count.load(Ordering::SeqCst));
    assert_eq!(read, [LOGS, LOGS]);
}
