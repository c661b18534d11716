//! A server that answers as a recorded Gemini did.
//!
//! Our requests differ from the recorded ones in some bytes. A request is answered with the response to the recorded
//! request that is most similar to it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use petalflow_llm::ProviderModel;
use serde_json::Value;

use crate::httprr::{self, Pair, Request};
use crate::server::{self, ReceivedRequest, Server};

/// A recording that is being replayed.
#[derive(Debug)]
pub struct Replay {
    /// Sends the recorded responses.
    pub server: Server,
    remaining: Arc<Mutex<Vec<Pair>>>,
}

impl Replay {
    /// Replays a recording of the test data. `None` if it is absent.
    pub async fn of(path: &str) -> Option<Self> {
        let file = petalflow_test_support::recording(path)?;
        Some(Self::file(&file).await)
    }

    /// Replays this file.
    ///
    /// # Panics
    ///
    /// If the file is not a recording.
    pub async fn file(file: &Path) -> Self {
        let remaining = Arc::new(Mutex::new(httprr::read(file)));
        let server = Server::start({
            let remaining = Arc::clone(&remaining);
            move |_, received| match take(&mut remaining.lock().unwrap(), received) {
                None => server::answer(
                    "500 Internal Server Error",
                    "application/json",
                    "{\"error\": {\"message\": \"nothing is recorded for this request\"}}",
                ),
                Some(Pair { response, .. }) => server::answer(
                    &format!("{} Recorded", response.status),
                    &response.content_type,
                    &response.body,
                ),
            }
        })
        .await;
        Replay { server, remaining }
    }

    /// A client that asks this server as if it were Gemini.
    ///
    /// # Panics
    ///
    /// If the name is not that of a model.
    pub fn model(&self, name: &str) -> ProviderModel {
        ProviderModel::new(name)
            .unwrap()
            .with_base_url(self.server.url("/v1beta"))
            .with_key("test-key")
    }

    /// The number of recorded responses that were not sent yet.
    ///
    /// # Panics
    ///
    /// If a request failed in a test of this server.
    pub fn remaining(&self) -> usize {
        self.remaining.lock().unwrap().len()
    }
}

/// Removes the pair whose request is most similar to this one: the first of several that are equally similar.
fn take(remaining: &mut Vec<Pair>, received: &ReceivedRequest) -> Option<Pair> {
    let mut best: Option<(i64, usize)> = None;
    for (index, pair) in remaining.iter().enumerate() {
        if pair.request.path != received.path {
            continue;
        }
        let similarity = similarity(&pair.request, received);
        if best.is_none_or(|(most, _)| similarity > most) {
            best = Some((similarity, index));
        }
    }
    best.map(|(_, index)| remaining.remove(index))
}

/// How similar two requests are: the words of their conversations, and the number of turns.
fn similarity(recorded: &Request, received: &ReceivedRequest) -> i64 {
    let contents = |body: &Value| body.get("contents").cloned().unwrap_or_default();
    let system = |body: &Value| body.get("systemInstruction").cloned().unwrap_or_default();
    let (ours, theirs) = (contents(&received.body), contents(&recorded.body));
    let turns = |contents: &Value| i64::try_from(contents.as_array().map_or(0, Vec::len)).unwrap();
    let missing = difference(&words(&theirs), &words(&ours));
    let system = difference(
        &words(&system(&recorded.body)),
        &words(&system(&received.body)),
    );
    -100 * (turns(&ours) - turns(&theirs)).abs() - missing - system
}

/// The number of words that the first has and the second does not have.
fn difference(one: &HashMap<String, i64>, other: &HashMap<String, i64>) -> i64 {
    one.iter()
        .map(|(word, count)| (count - other.get(word).unwrap_or(&0)).max(0))
        .sum()
}

/// The words in all strings of a value, with their counts.
fn words(value: &Value) -> HashMap<String, i64> {
    fn collect(value: &Value, words: &mut HashMap<String, i64>) {
        match value {
            Value::String(text) => {
                for word in text.split(|c: char| !c.is_alphanumeric()) {
                    *words.entry(word.to_string()).or_default() += 1;
                }
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, words)),
            other => *words.entry(other.to_string()).or_default() += 1,
        }
    }
    let mut all = HashMap::new();
    collect(value, &mut all);
    all
}
