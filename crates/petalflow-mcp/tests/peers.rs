//! Servers and clients of others: the reference servers of the protocol, and its SDK for Python.
//!
//! `PETALFLOW_TEST_MCP_SERVERS` is the folder with the programs of the npm packages
//! `@modelcontextprotocol/server-everything` and `@modelcontextprotocol/server-filesystem`, and
//! `PETALFLOW_TEST_PYTHON` a Python with the package `mcp`.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use petalflow::prelude::*;
use petalflow_llm::{Part, Role, ScriptedModel};
use petalflow_mcp::{self as mcp, Completes, Elicited, LogLevel, McpClient};
use petalflow_test_support::{Need, assert_contains, skip};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::completed::with_completions;
use super::prompted::with_reviews;
use super::resourced::with_notes;
use super::{add, call};

/// A program of the reference servers.
fn server(program: &str, arguments: &[&str]) -> Option<McpClient> {
    let Some(folder) = std::env::var_os("PETALFLOW_TEST_MCP_SERVERS") else {
        skip(
            Need::Optional,
            "no reference servers of MCP: set PETALFLOW_TEST_MCP_SERVERS to the folder `node_modules/.bin` with those of the npm \
             packages @modelcontextprotocol/server-everything and @modelcontextprotocol/server-filesystem",
        );
        return None;
    };
    let program = PathBuf::from(folder).join(program);
    Some(McpClient::stdio(
        program.display().to_string(),
        arguments.iter().copied(),
    ))
}

fn everything() -> Option<McpClient> {
    server("mcp-server-everything", &[])
}

/// A Python with the SDK.
pub(super) fn python() -> Option<String> {
    let python = std::env::var("PETALFLOW_TEST_PYTHON").ok();
    if python.is_none() {
        skip(
            Need::Optional,
            "no SDK of MCP for Python: set PETALFLOW_TEST_PYTHON to a Python with the package `mcp`",
        );
    }
    python
}

fn text(part: &Part) -> &str {
    match part {
        Part::Text(text) => &text.text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn resources_of_the_reference_server() {
    let Some(server) = everything() else { return };
    let resources = server.resources().await.unwrap();
    let features = resources
        .iter()
        .find(|it| it.name == "features.md")
        .unwrap();
    assert_eq!(features.media_type.as_deref(), Some("text/markdown"));
    let parts = server.read_resource(&features.uri).await.unwrap();
    assert_contains(&text(&parts[0]), "Features");
    let templates = server.resource_templates().await.unwrap();
    assert!(
        templates
            .iter()
            .any(|it| it.uri_template.contains("{resourceId}"))
    );
    let blob = server.read_resource("demo://resource/dynamic/blob/1").await;
    assert!(matches!(blob.unwrap()[0], Part::Media(_)));
    let error = server.read_resource("demo://nowhere").await.unwrap_err();
    assert_contains(&error.to_string(), "refused `demo://nowhere`: ");
}

#[tokio::test]
async fn prompts_and_completions_of_the_reference_server() {
    let Some(server) = everything() else { return };
    let instructions = server.instructions().await.unwrap().unwrap();
    assert_contains(&instructions, "Everything Server");
    let prompts = server.prompts().await.unwrap();
    let prompt = prompts.iter().find(|it| it.name == "args-prompt").unwrap();
    let required: Vec<_> = prompt
        .arguments
        .iter()
        .map(|it| (&*it.name, it.required))
        .collect();
    assert_eq!(required, [("city", true), ("state", false)]);
    let messages = server
        .prompt("args-prompt", [("city", "Ghent")])
        .await
        .unwrap();
    assert_eq!(messages[0].role, Role::User);
    assert_contains(&text(&messages[0].parts[0]), "Ghent");
    let department = Completes::prompt("completable-prompt", "department");
    let offered = server.complete(&department, "E").await.unwrap();
    assert_eq!(offered, ["Engineering"]);
    let error = server.prompt("no-prompt", [("a", "b")]).await.unwrap_err();
    assert_contains(&error.to_string(), "refused `no-prompt`: ");
}

#[tokio::test]
async fn the_reference_server_asks_for_roots_people_and_a_model() {
    let Some(server) = everything() else { return };
    let logged = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&logged);
    let server = server
        .roots([("file:///home/ann/book", "the book")])
        .elicit(|question| async move {
            assert!(question.schema.is_some());
            Elicited::Accept(json!({ "name": "Ann" }))
        })
        .sample(ScriptedModel::new(["In short: yes."]))
        .logs(LogLevel::Debug, move |message| {
            log.lock().unwrap().push(message.level);
        });
    let roots = call(&server, "get-roots-list", json!({})).await.unwrap();
    assert_contains(&roots.to_string(), "file:///home/ann/book");
    let asked = call(&server, "trigger-elicitation-request", json!({})).await;
    assert_contains(&asked.unwrap().to_string(), "Ann");
    let arguments = json!({ "prompt": "Is it?" });
    let sampled = call(&server, "trigger-sampling-request", arguments).await;
    assert_contains(&sampled.unwrap().to_string(), "In short: yes.");
    let picture = call(&server, "get-tiny-image", json!({})).await.unwrap();
    assert_contains(&picture.to_string(), r#""media_type":"image/png""#);
    call(&server, "toggle-simulated-logging", json!({}))
        .await
        .unwrap();
    for _ in 0..200 {
        if !logged.lock().unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no log message came");
}

#[tokio::test]
async fn the_file_server_works_in_its_folder() {
    let folder = std::env::temp_dir().join(format!("petalflow-mcp-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let path = folder.join("petals.txt");
    if let Some(server) = server("mcp-server-filesystem", &[folder.to_str().unwrap()]) {
        let arguments = json!({ "path": path, "content": "five petals" });
        call(&server, "write_file", arguments).await.unwrap();
        let read = call(&server, "read_text_file", json!({ "path": path })).await;
        assert_contains(&read.unwrap().to_string(), "five petals");
        let outside = call(
            &server,
            "read_text_file",
            json!({ "path": "/etc/hostname" }),
        )
        .await;
        assert_contains(&outside.unwrap_err().to_string(), "outside");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

const PYTHON_SERVER: &str = r#"
from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("python", instructions="Add first.")

@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b

@server.tool()
def picture() -> Image:
    """Draws."""
    return Image(data=b"\x89PNG", format="png")

@server.resource("notes://today")
def today() -> str:
    return "rain"

@server.prompt()
def review(code: str) -> str:
    return f"Review: {code}"

server.run()
"#;

#[tokio::test]
async fn a_server_of_the_python_sdk() {
    let Some(python) = python() else { return };
    let server = McpClient::stdio(python, ["-c", PYTHON_SERVER]);
    let sum = call(&server, "add", json!({ "a": 1, "b": 2 }))
        .await
        .unwrap();
    assert_contains(&sum.to_string(), "3");
    let picture = call(&server, "picture", json!({}))
        .await
        .unwrap()
        .to_string();
    assert_eq!(picture.matches("iVBO").count(), 1, "{picture}");
    assert_eq!(
        server.instructions().await.unwrap().as_deref(),
        Some("Add first.")
    );
    let notes = server.read_resource("notes://today").await.unwrap();
    assert_eq!(text(&notes[0]), "rain");
    let messages = server.prompt("review", [("code", "x")]).await.unwrap();
    assert_eq!(text(&messages[0].parts[0]), "Review: x");
}

/// Deletes everything.
#[tool(confirm = "delete it all?")]
fn delete() -> &'static str {
    "deleted"
}

const PYTHON_CLIENT: &str = r#"
import asyncio, json, sys
from mcp import Client
from mcp.types import ElicitResult

async def elicit(context, params):
    return ElicitResult(action="accept", content={})

async def refusal(request):
    try:
        await request
    except Exception as error:
        return str(error)

async def main():
    async with Client(sys.argv[1], elicitation_callback=elicit) as client:
        tools = await client.list_tools()
        added = await client.call_tool("add", {"a": 2, "b": 3})
        deleted = await client.call_tool("delete", {})
        drawn = await client.call_tool("draw", {})
        resources = await client.list_resources()
        templates = await client.list_resource_templates()
        today = await client.read_resource("notes://today")
        dot = await client.read_resource("notes://dot.png")
        day = await client.read_resource("notes://days/gr%C3%BCn")
        prompts = await client.list_prompts()
        review = await client.get_prompt("review", {"code": "x"})
        print(json.dumps({
            "tools": sorted(tool.name for tool in tools.tools),
            "sum": added.structured_content,
            "deleted": deleted.content[0].text,
            "drawn": [drawn.structured_content, [part.type for part in drawn.content]],
            "resources": [resource.name for resource in resources.resources],
            "templates": [template.uri_template for template in templates.resource_templates],
            "today": [today.contents[0].text, today.contents[0].mime_type],
            "dot": dot.contents[0].blob,
            "day": day.contents[0].text,
            "no resource": await refusal(client.read_resource("notes://none")),
            "prompts": [prompt.name for prompt in prompts.prompts],
            "review": [message.content.type for message in review.messages],
            "no prompt": await refusal(client.get_prompt("none")),
            "no code": await refusal(client.get_prompt("review")),
        }))

asyncio.run(main())
"#;

/// Draws a dot, with a title.
#[tool]
fn draw() -> Value {
    json!({ "title": "a dot", "picture": { "type": "image", "media_type": "image/png", "data": "iVBORw==" } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_python_sdk() {
    let Some(python) = python() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = with_notes(with_reviews(mcp::serve(tools![add, delete, draw])));
    let serving = tokio::spawn(server.http(listener, []));
    let output = tokio::process::Command::new(python)
        .args(["-c", PYTHON_CLIENT, &format!("http://{address}/mcp")])
        .stderr(Stdio::inherit())
        .output()
        .await
        .unwrap();
    serving.abort();
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let note = json!({ "type": "image", "media_type": "image/png", "note": "attached" });
    let expected = json!({
        "tools": ["add", "delete", "draw"],
        "sum": { "sum": 5 },
        "deleted": "deleted",
        "drawn": [{ "title": "a dot", "picture": note }, ["text", "image"]],
        "resources": ["today", "dot", "lost", "torn"],
        "templates": ["notes://days/{day}", "notes://files/{+path}"],
        "today": ["rain", "text/markdown"],
        "dot": "iVBORw==",
        "day": "sun",
        "no resource": "there is no resource `notes://none`",
        "prompts": ["review", "system", "lost"],
        "review": ["text", "image", "text"],
        "no prompt": "unknown prompt `none`; there are `review`, `system`, `lost`",
        "no code": "prompt `review` needs arguments that are missing: `code`",
    });
    assert_eq!(seen, expected);
}

const PYTHON_LISTENER: &str = r#"
import asyncio, json, sys
from mcp import Client
from mcp.types import PromptReference, ResourceTemplateReference

async def refusal(request):
    try:
        await request
    except Exception as error:
        return str(error)

async def completions(client):
    review = PromptReference(name="review")
    code = {"code": "fn main() {}"}
    language = await client.complete(review, {"name": "language", "value": "r"})
    after = await client.complete(review, {"name": "language", "value": "r"}, code)
    template = ResourceTemplateReference(uri="notes://days/{day}")
    day = (await client.complete(template, {"name": "day", "value": ""})).completion
    return [language.completion.values, after.completion.values, [len(day.values), day.total, day.has_more]]

async def main():
    async with Client(sys.argv[1]) as client:
        completed = await completions(client)
        wanted = ["notes://today", "notes://none"]
        async with client.listen(tools_list_changed=True, resource_subscriptions=wanted) as changes:
            honored = changes.honored
            await client.call_tool("touch", {})
            heard = [await anext(changes), await anext(changes)]
    told = []
    enough = asyncio.Event()

    async def handle(message):
        told.append(message)
        if len(told) == 2:
            enough.set()

    async with Client(sys.argv[1], mode="legacy", message_handler=handle) as client:
        assert await completions(client) == completed
        await client.subscribe_resource("notes://today")
        unknown = await refusal(client.subscribe_resource("notes://none"))
        # The stream of the session is opened after the first answer.
        while not enough.is_set():
            await client.call_tool("touch", {})
            await asyncio.sleep(0.05)
        await client.unsubscribe_resource("notes://today")
    print(json.dumps({
        "completed": completed,
        "honored": [honored.tools_list_changed, honored.resource_subscriptions],
        "heard": [type(event).__name__ for event in heard],
        "uri": heard[0].uri,
        "unknown": unknown,
        "told": sorted({message.method for message in told}),
    }))

asyncio.run(main())
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_of_the_python_sdk() {
    let Some(python) = python() else { return };
    let changed = Arc::new(std::sync::OnceLock::<mcp::ListChangedNotifier>::new());
    let notifier = Arc::clone(&changed);
    let touch = petalflow::tool::FuncTool::new("touch", "Changes things.", move |_: Value| {
        let notifier = Arc::clone(&notifier);
        async move {
            let notifier = notifier.get().ok_or("it does not serve")?;
            notifier.notify_resource("notes://today");
            notifier.notify();
            Ok("touched")
        }
    });
    let tools = petalflow::tool::ToolSet::new().with(touch);
    let server = with_completions(with_notes(with_reviews(mcp::serve(tools))));
    changed.set(server.changed()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(server.http(listener, []));
    let output = tokio::process::Command::new(python)
        .args(["-c", PYTHON_LISTENER, &format!("http://{address}/mcp")])
        .stderr(Stdio::inherit())
        .output()
        .await
        .unwrap();
    serving.abort();
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({
        "completed": [["rust", "ruby"], ["rust"], [100, 150, true]],
        "honored": [true, ["notes://today"]],
        "heard": ["ResourceUpdated", "ToolsListChanged"],
        "uri": "notes://today",
        "unknown": "there is no resource `notes://none`",
        "told": ["notifications/resources/updated", "notifications/tools/list_changed"],
    });
    assert_eq!(seen, expected);
}
