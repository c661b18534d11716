//! The resources of our server.

use std::sync::Arc;

use petalflow::tool::ToolSet;
use petalflow_llm::Part;
use petalflow_llm::message::{Media, MediaSource};
use petalflow_mcp::{self as mcp, McpClient, McpError, McpServer, Resource, ResourceTemplate};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::{OnDrop, all_tools, call, connect_in_process, http, sum_of, within_ten_seconds};

fn notes() -> McpServer {
    with_notes(mcp::serve(all_tools()))
}

/// The server with notes.
pub(super) fn with_notes(server: McpServer) -> McpServer {
    let today = Resource::new("notes://today", "today")
        .with_title("Today")
        .with_description("The weather.")
        .with_media_type("text/markdown")
        .with_size(4);
    let dot = Resource::new("notes://dot.png", "dot").with_media_type("image/png");
    let lost = Resource::new("notes://lost", "lost");
    let torn = Resource::new("notes://torn", "torn");
    let days = ResourceTemplate::new("notes://days/{day}", "days")
        .with_title("Days")
        .with_description("The weather of a day.")
        .with_media_type("text/plain");
    let files = ResourceTemplate::new("notes://files/{+path}", "files");
    server
        .resource(today, async || Ok("rain"))
        .resource(dot, async || Ok(vec![0x89, b'P', b'N', b'G']))
        .resource(lost, async || {
            Err::<String, _>("the notebook is lost".into())
        })
        .resource(torn, torn_page)
        .resource_template(days, |values| async move {
            Ok((values["day"] == "grün").then_some("sun"))
        })
        .resource_template(files, |values| async move {
            Ok(Some(format!("at {}", values["path"])))
        })
}

async fn torn_page() -> petalflow::Result<String> {
    panic!("torn")
}

fn picture() -> Part {
    Part::Media(Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("iVBORw==".into()),
        origin: None,
    })
}

async fn check(server: &McpClient) {
    let listed = server.resources().await.unwrap();
    assert_eq!(listed.len(), 4);
    let today = Resource::new("notes://today", "today")
        .with_title("Today")
        .with_description("The weather.")
        .with_media_type("text/markdown")
        .with_size(4);
    assert_eq!(listed[0], today);
    let templates = server.resource_templates().await.unwrap();
    let uris: Vec<_> = templates.iter().map(|it| &*it.uri_template).collect();
    assert_eq!(uris, ["notes://days/{day}", "notes://files/{+path}"]);
    let read = async |uri: &str| server.read_resource(uri).await;
    assert_eq!(read("notes://today").await.unwrap(), [Part::text("rain")]);
    assert_eq!(read("notes://dot.png").await.unwrap(), [picture()]);
    assert_eq!(
        read("notes://days/gr%C3%BCn").await.unwrap(),
        [Part::text("sun")]
    );
    assert_eq!(
        read("notes://files/a/b").await.unwrap(),
        [Part::text("at a/b")]
    );
    for unknown in ["notes://none", "notes://days/red", "notes://days/a/b"] {
        let error = read(unknown).await.unwrap_err();
        assert!(matches!(error, McpError::Refused { .. }), "{error}");
        assert_contains(
            &error.to_string(),
            &format!("there is no resource `{unknown}`"),
        );
    }
    let error = read("notes://lost").await.unwrap_err().to_string();
    assert_contains(
        &error,
        "resource `notes://lost` cannot be read: the notebook is lost",
    );
    let error = read("notes://torn").await.unwrap_err().to_string();
    assert_contains(&error, "torn");
    // The connection still works, and tools too.
    let sum = call(server, "add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(sum.unwrap(), sum_of(3));
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let (server, _) = connect_in_process(notes());
    check(&server).await;
}

#[tokio::test]
async fn resources_are_listed_and_read_over_http() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = http::client(listener.local_addr().unwrap());
    tokio::spawn(notes().http(listener, []));
    check(&server).await;
}

#[tokio::test]
async fn long_lists_have_all_items() {
    let mut serve = mcp::serve(ToolSet::new());
    for n in 0..250 {
        let resource = Resource::new(format!("n://{n}"), format!("{n}"));
        serve = serve.resource(resource, async || Ok(""));
        let template = ResourceTemplate::new(format!("t{n}://{{x}}"), format!("{n}"));
        serve = serve.resource_template(template, async |_| Ok(Some("")));
    }
    let first = by_hand(serve.clone(), 1, "resources/list", json!({})).await;
    assert_eq!(first["result"]["resources"].as_array().unwrap().len(), 100);
    let cursor = &first["result"]["nextCursor"];
    let next = by_hand(
        serve.clone(),
        1,
        "resources/list",
        json!({ "cursor": cursor }),
    )
    .await;
    assert_eq!(next["result"]["resources"][0]["uri"], "n://100");
    let wrong = by_hand(serve.clone(), 1, "resources/list", json!({ "cursor": "x" })).await;
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let (server, _) = connect_in_process(serve);
    let uris = server
        .resources()
        .await
        .unwrap()
        .into_iter()
        .map(|it| it.uri);
    assert!(uris.eq((0..250).map(|n| format!("n://{n}"))));
    assert_eq!(server.resource_templates().await.unwrap().len(), 250);
}

/// The answer to a request, in the generation of the protocol with `initialize` or in the one without.
pub(super) async fn by_hand(
    serve: McpServer,
    generation: u8,
    method: &str,
    mut params: Value,
) -> Value {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve.over(theirs));
    let (read, mut write) = tokio::io::split(ours);
    let mut lines = BufReader::new(read).lines();
    let mut requests = Vec::new();
    let client = json!({ "name": "by hand", "version": "0" });
    if generation == 1 {
        let start =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        requests
            .push(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start }));
        requests.push(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    } else {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": client,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    requests.push(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
    for request in requests {
        write
            .write_all(format!("{request}\n").as_bytes())
            .await
            .unwrap();
    }
    loop {
        let line = within_ten_seconds(lines.next_line()).await.unwrap();
        let answer: Value = serde_json::from_str(&line.expect("it answers")).unwrap();
        if answer["id"] == 1 {
            return answer;
        }
    }
}

#[tokio::test]
async fn both_generations_of_the_protocol_read_resources() {
    for (generation, unknown) in [(1, -32002), (2, -32602)] {
        let read = async |uri: &str| {
            by_hand(notes(), generation, "resources/read", json!({ "uri": uri })).await
        };
        let today = read("notes://today").await;
        let expected =
            json!([{ "uri": "notes://today", "mimeType": "text/markdown", "text": "rain" }]);
        assert_eq!(today["result"]["contents"], expected, "{today}");
        let missing = read("notes://none").await;
        assert_eq!(missing["error"]["code"], unknown, "{missing}");
    }
}

#[tokio::test]
async fn capabilities_are_those_that_the_server_has() {
    let start = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "by hand", "version": "0" },
    });
    let capabilities = async |serve: McpServer| {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(serve.over(theirs));
        let (read, mut write) = tokio::io::split(ours);
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start });
        write
            .write_all(format!("{request}\n").as_bytes())
            .await
            .unwrap();
        let mut lines = BufReader::new(read).lines();
        let line = within_ten_seconds(lines.next_line())
            .await
            .unwrap()
            .unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let capabilities = answer["result"]["capabilities"].as_object().unwrap();
        capabilities.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(capabilities(mcp::serve(ToolSet::new())).await, ["tools"]);
    assert_eq!(capabilities(notes()).await, ["resources", "tools"]);
    assert_eq!(
        capabilities(super::prompted::reviews()).await,
        ["prompts", "tools"]
    );
}

#[tokio::test]
async fn a_server_with_wrong_addresses_does_not_start() {
    let server = || mcp::serve(ToolSet::new());
    let resource = |uri: &str, name: &str| {
        let read = async || Ok("");
        server().resource(Resource::new(uri, name), read)
    };
    let template = |uri: &str, name: &str| {
        let read = async |_| Ok(Some(""));
        server().resource_template(ResourceTemplate::new(uri, name), read)
    };
    for (server, problem) in [
        (
            resource("", "a"),
            "`` is not the URI of a resource; begin it with a scheme, such as `notes://`",
        ),
        (
            resource("today", "a"),
            "`today` is not the URI of a resource; begin it with a scheme, such as `notes://`",
        ),
        (resource("a://b", " "), "resource `a://b` has no name"),
        (
            resource("a://b", "x").resource(Resource::new("a://b", "y"), async || Ok("")),
            "two resources have the URI `a://b`",
        ),
        (
            template("{x}", "a"),
            "`{x}` is not a template of URIs; begin it with a scheme, such as `notes://`",
        ),
        (
            template("a://{x", "a"),
            "the template of URIs `a://{x` is invalid: a `{` has no `}`",
        ),
        (
            template("a://{x}", ""),
            "resource template `a://{x}` has no name",
        ),
        (
            template("a://{x}", "x")
                .resource_template(ResourceTemplate::new("a://{x}", "y"), async |_| {
                    Ok(Some(""))
                }),
            "two resource templates are `a://{x}`",
        ),
    ] {
        let expected = format!("cannot serve over MCP: {problem}");
        let (_ours, theirs) = tokio::io::duplex(64);
        let error = server.clone().over(theirs).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let error = server.http(listener, []).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn a_read_that_is_dropped_is_cancelled_at_the_server() {
    let (begun, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let notifies = (Arc::clone(&begun), Arc::clone(&dropped));
    let serve = mcp::serve(ToolSet::new()).resource(Resource::new("a://b", "b"), move || {
        let (begun, dropped) = notifies.clone();
        async move {
            let _on_drop = OnDrop(dropped);
            begun.notify_one();
            std::future::pending::<petalflow::Result<String>>().await
        }
    });
    let (server, _) = connect_in_process(serve);
    tokio::select! {
        _ = server.read_resource("a://b") => panic!("it waits for ever"),
        () = within_ten_seconds(begun.notified()) => {}
    }
    within_ten_seconds(dropped.notified()).await;
}
