//! What our server over HTTP refuses, and what it survives.

use std::net::SocketAddr;
use std::time::Duration;

use petalflow_mcp::{self as mcp, McpClient, McpServer};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{all_tools, call, output, sum_of, within_ten_seconds};

const NO_HEADERS: [(&str, &str); 0] = [];

async fn serve(serve: McpServer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve.http(listener, []));
    address
}

fn client(address: SocketAddr) -> McpClient {
    McpClient::http(format!("http://{address}/mcp"), NO_HEADERS).timeout(Duration::from_secs(10))
}

/// The status of the response to `initialize` with these headers.
async fn status(address: SocketAddr, headers: &str) -> u16 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "by hand", "version": "0" },
        },
    });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    let line = lines.next_line().await.unwrap().unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn requests_from_pages_of_other_origins_are_refused() {
    let server = mcp::serve(all_tools()).allow_origins(["https://app.example.com"]);
    let address = serve(server).await;
    for (headers, expected) in [
        ("", 200),
        ("origin: http://localhost:3000\r\n", 200),
        ("origin: https://127.0.0.1\r\n", 200),
        ("origin: http://[::1]:3000\r\n", 200),
        ("origin: https://app.example.com\r\n", 200),
        ("origin: https://app.example.com:444\r\n", 403),
        ("origin: http://app.example.com\r\n", 403),
        ("origin: https://evil.example\r\n", 403),
        ("origin: http://localhost.evil.example\r\n", 403),
        ("origin: null\r\n", 403),
    ] {
        assert_eq!(status(address, headers).await, expected, "{headers}");
    }
}

#[tokio::test]
async fn requests_without_the_right_token_are_refused() {
    let server = mcp::serve(all_tools())
        .authenticate(|headers| headers.get("authorization") == Some("Bearer right"));
    let address = serve(server).await;
    assert_eq!(status(address, "").await, 401);
    assert_eq!(
        status(address, "authorization: Bearer wrong\r\n").await,
        401
    );
    assert_eq!(
        status(address, "authorization: Bearer right\r\n").await,
        200
    );
    let url = format!("http://{address}/mcp");
    let server = McpClient::http(url, [("authorization", "Bearer right")]);
    let sum = call(&server, "add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(sum.unwrap(), sum_of(3));
    assert!(client(address).attempts(1).tools().await.is_err());
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_long_call_is_not() {
    let limit = Duration::from_millis(200);
    let address = serve(mcp::serve(all_tools()).header_timeout(limit)).await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"POST /mcp HTTP/1.1\r\nhost: ")
        .await
        .unwrap();
    // It may answer before it closes the connection.
    let _ = within_ten_seconds(idle.read_to_end(&mut Vec::new())).await;
    // Ten times 50 milliseconds.
    let counted = call(&client(address), "count", json!({ "to": 10 })).await;
    assert_eq!(counted.unwrap(), output("counted"));
}

#[tokio::test]
async fn a_client_above_the_connection_limit_waits_for_its_turn() {
    let address = serve(mcp::serve(all_tools()).max_connections(1)).await;
    let idle = TcpStream::connect(address).await.unwrap();
    // The listener takes connections in order.
    let second = status(address, "");
    let mut second = std::pin::pin!(second);
    let early = tokio::time::timeout(Duration::from_millis(200), &mut second).await;
    assert!(early.is_err());
    drop(idle);
    assert_eq!(within_ten_seconds(second).await, 200);
}

#[cfg(unix)]
mod few_files {
    use std::process::Stdio;

    use tokio::process::{Child, Command};

    use super::*;

    const CHILD: &str = "PETALFLOW_TEST_MCP_FEW_FILES";

    /// Not a test of its own: the server.
    #[test]
    fn the_child() {
        if std::env::var_os(CHILD).is_none() {
            return;
        }
        let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
        let served: petalflow::Result<()> = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("at {}.", listener.local_addr()?);
            let server = mcp::serve(all_tools()).header_timeout(Duration::from_millis(500));
            server.http(listener, []).await?;
            Ok(())
        });
        served.expect("the server continues");
    }

    /// A server in a process that can open 48 files.
    async fn child() -> (SocketAddr, Child) {
        let (_, path) = module_path!()
            .split_once("::")
            .expect("the binary's name comes first");
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -n 48; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().expect("it is known"))
            .args(["--exact", &format!("{path}::the_child"), "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            // The harness may have begun the line.
            if let Some((_, address)) = line.split_once("at 127") {
                let address = format!("127{}", address.trim_end_matches('.'));
                return (address.parse().unwrap(), child);
            }
        }
        panic!("the server has no address");
    }

    #[tokio::test]
    async fn a_server_without_free_files_waits_and_continues() {
        let (address, _child) = within_ten_seconds(child()).await;
        let mut idle = Vec::new();
        for _ in 0..60 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        let sum =
            within_ten_seconds(call(&client(address), "add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(sum.unwrap(), sum_of(3));
        drop(idle);
    }
}
