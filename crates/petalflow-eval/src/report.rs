//! The report of an evaluation.

use std::time::Duration;

use petalflow_llm::TokenUsage;
use serde::Serialize;
use serde_json::Value;

use super::Case;
use super::scorer::number;

/// The report of an evaluation. Displayed as text it is a table, with the reasons of what has failed.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("capital").turn("What is the capital of France?", |turn| turn.output("Paris"));
/// let report = Evaluation::new([case])
///     .scorer(scorer::exact())
///     .run(|_| Ok(Agent::new(ScriptedModel::new(["Lyon"]))))
///     .await;
/// assert!(!report.passed());
/// let expected = "\
/// case     exact  tokens  result
/// capital   0.00       0  failed
///
/// 0 of 1 cases passed
///
/// capital: exact, turn 1: the answer is not `Paris`
///   answer: Lyon
/// ";
/// assert_eq!(report.to_string(), expected);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the evaluation.
    pub name: String,
    /// The part of the cases that must pass.
    pub pass_rate: f64,
    /// The cases, in their order.
    pub cases: Vec<CaseReport>,
}

/// The report of a case.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("spain").turn("What is the capital of Spain?", |turn| turn.output("Madrid"));
/// let evaluation = Evaluation::new([case]).scorer(scorer::exact());
/// let report = evaluation.run(|_| Err::<Agent, _>("there is no model".into())).await;
/// let spain = &report.cases[0];
/// assert!(!spain.passed && spain.scores.is_empty());
/// assert_eq!(spain.errors, ["repetition 1: there is no model"]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// The name of the case.
    pub name: String,
    /// Whether all scorers have their threshold, and no run has failed.
    pub passed: bool,
    /// The result of each scorer that scored a turn.
    pub scorers: Vec<ScorerReport>,
    /// All scores.
    pub scores: Vec<TurnScore>,
    /// The errors of the runs that failed.
    pub errors: Vec<String>,
    /// The tokens and the cost of all repetitions. Those of judges are not included.
    pub usage: TokenUsage,
    /// The time of all repetitions, in seconds.
    pub seconds: f64,
}

/// The result of a scorer for a case.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("capitals")
///     .turn("What is the capital of France?", |turn| turn.output("Paris"))
///     .turn("And of Spain?", |turn| turn.output("Madrid"));
/// let evaluation = Evaluation::new([case]).scorer_at_least(scorer::exact(), 0.9);
/// let report = evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["Paris", "Lisbon"])))).await;
/// let exact = &report.cases[0].scorers[0];
/// assert_eq!((exact.mean, exact.lowest, exact.threshold), (0.5, 0.0, 0.9));
/// assert!(!exact.passed);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScorerReport {
    /// The name of the scorer.
    pub scorer: String,
    /// The mean of the scores, over all turns and repetitions.
    pub mean: f64,
    /// The lowest score.
    pub lowest: f64,
    /// The mean that is needed.
    pub threshold: f64,
    /// Whether the mean is at least the threshold.
    pub passed: bool,
}

/// The score of a turn.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_eval::{Case, Evaluation, scorer};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let case = Case::new("france").turn("What is the capital of France?", |turn| turn.output("Paris"));
/// let evaluation = Evaluation::new([case]).scorer(scorer::contains());
/// let report = evaluation.run(|_| Ok(Agent::new(ScriptedModel::new(["Lyon"])))).await;
/// let score = &report.cases[0].scores[0];
/// assert_eq!((score.turn, score.repetition, score.value), (1, 1, 0.0));
/// assert_eq!((&*score.answer, &*score.reason), ("Lyon", "the answer does not contain `Paris`"));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TurnScore {
    /// The name of the scorer.
    pub scorer: String,
    /// The number of the turn. The first one is 1.
    pub turn: usize,
    /// The number of the repetition. The first one is 1.
    pub repetition: u32,
    /// The score, from 0 to 1.
    pub value: f64,
    /// Why it is not 1. May be empty.
    pub reason: String,
    /// The answer.
    pub answer: String,
}

/// One run of a case.
pub(crate) struct Repetition {
    pub(crate) case: String,
    pub(crate) number: u32,
    pub(crate) scores: Vec<TurnScore>,
    pub(crate) usage: TokenUsage,
    pub(crate) time: Duration,
    pub(crate) error: Option<String>,
}

impl Report {
    pub(crate) fn new(
        name: String,
        pass_rate: f64,
        cases: &[Case],
        scorers: &[(&str, f64)],
        runs: Vec<Repetition>,
    ) -> Self {
        let mut cases: Vec<CaseReport> = cases.iter().map(CaseReport::new).collect();
        let per_case = runs.len() / cases.len().max(1);
        for (index, run) in runs.into_iter().enumerate() {
            // The runs are in the order of the cases.
            let case = &mut cases[index / per_case];
            debug_assert_eq!(case.name, run.case);
            case.usage += run.usage;
            case.seconds += run.time.as_secs_f64();
            let number = run.number;
            case.errors.extend(
                run.error
                    .map(|error| format!("repetition {number}: {error}")),
            );
            case.scores.extend(run.scores);
        }
        for case in &mut cases {
            case.judge(scorers);
        }
        Report {
            name,
            pass_rate,
            cases,
        }
    }

    /// Whether enough cases have passed.
    pub fn passed(&self) -> bool {
        let passed = self.cases.iter().filter(|case| case.passed).count();
        number(passed) >= self.pass_rate * number(self.cases.len())
    }

    /// Panics with the report unless enough cases have passed.
    ///
    /// # Panics
    ///
    /// If [`passed`](Self::passed) is false.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(
            self.passed(),
            "the evaluation `{}` has failed\n\n{self}",
            self.name
        );
    }

    /// The report as JSON.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # use petalflow_agent::Agent;
    /// # use petalflow_eval::Evaluation;
    /// # let agent = || -> Agent { unreachable!("there is no case") };
    /// let report = Evaluation::new([]).run(|_| Ok(agent())).await;
    /// assert_eq!(report.to_json()["passed"], true);
    /// # }
    /// ```
    pub fn to_json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        json["passed"] = self.passed().into();
        json
    }
}

impl CaseReport {
    fn new(case: &Case) -> Self {
        CaseReport {
            name: case.name.clone(),
            passed: false,
            scorers: Vec::new(),
            scores: Vec::new(),
            errors: Vec::new(),
            usage: TokenUsage::default(),
            seconds: 0.0,
        }
    }

    /// Compares the mean scores with the thresholds.
    fn judge(&mut self, scorers: &[(&str, f64)]) {
        for (name, threshold) in scorers {
            let scores = self.scores.iter().filter(|score| score.scorer == *name);
            let values: Vec<f64> = scores.map(|score| score.value).collect();
            let known = self.scorers.iter().any(|scorer| scorer.scorer == *name);
            if values.is_empty() || known {
                continue;
            }
            let mean = values.iter().sum::<f64>() / number(values.len());
            self.scorers.push(ScorerReport {
                scorer: (*name).to_string(),
                mean,
                lowest: values.iter().copied().fold(1.0, f64::min),
                threshold: *threshold,
                // Sums of parts, such as thirds, are not exact.
                passed: mean + 1e-9 >= *threshold,
            });
        }
        self.passed = self.errors.is_empty() && self.scorers.iter().all(|scorer| scorer.passed);
    }

    /// What has failed, in a line each: the errors, and the scores below 1 of scorers that have not their threshold.
    pub(crate) fn failures(&self) -> Vec<String> {
        let mut lines = self.errors.clone();
        let repeated = self.scores.iter().any(|score| score.repetition > 1);
        for scorer in self.scorers.iter().filter(|scorer| !scorer.passed) {
            let scores = self.scores.iter();
            for score in scores.filter(|score| score.scorer == scorer.scorer && score.value < 1.0) {
                let TurnScore {
                    turn,
                    repetition,
                    reason,
                    answer,
                    ..
                } = score;
                let repetition = if repeated {
                    format!(", repetition {repetition}")
                } else {
                    String::new()
                };
                lines.push(format!(
                    "{}, turn {turn}{repetition}: {reason}\n  answer: {answer}",
                    scorer.scorer
                ));
            }
        }
        lines
    }
}
