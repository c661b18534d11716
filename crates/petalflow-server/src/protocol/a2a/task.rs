//! Tasks, as they are in the logs of threads.

use std::collections::HashSet;
use std::sync::Arc;

use petalflow::checkpoint::ThreadStatus;
use petalflow::event::{EventName, LoggedEvent};
use serde_json::{Value, json};

use super::cancelled::Cancelled;
use super::content;
use super::error::{A2aError, ErrorKind};
use super::task_id::TaskId;
use super::updates::{TaskState, Update, Updates, collect};
use crate::protocol::turn::Turn;
use crate::protocol::waits::{self, Wait};
use crate::refusal::Refusal;
use crate::served::ServedThreads;

/// A task as it is now.
pub(super) struct Task {
    pub(super) id: TaskId,
    pub(super) state: TaskState,
    /// What it waits for.
    pub(super) waits: Vec<Wait>,
    /// The newest turn.
    pub(super) turn: Turn,
    /// What makes updates of the items of the newest turn.
    pub(super) updates: Updates,
    /// The number of the last event, if the task has ended.
    pub(super) end: Option<u64>,
    /// The artifacts of the turns before the newest one.
    earlier: Vec<Value>,
    /// The ids of the agent's turns.
    invocations: HashSet<String>,
    text: Option<String>,
    changed_ms: u64,
    artifacts: Vec<Value>,
    history: Vec<Value>,
}

impl Task {
    /// Reads a task: its first turn, and those that answer what the turn before has waited for.
    pub(super) async fn read(id: TaskId, turn: Turn) -> Result<Self, A2aError> {
        let flow = Arc::clone(&turn.flow);
        let mut task = Task {
            turn,
            id,
            state: TaskState::Working,
            waits: Vec::new(),
            updates: Updates::default(),
            end: None,
            earlier: Vec::new(),
            invocations: HashSet::new(),
            text: None,
            changed_ms: 0,
            artifacts: Vec::new(),
            history: Vec::new(),
        };
        let info = flow.info(&task.turn.thread).await?.unwrap_or_default();
        let runs = matches!(
            info.status,
            ThreadStatus::Running | ThreadStatus::Sleeping | ThreadStatus::Stopped
        );
        let cancelled = Cancelled::of(&task.turn.thread, &info.labels);
        task.read_turns(&flow, runs, &cancelled).await?;
        task.add_messages(&*flow).await?;
        Ok(task)
    }

    /// Reads the turns of the task. A turn that runs is in the store before its first event is.
    async fn read_turns(
        &mut self,
        flow: &Arc<dyn ServedThreads>,
        runs: bool,
        cancelled: &Cancelled,
    ) -> Result<(), A2aError> {
        let task = self;
        let thread = task.turn.thread.clone();
        loop {
            let Some(extent) = task.turn.extent().await? else {
                let events = flow.events_since(&thread, task.turn.after).await;
                let events = events.map_err(Refusal::from)?;
                match events.first() {
                    None if runs => {
                        (task.state, task.end) = (TaskState::Working, None);
                        return Ok(());
                    }
                    // It has come in the meantime.
                    Some(first) if first.number == task.turn.after + 1 => continue,
                    _ => return Err(A2aError::task_not_found(&task.id.text())),
                }
            };
            let mut updates = task.updates.clone();
            let items = task.turn.so_far().await?;
            let events = flow.events_since(&thread, task.turn.after).await;
            let events = events.map_err(Refusal::from)?;
            task.read_events(&events, extent.end);
            (task.state, task.end) = (TaskState::Working, None);
            for update in items.into_iter().filter_map(|item| updates.read(item)) {
                task.apply(update);
            }
            let Some(end) = extent.end.filter(|_| task.state != TaskState::Working) else {
                return Ok(());
            };
            task.end = Some(end);
            if task.state.waits()
                && let Some(at_ms) = cancelled.at_ms(end)
            {
                task.waits.clear();
                (task.state, task.changed_ms) = (TaskState::Canceled, at_ms);
            }
            if (extent.is_last && !runs) || task.state.is_terminal() {
                return Ok(());
            }
            task.history.extend(task.question());
            (task.state, task.end) = (TaskState::Working, None);
            task.waits.clear();
            task.updates = updates;
            task.earlier.clone_from(&task.artifacts);
            task.turn = Turn::attach(flow, thread.clone(), end);
        }
    }

    fn apply(&mut self, update: Update) {
        match update {
            Update::Artifact {
                number,
                part,
                append,
                ..
            } => collect(&mut self.artifacts, number, part, append),
            Update::End { end, state, text } => {
                (self.state, self.text) = (state, text);
                self.waits = waits::all(&end.turn.pending, &end.questions);
            }
            Update::Tool(_) => {}
        }
    }

    /// Reads the time of the newest of these events, and which turns of the agent they belong to.
    fn read_events(&mut self, events: &[LoggedEvent], end: Option<u64>) {
        let of_turn = |event: &&LoggedEvent| end.is_none_or(|end| event.number <= end);
        for event in events.iter().filter(of_turn) {
            self.changed_ms = event.recorded_ms;
            if event.name() != Some(EventName::Custom) {
                continue;
            }
            let value = json!(event.value);
            let invocation = value.pointer("/value/agent_event/invocation");
            if let Some(invocation) = invocation.and_then(Value::as_str) {
                self.invocations.insert(invocation.to_string());
            }
        }
    }

    /// Adds the messages of the user to the history. A conversation of a document does not keep them as events.
    async fn add_messages(&mut self, flow: &dyn ServedThreads) -> Result<(), A2aError> {
        let view = flow.turn_view(&self.turn.thread, None).await?;
        let events = view.into_iter().flat_map(|view| view.turn.events);
        let (context, task) = (&self.id.context, self.id.text());
        let mut messages = Vec::new();
        for event in events {
            let is_of_task = self.invocations.contains(&event.invocation);
            if let Some(message) = event.message.as_ref()
                && event.is_from_user()
                && is_of_task
            {
                let message = content::of_chat(message, &event.id, context, &task);
                let has_parts = message["parts"].as_array().is_some_and(|it| !it.is_empty());
                messages.extend(has_parts.then_some(message));
            }
        }
        self.history.splice(0..0, messages);
        Ok(())
    }

    /// The message that says what the task waits for, or why it has ended.
    fn question(&self) -> Option<Value> {
        status_message(&self.id, self.turn.after, &self.waits, self.text.as_deref())
    }

    pub(super) fn status(&self) -> Value {
        status(self.state, self.question(), self.changed_ms)
    }

    pub(super) fn changed_ms(&self) -> u64 {
        self.changed_ms
    }

    /// The task when its newest turn has been stored, before what has happened in it.
    pub(super) fn submitted(&self, history: Option<usize>) -> Value {
        let mut value = self.value(history, false);
        value["status"] = status(TaskState::Submitted, None, self.changed_ms);
        if !self.earlier.is_empty() {
            value["artifacts"] = self.earlier.clone().into();
        }
        value
    }

    /// The task with so many of the newest messages.
    pub(super) fn value(&self, history: Option<usize>, with_artifacts: bool) -> Value {
        let mut value = json!({
            "id": self.id.text(),
            "contextId": self.id.context,
            "status": self.status(),
        });
        add_history(&mut value, &self.history, history);
        if with_artifacts && !self.artifacts.is_empty() {
            value["artifacts"] = self.artifacts.clone().into();
        }
        value
    }
}

/// Adds so many of the newest messages to a task.
pub(super) fn add_history(task: &mut Value, messages: &[Value], newest: Option<usize>) {
    let skipped = newest.map_or(0, |newest| messages.len().saturating_sub(newest));
    if skipped < messages.len() {
        task["history"] = messages[skipped..].into();
    }
}

/// A status at this time.
pub(super) fn status(state: TaskState, message: Option<Value>, at_ms: u64) -> Value {
    let mut status = json!({ "state": state.as_str(), "timestamp": timestamp(at_ms) });
    if let Some(message) = message {
        status["message"] = message;
    }
    status
}

fn timestamp(ms: u64) -> String {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    format!("{time:.3}")
}

/// The message of a status. For each thing that the task waits for it has a text and data with the JSON Schema of the answer.
pub(super) fn status_message(
    id: &TaskId,
    turn: u64,
    waits: &[Wait],
    text: Option<&str>,
) -> Option<Value> {
    let asked = waits.iter().flat_map(|wait| {
        let data = json!({
            "kind": wait.kind.as_str(),
            "id": wait.id,
            "request": wait.data,
            "schema": wait.schema,
        });
        [
            json!({ "text": wait.text }),
            json!({ "data": data, "mediaType": "application/json" }),
        ]
    });
    let mut parts: Vec<Value> = asked.collect();
    parts.extend(text.map(|text| json!({ "text": text })));
    if parts.is_empty() {
        return None;
    }
    let (context, task) = (&id.context, id.text());
    let message = format!("{task}.status.{turn}");
    Some(content::of_agent(message, context, &task, parts))
}

/// The number of messages that a client wants.
pub(super) fn history(length: Option<i64>) -> Result<Option<usize>, A2aError> {
    length
        .map(usize::try_from)
        .transpose()
        .map_err(|_| ErrorKind::InvalidParams.with("`historyLength` is negative: send 0 or more"))
}
