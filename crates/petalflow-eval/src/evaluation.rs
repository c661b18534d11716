//! Runs cases.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use petalflow::tool::ToolCall;
use petalflow::{BoxError, Launch};
use petalflow_agent::{AgentEvent, AgentFlow, Conversation, ConversationInput};
use petalflow_llm::testing::Cassette;
use petalflow_llm::{ChatMessage, LlmClient, LlmError, TokenUsage};

use super::report::{Repetition, Report};
use super::{Case, CaseTurn, Score, Scorer, Turn, TurnScore};

/// An evaluation: cases, the scorers of their turns, and how they run. See the [crate](crate).
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("france").turn("What is the capital of France?", |turn| turn.output("Paris"));
/// let evaluation = Evaluation::new([case]).name("capitals").repeat(2).concurrency(1);
/// let report = evaluation.scorer_at_least(scorer::contains(), 0.5).run(|run| {
///     let answer = if run.repetition() == 1 { "It is Paris." } else { "It is Lyon." };
///     Ok(Agent::new(ScriptedModel::new([answer])))
/// });
/// let report = report.await;
/// assert_eq!(report.cases[0].scorers[0].mean, 0.5);
/// assert!(report.passed());
/// # }
/// ```
pub struct Evaluation {
    name: String,
    cases: Vec<Case>,
    scorers: Vec<Threshold>,
    repetitions: u32,
    concurrency: usize,
    pass_rate: f64,
}

/// A scorer, and the mean score that a case needs.
struct Threshold {
    scorer: Box<dyn Scorer>,
    at_least: f64,
}

/// One run of a case.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, CaseRun, Evaluation, scorer};
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let agent = |run: CaseRun<'_>| {
///     let answer = format!("{}, run {}", run.case().name, run.repetition());
///     Ok(Agent::new(ScriptedModel::new([answer])))
/// };
/// let case = Case::new("greeting").turn("Who are you?", |turn| turn.output("^greeting, run [12]$"));
/// Evaluation::new([case]).repeat(2).scorer(scorer::matches()).run(agent).await.assert_passed();
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CaseRun<'a> {
    case: &'a Case,
    repetition: u32,
}

impl CaseRun<'_> {
    /// The case.
    pub fn case(&self) -> &Case {
        self.case
    }

    /// The number of the repetition. The first one is 1.
    pub fn repetition(&self) -> u32 {
        self.repetition
    }

    /// The model of this run's own cassette in a folder: it records the answers of `model` at the first run, and replays
    /// them later. The file is named after the case and the repetition. To record again, delete it.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_eval::{Case, Evaluation, scorer};
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("cassettes");
    /// let case = || Case::new("capitals").turn("What is the capital of France?", |turn| turn.output("Paris"));
    /// for answers in [vec!["Paris"], vec![]] {
    ///     let report = Evaluation::new([case()]).scorer(scorer::contains()).run(|run| {
    ///         // In real life: `|| ProviderModel::new("gpt-5-mini")`.
    ///         let model = run.cassette(&folder, || Ok(ScriptedModel::new(answers.clone())))?;
    ///         Ok(Agent::new(model))
    ///     });
    ///     report.await.assert_passed();
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the folder cannot be created, if the file cannot be read, or if the model cannot be created.
    pub fn cassette<C: LlmClient>(
        &self,
        folder: impl AsRef<Path>,
        model: impl FnOnce() -> Result<C, LlmError>,
    ) -> Result<Cassette, BoxError> {
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder)?;
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
        let name = self.case.name.chars();
        let name: String = name
            .map(|letter| if is_plain(letter) { letter } else { '_' })
            .collect();
        let file = folder.join(format!("{name}-{}.json", self.repetition));
        Ok(Cassette::open(file, model)?)
    }
}

impl Evaluation {
    /// An evaluation of these cases.
    pub fn new(cases: impl IntoIterator<Item = Case>) -> Self {
        Evaluation {
            name: "evaluation".into(),
            cases: cases.into_iter().collect(),
            scorers: Vec::new(),
            repetitions: 1,
            concurrency: 4,
            pass_rate: 1.0,
        }
    }

    /// Sets the name, for the report. Default: `evaluation`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a scorer. A case passes if each turn that it scores has the score 1 in each repetition.
    #[must_use]
    pub fn scorer(self, scorer: impl Scorer) -> Self {
        self.scorer_at_least(scorer, 1.0)
    }

    /// Adds a scorer with a threshold. A case passes if the mean of its scores, over all turns and repetitions, is at least
    /// this.
    #[must_use]
    pub fn scorer_at_least(mut self, scorer: impl Scorer, mean: f64) -> Self {
        self.scorers.push(Threshold {
            scorer: Box::new(scorer),
            at_least: mean,
        });
        self
    }

    /// Sets how often each case runs. Default: once.
    #[must_use]
    pub fn repeat(mut self, times: u32) -> Self {
        self.repetitions = times.max(1);
        self
    }

    /// Sets how many runs of cases are in progress at once. Default: 4.
    #[must_use]
    pub fn concurrency(mut self, runs: usize) -> Self {
        self.concurrency = runs.max(1);
        self
    }

    /// Sets the part of the cases that must pass for the report to pass. Default: 1, which is all.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_eval::{Case, Evaluation, scorer};
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let france = Case::new("france").turn("What is the capital of France?", |turn| turn.output("Paris"));
    /// let spain = Case::new("spain").turn("What is the capital of Spain?", |turn| turn.output("Madrid"));
    /// let evaluation = Evaluation::new([france, spain]).scorer(scorer::exact()).pass_rate(0.5);
    /// let report = evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["Paris"])))).await;
    /// assert!(report.cases[0].passed && !report.cases[1].passed);
    /// assert!(report.passed());
    /// # }
    /// ```
    #[must_use]
    pub fn pass_rate(mut self, at_least: f64) -> Self {
        self.pass_rate = at_least;
        self
    }

    /// Runs all cases, each with an agent of its own, or with a launch of one, which has managed values, limits of time and
    /// middleware. A failed run is part of the report.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_agent::Agent;
    /// use petalflow_eval::{Case, Evaluation, scorer};
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// use serde_json::json;
    ///
    /// struct Stock(u32);
    ///
    /// /// The number of roses in the shop.
    /// #[tool]
    /// fn roses(#[run] stock: Managed<Stock>) -> u32 {
    ///     stock.0
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let case = Case::new("stock").turn("How many roses do you have?", |turn| turn.output("7"));
    /// let report = Evaluation::new([case]).scorer(scorer::contains()).run(|_| {
    ///     # let model = ScriptedModel::new([Reply::call("roses", json!({})), "We have 7.".into()]);
    ///     Ok(Agent::new(model).tool(roses {}).launch().manage(Stock(7)))
    /// });
    /// report.await.assert_passed();
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops all runs.
    pub async fn run<L>(self, agent: impl Fn(CaseRun<'_>) -> Result<L, BoxError>) -> Report
    where
        L: Into<Launch<AgentFlow>>,
    {
        let runs = self.cases.iter().flat_map(|case| {
            (1..=self.repetitions).map(move |repetition| CaseRun { case, repetition })
        });
        let evaluation = &self;
        let runs = runs.map(|run| evaluation.repetition(run, agent(run).map(Into::into)));
        let done: Vec<Repetition> = stream::iter(runs)
            .buffered(self.concurrency)
            .collect()
            .await;
        self.report(done)
    }

    /// Scores the last turn of conversations that were held elsewhere, such as both ends of a replay: the one that was stored, and that of
    /// another model. Each is a case of the report, with its name. The expectations are those of the last turn of the evaluation's first case.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_eval::{Case, Evaluation, scorer};
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let question = "What is the capital of France?";
    /// let recorded = Agent::new(ScriptedModel::new(["It is Lyon."])).run(question).await?;
    /// let found = Agent::new(ScriptedModel::new(["It is Paris."])).run(question).await?;
    ///
    /// let case = Case::new("france").turn(question, |turn| turn.output("Paris"));
    /// let evaluation = Evaluation::new([case]).scorer(scorer::contains());
    /// let report = evaluation.score([("recorded", recorded), ("found", found)]).await;
    /// assert!(!report.cases[0].passed && report.cases[1].passed);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the scorers.
    pub async fn score<N: Into<String>>(
        mut self,
        conversations: impl IntoIterator<Item = (N, Conversation)>,
    ) -> Report {
        let first = self.cases.drain(..).next().unwrap_or_default();
        let expected = first.turns.last().cloned().unwrap_or_default();
        let mut repetitions = Vec::new();
        for (name, conversation) in conversations {
            let started = Instant::now();
            let name = name.into();
            let mut done = Repetition {
                case: name.clone(),
                number: 1,
                scores: Vec::new(),
                usage: conversation.usage().tokens,
                time: Duration::ZERO,
                error: None,
            };
            let last = conversation.events.last();
            let is_earlier =
                |event: &&AgentEvent| last.is_none_or(|last| event.invocation != last.invocation);
            let before = conversation.events.iter().take_while(is_earlier).count();
            let scored = self.score_turn(1, &expected, before, &conversation, &mut done);
            if let Err(error) = scored.await {
                done.error = Some(petalflow::error::message_with_sources(&*error));
            }
            done.time = started.elapsed();
            repetitions.push(done);
            self.cases.push(Case {
                name,
                turns: vec![expected.clone()],
                ..Case::default()
            });
        }
        self.report(repetitions)
    }

    fn report(self, done: Vec<Repetition>) -> Report {
        let scorers = self.scorers.iter();
        let scorers = scorers.map(|threshold| (threshold.scorer.name(), threshold.at_least));
        Report::new(
            self.name.clone(),
            self.pass_rate,
            &self.cases,
            &scorers.collect::<Vec<_>>(),
            done,
        )
    }

    async fn repetition(
        &self,
        run: CaseRun<'_>,
        launch: Result<Launch<AgentFlow>, BoxError>,
    ) -> Repetition {
        let started = Instant::now();
        let mut done = Repetition {
            case: run.case.name.clone(),
            number: run.repetition,
            scores: Vec::new(),
            usage: TokenUsage::default(),
            time: Duration::ZERO,
            error: None,
        };
        if let Err(error) = self.score_turns(run.case, launch, &mut done).await {
            done.error = Some(petalflow::error::message_with_sources(&*error));
        }
        done.time = started.elapsed();
        done
    }

    async fn score_turns(
        &self,
        case: &Case,
        launch: Result<Launch<AgentFlow>, BoxError>,
        done: &mut Repetition,
    ) -> Result<(), BoxError> {
        let launch = launch?;
        let mut input = ConversationInput::default();
        input.state.clone_from(&case.state);
        for (number, expected) in case.turns.iter().enumerate() {
            input.message = Some(ChatMessage::user(&*expected.input));
            let before = input.events.len();
            let conversation = launch.clone().run(input).await?;
            done.usage = conversation.usage().tokens;
            self.score_turn(number + 1, expected, before, &conversation, done)
                .await?;
            input = conversation.next_input(ConversationInput::default());
        }
        Ok(())
    }

    /// Scores a turn, whose events are those after the first `before`.
    async fn score_turn(
        &self,
        number: usize,
        expected: &CaseTurn,
        before: usize,
        conversation: &Conversation,
        done: &mut Repetition,
    ) -> Result<(), BoxError> {
        let calls = calls(&conversation.events[before..]);
        let answer = conversation.answer();
        let turn = Turn::new(expected, &answer, &calls, conversation);
        for Threshold { scorer, .. } in &self.scorers {
            let score: Option<Score> = scorer.score(&turn).await.map_err(|error| {
                let name = scorer.name();
                let why = petalflow::error::message_with_sources(&*error);
                format!("turn {number} has no score by `{name}`: {why}")
            })?;
            done.scores.extend(score.map(|score| TurnScore {
                scorer: scorer.name().to_string(),
                turn: number,
                repetition: done.number,
                value: score.value,
                reason: score.reason,
                answer: answer.clone(),
            }));
        }
        Ok(())
    }
}

/// The calls of tools in these events. Requests of the agent to a person are not calls of its model.
fn calls(events: &[AgentEvent]) -> Vec<ToolCall> {
    let messages = events.iter().flat_map(|event| &event.message);
    let calls = messages.flat_map(ChatMessage::calls);
    let asks = |call: &&ToolCall| {
        ![
            petalflow_agent::human::CONFIRMATION,
            petalflow_agent::human::CREDENTIAL,
        ]
        .contains(&&*call.name)
    };
    calls.filter(asks).cloned().collect()
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scorers: Vec<&str> = self
            .scorers
            .iter()
            .map(|threshold| threshold.scorer.name())
            .collect();
        f.debug_struct("Evaluation")
            .field("name", &self.name)
            .field("cases", &self.cases.len())
            .field("scorers", &scorers)
            .finish_non_exhaustive()
    }
}
