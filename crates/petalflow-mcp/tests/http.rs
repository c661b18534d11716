//! The same over HTTP, on this machine.

use std::net::SocketAddr;
use std::time::Duration;

use petalflow::tool::{ToolContext, ToolRegistry, ToolSet};
use petalflow_mcp::{self as mcp, McpClient};
use petalflow_test_support::{assert_contains, assert_starts_with};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Waiting, add, all_tools, call, output, sum_of};

const NO_HEADERS: [(&str, &str); 0] = [];

async fn serve(address: &str, tools: ToolSet) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        mcp::serve(tools).http(listener, []).await.unwrap();
    });
    (address, serving)
}

pub(super) fn client(address: SocketAddr) -> McpClient {
    McpClient::http(format!("http://{address}/mcp"), NO_HEADERS).timeout(Duration::from_secs(10))
}

#[tokio::test]
async fn several_clients_call_tools_and_get_results_and_errors() {
    let (address, _serving) = serve("127.0.0.1:0", all_tools()).await;
    for _ in 0..2 {
        let server = client(address);
        assert_eq!(
            call(&server, "add", json!({ "a": 1, "b": 2 }))
                .await
                .unwrap(),
            sum_of(3)
        );
        let error = call(&server, "fail", json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), "out of order");
        let text = call(&server, "repeat", json!({ "text": "x", "times": 2 << 20 })).await;
        assert_eq!(text.unwrap()["output"].as_str().unwrap().len(), 2 << 20);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let waiting = Waiting::default();
    let (address, _serving) = serve("127.0.0.1:0", ToolSet::new().with(waiting.tool())).await;
    let server = client(address);
    let tools = server.tools().await.unwrap();
    let cx = ToolContext::new("1");
    {
        let mut call = tools.get("wait").unwrap().call(json!({}), &cx);
        tokio::select! {
            _ = &mut call => panic!("it waits for ever"),
            () = waiting.wait_until_begun() => {}
        }
    }
    waiting.wait_until_dropped().await;
}

#[tokio::test]
async fn progress_comes_over_http_too() {
    let (address, _serving) = serve("127.0.0.1:0", all_tools()).await;
    let server = client(address).timeout(Duration::from_millis(400));
    // Ten times 50 milliseconds: only progress restarts the timeout.
    assert_eq!(
        call(&server, "count", json!({ "to": 10 })).await.unwrap(),
        output("counted")
    );
}

#[tokio::test]
async fn a_client_reconnects_to_a_restarted_server() {
    let (address, serving) = serve("127.0.0.1:0", all_tools()).await;
    let server = client(address).attempts(1);
    let tools = server.tools().await.unwrap();
    let (tool, cx) = (tools.get("add").unwrap(), ToolContext::new("1"));
    let arguments = json!({ "a": 1, "b": 2 });
    tool.call(arguments.clone(), &cx).await.unwrap();
    serving.abort();
    let _ = serving.await;
    let error = tool
        .call(arguments.clone(), &cx)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains(&format!("{address}")), "{error}");
    let (_, _serving) = serve(&address.to_string(), petalflow::tools![add]).await;
    let mut sum = tool.call(arguments.clone(), &cx).await;
    if sum.is_err() {
        sum = tool.call(arguments, &cx).await;
    }
    assert_eq!(sum.unwrap(), sum_of(3));
}

#[tokio::test]
async fn tools_that_change_are_listed_again() {
    let registry = ToolRegistry::new();
    let served = mcp::serve(registry.clone());
    let changed = served.changed();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = client(listener.local_addr().unwrap());
    tokio::spawn(served.http(listener, []));
    assert!(server.tools().await.unwrap().is_empty());
    registry.register(add {});
    for _ in 0..500 {
        // The stream of the server's notifications is opened after the first answer.
        changed.notify();
        if server.tools().await.unwrap().len() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the news never came");
}

#[tokio::test]
async fn an_invalid_header_is_an_error() {
    let server = McpClient::http("http://user:secret@127.0.0.1:9/mcp", [("no header", "x")]);
    let error = server.attempts(1).tools().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot connect to MCP server `127.0.0.1:9/mcp`: `no header` is not the name of a header; check that it starts and that it is an MCP server"
    );
}

#[tokio::test]
async fn secrets_in_an_address_are_in_no_message() {
    let (address, serving) = serve("127.0.0.1:0", all_tools()).await;
    let url =
        format!("http://hidden-user:hidden-word@{address}/mcp?api_key=hidden-key#hidden-part");
    let server = McpClient::http(url, NO_HEADERS).attempts(1);
    let mut texts = vec![format!("{server:?}")];
    let tools = server.tools().await.unwrap();
    serving.abort();
    let _ = serving.await;
    let cx = ToolContext::new("1");
    let arguments = json!({ "a": 1, "b": 2 });
    let error = tools.get("add").unwrap().call(arguments, &cx).await;
    texts.extend(texts_of(&error.unwrap_err()));
    texts.extend(texts_of(&server.tools().await.unwrap_err()));
    // A server that repeats the address in its answer.
    let (address, _serving) = answer("404 Not Found", "text/plain").await;
    for url in [
        format!("http://{address}/mcp?api_key=hidden-key"),
        "ftp://example.com/mcp?api_key=hidden-key".into(),
        "example.com/mcp?api_key=hidden-key".into(),
    ] {
        let server = McpClient::http(url, NO_HEADERS).attempts(1);
        texts.extend(texts_of(&server.tools().await.unwrap_err()));
    }
    for text in texts {
        assert!(!text.contains("hidden"), "{text}");
    }
}

/// What an error and its sources print.
pub(super) fn texts_of(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    let mut texts = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        texts.extend([format!("{error}"), format!("{error:?}")]);
        next = error.source();
    }
    texts
}

/// A server that answers each request with this status and content type, and with the first line of the request.
async fn answer(status: &'static str, content_type: &'static str) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut lines = BufReader::new(stream).lines();
            let line = lines.next_line().await.unwrap().unwrap();
            while lines
                .next_line()
                .await
                .unwrap()
                .is_some_and(|line| !line.is_empty())
            {}
            let length = line.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\nwww-authenticate: Bearer\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{line}"
            );
            let mut stream = lines.into_inner();
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, serving)
}

/// Why a client cannot connect to this URL.
async fn connect_problem(url: &str) -> String {
    let server = McpClient::http(url, NO_HEADERS).attempts(1);
    let error = server.tools().await.unwrap_err();
    for text in [error.to_string(), format!("{error:?}")] {
        for name in ["rmcp", "reqwest", "Transport", "Error"] {
            assert!(!text.contains(name), "{text}");
        }
    }
    let text = error.to_string();
    let (_, problem) = text.split_once("`: ").unwrap();
    let (problem, _) = problem.rsplit_once("; check that").unwrap();
    problem.into()
}

#[tokio::test]
async fn a_failed_connection_says_in_words_what_failed() {
    for (status, content_type, problem) in [
        (
            "404 Not Found",
            "text/plain",
            "the server answered with HTTP 404 Not Found",
        ),
        (
            "503 Busy",
            "text/plain",
            "the server answered with HTTP status 503",
        ),
        (
            "401 Unauthorized",
            "text/plain",
            "the server requires authentication (HTTP status 401); pass the right header to `McpClient::http`, or sign in with `McpClient::oauth` (feature `oauth`)",
        ),
        (
            "200 OK",
            "text/html",
            "the server answered with `text/html`, which is neither JSON nor a stream of events",
        ),
        (
            "200 OK",
            "application/json",
            "the server answered with something that is not a message of MCP",
        ),
    ] {
        let (address, _serving) = answer(status, content_type).await;
        assert_eq!(connect_problem(&format!("http://{address}")).await, problem);
    }
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let problem = connect_problem(&format!("http://{address}")).await;
    assert_starts_with(&problem, "no connection: Connection refused");
    assert_eq!(
        connect_problem("localhost:8000/mcp").await,
        "its address is not a URL; write it in full, such as `http://localhost:8000/mcp`"
    );
}

#[tokio::test]
async fn a_message_above_the_limit_is_named() {
    let (address, _serving) = serve("127.0.0.1:0", all_tools()).await;
    let server = client(address).message_limit(1 << 20);
    let error = call(&server, "repeat", json!({ "text": "x", "times": 2 << 20 })).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        format!(
            "the connection to MCP server `{address}/mcp` was lost during `repeat`: a message is longer than `message_limit`; it is not known whether the request was processed"
        )
    );
    let sum = call(&server, "add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(sum.unwrap(), sum_of(3));
    let error = client(address).attempts(1).message_limit(64).tools().await;
    assert_contains(
        &error.unwrap_err(),
        "`: a message is longer than `message_limit`; check",
    );
}

#[tokio::test]
async fn a_session_that_was_closed_leaves_no_task_behind() {
    let (address, serving) = serve("127.0.0.1:0", all_tools()).await;
    let alive = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let use_once = async || {
        let server = client(address);
        call(&server, "add", json!({ "a": 1, "b": 2 }))
            .await
            .unwrap();
        server.close().await;
    };
    // The number after one session, when its tasks have ended.
    let settled = async || {
        let mut last = alive();
        for _ in 0..50 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            last = last.min(alive());
        }
        last
    };
    use_once().await;
    let before = settled().await;
    for _ in 0..5 {
        use_once().await;
    }
    let after = settled().await;
    assert!(after <= before, "{before} tasks, and then {after}");
    serving.abort();
}
