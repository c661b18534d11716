//! Agents with a server that is down.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, Conversation, ToolsUnavailable};
use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
use petalflow_mcp::{self as mcp, McpClient};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use super::{add, server};

/// Works without a server.
#[tool]
fn local() -> &'static str {
    "here"
}

/// A server that is down until it is up.
#[derive(Clone, Default)]
struct Shaky {
    up: Arc<AtomicBool>,
    dials: Arc<AtomicUsize>,
    /// The end of the server's task.
    down: Arc<tokio::sync::Notify>,
}

impl Shaky {
    fn client(&self) -> McpClient {
        let this = self.clone();
        let client = McpClient::over("sums", move || {
            let this = this.clone();
            async move {
                this.dials.fetch_add(1, SeqCst);
                if !this.up.load(SeqCst) {
                    return Err(std::io::Error::other("nobody is there"));
                }
                let (ours, theirs): (DuplexStream, DuplexStream) = tokio::io::duplex(4096);
                let serving = mcp::serve(tools![add]).over(theirs);
                tokio::spawn(async move {
                    tokio::select! {
                        _ = serving => {}
                        () = this.down.notified() => {}
                    }
                });
                Ok(ours)
            }
        });
        client.attempts(1)
    }

    fn dials(&self) -> usize {
        self.dials.load(SeqCst)
    }
}

const PROBLEM: &str = "cannot connect to MCP server `sums`: nobody is there; check that it starts and that it is an MCP server";

/// Runs the agent. Returns the problems of sources that listeners got, and the conversation.
async fn run(agent: &Agent, says: &str) -> (Vec<String>, Conversation) {
    let mut stream = agent.events(says);
    let mut problems = Vec::new();
    while let Some(item) = stream.next().await {
        match item.kind {
            AgentEventKind::Custom(custom) => {
                let unavailable: &ToolsUnavailable = custom.downcast_ref().unwrap();
                assert_eq!(unavailable.agent, "guide");
                problems.push(unavailable.problem.clone());
            }
            AgentEventKind::Finished(talk) => return (problems, *talk),
            AgentEventKind::Failed(error) => panic!("{error:?}"),
            _ => {}
        }
    }
    panic!("the stream ended before the run")
}

fn guide(model: &Arc<ScriptedModel>) -> Agent {
    Agent::new(Arc::clone(model)).name("guide")
}

fn results(talk: &Conversation) -> Vec<Value> {
    let messages = talk.events.iter().flat_map(|event| &event.message);
    let results = messages.flat_map(ChatMessage::tool_results);
    results.map(|result| result.content.clone()).collect()
}

fn tools(model: &ScriptedModel, request: usize) -> Vec<String> {
    let request = &model.requests()[request];
    request.tools.iter().map(|spec| spec.name.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_agent_with_other_tools_continues_without_those_of_the_server() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("local", json!({})),
        Reply::call("add", json!({ "a": 1, "b": 2 })),
        "I cannot add.".into(),
    ]));
    let shaky = Shaky::default();
    // The server comes before the one that works.
    let agent = guide(&model)
        .tool_source(shaky.client())
        .tool_source(server(tools![local]));
    let (problems, talk) = run(&agent, "1 + 2?").await;
    assert_eq!(talk.answer(), "I cannot add.");
    assert_eq!(problems, [PROBLEM; 3], "for each model call");
    assert_eq!(
        shaky.dials(),
        1,
        "a server that is down does not delay each step"
    );
    let words =
        format!("Some of your tools are not available now: {PROBLEM}. Use your other tools");
    assert_contains(model.requests()[0].system.as_ref().unwrap(), &words);
    assert_eq!(tools(&model, 0), ["local"]);
    let results = results(&talk);
    assert_eq!(results[0], json!({ "output": "here" }));
    assert_contains(
        &results[1]["error"].as_str().unwrap(),
        &format!(
            "tool `add` is not available now: {PROBLEM}; use another tool, or call it again later"
        ),
    );
}

#[tokio::test(start_paused = true)]
async fn the_server_is_tried_again_later() {
    let model = Arc::new(ScriptedModel::new([
        "It is down.".into(),
        "It is still down.".into(),
        Reply::call("add", json!({ "a": 1, "b": 2 })),
        "3".into(),
    ]));
    let shaky = Shaky::default();
    let agent = guide(&model).tool(local {}).tool_source(shaky.client());
    run(&agent, "1 + 2?").await;
    shaky.up.store(true, SeqCst);
    run(&agent, "1 + 2?").await;
    assert_eq!(shaky.dials(), 1, "not within ten seconds");
    tokio::time::advance(Duration::from_secs(10)).await;
    let (problems, talk) = run(&agent, "1 + 2?").await;
    assert!(problems.is_empty());
    assert_eq!(results(&talk), [json!({ "output": { "sum": 3 } })]);
    assert_eq!(tools(&model, 3), ["local", "add"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_in_the_middle_of_a_turn_does_not_end_it() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("add", json!({ "a": 1, "b": 2 })),
        Reply::call("add", json!({ "a": 3, "b": 4 })).and_call("local", json!({})),
        "Half of it.".into(),
    ]));
    let shaky = Shaky::default();
    shaky.up.store(true, SeqCst);
    let dies = shaky.clone();
    let agent = guide(&model)
        .tool(local {})
        .tool_source(shaky.client())
        .after_model(move |call, _| {
            // After the second answer.
            if call.conversation().events.len() > 2 {
                dies.up.store(false, SeqCst);
                dies.down.notify_one();
            }
            Ok(None)
        })
        .callbacks(Settle);
    let (problems, talk) = run(&agent, "sums").await;
    assert_eq!(talk.answer(), "Half of it.");
    assert_eq!(problems, [PROBLEM]);
    let results = results(&talk);
    assert_eq!(results[0], json!({ "output": { "sum": 3 } }));
    let error = results[1]["error"].as_str().unwrap();
    assert_contains(&error, "MCP server `sums`");
    for name in ["rmcp", "Transport", "Worker", "hung up"] {
        assert!(!error.contains(name), "{error}");
    }
    assert_eq!(results[2], json!("here"));
}

/// Lets the server's task end before a tool is called.
struct Settle;

#[petalflow::async_trait]
impl petalflow_agent::extension::Callbacks for Settle {
    async fn after_model(
        &self,
        _: &mut petalflow_agent::extension::ModelCall<'_>,
        _: &petalflow_llm::LlmResponse,
    ) -> Result<Option<petalflow_llm::LlmResponse>, petalflow::BoxError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(None)
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_other_tools_fails_and_its_retries_ask_the_server_again() {
    let model = Arc::new(ScriptedModel::new(["never"]));
    let shaky = Shaky::default();
    let agent = guide(&model).tool_source(shaky.client());
    let error = agent.run("1 + 2?").await.unwrap_err();
    assert_contains(&format!("{error:?}"), PROBLEM);
    assert!(model.requests().is_empty());
    let agent = agent.retry(Retry::attempts(3));
    agent.run("1 + 2?").await.unwrap_err();
    assert_eq!(shaky.dials(), 4);
}
