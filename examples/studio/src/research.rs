//! A research: sources are read side by side, several rounds, until there are enough notes.

use std::time::Duration;

use petalflow::prelude::*;
use petalflow_server::ServedFlow;
use schemars::JsonSchema;

/// A research.
#[state]
pub(crate) struct Research {
    /// What it is about.
    #[key(input)]
    pub(crate) topic: String,
    /// How many rounds of reading there are.
    #[key(input, default = 3)]
    pub(crate) rounds: u64,
    /// The rounds that have ended.
    #[key(sum)]
    pub(crate) round: u64,
    /// What was found.
    #[key(append)]
    pub(crate) notes: Vec<String>,
    /// The text.
    pub(crate) text: String,
}

/// The input as a form.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ResearchForm {
    /// What it is about.
    topic: String,
    /// How many rounds of reading there are.
    #[schemars(range(min = 1, max = 1000))]
    rounds: Option<u64>,
}

/// Sends a source to each reader.
#[node(Research)]
async fn plan(topic: &str, round: &u64) -> Each<String> {
    let sources = ["library", "archive", "newspaper"];
    Each(
        sources
            .map(|source| format!("{source} on {topic}, part {}", round + 1))
            .into(),
    )
}

/// Reads a source. It takes some time, so that there is something to see.
#[node(Research)]
async fn read(#[item] source: &str) -> ResearchNotes {
    tokio::time::sleep(Duration::from_millis(200 + fastrand::u64(..600))).await;
    ResearchNotes(vec![format!("from the {source}")])
}

/// Counts the round, and decides whether there is another.
#[node(Research)]
async fn review(round: &u64, rounds: &u64) -> (ResearchRound, bool) {
    (ResearchRound(1), round + 1 < *rounds)
}

/// Writes the text.
#[node(Research)]
async fn write(topic: &str, notes: &[String]) -> ResearchText {
    ResearchText(format!("All about {topic}, from {} notes.", notes.len()))
}

flow! {
    /// Reads sources in rounds, and writes a text.
    pub(crate) DoResearch(Research) {
        START -> plan;
        plan -> each read;
        read -> review;
        review -> match { true => plan, false => write };
    }
}

/// The flow as it is served.
pub(crate) fn served() -> ServedFlow<DoResearch> {
    let launch = DoResearch::new().limit(10_000);
    ServedFlow::new(launch)
        .named("research")
        .input_schema::<ResearchForm>()
}
