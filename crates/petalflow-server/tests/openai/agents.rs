//! The agents of these tests, and requests to them.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmError, LlmRequest, Part, Reply, Role, ScriptedModel, TokenUsage};
use petalflow_server::{Server, ServerBuilder};
use serde_json::{Value, json};

use crate::kit::{Response, call, send};

/// The usage of each model call.
const USED: TokenUsage = TokenUsage {
    input: 10,
    output: 4,
    total: 14,
    cached: 3,
    cache_writes: 0,
    cache_writes_1h: 0,
    input_audio: 0,
    reasoning: 1,
    output_audio: 0,
    cost: 0.0,
};

/// An agent that does what the last text of the user says. It deletes files once a person has confirmed it.
pub(crate) fn guide() -> (Agent, ScriptedModel) {
    let model = ScriptedModel::from_fn(|request| answer(request).with_usage(USED));
    let wipe = FuncTool::new("wipe", "Deletes all files.", |_: Value| async {
        Ok("gone")
    });
    let wipe = wipe.confirm_if(|_| Some("Delete all files?".into()));
    let look = FuncTool::new("look", "Looks around.", |_: Value| async { Ok("a river") });
    let wait = FuncTool::new("wait", "Waits.", |_: Value| {
        std::future::pending::<petalflow::Result<String>>()
    });
    let agent = Agent::new(model.clone()).tool(wipe).tool(look).tool(wait);
    let agent = agent.streaming();
    (agent, model)
}

fn answer(request: &LlmRequest) -> Reply {
    let last = request.messages.last().expect("there is a message");
    if last.role == Role::Tool {
        let results: Vec<String> = last
            .tool_results()
            .map(|result| format!("{}: {}", result.name, text(&result.content)))
            .collect();
        return Reply::text(format!("I got {}.", results.join(" and ")));
    }
    match &*last.text() {
        "look" => Reply::call("look", json!({})),
        "wait" => Reply::text("One moment.").and_call("wait", json!({})),
        "wipe" => Reply::call("wipe", json!({})),
        "where" => Reply::call("locate", json!({ "precise": true })),
        "both" => Reply::call("locate", json!({})).and_call("look", json!({})),
        "refuse" => Reply::text("I will not say that.").with_finish(FinishReason::Refusal),
        "long" => Reply::text("And so").with_finish(FinishReason::Length),
        "fail" => Reply::text("").broken(LlmError::request("the key of the model is wrong")),
        "think" => Reply::chunks([
            petalflow_llm::stream::Delta::Thought("It is a greeting.".into()),
            petalflow_llm::stream::Delta::Text("Hello.".into()),
        ]),
        "draw" => Reply::text("Here:").and(Part::Media(Media {
            media_type: "image/gif".into(),
            source: MediaSource::Base64(crate::asking::DOT.into()),
            origin: None,
        })),
        "system" => Reply::text(request.system.clone().unwrap_or_default()),
        "history" => Reply::text(format!("{} messages", request.messages.len())),
        "settings" => Reply::text(format!(
            "{:?} {:?} {:?} {:?}",
            request.temperature, request.max_tokens, request.stop, request.json_schema
        )),
        _ => Reply::chunks(["Good ", "morning."]),
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), String::from)
}

/// The tool that the client runs.
pub(crate) fn locate() -> Value {
    json!({ "type": "function", "function": {
        "name": "locate",
        "description": "Where the person is.",
        "parameters": { "type": "object", "properties": { "precise": { "type": "boolean" } } },
    } })
}

pub(crate) fn builder(agent: &Agent) -> ServerBuilder {
    Server::builder(&InMemoryStore::new()).agent("guide", agent)
}

/// The addresses, without a token.
pub(crate) fn open(agent: &Agent) -> Router {
    let server = builder(agent).threads(TriggerAuth::None).openai().build();
    server.expect("the settings are right").router()
}

pub(crate) async fn post(router: &Router, path: &str, body: Value) -> Response {
    call(router, "POST", path, body).await
}

/// The data of the server-sent events of a response.
pub(crate) fn sse(response: &Response) -> Vec<String> {
    let lines = response.text.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    data.map(String::from).collect()
}

/// Sends JSON with headers.
pub(crate) async fn post_with(
    router: &Router,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Response {
    let mut request = Request::post(path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_string()));
    send(router, request.expect("a request")).await
}
