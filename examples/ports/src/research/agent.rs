//! The agents, and how they answer a question.

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::prelude::*;
use petalflow::thread::OnBusy;
use petalflow_agent::compaction::{Summary, TokenWindow};
use petalflow_agent::deep::{DeepAgent, LongResults, Plan, Workspace};
use petalflow_agent::{Agent, ConversationInput, Mode};
use petalflow_llm::LlmClient;

use super::instructions::{DELEGATION, REPORT, RESEARCHER};
use super::web::{Searches, Topic, Web, tavily_search, think_tool};
use crate::turn;

/// The conversation is summarized from this many tokens on.
const LONGEST_CONVERSATION: u64 = 170_000;

/// The answer to a question.
#[derive(Debug, PartialEq)]
pub struct Research {
    /// What the agent says at the end.
    pub answer: String,
    /// Its report, if it has written one.
    pub report: Option<String>,
    /// Its plan, one line for each item.
    pub plan: String,
}

fn researcher(files: &Workspace) -> Agent {
    Agent::named("research-agent")
        .description("Researches one topic, and answers with findings and sources.")
        .mode(Mode::SingleTurn)
        .instructions(RESEARCHER)
        .tools(tools![tavily_search, think_tool])
        .workspace(files.clone())
        .callbacks(LongResults::new(files.clone()))
}

fn agent(model: Arc<dyn LlmClient>) -> Agent {
    let files = Workspace::in_thread();
    let window = TokenWindow::new(LONGEST_CONVERSATION);
    DeepAgent::new(Arc::clone(&model))
        .workspace(files.clone())
        .tools(tools![tavily_search, think_tool])
        .sub_agent(researcher(&files))
        .build()
        .instructions(REPORT)
        .instructions(DELEGATION)
        .parallel_tools(3)
        .compaction(Summary::new(model, window))
        .request(|request| request.temperature = Some(0.0))
}

/// Answers a question on the thread with this name. Continues what an earlier process has begun.
///
/// # Errors
///
/// If the model or the store fails.
pub async fn research(
    model: Arc<dyn LlmClient>,
    web: Arc<dyn Web>,
    store: &(impl Store + Clone),
    thread: &str,
    question: &str,
    date: &str,
) -> petalflow::Result<Research> {
    let searches = Searches {
        web,
        most: 1,
        topic: Topic::General,
    };
    let launch = agent(model).launch().manage(searches);
    let thread = launch.store(store).on_busy(OnBusy::Queue).thread(thread);
    let input = ConversationInput::from(question).with_state("date", date);
    let talk = turn::step(&thread, question, input).await?;
    let report = Workspace::files_in(&talk).get("final_report.md").copied();
    Ok(Research {
        answer: talk.answer(),
        report: report.map(Into::into),
        plan: Plan::of(&talk).to_string(),
    })
}
