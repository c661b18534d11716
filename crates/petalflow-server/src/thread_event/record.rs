//! An event of a thread.

use petalflow::event::LoggedEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::failure::NodeFailure;
use super::question::OpenInterrupt;

/// An event of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ThreadEvent {
    /// What has happened.
    #[serde(flatten)]
    kind: Kind,
    /// The sub-flow in which it happened; empty at the top.
    namespace: String,
    /// The superstep, from 1; 0 before the first one. The end of a run has the number of its last superstep.
    superstep: u64,
    /// The task, for events of a node.
    task: Option<EventTask>,
    /// When it was recorded, in milliseconds since 1970 (UTC).
    recorded_ms: u64,
    /// Whether the task begins again: an engine has run it before, and what it has emitted comes once more.
    #[serde(default, skip_serializing_if = "is_false")]
    restarts: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The task of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct EventTask {
    /// The name of the node.
    node: String,
    /// The id of the task, the same in every attempt.
    id: String,
    /// The index among the items sent to the node, if the node is the target of `each`.
    index: Option<u64>,
    /// The attempt, from 1.
    attempt: u32,
}

/// The kind of an event, with its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Kind {
    /// A run has begun.
    RunStarted {},
    /// A superstep has begun.
    SuperstepStarted {
        /// The names of the nodes, one per task.
        nodes: Vec<String>,
    },
    /// An attempt of a node has begun.
    NodeStarted {},
    /// A node has finished. Its writes are applied at the end of the superstep.
    NodeFinished {
        /// The names of the keys that it wrote.
        keys: Vec<String>,
        /// Whether the result came from the cache, without a run of the node.
        cached: bool,
    },
    /// A node has finished in an earlier run of this superstep, and does not run again.
    NodeRestored {
        /// The names of the keys that it wrote.
        keys: Vec<String>,
    },
    /// A person has decided to skip the node.
    NodeSkipped {},
    /// Nodes wait for a person, while other nodes of the superstep run. The questions can be answered now.
    Asked {
        /// What was not told before.
        interrupts: Vec<OpenInterrupt>,
    },
    /// An attempt has failed, and another one follows.
    Retry {
        /// The error of the attempt.
        error: NodeFailure,
        /// The milliseconds until the next attempt.
        wait_ms: u64,
    },
    /// A node has failed after its last attempt.
    NodeFailed {
        /// The error.
        error: NodeFailure,
    },
    /// A node has emitted a value. That of an agent or a conversation has its messages.
    Custom {
        /// The value.
        value: Value,
    },
    /// The typed answer of an agent, as far as its model has written it. Each replaces the one before of the same task; a retry
    /// of the task voids it. The event has no number, is sent only while the process of the server runs the task, and is not stored:
    /// the end of the task has the whole answer, which was checked.
    PartialOutput {
        /// The name of the agent.
        agent: String,
        /// The output function whose arguments these are, if the agent answers with one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        function: Option<String>,
        /// The answer so far: lists and texts in it grow, and numbers are there when they are complete.
        value: Value,
    },
    /// The writes of the superstep have been applied.
    SuperstepFinished {},
    /// A checkpoint of the thread was stored.
    Checkpoint {
        /// Its number.
        checkpoint: u64,
    },
    /// The run has reached its end.
    Finished {},
    /// The run has stopped, and the thread waits for a person.
    Interrupted {
        /// What it waits for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        interrupts: Vec<OpenInterrupt>,
        /// When it can continue although nobody answers, in milliseconds since 1970 (UTC).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        wakes_ms: Option<u64>,
    },
    /// The run has stopped: the thread sleeps, and waits for no person.
    Sleeping {
        /// When it continues, in milliseconds since 1970 (UTC).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u64")]
        wakes_ms: Option<u64>,
    },
    /// The run has failed, or was stopped.
    Failed {
        /// The error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        error: Option<String>,
        /// Why a run that has not failed by itself has ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "StopReason")]
        reason: Option<StopReason>,
    },
}

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StopReason {
    /// Somebody has cancelled it.
    Cancelled,
    /// Its process stops. The next process continues it.
    Drained,
}

#[cfg(feature = "agent")]
impl ThreadEvent {
    /// The event of a typed answer as far as it is known.
    pub(crate) fn partial_output(
        namespace: &petalflow::event::Namespace,
        superstep: u64,
        task: &petalflow::event::TaskInfo,
        output: &petalflow_agent::PartialOutput,
    ) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        ThreadEvent {
            kind: Kind::PartialOutput {
                agent: output.agent.clone(),
                function: output.function.clone(),
                value: output.value.clone(),
            },
            namespace: namespace.to_string(),
            superstep,
            task: Some(EventTask {
                node: task.node.to_string(),
                id: task.id.to_string(),
                index: task.index.map(|index| index as u64),
                attempt: task.attempt,
            }),
            recorded_ms: now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
            restarts: false,
        }
    }
}

/// The event for clients, with the time at which it was recorded. One of a later version of petalflow, whose kind this one does
/// not know, is sent as it was stored.
pub(crate) fn served(event: &LoggedEvent) -> Value {
    let mut stored = json!(event.value);
    stored["recorded_ms"] = event.recorded_ms.into();
    match serde_json::from_value::<ThreadEvent>(stored.clone()) {
        Ok(known) => json!(known),
        Err(_) => stored,
    }
}
