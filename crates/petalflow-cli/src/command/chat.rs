//! Talks with a conversation flow.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use petalflow::checkpoint::ThreadStatus;
use petalflow::event::EventKind;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{Thread, ThreadRun};
use petalflow::tool::FuncTool;
use petalflow_conversations::document::Conversation;
use petalflow_conversations::{
    ConversationEvent, ConversationFlow, ConversationState, ConversationStateInput, TurnFlow,
};
use petalflow_llm::{LlmClient, ScriptedModel};
use serde_json::Value;

use super::run::{label_with_document, new_id};
use crate::drive::{FirstStop, stop_on_ctrl_c};
use crate::exit::{Exit, Failure, Result};
use crate::handlers::{self, FunctionHandler};
use crate::program_tool::ProgramTool;
use crate::services::ServiceArgs;
use crate::store::{KeptArgs, StoreArgs, shell_quoted};
use crate::terminal::{self, NOTE, STRONG};
use crate::{envelope, load};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The conversation flow in JSON or YAML, in any form
    file: PathBuf,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

    /// The result of a function, in JSON. Can be repeated
    #[arg(long = "result", value_name = "FUNCTION=JSON")]
    results: Vec<FixedResult>,

    /// Set a value that prompts use: JSON, or else a text. Can be repeated
    #[arg(short, long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,

    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    kept: KeptArgs,

    /// The name of the conversation. With a store, a conversation that exists continues
    #[arg(long, value_name = "ID")]
    thread: Option<String>,

    /// Print the events of the conversation as lines of JSON
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow chat food_order.json --model gpt-5-mini
  petalflow chat food_order.json --script replies.json --result 'check_order={\"ok\": true}'
  petalflow chat food_order.json --model ollama::qwen3 --tool 'check_order=./check_order.py'
  petalflow chat food_order.json --model gpt-5-mini --store chats.db --thread ann

Each line of stdin is what the person says. The code of functions comes from `--tool`; without it
the result comes from `--result`, from you on a terminal, and is otherwise {\"status\": \"success\"}.";

/// The result of a function: `FUNCTION=JSON`.
#[derive(Clone, Debug)]
struct FixedResult {
    function: String,
    value: Value,
}

impl FromStr for FixedResult {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (function, json) = text.split_once('=').ok_or("write `FUNCTION=JSON`")?;
        Ok(FixedResult {
            function: function.into(),
            value: serde_json::from_str(json)
                .map_err(|error| format!("the result is not JSON: {error}"))?,
        })
    }
}

/// `options` are those that the command needs again to continue.
pub(crate) async fn run(args: Args, options: &str) -> Result {
    let (_, checked) = load::read_conversation(&args.file)?;
    let model = args.services.model_of_conversation()?;
    let tools = &args.services.tools;
    let flow = flow_with_handlers(checked.conversation, &args.results, tools, model)?;

    let store = args.store.open_or_memory().await?;
    let is_stored = args.store.store.is_some();
    let token = CancelToken::new();
    let id = args.thread.clone().unwrap_or_else(|| new_id("chat"));
    let thread = flow
        .launch()
        .cancel_with(&token)
        .store(&store)
        .retention(args.kept.retention())
        .thread(id.as_str());
    let info = thread
        .info()
        .await
        .map_err(|error| Failure::new(Exit::Thread, error))?;
    if is_stored {
        label_with_document(&thread, &args.file, Some(flow.version())).await?;
    }
    stop_on_ctrl_c(&token, FirstStop::Cancel);

    let mut chat = Chat {
        thread: &thread,
        json: args.json,
    };
    let has_ended = chat
        .talk(
            info.filter(|it| it.checkpoints > 0).map(|it| it.status),
            initial_input(&args.inputs)?,
        )
        .await;
    if is_stored && !matches!(has_ended, Ok(true)) {
        terminal::note(format_args!(
            "{NOTE}hint:{NOTE:#} continue with `petalflow chat {}{} --thread {}{options}`",
            shell_quoted(&args.file.display().to_string()),
            args.store.option(),
            shell_quoted(&id)
        ));
    }
    has_ended.map(|_| Exit::Done)
}

/// A conversation whose functions are these programs, or else ask the person.
pub(super) fn flow_with_tools(
    document: Conversation,
    tools: &[ProgramTool],
    model: Arc<dyn LlmClient>,
) -> Result<ConversationFlow> {
    flow_with_handlers(document, &[], tools, model)
}

fn flow_with_handlers(
    document: Conversation,
    results: &[FixedResult],
    tools: &[ProgramTool],
    model: Arc<dyn LlmClient>,
) -> Result<ConversationFlow> {
    let fixed = results.iter().map(|result| {
        let handler = FunctionHandler::Fixed(result.value.clone());
        (result.function.clone(), handler)
    });
    let programs = tools.iter().map(|tool| {
        let handler = FunctionHandler::Program(tool.clone());
        (tool.name.clone(), handler)
    });
    let handlers: BTreeMap<String, FunctionHandler> = fixed.chain(programs).collect();
    build_flow(
        document,
        handlers.keys().map(String::as_str),
        |name| {
            let handler = handlers.get(name);
            handler.unwrap_or(&FunctionHandler::Person).tool(name)
        },
        model,
    )
}

/// The values with which a conversation begins.
fn initial_input(inputs: &[String]) -> Result<ConversationStateInput> {
    let mut input = ConversationStateInput::start();
    for given in inputs {
        input.values.extend(envelope::variables(given)?);
    }
    Ok(input)
}

/// Builds a conversation with `tool` for each function that the document names. `given` are the names for which the
/// command has results or code; each must be a function of the document.
pub(super) fn build_flow<'g>(
    document: Conversation,
    mut given: impl Iterator<Item = &'g str>,
    tool: impl Fn(&str) -> FuncTool,
    model: Arc<dyn LlmClient>,
) -> Result<ConversationFlow> {
    let (functions, actions) = handlers::handler_names(&document);
    if let Some(unknown) = given.find(|name| !functions.contains(*name)) {
        let known: Vec<&str> = functions.iter().map(String::as_str).collect();
        return Err(Failure::new(
            Exit::Input,
            format_args!("the document has no function `{unknown}` with code"),
        )
        .hint(format_args!("it has: {}", known.join(", "))));
    }
    let mut builder = ConversationFlow::builder(document).model(model);
    for name in &functions {
        builder = builder.tool(tool(name));
    }
    for name in actions {
        builder = builder.action(name, handlers::ignore_action);
    }
    builder
        .build()
        .map_err(|errors| Failure::new(Exit::Missing, errors))
}

/// Builds a conversation without real handlers, to read its threads.
pub(super) fn read_only_flow(document: Conversation) -> Result<ConversationFlow> {
    let model = Arc::new(ScriptedModel::new([] as [&str; 0]));
    build_flow(
        document,
        std::iter::empty(),
        |name| FunctionHandler::Fixed(Value::Null).tool(name),
        model,
    )
}

struct Chat<'a> {
    thread: &'a Thread<TurnFlow>,
    json: bool,
}

impl Chat<'_> {
    /// Talks until the conversation or the input ends. Returns whether the conversation has ended.
    async fn talk(
        &mut self,
        known: Option<ThreadStatus>,
        start: ConversationStateInput,
    ) -> Result<bool> {
        let mut has_ended = match known {
            None => self.turn(self.thread.run(start)).await?,
            // Continue an interrupted turn.
            Some(status) if status != ThreadStatus::Finished => {
                self.turn(self.thread.resume(())).await?
            }
            Some(_) => self.show_last_answer().await?,
        };
        let prompt = if std::io::stdin().is_terminal() {
            "> "
        } else {
            ""
        };
        while !has_ended {
            let Some(text) = terminal::ask(prompt).await? else {
                return Ok(false);
            };
            if !text.trim().is_empty() {
                has_ended = self
                    .turn(self.thread.run(ConversationStateInput::user_message(text)))
                    .await?;
            }
        }
        Ok(true)
    }

    /// Shows the last answer of a stored conversation.
    async fn show_last_answer(&self) -> Result<bool> {
        let snapshot = self
            .thread
            .snapshot()
            .await
            .map_err(|error| Failure::new(Exit::Thread, error))?;
        let Some(state) = snapshot.map(|it| it.state) else {
            return Ok(false);
        };
        if state.has_ended() {
            return Err(Failure::new(
                Exit::Thread,
                format_args!("the conversation `{}` has ended", self.thread.id()),
            )
            .hint("begin another one with `--thread NAME`"));
        }
        if !self.json {
            terminal::line(state.answer())?;
        }
        Ok(false)
    }

    async fn turn(&self, run: ThreadRun<TurnFlow>) -> Result<bool> {
        let mut events = run.events();
        while let Some(event) = events.next().await {
            if let Some(event) = ConversationEvent::of(&event) {
                self.show(event)?;
            }
            match event.kind {
                EventKind::Finished { state } => return Ok(ConversationState::has_ended(&state)),
                EventKind::Failed { error } => {
                    return Err(match error.kind() {
                        RunErrorKind::Cancelled => {
                            Failure::new(Exit::Stopped, "the turn was stopped")
                        }
                        RunErrorKind::Thread { .. } => Failure::new(Exit::Thread, error),
                        _ => Failure::new(Exit::Failed, error),
                    });
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn show(&self, event: &ConversationEvent) -> Result<()> {
        if self.json {
            return terminal::json_line(event);
        }
        match event {
            ConversationEvent::Answer { text } | ConversationEvent::Say { text } => {
                terminal::line(text)?;
            }
            ConversationEvent::Entered { node } => {
                terminal::note(format_args!("{NOTE}node {node}{NOTE:#}"));
            }
            ConversationEvent::Called {
                function,
                arguments,
            } => {
                terminal::note(format_args!(
                    "{NOTE}calls {STRONG}{function}{STRONG:#}{NOTE}({arguments}){NOTE:#}"
                ));
            }
            ConversationEvent::Returned {
                function,
                result,
                next,
            } => {
                let next = next
                    .as_deref()
                    .map_or_else(String::new, |next| format!(", then {next}"));
                terminal::note(format_args!(
                    "{NOTE}{function} returned {result}{next}{NOTE:#}"
                ));
            }
            ConversationEvent::Action { kind, .. } => {
                terminal::note(format_args!("{NOTE}action {kind}{NOTE:#}"));
            }
            ConversationEvent::NoSummary { node, reason } => {
                terminal::note(format_args!(
                    "{NOTE}no summary before {node}: {reason}{NOTE:#}"
                ));
            }
            ConversationEvent::Ended => {
                terminal::note(format_args!("{NOTE}the conversation has ended{NOTE:#}"));
            }
            _ => {}
        }
        Ok(())
    }
}
