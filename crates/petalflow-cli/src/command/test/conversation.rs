//! Runs the cases of a conversation flow.

use std::sync::{Arc, Mutex, PoisonError};

use petalflow::event::EventKind;
use petalflow::run::RunErrorKind;
use petalflow::thread::ThreadRun;
use petalflow::tool::FuncTool;
use petalflow_conversations::document::Conversation;
use petalflow_conversations::{
    ConversationEvent, ConversationState, ConversationStateInput, TurnFlow,
};
use serde_json::{Map, Value};

use super::compare::{self, Difference, difference};
use super::results::Results;
use super::runner::Runner;
use super::suite::Case;
use crate::command::chat::build_flow;
use crate::exit::{Exit, Failure, Result};
use crate::handlers::FunctionHandler;
use crate::script;

/// How a case ended.
enum Outcome {
    Finished(Box<ConversationState>),
    Failed(String),
}

/// Runs a case in the memory of the process. Returns how its end differs from what the case expects.
pub(super) async fn run_case(
    case: &Case,
    document: &Conversation,
    runner: &Runner<'_>,
) -> Result<Vec<Difference>> {
    let replies = case.replies.clone().into();
    let model = script::model(replies, &format!("replies of {}", case.name))?;
    let results = Arc::new(Mutex::new(Results::new(&case.results)));
    let programs = runner.tools;
    let tool = |name: &str| match programs.iter().find(|program| program.name == name) {
        Some(program) => FunctionHandler::Program(program.clone()).tool(name),
        None => scripted(name, results.clone()),
    };
    // Programs are for the documents of all files, and this one need not have their functions.
    let given = case.results.keys().map(String::as_str);
    let flow = build_flow(document.clone(), given, tool, Arc::new(model.clone()))?;
    let store = petalflow::checkpoint::InMemoryStore::new();
    let launch = flow.launch().cancel_with(runner.token);
    let launch = launch.timeout(runner.settings.timeout);
    let threads = launch.store(&store);
    let thread = threads.thread(&case.name);

    let mut start = ConversationStateInput::start();
    start.values.clone_from(&case.input);
    let said = case.messages.iter();
    let inputs = std::iter::once((None, start))
        .chain(said.map(|text| (Some(text), ConversationStateInput::user_message(text))));
    let mut texts = Vec::new();
    let mut state: Option<Box<ConversationState>> = None;
    let mut differences = Vec::new();
    for (message, input) in inputs {
        if let Some(text) = message
            && state.as_ref().is_some_and(|state| state.has_ended())
        {
            differences.push(format!("the conversation has ended before `{text}`").into());
            break;
        }
        match turn(thread.run(input), &mut texts).await? {
            Outcome::Finished(now) => state = Some(now),
            Outcome::Failed(message) => return Ok(compare::failure(case, &message)),
        }
    }
    let state = state.unwrap_or_else(|| unreachable!("the first turn has finished"));
    if case.fails.is_some() {
        return Ok(vec![compare::has_not_failed()]);
    }
    differences.extend(compare_end(case, &state, &texts));
    if let Some(golden) = &case.golden {
        let values = Value::Object(state.values.clone());
        differences.extend(runner.compare_golden(case, golden, values)?);
    }
    differences.extend(compare::unused_replies(model.remaining()));
    let results = results.lock().unwrap_or_else(PoisonError::into_inner);
    differences.extend(results.problems().map(Difference::from));
    Ok(differences)
}

/// A function that returns the results of the case.
fn scripted(name: &str, results: Arc<Mutex<Results>>) -> FuncTool {
    let function = name.to_owned();
    FuncTool::new(name, "", move |_: Map<String, Value>| {
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        std::future::ready(results.next(&function).map_err(petalflow::BoxError::from))
    })
}

/// Runs a turn. What the person hears is added to `texts`.
async fn turn(run: ThreadRun<TurnFlow>, texts: &mut Vec<Value>) -> Result<Outcome> {
    let mut events = run.events();
    while let Some(event) = events.next().await {
        if let Some(ConversationEvent::Answer { text } | ConversationEvent::Say { text }) =
            ConversationEvent::of(&event)
        {
            texts.push(text.as_str().into());
        }
        match event.kind {
            EventKind::Finished { state } => return Ok(Outcome::Finished(Box::new(state))),
            EventKind::Failed { error } if matches!(error.kind(), RunErrorKind::Cancelled) => {
                return Err(Failure::new(Exit::Stopped, error));
            }
            EventKind::Failed { error } => return Ok(Outcome::Failed(error.to_string())),
            _ => {}
        }
    }
    Ok(Outcome::Failed("the turn has not ended".into()))
}

fn compare_end(case: &Case, state: &ConversationState, texts: &[Value]) -> Vec<Difference> {
    let values = Value::Object(state.values.clone());
    let found = |path: &String| values.pointer(&format!("/{}", path.replace('.', "/")));
    let values = case.expect.iter();
    let values = values.filter_map(|(path, value)| difference(path, Some(value), found(path)));
    let texts = case.texts.as_ref().and_then(|expected| {
        let (expected, found) = (expected.clone().into(), texts.to_vec().into());
        difference("texts", Some(&expected), Some(&found))
    });
    let node = case.node.as_ref().and_then(|expected| {
        let found = state.position.node.clone().map(Value::from);
        difference("node", Some(&expected.as_str().into()), found.as_ref())
    });
    let ended = case.ended.and_then(|expected| {
        difference(
            "ended",
            Some(&expected.into()),
            Some(&state.has_ended().into()),
        )
    });
    values.chain(texts).chain(node).chain(ended).collect()
}
