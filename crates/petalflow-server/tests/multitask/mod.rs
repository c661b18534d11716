//! Messages to an agent while it works, over each address of a server.

mod http;
#[cfg(all(feature = "a2a", feature = "ag-ui", feature = "openai"))]
mod protocols;
#[cfg(all(feature = "a2a", feature = "ag-ui", feature = "openai"))]
mod queued;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_agent::guardrail::{self, Verdict};
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_server::{MultitaskStrategy, ServedFlow, Server, ServerBuilder};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::kit::{Response, call, get};

/// An agent whose tool works until the test lets it end.
struct Worker {
    agent: Agent,
    model: ScriptedModel,
    /// The tool has begun.
    begun: Arc<Notify>,
    /// Lets the tool end.
    go: Arc<Notify>,
}

fn worker() -> Worker {
    let model = ScriptedModel::from_fn(reply);
    let (begun, go) = (Arc::<Notify>::default(), Arc::<Notify>::default());
    let (is_begun, may_end) = (Arc::clone(&begun), Arc::clone(&go));
    let work = FuncTool::new("work", "Works.", move |_: Value| {
        let (is_begun, may_end) = (Arc::clone(&is_begun), Arc::clone(&may_end));
        async move {
            is_begun.notify_one();
            may_end.notified().await;
            Ok("worked")
        }
    });
    Worker {
        agent: Agent::new(model.clone()).tool(work),
        model,
        begun,
        go,
    }
}

/// Works if the last message says so. Otherwise it repeats all messages of the user since its last answer.
fn reply(request: &LlmRequest) -> Reply {
    let last = request.messages.last().expect("there is a message");
    if last.role == Role::User && last.text() == "work" {
        return Reply::call("work", json!({}));
    }
    let since = request.messages.iter().rev();
    let since = since.take_while(|it| it.role != Role::Assistant || it.calls().next().is_some());
    let said: Vec<String> = since
        .filter(|it| it.role == Role::User)
        .map(ChatMessage::text)
        .collect();
    let said: Vec<&str> = said.iter().rev().map(String::as_str).collect();
    Reply::text(format!("You said {}.", said.join(", ")))
}

fn builder(store: &InMemoryStore, agent: &Agent, strategy: MultitaskStrategy) -> ServerBuilder {
    let served = ServedFlow::agent(agent).named("worker").multitask(strategy);
    Server::builder(store)
        .serve_flow(served)
        .threads(TriggerAuth::None)
}

fn server(worker: &Worker, strategy: MultitaskStrategy) -> Server {
    let builder = builder(&InMemoryStore::new(), &worker.agent, strategy);
    builder.build().expect("the settings are right")
}

/// Begins a thread of one finished turn, and a second turn in which the tool works.
async fn begin(worker: &Worker, router: &Router) {
    let body = json!({ "id": "a", "input": "hello" });
    let started = call(router, "POST", "/flows/worker/threads", body).await;
    assert_eq!(started.thread(), "worker:a");
    says(router, &["hello", "You said hello."]).await;
    assert_eq!(
        turn(router, "work", None).await.status,
        StatusCode::ACCEPTED
    );
    worker.begun.notified().await;
}

async fn turn(router: &Router, text: &str, strategy: Option<&str>) -> Response {
    let body = json!({ "input": text, "multitask_strategy": strategy });
    call(router, "POST", "/threads/worker:a/turns", body).await
}

/// The texts of the conversation, without calls and results.
fn texts(view: &Value) -> Vec<String> {
    let events = view["state"]["events"].as_array().into_iter().flatten();
    let messages = events
        .filter_map(|event| serde_json::from_value::<ChatMessage>(event["message"].clone()).ok());
    let texts = messages.map(|message| message.text());
    texts.filter(|text| !text.is_empty()).collect()
}

async fn view(router: &Router) -> Value {
    get(router, "/threads/worker:a").await.json()
}

/// Waits until the thread has finished with these texts.
async fn says(router: &Router, expected: &[&str]) {
    let mut last = Value::Null;
    for _ in 0..3_000 {
        last = view(router).await;
        if last["status"] == "finished" && texts(&last) == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?} instead of {expected:?}: {last}", texts(&last));
}

/// As [`worker`], but its answers wait until the test lets them pass.
fn slow_to_answer() -> Worker {
    let worker = worker();
    let (begun, go) = (Arc::clone(&worker.begun), Arc::clone(&worker.go));
    let slow = guardrail::on_output("slow", move |message: ChatMessage| {
        let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
        async move {
            if message.text().contains("slowly") {
                begun.notify_one();
                go.notified().await;
            }
            Ok(Verdict::Pass)
        }
    });
    Worker {
        agent: worker.agent.clone().guardrail(slow),
        ..worker
    }
}
