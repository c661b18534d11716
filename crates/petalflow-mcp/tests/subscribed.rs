//! Clients that are told what changes on our server.

use petalflow::tool::ToolSet;
use petalflow_mcp::{self as mcp, ListChangedNotifier, McpServer};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::resourced::with_notes;
use super::within_ten_seconds;

/// A client that writes its messages by hand.
struct Client {
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    fn of(serve: McpServer) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(serve.over(theirs));
        let (read, write) = tokio::io::split(ours);
        let lines = BufReader::new(read).lines();
        Client { write, lines }
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn request(&mut self, id: u64, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(message).await;
    }

    async fn next(&mut self) -> Value {
        let line = within_ten_seconds(self.lines.next_line()).await.unwrap();
        serde_json::from_str(&line.expect("the server lives")).unwrap()
    }

    /// Does a request with `initialize`, after which all requests are of that generation.
    async fn initialize(&mut self) -> Value {
        let client = json!({ "name": "by hand", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        self.request(0, "initialize", params).await;
        let answer = self.next().await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        // The answer to it shows that the server has read the notification.
        self.request(1, "ping", json!({})).await;
        assert_eq!(self.next().await["id"], 1);
        answer
    }
}

fn notes() -> (Client, ListChangedNotifier) {
    let serve = with_notes(mcp::serve(ToolSet::new()));
    let changed = serve.changed();
    (Client::of(serve), changed)
}

fn updated(message: &Value) -> &str {
    assert_eq!(
        message["method"], "notifications/resources/updated",
        "{message}"
    );
    message["params"]["uri"].as_str().unwrap()
}

#[tokio::test]
async fn a_session_is_told_about_the_resources_that_it_has_subscribed_to() {
    let (mut client, changed) = notes();
    let answer = client.initialize().await;
    assert_eq!(
        answer["result"]["capabilities"]["resources"],
        json!({ "subscribe": true })
    );
    for (id, uri) in [(2, "notes://today"), (3, "notes://days/monday")] {
        client
            .request(id, "resources/subscribe", json!({ "uri": uri }))
            .await;
        assert_eq!(client.next().await["result"], json!({}));
    }
    client
        .request(4, "resources/subscribe", json!({ "uri": "notes://none" }))
        .await;
    let refused = client.next().await;
    assert_eq!(
        refused["error"]["message"],
        "there is no resource `notes://none`"
    );

    changed.notify_resource("notes://dot.png");
    changed.notify_resource("notes://days/monday");
    changed.notify_resource("notes://today");
    assert_eq!(updated(&client.next().await), "notes://days/monday");
    assert_eq!(updated(&client.next().await), "notes://today");

    client
        .request(
            5,
            "resources/unsubscribe",
            json!({ "uri": "notes://today" }),
        )
        .await;
    assert_eq!(client.next().await["id"], 5);
    changed.notify_resource("notes://today");
    changed.notify();
    assert_eq!(
        client.next().await["method"],
        "notifications/tools/list_changed"
    );
}

#[tokio::test]
async fn a_session_that_reads_slowly_is_told_that_everything_has_changed() {
    let (mut client, changed) = notes();
    client.initialize().await;
    client
        .request(2, "resources/subscribe", json!({ "uri": "notes://today" }))
        .await;
    client.next().await;
    // On this thread, the session does not run meanwhile.
    for _ in 0..1_000 {
        changed.notify_resource("notes://dot.png");
    }
    assert_eq!(
        client.next().await["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(updated(&client.next().await), "notes://today");
}

#[tokio::test]
async fn a_session_does_not_subscribe_without_end() {
    let (mut client, _) = notes();
    client.initialize().await;
    for n in 0..=1_000 {
        let uri = format!("notes://days/{n}");
        client
            .request(n + 2, "resources/subscribe", json!({ "uri": uri }))
            .await;
        let answer = client.next().await;
        let error = "a session subscribes to 1000 resources at most";
        match n {
            1_000 => assert_eq!(answer["error"]["message"], error),
            _ => assert_eq!(answer["result"], json!({}), "{answer}"),
        }
    }
}

#[tokio::test]
async fn a_client_without_initialize_listens() {
    let (mut client, changed) = notes();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "by hand", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wanted = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourceSubscriptions": ["notes://today", "notes://none"],
    });
    let params = json!({ "_meta": meta, "notifications": wanted });
    client.request(7, "subscriptions/listen", params).await;
    let told = client.next().await;
    assert_eq!(
        told["method"], "notifications/subscriptions/acknowledged",
        "{told}"
    );
    let accepted = json!({ "toolsListChanged": true, "resourceSubscriptions": ["notes://today"] });
    assert_eq!(told["params"]["notifications"], accepted);

    changed.notify_resource("notes://dot.png");
    changed.notify_resource("notes://today");
    changed.notify();
    let told = client.next().await;
    assert_eq!(updated(&told), "notes://today");
    let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(subscription, 7, "{told}");
    assert_eq!(
        client.next().await["method"],
        "notifications/tools/list_changed"
    );

    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7, "_meta": meta } });
    client.send(cancel).await;
    client
        .request(8, "server/discover", json!({ "_meta": meta }))
        .await;
    while client.next().await["id"] != 8 {}
    changed.notify();
    client
        .request(9, "server/discover", json!({ "_meta": meta }))
        .await;
    assert_eq!(
        client.next().await["id"],
        9,
        "nothing is sent to one that has stopped"
    );
}
