//! Handlers for the functions and actions of a conversation, which the library expects as Rust code.

use std::collections::BTreeSet;
use std::future::Future;

use petalflow::BoxError;
use petalflow::tool::FuncTool;
use petalflow_conversations::ActionCall;
use petalflow_conversations::document::{Action, Conversation, Handler};
use serde_json::{Map, Value, json};

use crate::program_tool::ProgramTool;
use crate::terminal::{self, NOTE};

/// What runs when the model calls a function.
#[derive(Clone, Debug)]
pub(crate) enum FunctionHandler {
    /// A program.
    Program(ProgramTool),
    /// Always the same result.
    Fixed(Value),
    /// The person at the terminal, if there is one.
    Person,
}

impl FunctionHandler {
    /// A tool that calls this handler.
    pub(crate) fn tool(&self, name: &str) -> FuncTool {
        let (handler, function) = (self.clone(), name.to_owned());
        FuncTool::new(name, "", move |arguments: Map<String, Value>| {
            let (handler, function) = (handler.clone(), function.clone());
            async move { handler.call(&function, arguments.into()).await }
        })
    }

    async fn call(&self, function: &str, arguments: Value) -> Result<Value, BoxError> {
        match self {
            FunctionHandler::Program(program) => program.call(&arguments).await,
            FunctionHandler::Fixed(value) => Ok(value.clone()),
            FunctionHandler::Person if terminal::can_ask() => {
                let question = format!("{NOTE}result of {function}({arguments}) as JSON?{NOTE:#} ");
                let answer = terminal::ask(question).await;
                let answer = answer
                    .map_err(|_| "nobody gives a result")?
                    .unwrap_or_default();
                if answer.trim().is_empty() {
                    return Ok(success());
                }
                Ok(serde_json::from_str(&answer).unwrap_or_else(|_| answer.into()))
            }
            FunctionHandler::Person => Ok(success()),
        }
    }
}

fn success() -> Value {
    json!({ "status": "success" })
}

/// The handler of every action. It does nothing, because the event of the action is already shown.
pub(crate) fn ignore_action(
    _: ActionCall,
) -> impl Future<Output = Result<(), BoxError>> + Send + 'static {
    std::future::ready(Ok(()))
}

/// The names of the functions and of the actions that need a handler.
pub(crate) fn handler_names(document: &Conversation) -> (BTreeSet<String>, BTreeSet<String>) {
    let of_nodes = document.nodes.values().flat_map(|node| &node.functions);
    let functions = document.global_functions.iter().chain(of_nodes);
    let handlers = functions.filter_map(|function| match &function.handler {
        Handler::Named(name) => Some(name.clone()),
        Handler::Nothing => None,
    });
    let actions = document
        .nodes
        .values()
        .flat_map(|node| node.pre_actions.iter().chain(&node.post_actions));
    let own = actions
        .filter(|it| ![Action::TTS_SAY, Action::END_CONVERSATION].contains(&it.kind.as_str()));
    let actions = own.map(|it| it.handler.clone().unwrap_or_else(|| it.kind.clone()));
    (handlers.collect(), actions.collect())
}
