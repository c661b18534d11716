//! The JSON-RPC binding.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::agent::agent;
use super::error::{A2aError, ErrorKind};
use super::methods::Agent;
use super::rest;
use super::stream::TaskStream;
use crate::request;
use crate::server::Inner;

/// A request of JSON-RPC.
#[derive(Debug, Deserialize)]
struct Call {
    jsonrpc: String,
    /// A request without one is a notification, which no method of the protocol is.
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Value,
}

/// The result of a method.
enum Outcome {
    Value(Value),
    Stream(TaskStream),
}

/// Calls a method.
pub(super) async fn call(
    State(server): State<Arc<Inner>>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let (id, outcome) = Box::pin(read_and_run(server, &name, request)).await;
    match outcome {
        Ok(Outcome::Value(result)) => Json(success(&id, result)).into_response(),
        Ok(Outcome::Stream(responses)) => events(id, responses),
        Err(error) => Json(failure(&id, &error)).into_response(),
    }
}

async fn read_and_run(
    server: Arc<Inner>,
    name: &str,
    request: Request,
) -> (Value, Result<Outcome, A2aError>) {
    let agent = agent(Arc::clone(&server), name, &request);
    let limit = server.settings.limits.max_input_bytes;
    let body = match request::whole(request, limit, &server).await {
        Ok(body) => body,
        Err(refusal) => return (Value::Null, Err(refusal.into())),
    };
    let value: Value = match serde_json::from_slice(&body) {
        Ok(value) => value,
        Err(error) => {
            let text = format!("the body is no JSON: {error}");
            return (Value::Null, Err(ErrorKind::ParseError.with(text)));
        }
    };
    let id = value["id"].clone();
    let call: Call = match serde_json::from_value(value) {
        Ok(call) => call,
        Err(error) => {
            let text = format!("the body is no request of JSON-RPC: {error}");
            return (id, Err(ErrorKind::InvalidRequest.with(text)));
        }
    };
    let outcome = match agent {
        Ok(agent) => run(&agent, call).await,
        Err(error) => Err(error),
    };
    (id, outcome)
}

async fn run(agent: &Agent, call: Call) -> Result<Outcome, A2aError> {
    let is_id = call.id.is_string() || call.id.is_number();
    if call.jsonrpc != "2.0" || !is_id {
        let text = "`jsonrpc` is `2.0`, and `id` is a text or a number";
        return Err(ErrorKind::InvalidRequest.with(text));
    }
    let params = call.params;
    match &*call.method {
        "SendMessage" => agent.send(read(params)?).await.map(Outcome::Value),
        "SendStreamingMessage" => agent.stream(read(params)?).await.map(Outcome::Stream),
        "GetTask" => agent.get(read(params)?).await.map(Outcome::Value),
        "ListTasks" => agent.list(read(params)?).await.map(Outcome::Value),
        "CancelTask" => agent.cancel(read(params)?).await.map(Outcome::Value),
        "SubscribeToTask" => agent.subscribe(read(params)?).await.map(Outcome::Stream),
        "GetExtendedAgentCard" => Err(rest::no_extended_card()),
        "CreateTaskPushNotificationConfig"
        | "GetTaskPushNotificationConfig"
        | "ListTaskPushNotificationConfigs"
        | "DeleteTaskPushNotificationConfig" => Err(rest::no_push()),
        other => Err(ErrorKind::MethodNotFound.with(format!("there is no method `{other}`"))),
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, A2aError> {
    serde_json::from_value(params)
        .map_err(|error| ErrorKind::InvalidParams.with(format!("`params` cannot be read: {error}")))
}

fn success(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn failure(id: &Value, error: &A2aError) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": error.rpc() })
}

/// The stream as server-sent events, each with a response to the call.
fn events(id: Value, responses: TaskStream) -> Response {
    let events = responses.map(move |response| {
        let data = match response {
            Ok(result) => success(&id, result),
            Err(error) => failure(&id, &error),
        };
        Ok::<_, Infallible>(Event::default().data(data.to_string()))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
