//! The completions of our server.

use std::collections::BTreeMap;

use petalflow::tool::ToolSet;
use petalflow_mcp::{self as mcp, Completes, McpClient, McpError, McpServer};
use petalflow_test_support::assert_contains;
use serde_json::json;
use tokio::net::TcpListener;

use super::prompted::{reviews, with_reviews};
use super::resourced::{by_hand, with_notes};
use super::{connect_in_process, http};

/// The server with completions of what it has.
pub(super) fn with_completions(server: McpServer) -> McpServer {
    server
        .completion(Completes::prompt("review", "language"), languages)
        .completion(Completes::prompt("review", "code"), async |_, _| {
            Err("the list is lost".into())
        })
        .completion(
            Completes::resource("notes://days/{day}", "day"),
            async |_, _| Ok((0..150).map(|day| format!("day-{day}")).collect()),
        )
}

/// Those that begin with the text. After some code, only those in which it can be.
async fn languages(
    start: String,
    others: BTreeMap<String, String>,
) -> petalflow::Result<Vec<String>> {
    let known: &[&str] = match others.get("code") {
        Some(code) if code.contains("fn ") => &["rust"],
        _ => &["python", "rust", "ruby"],
    };
    let known = known.iter().filter(|name| name.starts_with(&start));
    Ok(known.map(ToString::to_string).collect())
}

fn served() -> McpServer {
    with_completions(with_notes(reviews()))
}

async fn check(server: &McpClient) {
    let language = Completes::prompt("review", "language");
    let offered = async |what: &Completes, start| server.complete(what, start).await;
    assert_eq!(offered(&language, "r").await.unwrap(), ["rust", "ruby"]);
    assert!(offered(&language, "x").await.unwrap().is_empty());
    // A list has a hundred items at most.
    let day = Completes::resource("notes://days/{day}", "day");
    assert_eq!(offered(&day, "").await.unwrap().len(), 100);
    let path = Completes::resource("notes://files/{+path}", "path");
    assert!(
        offered(&path, "a").await.unwrap().is_empty(),
        "no function completes it"
    );
    let code = Completes::prompt("review", "code");
    let error = offered(&code, "").await.unwrap_err();
    assert!(matches!(error, McpError::Refused { .. }), "{error}");
    assert_contains(
        &error.to_string(),
        "argument `code` of prompt `review` cannot be completed: the list is lost",
    );
}

#[tokio::test]
async fn arguments_are_completed() {
    check(&connect_in_process(served()).0).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = http::client(listener.local_addr().unwrap());
    tokio::spawn(served().http(listener, []));
    check(&server).await;
}

#[tokio::test]
async fn both_generations_of_the_protocol_complete() {
    for generation in [1, 2] {
        let complete = async |params| {
            by_hand(served(), generation, "completion/complete", params).await["result"].clone()
        };
        let of_prompt = json!({ "type": "ref/prompt", "name": "review" });
        let argument = json!({ "name": "language", "value": "r" });
        let context = json!({ "arguments": { "code": "fn main() {}" } });
        let params = json!({ "ref": of_prompt, "argument": argument, "context": context });
        let done = complete(params).await;
        let expected = json!({ "values": ["rust"], "total": 1, "hasMore": false });
        assert_eq!(done["completion"], expected, "{done}");
        let of_template = json!({ "type": "ref/resource", "uri": "notes://days/{day}" });
        let argument = json!({ "name": "day", "value": "" });
        let done = complete(json!({ "ref": of_template, "argument": argument })).await;
        assert_eq!(done["completion"]["total"], 150, "{done}");
        assert_eq!(done["completion"]["hasMore"], true, "{done}");
    }
}

#[tokio::test]
async fn a_completion_of_something_that_is_not_served_is_an_error() {
    let with = |what: Completes| served().completion(what, async |_, _| Ok(Vec::new()));
    for (server, problem) in [
        (
            with(Completes::prompt("review", "langauge")),
            "a completion is for argument `langauge` of prompt `review`, which is not served; serve it, or correct the names",
        ),
        (
            with(Completes::resource("notes://{none}", "none")),
            "a completion is for variable `none` of `notes://{none}`, which is not served; serve it, or correct the names",
        ),
        (
            with(Completes::prompt("review", "language")),
            "two completions are for argument `language` of prompt `review`",
        ),
    ] {
        let (_ours, theirs) = tokio::io::duplex(64);
        let error = server.over(theirs).await.unwrap_err().to_string();
        assert_eq!(error, format!("cannot serve over MCP: {problem}"));
    }
    // Without completions, the server does not say that it has some.
    let plain = with_reviews(mcp::serve(ToolSet::new()));
    let info = by_hand(plain, 2, "server/discover", json!({})).await;
    let capabilities = &info["result"]["capabilities"];
    assert!(capabilities.is_object(), "{info}");
    assert!(capabilities.get("completions").is_none(), "{info}");
}
