//! What a server says about its tools besides their schemas.

use petalflow_mcp::McpClient;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// The hand-written server: it has tools with annotations.
async fn speak(wire: DuplexStream) {
    let (read, mut write) = tokio::io::split(wire);
    let mut lines = BufReader::new(read).lines();
    let tool = |name: &str, annotations: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations });
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("our client writes JSON");
        let reply = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "by hand", "version": "0" },
            }),
            Some("tools/list") => json!({ "tools": [
                tool("delete", json!({ "destructiveHint": true })),
                tool("drop", json!({ "destructiveHint": true, "readOnlyHint": false })),
                tool("add", json!({ "destructiveHint": false })),
                // The hint has no meaning for a tool that only reads.
                tool("read", json!({ "destructiveHint": true, "readOnlyHint": true })),
                tool("titled", json!({ "title": "A title" })),
                { "name": "plain", "inputSchema": { "type": "object" } },
            ] }),
            _ => continue,
        };
        let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": reply });
        let _ = write.write_all(format!("{reply}\n").as_bytes()).await;
    }
}

fn server() -> McpClient {
    McpClient::over("by hand", || async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(speak(theirs));
        Ok(ours)
    })
}

/// The names of the tools with a question, and the questions.
async fn asked(server: &McpClient) -> Vec<(String, String)> {
    let tools = server.tools().await.unwrap();
    let asked = tools.iter().filter_map(|tool| {
        let question = tool.confirm(&json!({ "path": "a" }))?;
        Some((tool.spec().name.clone(), question))
    });
    asked.collect()
}

#[tokio::test]
async fn f44_a_tool_that_destroys_something_needs_a_confirmation() {
    let question = |tool: &str| {
        let text =
            format!("Call `{tool}`? Its server says that it can delete or overwrite something.");
        (tool.to_string(), text)
    };
    assert_eq!(
        asked(&server()).await,
        [question("delete"), question("drop")]
    );
    assert_eq!(
        asked(&server().prefix("db_")).await,
        [question("db_delete"), question("db_drop")]
    );
}

#[tokio::test]
async fn f44_the_program_decides_about_confirmations() {
    assert_eq!(asked(&server().confirm(|_, _| None)).await, []);
    let own = server()
        .confirm(|tool, arguments| (tool == "add").then(|| format!("add {}?", arguments["path"])));
    assert_eq!(
        asked(&own).await,
        [("add".to_string(), "add \"a\"?".to_string())]
    );
}
