//! The operations of the protocol, for both bindings.

use std::cmp::Reverse;
use std::sync::Arc;

use futures_util::StreamExt;
use petalflow::checkpoint::ThreadQuery;
use serde_json::{Value, json};

use super::cancelled;
use super::error::{A2aError, ErrorKind};
use super::send;
use super::shown_task::ShownTask;
use super::stream::{self, TaskStream};
use super::task::{self, Task};
use super::task_id::TaskId;
use super::wire::{ListTasks, OfTask, SendMessage};
use crate::access::Access;
use crate::message_queue::Waiting;
use crate::protocol::clock::now_ms;
use crate::protocol::requests;
use crate::protocol::turn::{ItemKind, Turn};
use crate::protocol::turn_start::TurnStart;
use crate::refusal::Refusal;
use crate::request_labels;
use crate::served::ServedThreads;
use crate::server::{Inner, prefix};

/// The number of threads whose tasks are listed: the newest ones.
const MAX_THREADS: usize = 256;

/// The agent that a request is about.
pub(super) struct Agent {
    pub(super) server: Arc<Inner>,
    pub(super) flow: Arc<dyn ServedThreads>,
    /// The threads that the client may see.
    pub(super) access: Access,
}

impl Agent {
    pub(super) async fn send(&self, sent: SendMessage) -> Result<Value, A2aError> {
        let history = task::history(sent.configuration.history_length)?;
        let (id, begun) = send::begin(&self.server, &self.flow, &self.access, &sent).await?;
        if !sent.configuration.return_immediately
            && let Some(turn) = begun.wait(&self.server).await?
        {
            self.wait(&turn).await?;
        }
        let task = self.read(id).await?;
        Ok(json!({ "task": task.value(history, true) }))
    }

    pub(super) async fn stream(&self, sent: SendMessage) -> Result<TaskStream, A2aError> {
        let history = task::history(sent.configuration.history_length)?;
        let permit = stream::permit(&self.server)?;
        let (id, _) = send::begin(&self.server, &self.flow, &self.access, &sent).await?;
        Ok(match self.read(id).await? {
            ShownTask::Begun(task) => {
                let first = task.submitted(history);
                stream::of(&self.server, *task, first, permit)
            }
            ShownTask::Queued(task) => {
                let first = task.value(history);
                stream::queued(&self.server, task, first, permit)
            }
        })
    }

    pub(super) async fn get(&self, request: OfTask) -> Result<Value, A2aError> {
        let history = task::history(request.history_length)?;
        let task = self.find(&request.id).await?;
        Ok(task.value(history, true))
    }

    pub(super) async fn subscribe(&self, request: OfTask) -> Result<TaskStream, A2aError> {
        let permit = stream::permit(&self.server)?;
        let task = self.find(&request.id).await?;
        if task.state().is_terminal() {
            let text = format!("task `{}` has ended: get it", request.id);
            return Err(ErrorKind::UnsupportedOperation.with(text));
        }
        let first = task.value(None, true);
        Ok(match task {
            ShownTask::Begun(task) => stream::of(&self.server, *task, first, permit),
            ShownTask::Queued(task) => stream::queued(&self.server, task, first, permit),
        })
    }

    pub(super) async fn cancel(&self, request: OfTask) -> Result<Value, A2aError> {
        let mut task = self.find(&request.id).await?;
        let refuse = |why: &str| {
            Err(ErrorKind::TaskNotCancelable.with(format!("task `{}` {why}", request.id)))
        };
        if let ShownTask::Queued(queued) = &task
            && !queued.state.is_terminal()
        {
            let id = queued.id.clone();
            let is_cancelled = queued.queued.cancel(&self.server).await?;
            task = self.read(id).await?;
            if is_cancelled {
                return Ok(task.value(None, true));
            }
        }
        let task = match task {
            ShownTask::Begun(task) if !task.state.is_terminal() => *task,
            _ => return refuse("has ended"),
        };
        if task.state.waits() {
            return self.cancel_waiting(task).await;
        }
        let is_cancelled = self.server.cancel_anywhere(&task.turn.thread).await;
        if !is_cancelled.map_err(A2aError::from)? {
            return refuse("has just ended");
        }
        self.wait(&task.turn).await?;
        let task = self.read(task.id).await?;
        Ok(task.value(None, true))
    }

    /// Cancels a task that waits: it has no run. The next message of its context ends what it has waited for.
    async fn cancel_waiting(&self, task: Task) -> Result<Value, A2aError> {
        let thread = task.turn.thread;
        let _lock = requests::lock(&self.server, &thread).await?;
        let id = task.id.clone();
        let waits_since = match self.read(task.id).await? {
            ShownTask::Begun(task) => task.end.filter(|_| task.state.waits()),
            ShownTask::Queued(_) => None,
        };
        let Some(end) = waits_since else {
            let text = format!("task `{}` was answered or cancelled", id.text());
            return Err(ErrorKind::TaskNotCancelable.with(text));
        };
        let info = self.server.info(&thread).await.map_err(Refusal::from)?;
        let mut labels = info.map(|info| info.labels).unwrap_or_default();
        labels.extend([cancelled::label(&thread, end, now_ms())]);
        self.flow.set_labels(&thread, labels).await?;
        Ok(self.read(id).await?.value(None, true))
    }

    pub(super) async fn list(&self, request: ListTasks) -> Result<Value, A2aError> {
        let history = task::history(request.history_length)?;
        let size = match request.page_size.unwrap_or(50) {
            size @ 1..=100 => usize::try_from(size).unwrap_or(50),
            _ => return Err(ErrorKind::InvalidParams.with("`pageSize` is from 1 to 100")),
        };
        let first: usize = match &*request.page_token {
            "" => 0,
            token => token
                .parse()
                .map_err(|_| ErrorKind::InvalidParams.with("`pageToken` is not of this server"))?,
        };
        let since = since(request.status_timestamp_after.as_deref())?;
        let mut tasks = Vec::new();
        for own in self.contexts(&request.context_id).await? {
            tasks.extend(self.of_context(&own).await?);
        }
        let is_wanted = |task: &ShownTask| {
            let state = task.state().as_str();
            (["", "TASK_STATE_UNSPECIFIED", state].contains(&&*request.status))
                && task.changed_ms() >= since
        };
        tasks.retain(is_wanted);
        tasks.sort_by_key(|task| Reverse(task.changed_ms()));
        let total = tasks.len();
        let page = tasks.iter().skip(first).take(size);
        let page: Vec<Value> = page
            .map(|task| task.value(history, request.include_artifacts))
            .collect();
        let next = first.saturating_add(page.len());
        let token = if next < total {
            next.to_string()
        } else {
            String::new()
        };
        Ok(json!({
            "tasks": page, "nextPageToken": token, "pageSize": size, "totalSize": total,
        }))
    }

    /// The contexts of the agent, or the one with this id, by the ids of their threads after the name of the flow.
    async fn contexts(&self, id: &str) -> Result<Vec<String>, A2aError> {
        if !id.is_empty() {
            let own = self.server.own_id(&self.access, self.flow.facts(), id);
            return Ok(vec![own.await?]);
        }
        let prefix = prefix(self.flow.facts());
        let mut newest = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let query = ThreadQuery {
                prefix: &prefix,
                after: after.as_deref(),
                limit: Some(MAX_THREADS),
                ..ThreadQuery::default()
            };
            let page = self.server.list(query).await;
            let page = page.map_err(Refusal::from)?;
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            newest.extend(
                page.into_iter()
                    .filter(|info| self.access.allows(&info.labels)),
            );
            newest.sort_by_key(|info| Reverse(info.updated_ms));
            newest.truncate(MAX_THREADS);
        }
        let own = newest
            .iter()
            .filter_map(|info| info.id.strip_prefix(&prefix));
        Ok(own.map(str::to_string).collect())
    }

    /// The tasks of a context, by the id of its thread after the name of the flow, whose events are stored, and those that are queued.
    async fn of_context(&self, own: &str) -> Result<Vec<ShownTask>, A2aError> {
        let thread = format!("{}{own}", prefix(self.flow.facts()));
        let mut tasks = Vec::new();
        let info = self.server.info(&thread).await.map_err(Refusal::from)?;
        let Some(info) = info.filter(|info| self.access.allows(&info.labels)) else {
            return Ok(tasks);
        };
        let mut after = Some(0);
        while let Some(begin) = after {
            let id = TaskId::new(own, TurnStart::known_by(&info.labels, begin), &self.access);
            let Ok(ShownTask::Begun(task)) = self.read(id).await else {
                break;
            };
            let extent = task.turn.extent().await?;
            after = task.end.filter(|_| extent.is_some_and(|it| !it.is_last));
            tasks.push(ShownTask::Begun(task));
        }
        let queue = &self.server.settings.queue;
        let waiting = queue.waiting(&thread).await.map_err(Refusal::from)?;
        let cancelled = request_labels::cancelled(&info.labels);
        let mut marks: Vec<&str> = cancelled.collect();
        marks.extend(waiting.iter().map(Waiting::mark));
        marks.sort_unstable();
        marks.dedup();
        for mark in marks {
            let start = TurnStart::Queued(mark.to_string());
            let id = TaskId::new(own, start, &self.access);
            // The turn of another one has begun in the meantime. It is the newest task above, or in the next list.
            if let Ok(task @ ShownTask::Queued(_)) = self.read(id).await {
                tasks.push(task);
            }
        }
        Ok(tasks)
    }

    async fn find(&self, id: &str) -> Result<ShownTask, A2aError> {
        let parsed = TaskId::parse(id, &self.access).ok_or_else(|| A2aError::task_not_found(id))?;
        let thread = parsed.thread(&*self.flow);
        let visible = self.server.visible(&self.access, &thread).await;
        visible.map_err(|_| A2aError::task_not_found(id))?;
        self.read(parsed).await
    }

    async fn read(&self, id: TaskId) -> Result<ShownTask, A2aError> {
        ShownTask::read(&self.server, &self.flow, id).await
    }

    /// Waits for the end of a turn.
    async fn wait(&self, turn: &Turn) -> Result<(), A2aError> {
        let mut items = turn.items(&self.server);
        while let Some(item) = items.next().await {
            if matches!(item?.kind, ItemKind::End(_)) {
                break;
            }
        }
        Ok(())
    }
}

/// The time from which tasks are listed.
fn since(text: Option<&str>) -> Result<u64, A2aError> {
    let Some(text) = text else { return Ok(0) };
    let time: jiff::Timestamp = text.parse().map_err(|_| {
        ErrorKind::InvalidParams
            .with("`statusTimestampAfter` is no time such as `2026-01-31T12:00:00Z`")
    })?;
    Ok(u64::try_from(time.as_millisecond()).unwrap_or(0))
}
