//! The runs of agents that a session's agent has called, as the store has them. When an agent has answered, the conversation of its caller
//! has its events, too.

use std::collections::HashSet;

use petalflow::event::Namespace;
use petalflow::thread::StoredSubflowRun;
use petalflow::tool::ToolCall;
use petalflow_agent::AgentEvent;
use serde_json::Value;

/// The key of a conversation that has its events.
const EVENTS: &str = "events";

/// The run of a called agent.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) namespace: Namespace,
    pub(crate) events: Vec<AgentEvent>,
    /// What the agent was asked.
    request: String,
}

impl Called {
    /// The run of an agent in this sub-flow. `None` if it is one of another flow, or of another version of events.
    pub(crate) fn of(run: &StoredSubflowRun) -> Option<Self> {
        let events = run.keys.get(EVENTS)?.clone();
        let events: Vec<AgentEvent> = serde_json::from_value(events).ok()?;
        let request = events.iter().find(|event| event.is_from_user())?.text();
        Some(Called {
            // Only its identity counts.
            namespace: Namespace::ROOT.child(&run.namespace, None),
            events,
            request,
        })
    }

    /// Whether this call has begun the run.
    fn is_of(&self, call: &ToolCall) -> bool {
        let is_author = self.events.iter().any(|event| event.author == call.name);
        let has_request = |value: &Value| match value {
            Value::String(text) => self.request.contains(&**text),
            _ => false,
        };
        is_author
            && call
                .arguments
                .as_object()
                .is_some_and(|fields| fields.values().any(has_request))
    }
}

/// Removes the runs whose events are among these: a conversation has those of the agents that have answered.
pub(crate) fn forget(runs: &mut Vec<Called>, events: &[AgentEvent]) {
    let known: HashSet<&str> = events.iter().map(|event| &*event.id).collect();
    runs.retain(|run| !run.events.iter().any(|event| known.contains(&*event.id)));
}

/// Takes the oldest run that this call has begun.
pub(crate) fn take(runs: &mut Vec<Called>, call: &ToolCall) -> Option<Called> {
    let index = runs.iter().position(|run| run.is_of(call))?;
    Some(runs.remove(index))
}
