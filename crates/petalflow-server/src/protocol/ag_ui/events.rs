//! From the items of a turn to the events of a run.

use petalflow::tool::{ToolCall, ToolResult};
use petalflow_agent::Pending;
use serde_json::{Map, Value, json};

use super::thread::{is_request, text};
use crate::protocol::turn::{ItemKind, MessageEnd, TurnEnd, TurnItem, TurnOutcome};
use crate::protocol::waits::{self, Wait};

/// The version of the protocol.
const VERSION: &str = "1.0";

/// A run, as its client knows it.
#[derive(Clone, Debug)]
pub(super) struct RunIds {
    pub(super) thread: String,
    pub(super) run: String,
    pub(super) parent: Option<String>,
}

/// Makes the events of a run. They are the same each time that the run is read, except for the limits of pieces.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) ids: RunIds,
    /// The number of the last event before the turn: ids of messages begin with it.
    turn: u64,
    /// The number of messages.
    count: usize,
    /// The open message with text.
    text: Option<String>,
    /// The open message with reasoning.
    reasoning: Option<String>,
    /// The message that calls belong to.
    parent: Option<String>,
    /// The agent whose step is open.
    step: Option<String>,
    /// The state that the client has.
    state: Value,
    /// Why the newest message is missing.
    error: Option<String>,
}

impl RunIds {
    fn event(&self, kind: &str) -> Value {
        json!({ "type": kind, "threadId": self.thread, "runId": self.run })
    }

    pub(super) fn started(&self) -> Value {
        let mut event = self.event("RUN_STARTED");
        event["protocolVersion"] = VERSION.into();
        if let Some(parent) = &self.parent {
            event["parentRunId"] = parent.as_str().into();
        }
        event
    }

    /// The event of a run that waits for the end of another one.
    pub(super) fn queued() -> Value {
        json!({ "type": "CUSTOM", "name": "queued", "value": {} })
    }

    pub(super) fn cancelled(&self) -> Value {
        let mut event = self.event("RUN_FINISHED");
        event["outcome"] = json!({ "type": "cancelled" });
        event
    }

    /// The end of a run that did not fail: `waits` has what it waits for.
    pub(super) fn finished(&self, waits: &[Wait], client_calls: Vec<String>) -> Value {
        let mut event = self.event("RUN_FINISHED");
        event["outcome"] = if waits.is_empty() {
            let mut outcome = json!({ "type": "success" });
            if !client_calls.is_empty() {
                outcome["pendingToolCallIds"] = client_calls.into();
            }
            outcome
        } else {
            let interrupts: Vec<Value> = waits.iter().map(interrupt).collect();
            json!({ "type": "interrupt", "interrupts": interrupts })
        };
        event
    }
}

/// What the client is asked.
fn interrupt(wait: &Wait) -> Value {
    let mut interrupt = json!({
        "id": wait.id,
        "reason": wait.kind.as_str(),
        "message": wait.text,
        "responseSchema": wait.schema,
        "metadata": { "request": wait.data },
    });
    if let Some(call) = wait.data["id"]
        .as_str()
        .filter(|_| wait.data["name"].is_string())
    {
        interrupt["toolCallId"] = call.into();
    }
    interrupt
}

impl Events {
    pub(super) fn new(ids: RunIds) -> Self {
        Events {
            ids,
            turn: 0,
            count: 0,
            text: None,
            reasoning: None,
            parent: None,
            step: None,
            state: json!({}),
            error: None,
        }
    }

    /// The turn begins after this event. `state` is that of the conversation.
    pub(super) fn begin(&mut self, after: u64, state: Map<String, Value>) -> Value {
        (self.turn, self.state) = (after, state.into());
        json!({ "type": "STATE_SNAPSHOT", "snapshot": self.state })
    }

    /// The events for an item. Called agents do not speak with the user.
    pub(super) fn read(&mut self, item: TurnItem) -> Vec<Value> {
        if let ItemKind::End(end) = item.kind {
            return self.end(*end);
        }
        if item.voice.is_called() {
            return Vec::new();
        }
        let mut events = self.enter(&item.voice.agent);
        match item.kind {
            ItemKind::Text(delta) => self.text(&delta, &mut events),
            ItemKind::Thought(delta) => self.thought(&delta, &mut events),
            ItemKind::Call(call) => self.call(&call, &mut events),
            ItemKind::Result(result) => Self::result(&result, &mut events),
            ItemKind::Media(media) => {
                events.push(json!({ "type": "CUSTOM", "name": "media", "value": media }));
            }
            ItemKind::State(changes) => events.extend(self.change_state(changes)),
            ItemKind::MessageEnd(end) => self.end_message(*end, &mut events),
            ItemKind::End(_) => {}
        }
        events
    }

    /// Begins the step of an agent.
    fn enter(&mut self, agent: &str) -> Vec<Value> {
        if agent.is_empty() || self.step.as_deref() == Some(agent) {
            return Vec::new();
        }
        let mut events = self.leave();
        events.push(json!({ "type": "STEP_STARTED", "stepName": agent }));
        self.step = Some(agent.to_string());
        events
    }

    /// Ends what is open.
    fn leave(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        self.close(&mut events);
        self.parent = None;
        let step = self.step.take();
        events.extend(step.map(|step| json!({ "type": "STEP_FINISHED", "stepName": step })));
        events
    }

    fn close(&mut self, events: &mut Vec<Value>) {
        self.close_reasoning(events);
        let text = self.text.take();
        events.extend(text.map(|id| json!({ "type": "TEXT_MESSAGE_END", "messageId": id })));
    }

    fn close_reasoning(&mut self, events: &mut Vec<Value>) {
        if let Some(id) = self.reasoning.take() {
            events.push(json!({ "type": "REASONING_MESSAGE_END", "messageId": id }));
            events.push(json!({ "type": "REASONING_END", "messageId": id }));
        }
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        format!("{}-{}-{}", self.ids.run, self.turn, self.count)
    }

    fn text(&mut self, delta: &str, events: &mut Vec<Value>) {
        if delta.is_empty() {
            return;
        }
        self.close_reasoning(events);
        let id = if let Some(id) = &self.text {
            id.clone()
        } else {
            let id = self.next_id();
            (self.text, self.parent) = (Some(id.clone()), Some(id.clone()));
            events.push(
                json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant" }),
            );
            id
        };
        events.push(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta }));
    }

    fn thought(&mut self, delta: &str, events: &mut Vec<Value>) {
        if delta.is_empty() {
            return;
        }
        let id = if let Some(id) = &self.reasoning {
            id.clone()
        } else {
            let id = self.next_id();
            self.reasoning = Some(id.clone());
            events.push(json!({ "type": "REASONING_START", "messageId": id }));
            events.push(
                json!({ "type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning" }),
            );
            id
        };
        events
            .push(json!({ "type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": delta }));
    }

    fn call(&mut self, call: &ToolCall, events: &mut Vec<Value>) {
        if is_request(&call.name) {
            return;
        }
        self.close(events);
        let parent = match &self.parent {
            Some(parent) => parent.clone(),
            None => self.next_id(),
        };
        self.parent = Some(parent.clone());
        let id = &call.id;
        let arguments = call.arguments.to_string();
        events.push(json!({
            "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": call.name, "parentMessageId": parent,
        }));
        events.push(json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": arguments }));
        events.push(json!({ "type": "TOOL_CALL_END", "toolCallId": id }));
    }

    fn result(result: &ToolResult, events: &mut Vec<Value>) {
        if is_request(&result.name) {
            return;
        }
        events.push(json!({
            "type": "TOOL_CALL_RESULT",
            "messageId": format!("{}-result", result.call_id),
            "toolCallId": result.call_id,
            "content": text(&result.content),
            "role": "tool",
        }));
    }

    fn end_message(&mut self, end: MessageEnd, events: &mut Vec<Value>) {
        if let Some(refusal) = end.refusal.filter(|_| self.text.is_none()) {
            self.text(&refusal, events);
        }
        self.close(events);
        self.parent = None;
        if !end.is_void {
            if !end.cited.is_empty() {
                events.push(json!({ "type": "CUSTOM", "name": "citations", "value": end.cited }));
            }
            self.error = end.error;
        }
    }

    /// The difference to the state that the client has.
    fn change_state(&mut self, changes: Map<String, Value>) -> Option<Value> {
        let mut state = self.state.clone();
        if let Some(keys) = state.as_object_mut() {
            keys.extend(changes);
        }
        self.set_state(state)
    }

    fn set_state(&mut self, state: Value) -> Option<Value> {
        let delta = json_patch::diff(&self.state, &state);
        self.state = state;
        (!delta.0.is_empty()).then(|| json!({ "type": "STATE_DELTA", "delta": delta }))
    }

    fn end(&mut self, end: TurnEnd) -> Vec<Value> {
        let mut events = self.leave();
        if end.outcome != TurnOutcome::Stopped {
            events.extend(self.set_state(end.turn.state.clone().into()));
        }
        let error = match &end.outcome {
            TurnOutcome::Failed(error) => Some(("failed", error.clone())),
            TurnOutcome::Stopped => Some((
                "stopped",
                "the server stops: send the same run again, and the next server goes on with it"
                    .to_string(),
            )),
            TurnOutcome::Finished if end.turn.pending.is_empty() => {
                self.error.take().map(|error| ("model_error", error))
            }
            _ => None,
        };
        if let Some((code, message)) = error {
            events.push(json!({ "type": "RUN_ERROR", "message": message, "code": code }));
            return events;
        }
        let mut finished = self.finished(&end);
        let used = &end.turn.usage.tokens;
        if used.total > 0 {
            finished["usage"] = json!([{
                "inputTokens": used.input, "outputTokens": used.output, "totalTokens": used.total,
            }]);
        }
        events.push(finished);
        events
    }

    fn finished(&self, end: &TurnEnd) -> Value {
        if end.outcome == TurnOutcome::Cancelled {
            return self.ids.cancelled();
        }
        let is_of_client = |pending: &&Pending| match pending {
            Pending::Result { call } => {
                let mut tools = end.turn.client.tools.iter();
                tools.any(|tool| tool.name == call.name)
            }
            _ => false,
        };
        let (of_client, others): (Vec<&Pending>, Vec<&Pending>) =
            end.turn.pending.iter().partition(is_of_client);
        let calls = of_client.iter().map(|pending| pending.id().to_string());
        let waits = waits::all(others, &end.questions);
        self.ids.finished(&waits, calls.collect())
    }
}
