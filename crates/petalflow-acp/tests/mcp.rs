//! The servers of MCP that an editor names: this test binary again, controlled by an environment variable.

use agent_client_protocol::v1::schema::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerStdio, NewSessionRequest,
};
use petalflow::prelude::*;
use petalflow_agent::Agent;
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::json;

use crate::editor::{Editor, of, soon};
use crate::server;

const CHILD: &str = "PETALFLOW_TEST_ACP_CHILD";

/// The folder of this process, and a variable that the editor has set.
#[tool]
fn place() -> petalflow::Result<String> {
    let folder = std::env::current_dir()?;
    let greeting = std::env::var("GREETING")?;
    Ok(format!("{greeting} from {}", folder.display()))
}

/// Not a test of its own: the server.
#[test]
fn the_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime
        .block_on(petalflow_mcp::serve(tools![place]).stdio())
        .expect("the client speaks MCP");
    // The test harness must not print more to standard output.
    std::process::exit(0);
}

#[tokio::test]
async fn f44_an_agent_has_the_tools_of_the_servers_of_its_editor() {
    let dir = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new([Reply::call("my_server_place", json!({})), "There.".into()]);
    let program = std::env::current_exe().unwrap();
    let child = McpServerStdio::new("my server", program)
        .args(
            ["--exact", "mcp::the_child", "--nocapture"]
                .map(String::from)
                .to_vec(),
        )
        .env(vec![
            EnvVariable::new(CHILD, "1"),
            EnvVariable::new("GREETING", "Hello"),
        ]);
    let editor = Editor::default();
    editor
        .with(server(Agent::new(model.clone())), async |editor| {
            editor.initialize(false).await;
            let request =
                NewSessionRequest::new(dir.path()).mcp_servers(vec![McpServer::Stdio(child)]);
            let created = editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap();
            soon(editor.prompt(&created.session_id, "Where?"))
                .await
                .unwrap();
        })
        .await;
    let updates = editor.updates();
    let result = of(&updates, "tool_call_update")[0];
    let folder = dir.path().canonicalize().unwrap();
    assert_eq!(
        result["rawOutput"]["output"],
        format!("Hello from {}", folder.display()),
        "{updates:?}"
    );
    let request = model.requests().remove(0);
    let names: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["my_server_place"]);
}

#[tokio::test]
async fn f44_an_agent_has_the_tools_of_servers_over_http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = petalflow_mcp::serve(tools![greet])
        .authenticate(|headers| headers.get("authorization") == Some("Bearer key-7"));
    let serving = tokio::spawn(serving.http(listener, []));
    let named = |header: &str| {
        McpServer::Http(
            McpServerHttp::new("far away", format!("http://{address}/mcp"))
                .headers(vec![HttpHeader::new("authorization", header)]),
        )
    };
    let model = ScriptedModel::new([Reply::call("far_away_greet", json!({})), "There.".into()]);
    let editor = Editor::default();
    editor
        .with(server(Agent::new(model.clone())), async |editor| {
            let answer = editor.initialize(false).await;
            assert!(answer.agent_capabilities.mcp_capabilities.http);
            assert!(!answer.agent_capabilities.mcp_capabilities.sse);
            let request = NewSessionRequest::new("/").mcp_servers(vec![named("Bearer key-7")]);
            let created = editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap();
            soon(editor.prompt(&created.session_id, "Greet me."))
                .await
                .unwrap();
        })
        .await;
    let updates = editor.updates();
    assert_eq!(
        of(&updates, "tool_call_update")[0]["rawOutput"]["output"],
        "Hello from far away",
        "{updates:?}"
    );
    serving.abort();
}

/// Greets.
#[tool]
fn greet() -> String {
    "Hello from far away".into()
}
