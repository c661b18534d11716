//! The end of a turn: its outcome, what it waits for, and what it has used.

use petalflow::tool::ToolCall;
use petalflow_agent::{ClientSettings, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::served::ServedThreads;

/// The end of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnEnd {
    pub(crate) outcome: TurnOutcome,
    /// What the conversation waits for, in the order of the requests.
    pub(crate) pending: Vec<TurnPending>,
    /// What the client has added to the turn.
    pub(crate) client: ClientSettings,
    /// The questions and approvals that the flow waits for, as [`Interrupt`](petalflow::interrupt::Interrupt) is serialized.
    pub(crate) interrupts: Vec<Value>,
    /// What the turn has used, with the agents that were called. Zero for a conversation of a document, which does not
    /// count.
    pub(crate) usage: Usage,
    /// The state of the conversation: that of an agent, or the values of a conversation of a document.
    pub(crate) state: Map<String, Value>,
    /// The checkpoint at the end.
    pub(crate) checkpoint: Option<u64>,
}

/// How a turn has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnOutcome {
    /// It has an answer, or waits: then something is pending.
    Finished,
    /// The flow waits for answers to questions.
    Interrupted,
    /// It has failed, with the cause.
    Failed(String),
    Cancelled,
    /// The server stops. The next process continues the turn.
    Stopped,
}

/// What a conversation waits for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum TurnPending {
    /// A person must decide about a call.
    Confirmation {
        id: String,
        call: ToolCall,
        text: String,
    },
    Credential {
        id: String,
        request: Value,
    },
    /// The result of a call comes later, or from the client.
    Result {
        id: String,
        call: ToolCall,
    },
    Other {
        text: String,
    },
}

/// What a thread waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) pending: Vec<TurnPending>,
    /// The ids of the questions and approvals of its flow.
    pub(crate) questions: Vec<String>,
}

impl TurnPending {
    /// The id to answer.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            TurnPending::Confirmation { id, .. }
            | TurnPending::Credential { id, .. }
            | TurnPending::Result { id, .. } => Some(id),
            TurnPending::Other { .. } => None,
        }
    }
}

/// The end of a turn with this outcome, from its last checkpoint. If that was removed, from the thread as it is now.
pub(super) async fn read(
    flow: &dyn ServedThreads,
    thread: &str,
    checkpoint: Option<u64>,
    outcome: TurnOutcome,
    interrupts: Vec<Value>,
) -> Result<TurnEnd, Refusal> {
    let view = match flow.view(thread, checkpoint).await {
        Ok(view) => view,
        Err(_) if checkpoint.is_some() => flow.view(thread, None).await?,
        Err(refusal) => return Err(refusal),
    };
    let mut state = view
        .map(|mut view| view["state"].take())
        .unwrap_or_default();
    let mut take = |key: &str| state.get_mut(key).map(Value::take).unwrap_or_default();
    let values = match (take("state"), take("values")) {
        (Value::Object(values), _) | (_, Value::Object(values)) => values,
        _ => Map::new(),
    };
    Ok(TurnEnd {
        client: serde_json::from_value(take("client")).unwrap_or_default(),
        outcome,
        pending: serde_json::from_value(take("pending")).unwrap_or_default(),
        interrupts,
        usage: serde_json::from_value(take("turn_spent")).unwrap_or_default(),
        state: values,
        checkpoint,
    })
}

/// What a thread currently waits for. `None` if there is no such thread.
pub(super) async fn waiting(
    flow: &dyn ServedThreads,
    thread: &str,
) -> Result<Option<Waiting>, Refusal> {
    let Some(mut view) = flow.view(thread, None).await? else {
        return Ok(None);
    };
    let pending = view["state"]["pending"].take();
    let questions = view["questions"].as_array().into_iter().flatten();
    let questions = questions.filter_map(|question| Some(question["id"].as_str()?.to_string()));
    Ok(Some(Waiting {
        questions: questions.collect(),
        pending: serde_json::from_value(pending).unwrap_or_default(),
    }))
}
