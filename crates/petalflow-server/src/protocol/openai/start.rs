//! The start of the turn of a request.

use std::sync::Arc;

use petalflow_agent::ClientSettings;
use petalflow_llm::ChatMessage;
use serde_json::{Map, Value};

use super::answers::{self, Continues, SentResult};
use super::calls::RESERVED;
use super::error::ApiError;
use crate::access::Access;
use crate::protocol::turn::{NewThread, Turn, TurnInput};
use crate::served::{Labels, ServedThreads};
use crate::server::Inner;
use crate::threads::start::Starter;

/// The label with the user of a request.
pub(super) const USER: &str = "user";

/// A request of a client that has the conversation itself.
pub(super) struct Start {
    /// All messages.
    pub(super) messages: Vec<ChatMessage>,
    pub(super) settings: ClientSettings,
    pub(super) labels: Labels,
    /// The results at the end of the messages.
    pub(super) results: Vec<SentResult>,
    /// Who sends the request.
    pub(super) starter: Starter,
}

/// Begins the turn: the next one of a thread that waits for the results, or the first one of a new thread with all messages as its
/// history.
pub(super) async fn begin(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    start: Start,
) -> Result<Turn, ApiError> {
    if let Some(continues) =
        answers::find(server, &start.starter.access, flow, &start.results).await?
    {
        return go_on(server, flow, continues, start.settings).await;
    }
    // The thread has the call that the request is about; the messages do not.
    if let Some(call) = answered_request(&start) {
        return Err(ApiError::conflict(format!(
            "nothing waits for the result of the call `{call}`: it was answered before, or its thread was deleted"
        ))
        .with_code("already_answered"));
    }
    let new = NewThread {
        id: None,
        input: TurnInput {
            messages: start.messages,
            client: start.settings,
            ..TurnInput::default()
        },
        labels: start.labels,
        starter: start.starter,
    };
    Ok(Turn::begin_thread(server, flow, new).await?)
}

/// The id of the first result that is the answer to a request to a person.
fn answered_request(start: &Start) -> Option<&str> {
    let mut results = start.results.iter().map(|result| &*result.call);
    let is_request = |id: &str| {
        let mut calls = start.messages.iter().flat_map(ChatMessage::calls);
        calls.any(|call| call.id == id && RESERVED.contains(&&*call.name))
    };
    results.find(|id| is_request(id))
}

/// Begins the turn of a thread that waits for these results.
pub(super) async fn go_on(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    continues: Continues,
    client: ClientSettings,
) -> Result<Turn, ApiError> {
    match continues {
        Continues::Answers { thread, answers } => {
            let input = TurnInput {
                client,
                answers,
                ..TurnInput::default()
            };
            Ok(Turn::begin_on(server, flow, thread, input).await?)
        }
        Continues::Question {
            thread,
            question,
            body,
        } => Ok(Turn::answer(server, flow, thread, question, body).await?),
    }
}

/// The labels of a thread: the user and the metadata of a request. If the label `user` says whose thread it is, the program has
/// decided it, and the parameter has no effect.
pub(super) fn labels(
    user: Option<String>,
    metadata: Map<String, Value>,
    access: &Access,
) -> Result<Labels, ApiError> {
    let mut labels = Labels::new();
    for (name, value) in metadata {
        let Value::String(text) = value else {
            let text = format!("`metadata.{name}` is not a text");
            return Err(ApiError::param("metadata", text));
        };
        labels.insert(name, text);
    }
    let is_decided = access.required().is_some_and(|(name, _)| name == USER);
    if let Some(user) = user.filter(|_| !is_decided) {
        labels.insert(USER.to_string(), user);
    }
    Ok(labels)
}
