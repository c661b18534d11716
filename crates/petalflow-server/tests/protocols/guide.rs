//! The agent of these tests, and a client that others have written.

use std::process::Output;
use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmError, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_server::{Server, ServerBuilder};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::Notify;

/// An agent that does what the last text of the user says. It deletes files once a person has confirmed it.
pub(crate) struct Guide {
    pub(crate) agent: Agent,
    pub(crate) model: ScriptedModel,
    /// Ends a call of the tool `wait`.
    pub(crate) go: Arc<Notify>,
}

pub(crate) fn guide() -> Guide {
    let model = ScriptedModel::from_fn(answer);
    let wipe = FuncTool::new("wipe", "Deletes all files.", |_: Value| async {
        Ok("gone")
    });
    let wipe = wipe.confirm_if(|_| Some("Delete all files?".into()));
    let look = FuncTool::new("look", "Looks around.", |_: Value| async { Ok("a river") });
    let go = Arc::<Notify>::default();
    let waited = Arc::clone(&go);
    let wait = FuncTool::new("wait", "Waits.", move |_: Value| {
        let waited = Arc::clone(&waited);
        async move {
            waited.notified().await;
            Ok("enough")
        }
    });
    let agent = Agent::new(model.clone()).tool(wipe).tool(look).tool(wait);
    Guide {
        agent: agent.streaming(),
        model,
        go,
    }
}

fn answer(request: &LlmRequest) -> Reply {
    let last = request.messages.last().expect("there is a message");
    if last.role == Role::Tool {
        let results: Vec<String> = last
            .tool_results()
            .map(|result| match &result.content {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        return Reply::text(format!("I got {}.", results.join(" and ")));
    }
    match &*last.text() {
        "look" => Reply::call("look", json!({})),
        "wait" => Reply::text("One moment.").and_call("wait", json!({})),
        "wipe" => Reply::call("wipe", json!({})),
        "where" => Reply::call("locate", json!({ "precise": true })),
        "refuse" => Reply::text("I cannot.").with_finish(FinishReason::Refusal),
        "fail" => Reply::from(LlmError::request("the model is down")),
        "count" => Reply::text(request.messages.len().to_string()),
        text => Reply::chunks(["You said ", &*format!("{text}.")]),
    }
}

pub(crate) fn builder(store: &(impl Store + Clone), agent: &Agent) -> ServerBuilder {
    Server::builder(store)
        .agent("guide", agent)
        .threads(TriggerAuth::None)
}

/// Serves the agent with a token, as this makes it, and runs a program with the address and the token.
pub(crate) async fn with_client(
    guide: &Guide,
    serve: impl FnOnce(ServerBuilder, &str) -> ServerBuilder,
    mut program: Command,
) -> Output {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    let auth = TriggerAuth::HeaderToken {
        header: "X-Token".into(),
        token: "secret".into(),
    };
    let builder = builder(&InMemoryStore::new(), &guide.agent).threads(auth);
    let server = serve(builder, &url).build();
    let server = server.expect("the settings are right");
    let serving = tokio::spawn(server.serve(listener, std::future::pending()));
    let output = program.args([&url, "secret"]).kill_on_drop(true).output();
    let output = tokio::time::timeout(std::time::Duration::from_mins(1), output).await;
    serving.abort();
    output.expect("in time").expect("it starts")
}

/// The lines that a client has printed.
pub(crate) fn lines(output: &Output) -> Vec<String> {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "after {out}: {err}");
    out.lines().map(String::from).collect()
}
