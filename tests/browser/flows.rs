//! A flow whose tasks end when the test allows it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use petalflow::prelude::*;
use petalflow_server::ServedFlow;
use schemars::JsonSchema;
use tokio::sync::Semaphore;

/// Work in several supersteps.
#[state]
pub(crate) struct Steps {
    /// How often `work` runs.
    #[key(input)]
    pub(crate) total: u64,
    /// The gate before which `work` waits each time. Without a name it takes some milliseconds.
    #[key(input, default = String::new())]
    pub(crate) gate: String,
    /// A text that nodes do not change.
    #[key(input, default = String::new())]
    pub(crate) note: String,
    /// How often it has run.
    #[key(sum)]
    pub(crate) done: u64,
    /// A line for each time.
    #[key(append)]
    pub(crate) log: Vec<String>,
}

/// The input as a form.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct StepsForm {
    /// How often it works.
    total: u64,
    /// The gate before which it waits.
    gate: String,
}

#[node(Steps)]
async fn begin(note: &str) -> StepsLog {
    StepsLog(vec![format!("begun {note}")])
}

#[node(Steps)]
async fn work(total: &u64, done: &u64, gate: &str) -> (StepsDone, StepsLog, bool) {
    if gate.is_empty() {
        tokio::time::sleep(Duration::from_millis(15)).await;
    } else if let Ok(permit) = self::gate(gate).acquire_owned().await {
        permit.forget();
    }
    let number = done + 1;
    (
        StepsDone(1),
        StepsLog(vec![format!("step {number}")]),
        number < *total,
    )
}

#[node(Steps)]
async fn end() -> StepsLog {
    StepsLog(vec!["ended".into()])
}

flow! {
    /// Works in several supersteps.
    pub(crate) RunSteps(Steps) {
        START -> begin -> work;
        work -> match { true => work, false => end };
    }
}

/// The flow as it is served.
pub(crate) fn served() -> ServedFlow<RunSteps> {
    ServedFlow::new(RunSteps::new().limit(10_000))
        .named("steps")
        .input_schema::<StepsForm>()
}

/// The gate with this name. A permit lets one task end.
pub(crate) fn gate(name: &str) -> Arc<Semaphore> {
    static GATES: LazyLock<Mutex<HashMap<String, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);
    let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
    let gate = gates.entry(name.to_owned());
    Arc::clone(gate.or_insert_with(|| Arc::new(Semaphore::new(0))))
}

/// A call of a model.
#[state]
pub(crate) struct Call {
    /// What is asked.
    #[key(input)]
    pub(crate) prompt: String,
    /// How long the answer is at most.
    #[key(input, default = 100)]
    pub(crate) words: u64,
    /// The answer.
    pub(crate) answer: String,
}

/// Emits what a model reports.
#[node(Call)]
async fn ask(prompt: &str, words: &u64, cx: Context) -> CallAnswer {
    cx.emit(serde_json::json!({
        "usage": { "input_tokens": 1200, "output_tokens": 34, "cost_usd": 0.25 },
    }));
    CallAnswer(format!("{words} words on {prompt}"))
}

flow! {
    /// Asks a model.
    pub(crate) AskModel(Call) { ask }
}

/// The flow without a schema of its input.
pub(crate) fn priced() -> ServedFlow<AskModel> {
    ServedFlow::new(AskModel::new()).named("priced")
}

/// The same with an input of which nothing is known.
pub(crate) fn unknown_input() -> ServedFlow<AskModel> {
    ServedFlow::reading(AskModel::new(), |input| Ok(serde_json::from_value(input)?))
        .named("unknown")
}
