//! Shared helpers for the tests of agents.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Once};

use petalflow::BoxError;
use petalflow::tool::{FuncTool, ToolCall, ToolContext, ToolResult, ToolSpec};
use petalflow_agent::stream::{AgentEventKind, AgentEvents};
use petalflow_agent::{Agent, AgentEvent, Conversation, ConversationInput};
use petalflow_llm::{ChatMessage, Part, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

/// Runs the agent. Returns its events, without the deltas of a stream, and the conversation.
pub(crate) async fn events(
    agent: &Agent,
    input: impl Into<ConversationInput>,
) -> (Vec<AgentEvent>, Conversation) {
    let (_, events, talk) = collect_stream(agent.events(input)).await;
    (events, talk)
}

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static MAY_PANIC: Cell<bool> = const { Cell::new(false) };
}

/// Records each panic of this thread. An agent converts a panic in a tool or a callback to an error, and a later callback
/// may replace the error: the failed assertion would be lost.
fn watch_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.with_borrow_mut(|panics| panics.push(info.to_string()));
            previous(info);
        }));
    });
}

/// Fails if a tool or a callback of this test has panicked.
fn assert_no_panic() {
    let panics = PANICS.take();
    assert!(
        MAY_PANIC.get() || panics.is_empty(),
        "the agent caught a panic: {panics:?}"
    );
}

/// Allows panics of tools and callbacks in this test.
pub(crate) fn panics_are_expected() {
    MAY_PANIC.set(true);
}

/// The partial answers of a run, and whether the run has finished.
pub(super) async fn partial_outputs(mut events: AgentEvents) -> (Vec<Value>, bool) {
    let (mut values, mut finished) = (Vec::new(), false);
    while let Some(item) = events.next().await {
        match item.kind {
            AgentEventKind::PartialOutput(output) => values.push(output.value),
            AgentEventKind::Finished(_) => finished = true,
            _ => {}
        }
    }
    (values, finished)
}

/// What a value in the middle of an answer must not say.
pub(super) fn assert_grows(values: &[Value], whole: &Value) {
    for value in values {
        assert!(is_start_of(value, whole), "{value}");
    }
}

fn is_start_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, part)| is_start_of(part, &whole[name])),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len()
                && part
                    .iter()
                    .zip(whole)
                    .all(|(part, whole)| is_start_of(part, whole))
        }
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (part, whole) => part == whole,
    }
}

/// The deltas, the events, and the conversation at the end.
pub(super) async fn collect_stream(
    mut stream: AgentEvents,
) -> (Vec<AgentEvent>, Vec<AgentEvent>, Conversation) {
    watch_panics();
    let (mut pieces, mut events) = (Vec::new(), Vec::new());
    while let Some(progress) = stream.next().await {
        match progress.kind {
            AgentEventKind::Partial(piece) => pieces.push(piece),
            AgentEventKind::Event(event) => events.push(event),
            AgentEventKind::Finished(talk) => {
                assert_no_panic();
                return (pieces, events, *talk);
            }
            AgentEventKind::Failed(error) => {
                panic!("{error}: {:?}", std::error::Error::source(&error))
            }
            _ => {}
        }
    }
    panic!("the stream ended without an end");
}

/// The calls, results or text of each event.
pub(super) fn shape(events: &[AgentEvent]) -> Vec<String> {
    let messages = events.iter().map(|event| event.message.as_ref());
    messages
        .map(|message| message.map(words).unwrap_or_default())
        .collect()
}

pub(super) fn words(message: &ChatMessage) -> String {
    let parts: Vec<String> = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.text.clone(),
            Part::Thought(text) => format!("({})", text.text),
            Part::Call(call) => format!("{}{}", call.name, call.arguments),
            Part::Result(result) => format!("{} = {}", result.name, result.content),
            other => format!("{other:?}"),
        })
        .collect();
    parts.join(" & ")
}

/// A call with an id.
pub(super) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        ..ToolCall::default()
    }
}

/// An event in which the agent calls tools.
pub(super) fn call_event(author: &str, calls: impl IntoIterator<Item = ToolCall>) -> AgentEvent {
    let parts = calls.into_iter().map(Part::Call).collect();
    AgentEvent::new(author, ChatMessage::new(Role::Assistant, parts))
}

/// The event of the result of a call.
pub(super) fn result_event(author: &str, id: &str, name: &str, content: Value) -> AgentEvent {
    let result = ToolResult {
        call_id: id.into(),
        name: name.into(),
        content,
        is_error: false,
    };
    AgentEvent::new(author, ChatMessage::results([result]))
}

/// The results of the tools in a conversation, in order.
pub(super) fn results(talk: &Conversation) -> Vec<Value> {
    let messages = talk.events.iter().flat_map(|event| &event.message);
    let results = messages.flat_map(ChatMessage::tool_results);
    results.map(|result| result.content.clone()).collect()
}

/// A tool that calls the closure.
pub(super) fn tool(
    name: &str,
    returns: impl Fn(&Value, &ToolContext) -> Result<Value, BoxError> + Send + Sync + 'static,
) -> FuncTool {
    let spec = ToolSpec::new(name, "A tool of a test.", json!({ "type": "object" }));
    FuncTool::untyped(spec, move |arguments, cx| {
        std::future::ready(returns(&arguments, &cx))
    })
}

/// A tool that always returns the same value.
pub(super) fn constant_tool(name: &str, value: Value) -> FuncTool {
    tool(name, move |_, _| Ok(value.clone()))
}

/// A tool that always fails.
pub(super) fn failing_tool(name: &str, error: &'static str) -> FuncTool {
    tool(name, move |_, _| Err(error.into()))
}

/// An agent with a model that answers with these, and the model.
pub(super) fn scripted_agent(
    replies: impl IntoIterator<Item = impl Into<Reply>>,
) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    (Agent::new(Arc::clone(&model)), model)
}

/// The input of a conversation with this history and a new message.
pub(super) fn input_after(
    past: impl IntoIterator<Item = AgentEvent>,
    says: &str,
) -> ConversationInput {
    let events = past.into_iter().enumerate();
    let events = events.map(|(place, event)| AgentEvent {
        id: if event.id.is_empty() {
            format!("past-{place}")
        } else {
            event.id.clone()
        },
        ..event
    });
    ConversationInput {
        events: events.collect(),
        ..says.into()
    }
}

/// A message of the user.
pub(super) fn user_event(text: &str) -> AgentEvent {
    AgentEvent::new(AgentEvent::USER, ChatMessage::user(text))
}

/// A message of the agent.
pub(super) fn agent_event(author: &str, text: &str) -> AgentEvent {
    AgentEvent::new(author, ChatMessage::assistant(text))
}

/// The role and content of each message of the last request.
pub(super) fn sent_messages(model: &ScriptedModel) -> Vec<String> {
    let request = model.last_request().expect("the model was asked");
    request.transcript()
}

/// The message of the innermost error of a failed run.
pub(super) async fn failure(agent: &Agent, input: impl Into<ConversationInput>) -> String {
    watch_panics();
    let error = agent.run(input).await.expect_err("the run must fail");
    assert_no_panic();
    let mut cause: &dyn std::error::Error = error.get_ref().expect("an error ended the run");
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
