//! The agent, and how it works on a task with a person.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use petalflow::checkpoint::Store;
use petalflow::prelude::*;
use petalflow::thread::{OnBusy, Outcome, Thread};
use petalflow_agent::extension::{Approval, Approvals, ToolStep};
use petalflow_agent::{
    Agent, AgentFlow, Conversation, ConversationInput, ConversationSteering, Limits, Pending,
};
use petalflow_llm::response::FinishReason;
use petalflow_llm::usage::Prices;
use petalflow_llm::{ChatMessage, LlmClient};
use regex::Regex;
use serde_json::Value;

use super::instructions::{SYSTEM, task, without_command};
use super::shell::{SUBMISSION, Workplace, bash};

/// The key of the conversation's state with the time of the first message, in seconds since 1970.
const BEGAN: &str = "began";

/// The work ends after this many answers without a command, one after the other.
const MOST_WITHOUT_COMMAND: usize = 3;

/// Who decides about commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A person decides about commands that are not on the list.
    Confirm,
    /// All commands run.
    Yolo,
}

/// What the agent may do. Change it between the calls of [`Coder`], also for a thread that has stopped at a limit.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who decides about commands.
    pub mode: Mode,
    /// Commands that begin with a match of one of these run without a question.
    pub allowed: Vec<Regex>,
    /// The most requests to the model.
    pub steps: Option<u64>,
    /// The most that the work may cost, in dollars.
    pub cost: Option<f64>,
    /// What the model costs. A limit of the cost needs it.
    pub prices: Prices,
    /// How long the work may take.
    pub time: Option<Duration>,
    /// Where commands run.
    pub workplace: Workplace,
}

/// How far the work is.
#[derive(Debug, PartialEq)]
pub enum Progress {
    /// A person has to decide about these commands.
    Waits(Vec<String>),
    /// The agent has ended its work, and this is what it hands over.
    Submitted(String),
    /// The model does not call its tool.
    NoCommand,
}

struct Commands {
    mode: Mode,
    allowed: Vec<Regex>,
}

impl Approvals for Commands {
    fn decide(&self, step: &ToolStep<'_>) -> Option<Approval> {
        let command = step.arguments["command"].as_str()?;
        let is_allowed = |allowed: &Regex| {
            allowed
                .find(command)
                .is_some_and(|found| found.start() == 0)
        };
        let asks = self.mode == Mode::Confirm && !self.allowed.iter().any(is_allowed);
        asks.then(|| Approval::Ask(command.into()))
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A coding agent on one thread of a store.
#[allow(missing_debug_implementations, reason = "a model has none")]
pub struct Coder<S> {
    /// The model.
    pub model: Arc<dyn LlmClient>,
    /// The store of the conversation.
    pub store: S,
    /// What the agent may do.
    pub settings: Settings,
}

impl<S: Store + Clone> Coder<S> {
    fn agent(&self) -> Agent {
        let settings = self.settings.clone();
        let limits = match settings.cost {
            Some(cost) => Limits::new().cost(cost),
            None => Limits::new(),
        };
        Agent::new(Arc::clone(&self.model))
            .name("mini")
            .instructions(SYSTEM)
            .tools(tools![bash])
            .parallel_tools(1)
            .approvals(Commands {
                mode: settings.mode,
                allowed: settings.allowed,
            })
            .thread_limits(match settings.steps {
                Some(steps) => limits.requests(steps),
                None => limits,
            })
            .prices(settings.prices)
            .max_model_calls(u32::MAX)
            .before_model(move |call| {
                let began = call.state(BEGAN).and_then(|began| began.as_u64());
                let took =
                    Duration::from_secs(began.map_or(0, |began| now().saturating_sub(began)));
                match settings.time {
                    Some(time) if took >= time => {
                        Err(format!("the work has taken {time:?}, which is all its time").into())
                    }
                    _ => Ok(None),
                }
            })
    }

    fn thread(&self) -> Thread<AgentFlow> {
        let launch = self
            .agent()
            .launch()
            .manage(self.settings.workplace.clone());
        launch
            .store(&self.store)
            .on_busy(OnBusy::Queue)
            .thread("mini")
    }

    /// Begins the work on a task, or continues what an earlier process has begun.
    ///
    /// # Errors
    ///
    /// If the model or the store fails, or at a limit: raise it in the settings and call this again.
    pub async fn work(&self, text: &str) -> petalflow::Result<Progress> {
        let thread = self.thread();
        let outcome = match thread.snapshot().await? {
            Some(known) if known.is_finished() => Outcome::Finished(known.state),
            Some(_) => thread.resume(()).await?,
            None => {
                let system = self.settings.workplace.run("uname -srvm").await.output;
                let input = ConversationInput::from(task(text, system.trim()));
                thread.run(input.with_state(BEGAN, now())).await?
            }
        };
        self.go_on(&thread, outcome.into_finished()?).await
    }

    /// Runs the commands that wait, or tells the model why they do not run.
    ///
    /// # Errors
    ///
    /// Those of [`work`](Self::work).
    pub async fn decide(&self, refused: Option<&str>) -> petalflow::Result<Progress> {
        let thread = self.thread();
        let talk = thread.snapshot().await?.ok_or("nothing has begun")?.state;
        let decide = |input: ConversationInput, call: &Pending| match refused {
            None => input.confirm(call.id(), true),
            Some(reason) => input.refuse(call.id(), reason),
        };
        let decisions = talk
            .pending()
            .iter()
            .fold(ConversationInput::default(), decide);
        let talk = thread.run(decisions).await?.into_finished()?;
        self.go_on(&thread, talk).await
    }

    /// Says something to the model: a new task after the work has ended, or why the person has interrupted it.
    ///
    /// # Errors
    ///
    /// Those of [`work`](Self::work).
    pub async fn say(&self, text: &str) -> petalflow::Result<Progress> {
        let thread = self.thread();
        let input = ConversationInput::from(text).with_state(SUBMISSION, Value::Null);
        let talk = thread.run(input).await?.into_finished()?;
        self.go_on(&thread, talk).await
    }

    /// Runs a command of the person. The model reads it, and what it has printed, when it is asked next.
    ///
    /// # Errors
    ///
    /// If nothing has begun, or the store fails.
    pub async fn run_for_person(&self, command: &str) -> petalflow::Result<String> {
        let ran = self.settings.workplace.run(command).await;
        let text = format!("I have run `{command}`:\n{}", ran.observation());
        let message = ConversationSteering(vec![ChatMessage::user(text)]);
        self.thread().send(message).await?;
        Ok(ran.output)
    }

    /// Asks the model again while it answers without a command.
    async fn go_on(
        &self,
        thread: &Thread<AgentFlow>,
        mut talk: Conversation,
    ) -> petalflow::Result<Progress> {
        loop {
            let waiting = talk.pending();
            let commands = waiting.iter().filter_map(|call| match call {
                Pending::Confirmation { hint, .. } => Some(hint.clone()),
                _ => None,
            });
            if !waiting.is_empty() {
                return Ok(Progress::Waits(commands.collect()));
            }
            if let Some(Value::String(text)) = talk.state.get(SUBMISSION) {
                return Ok(Progress::Submitted(text.clone()));
            }
            if answers_without_command(&talk) >= MOST_WITHOUT_COMMAND {
                return Ok(Progress::NoCommand);
            }
            let was_cut = talk
                .events
                .last()
                .is_some_and(|last| last.finish == Some(FinishReason::Length));
            talk = thread
                .run(without_command(was_cut))
                .await?
                .into_finished()?;
        }
    }
}

/// How many of the last answers have no call.
fn answers_without_command(talk: &Conversation) -> usize {
    let answers = talk.events.iter().rev();
    let answers = answers.filter(|event| event.author == "mini");
    let messages = answers.filter_map(|answer| answer.message.as_ref());
    messages
        .take_while(|message| message.calls().next().is_none())
        .count()
}
