//! The start of a run: what is new in its input.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_agent::ClientSettings;
use petalflow_llm::{ChatMessage, Role};
use serde_json::{Value, json};

use super::input::{ResumeEntry, ResumeStatus, RunInput};
use super::thread::{IDS, Known, text};
use crate::MultitaskStrategy;
use crate::access::Access;
use crate::digest::digest;
use crate::protocol::queued::Begun;
use crate::protocol::requests::{Begins, Request};
use crate::protocol::turn::{PersonAnswer, TurnInput};
use crate::protocol::waits::{self, Answered, Answers, Wait, WaitKind, conflict, unfit};
use crate::refusal::Refusal;
use crate::served::{FlowKind, ServedThreads, no_thread};
use crate::server::Inner;

/// The name of the data of a message with what the client passes on.
const FORWARDED: &str = "ag_ui_forwarded_props";

/// What a request begins.
pub(super) enum Run {
    Begun(Begun),
    /// Nothing: the client wants to see the thread.
    Shown(Known),
}

/// Stores what is new in the input, and begins the turn. A repeated run begins nothing.
pub(super) async fn begin(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    input: &RunInput,
    body: &[u8],
    access: Access,
) -> Result<Run, Refusal> {
    if input.run_id.is_empty() {
        return Err(unfit("`runId` is empty"));
    }
    let request = Request {
        id: format!("ag-ui {}", input.run_id),
        checksum: digest(body),
        own: server
            .own_id(&access, flow.facts(), &input.thread_id)
            .await?,
        access,
        strategy: strategy(input)?,
    };
    if let Some(begun) = request.earlier(server, flow).await? {
        return Ok(Run::Begun(begun));
    }
    let thread = request.thread(&**flow);
    let Some(known) = Known::read(&**flow, &thread).await? else {
        if input.resume.iter().flatten().next().is_some() {
            return Err(no_thread());
        }
        let messages = input.messages.iter().map(|message| {
            let chat = message.chat()?;
            Ok(chat.map(|chat| marked(chat, vec![message.id.clone()], input)))
        });
        let messages: Result<Vec<_>, Refusal> = messages.filter_map(Result::transpose).collect();
        let begins = Begins::Input(TurnInput {
            messages: messages?,
            client: client(input),
            state: input.new_state(&serde_json::Map::new())?,
            ..TurnInput::default()
        });
        return Ok(Run::Begun(request.begin(server, flow, begins).await?));
    };
    let is_conversation = flow.facts().kind == FlowKind::Conversation;
    let Some(begins) = next(input, &known, is_conversation)? else {
        return Ok(Run::Shown(known));
    };
    Ok(Run::Begun(request.begin(server, flow, begins).await?))
}

/// What the client passes on that happens while a run works.
fn strategy(input: &RunInput) -> Result<Option<MultitaskStrategy>, Refusal> {
    let named = &input.forwarded_props["multitask_strategy"];
    if named.is_null() {
        return Ok(None);
    }
    let known = named.as_str().and_then(MultitaskStrategy::named);
    let invalid = || {
        unfit(
            "`forwardedProps.multitask_strategy` is `reject`, `enqueue`, `steer`, `interrupt` or `rollback`",
        )
    };
    known.map(Some).ok_or_else(invalid)
}

/// What goes on in a thread. `None` if the client sends no messages and no answers.
fn next(input: &RunInput, known: &Known, is_conversation: bool) -> Result<Option<Begins>, Refusal> {
    let mut answers = Vec::new();
    for entry in input.resume.iter().flatten() {
        answers.push(resumed(entry, &known.waits)?);
    }
    answers.extend(results(input, &known.waits));
    let message = new_message(input, known, is_conversation)?;
    let open = known
        .waits
        .iter()
        .filter(|wait| wait.kind != WaitKind::Result);
    if answers.is_empty() && open.count() > 0 && message.is_some() {
        let ids: Vec<&str> = known.waits.iter().map(|wait| &*wait.id).collect();
        return Err(conflict(format!(
            "the thread waits for answers to `{}`: send them in `resume`",
            ids.join("`, `")
        )));
    }
    if answers.is_empty() && message.is_none() {
        if input.messages.is_empty() {
            return Ok(None);
        }
        return Err(unfit(
            "the thread has all messages already: send a new one, the result of a call, or `resume`; or no messages, to see it",
        ));
    }
    let mut messages: Vec<ChatMessage> = Vec::new();
    let instructs = |role: &str| ["system", "developer"].contains(&role);
    for message in input.messages.iter().filter(|it| instructs(&it.role)) {
        // Without a new message, instructions alone would be no turn.
        if answers.is_empty() {
            messages.extend(message.chat()?);
        }
    }
    messages.extend(message);
    let turn = TurnInput {
        messages,
        client: client(input),
        state: input.new_state(&known.state)?,
        ..TurnInput::default()
    };
    match waits::together(answers)? {
        Answers::Question { .. } if !turn.messages.is_empty() => Err(unfit(
            "a question of a flow is answered without a new message: send it after the answer",
        )),
        answers => Ok(Some(answers.with_input(turn))),
    }
}

/// The messages of the user that the thread does not have, as one.
fn new_message(
    input: &RunInput,
    known: &Known,
    is_conversation: bool,
) -> Result<Option<ChatMessage>, Refusal> {
    let answered = input.messages.iter().rposition(|it| it.role == "assistant");
    let first = if is_conversation {
        // It does not keep the ids of messages: those after its last answer are new.
        answered.map_or(0, |last| last + 1)
    } else {
        0
    };
    let mut ids = Vec::new();
    let mut new: Option<ChatMessage> = None;
    for message in &input.messages[first..] {
        if message.role != "user" || known.ids.contains(&message.id) {
            continue;
        }
        let Some(chat) = message.chat()? else {
            continue;
        };
        ids.push(message.id.clone());
        match &mut new {
            Some(new) => new.parts.extend(chat.parts),
            None => new = Some(chat),
        }
    }
    Ok(new.map(|new| marked(new, ids, input)))
}

/// The message with the ids of the client.
fn marked(mut message: ChatMessage, ids: Vec<String>, input: &RunInput) -> ChatMessage {
    if message.role == Role::User {
        message.meta.insert(IDS.to_string(), ids.into());
        let forwarded = &input.forwarded_props;
        if !forwarded.is_null() && *forwarded != json!({}) {
            let forwarded = forwarded.clone();
            message.meta.insert(FORWARDED.to_string(), forwarded);
        }
    }
    message
}

/// The results of calls that the thread waits for. The thread has the others already.
fn results(input: &RunInput, waits: &[Wait]) -> Vec<Answered> {
    let messages = input.messages.iter().filter(|it| it.role == "tool");
    let answers = messages.filter_map(|message| {
        let is_of = |wait: &&Wait| wait.kind == WaitKind::Result && wait.id == message.tool_call_id;
        let wait = waits.iter().find(is_of)?;
        Some(Answered::Person(PersonAnswer::Result {
            id: wait.id.clone(),
            content: message.result(),
        }))
    });
    answers.collect()
}

/// The answer to an interrupt.
fn resumed(entry: &ResumeEntry, waits: &[Wait]) -> Result<Answered, Refusal> {
    let id = &entry.interrupt_id;
    let wait = waits.iter().find(|wait| wait.id == *id).ok_or_else(|| {
        conflict(format!(
            "the thread waits for nothing with the id `{id}`: it has an answer, or was never asked"
        ))
    })?;
    if entry.status == ResumeStatus::Resolved {
        return wait.read(entry.payload.clone());
    }
    match wait.kind {
        WaitKind::Confirmation => {
            wait.read(json!({ "approve": false, "reason": "The user has cancelled the request." }))
        }
        WaitKind::Approval => wait.read(json!({ "decision": "reject" })),
        WaitKind::Credential | WaitKind::Result | WaitKind::Question => Err(unfit(format!(
            "`{id}` cannot be cancelled: resolve it with an answer that its `responseSchema` allows"
        ))),
    }
}

/// What the client adds to the turn: its tools, and its context as instructions.
fn client(input: &RunInput) -> ClientSettings {
    let tools = input.tools.iter().map(|tool| {
        let parameters = match &tool.parameters {
            Value::Null => json!({ "type": "object", "properties": {} }),
            parameters => parameters.clone(),
        };
        ToolSpec::new(tool.name.as_str(), tool.description.as_str(), parameters)
    });
    let settings = tools.fold(ClientSettings::default(), ClientSettings::tool);
    let context = input.context.iter();
    let context = context.map(|it| format!("{}: {}", it.description, text(&it.value)));
    let context: Vec<String> = context.collect();
    settings.instruct(context.join("\n"))
}
