//! A message: it begins a task, or answers what one waits for.

use std::sync::Arc;

use serde_json::{Value, json};

use super::cancelled::{self, Cancelled};
use super::content;
use super::error::{A2aError, ErrorKind};
use super::shown_task::ShownTask;
use super::task::Task;
use super::task_id::TaskId;
use super::updates::TaskState;
use super::wire::{Configuration, Message, SendMessage};
use crate::MultitaskStrategy;
use crate::access::Access;
use crate::digest::digest;
use crate::protocol::queued::Begun;
use crate::protocol::requests::{Begins, Request};
use crate::protocol::turn::TurnInput;
use crate::protocol::turn_start::TurnStart;
use crate::protocol::waits::{self, Answers, Wait};
use crate::refusal::Refusal;
use crate::served::ServedThreads;
use crate::server::Inner;

/// Stores the message, and begins what follows from it. A repeated message begins nothing. Returns its task, and what the message has
/// begun.
pub(super) async fn begin(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    access: &Access,
    sent: &SendMessage,
) -> Result<(TaskId, Begun), A2aError> {
    check(&sent.message, &sent.configuration)?;
    let message = &sent.message;
    let task = match &*message.task_id {
        "" => None,
        id => Some(TaskId::parse(id, access).ok_or_else(|| A2aError::task_not_found(id))?),
    };
    if let Some(task) = &task {
        let visible = server.visible(access, &task.thread(&**flow)).await;
        visible.map_err(|_| A2aError::task_not_found(&message.task_id))?;
    }
    let request = Request {
        id: format!("a2a {}", message.id),
        checksum: digest(checked_text(message)),
        own: own(server, &**flow, message, task.as_ref(), access).await?,
        access: access.clone(),
        strategy: strategy(message)?,
    };
    let of = |own: &str, begun: &Begun| TaskId::new(own, TurnStart::of(begun), access);
    let own = request.own.clone();
    if let Some(begun) = request.earlier(server, flow).await? {
        return Ok((task.unwrap_or_else(|| of(&own, &begun)), begun));
    }
    let steers = request.strategy.unwrap_or(flow.facts().multitask) == MultitaskStrategy::Steer;
    let now = match &task {
        Some(id) => Some(begun_task(server, flow, id.clone()).await?),
        None => None,
    };
    let begins = if let Some(now) = now.filter(|now| !(steers && now.state == TaskState::Working)) {
        let answers = answers(&now, message)?;
        answers.with_input(TurnInput::default())
    } else {
        Begins::Input(TurnInput {
            messages: vec![content::to_chat(message)?],
            ..after_cancelled(server, &**flow, &request.thread(&**flow)).await?
        })
    };
    let begun = request.begin(server, flow, begins).await?;
    Ok((task.unwrap_or_else(|| of(&own, &begun)), begun))
}

/// The task that a message is about. One that is queued asks nothing and reads nothing.
async fn begun_task(
    server: &Inner,
    flow: &Arc<dyn ServedThreads>,
    id: TaskId,
) -> Result<Box<Task>, A2aError> {
    let task = id.text();
    match ShownTask::read(server, flow, id).await? {
        ShownTask::Begun(task) => Ok(task),
        ShownTask::Queued(queued) if queued.state.is_terminal() => Err(has_ended(&task)),
        ShownTask::Queued(_) => {
            let text = format!(
                "task `{task}` waits for the end of another one: wait until it works, or send the message without `taskId`"
            );
            Err(ErrorKind::UnsupportedOperation.with(text))
        }
    }
}

fn has_ended(task: &str) -> A2aError {
    let text = format!("task `{task}` has ended: send the message without `taskId`");
    ErrorKind::UnsupportedOperation.with(text)
}

/// What the message says that happens while a task of its context works.
fn strategy(message: &Message) -> Result<Option<MultitaskStrategy>, A2aError> {
    let Some(named) = message.metadata.get("multitask_strategy") else {
        return Ok(None);
    };
    let known = named.as_str().and_then(MultitaskStrategy::named);
    let invalid = || {
        ErrorKind::InvalidParams.with(
            "`message.metadata.multitask_strategy` is `reject`, `enqueue`, `steer`, `interrupt` or `rollback`",
        )
    };
    known.map(Some).ok_or_else(invalid)
}

fn check(message: &Message, configuration: &Configuration) -> Result<(), A2aError> {
    let invalid = |text: &str| Err(ErrorKind::InvalidParams.with(text));
    if message.id.is_empty() {
        return invalid("`message.messageId` is missing");
    }
    if message.role != "ROLE_USER" {
        return invalid("`message.role` is `ROLE_USER` in a request");
    }
    if message.parts.is_empty() {
        return invalid("`message.parts` is empty: send at least one part");
    }
    if configuration.task_push_notification_config.is_some() {
        return Err(ErrorKind::PushNotificationNotSupported
            .with("the server sends no push notifications: subscribe to the task"));
    }
    if !content::takes_text(&configuration.accepted_output_modes) {
        return Err(
            ErrorKind::ContentTypeNotSupported.with("the answers are text: accept `text/plain`")
        );
    }
    Ok(())
}

/// The id of the thread after the name of the flow: that of the task or of the message's context, or a new one. It depends on the
/// id of the message, so that a repeated message finds it.
async fn own(
    server: &Inner,
    flow: &dyn ServedThreads,
    message: &Message,
    task: Option<&TaskId>,
    access: &Access,
) -> Result<String, A2aError> {
    match (task, &*message.context_id) {
        (Some(task), "") => Ok(task.own().to_string()),
        (Some(task), context) if context != task.context => {
            Err(ErrorKind::InvalidParams.with(format!(
                "task `{}` does not belong to the context `{context}`",
                task.text()
            )))
        }
        (Some(task), _) => Ok(task.own().to_string()),
        // Two users may send messages with the same id.
        (None, "") => Ok(digest(format!(
            "a2a\n{:?}\n{}",
            access.required(),
            message.id
        ))),
        (None, context) => Ok(server.own_id(access, flow.facts(), context).await?),
    }
}

/// What two requests with the same message have in common.
fn checked_text(message: &Message) -> String {
    let parts = message
        .parts
        .iter()
        .map(|part| json!([part.text, part.raw, part.url, part.data]));
    json!([message.task_id, parts.collect::<Value>()]).to_string()
}

/// What ends the questions of a task that was cancelled while it waited. Refuses a message without a task in a context in which
/// another task waits for answers, which the message would pass over.
async fn after_cancelled(
    server: &Inner,
    flow: &dyn ServedThreads,
    thread: &str,
) -> Result<TurnInput, A2aError> {
    let waiting = flow.turn_view(thread, None).await?.unwrap_or_default();
    if waiting.turn.pending.is_empty() && waiting.questions.is_empty() {
        return Ok(TurnInput::default());
    }
    let info = server.info(thread).await.map_err(Refusal::from)?;
    let labels = info.map(|info| info.labels).unwrap_or_default();
    let last = flow.last_event(thread).await.map_err(Refusal::from)?;
    if Cancelled::of(thread, &labels).at_ms(last).is_none() {
        return Err(ErrorKind::UnsupportedOperation.with(
            "a task of this context waits for an answer: send the message with its `taskId`, cancel the task, or begin another \
             context",
        ));
    }
    Ok(TurnInput {
        answers: cancelled::refusals(&waiting.turn.pending),
        discards_questions: !waiting.questions.is_empty(),
        ..TurnInput::default()
    })
}

/// The answers in a message to what a task waits for.
fn answers(task: &Task, message: &Message) -> Result<Answers, A2aError> {
    let id = task.id.text();
    if task.state == TaskState::Working {
        let text = format!(
            "task `{id}` is working: wait until it has ended, cancel it, or send the message with the metadata `\"multitask_strategy\": \"steer\"`"
        );
        return Err(ErrorKind::UnsupportedOperation.with(text));
    }
    if task.state.is_terminal() {
        return Err(has_ended(&id));
    }
    let mut read = Vec::new();
    for part in &message.parts {
        let (wait, answer) = match (&part.data, &part.text) {
            (Some(data), _) => in_data(&task.waits, data.clone())?,
            (None, Some(text)) => in_text(&task.waits, text)?,
            (None, None) => {
                return Err(ErrorKind::ContentTypeNotSupported
                    .with("an answer is a part with `data` or `text`"));
            }
        };
        read.push(wait.read(answer)?);
    }
    Ok(waits::together(read)?)
}

/// The answer in a data part: the thing that its `id` names, or the only one.
fn in_data(waits: &[Wait], mut data: Value) -> Result<(&Wait, Value), A2aError> {
    let named = data.as_object_mut().and_then(|fields| fields.remove("id"));
    match (&named, waits) {
        (Some(id), waits) => waits
            .iter()
            .find(|wait| *id == wait.id)
            .map(|wait| (wait, data))
            .ok_or_else(|| {
                unclear(
                    &format!("the task waits for nothing with the id {id}"),
                    waits,
                )
            }),
        (None, [only]) => Ok((only, data)),
        (None, _) => Err(unclear("the answer has no `id`", waits)),
    }
}

fn in_text<'a>(waits: &'a [Wait], text: &str) -> Result<(&'a Wait, Value), A2aError> {
    if let [only] = waits
        && let Some(answer) = only.in_text(text)
    {
        return Ok((only, answer));
    }
    Err(unclear("the text is no clear answer", waits))
}

fn unclear(problem: &str, waits: &[Wait]) -> A2aError {
    let ids: Vec<&str> = waits.iter().map(|wait| &*wait.id).collect();
    ErrorKind::InvalidParams.with(format!(
        "{problem}: send a data part with the `id` of the request (`{}`) and the fields of its schema, or, where one person \
         decides about one call, the text `yes` or `no`",
        ids.join("`, `")
    ))
}
