//! A server that answers as a recorded Gemini did.
//!
//! Our requests differ from the recorded ones in some bytes. A request is answered with the response to the recorded
//! request that is most similar to it, and of several such ones with the first. One that is like none of them is answered
//! with an error that shows the differences.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use petalflow_llm::ProviderModel;
use petalflow_llm::testing::differences;
use serde_json::{Value, json};

use crate::httprr::{self, Pair};
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
                Err(mismatch) => server::answer(
                    "400 Not Recorded",
                    "application/json",
                    &json!({ "error": { "message": mismatch } }).to_string(),
                ),
                Ok(Pair { response, .. }) => server::answer(
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

/// Removes the pair whose request is most similar to this one. Of several that are about equally similar, takes the first.
///
/// # Errors
///
/// The differences, if the request has less than half of the words of each remaining one.
fn take(remaining: &mut Vec<Pair>, received: &ReceivedRequest) -> Result<Pair, String> {
    let alike: Vec<(i64, usize)> = remaining
        .iter()
        .enumerate()
        .filter(|(_, pair)| {
            pair.request.path == received.path && is_alike(&pair.request.body, &received.body)
        })
        .map(|(index, pair)| (distance(&pair.request.body, &received.body), index))
        .collect();
    let Some(least) = alike.iter().map(|(distance, _)| *distance).min() else {
        return Err(mismatch(remaining, received));
    };
    // An equal request wins. Of others, some words differ by chance, and the order decides.
    let most = if least == 0 { 0 } else { least + CHANCE };
    let first = alike.iter().find(|(distance, _)| *distance <= most);
    Ok(remaining.remove(first.map_or(0, |(_, index)| *index)))
}

/// Whether a request has at least half of the words of a recorded one.
fn is_alike(recorded: &Value, received: &Value) -> bool {
    let (recorded, received) = (words(&recorded["contents"]), words(&received["contents"]));
    let all: i64 = recorded.values().sum();
    2 * difference(&recorded, &received) <= all
}

/// The number of words that may differ by chance.
const CHANCE: i64 = 1;

/// What is wrong with a request that no recorded one is like.
fn mismatch(remaining: &[Pair], received: &ReceivedRequest) -> String {
    let of_path = remaining
        .iter()
        .find(|pair| pair.request.path == received.path);
    let Some(next) = of_path.or(remaining.first()) else {
        return "all recorded responses are used".into();
    };
    if of_path.is_none() {
        let (recorded, asked) = (&next.request.path, &received.path);
        return format!(
            "the next recorded request is to `{recorded}`, and this one is to `{asked}`"
        );
    }
    let contents = |body: &Value| json!({ "contents": body["contents"] });
    let found = differences(&contents(&next.request.body), &contents(&received.body));
    format!("the next recorded request differs: {}", found.join("; "))
}

/// How different two requests are: the numbers of turns, and the words that only one of them has, in the conversation and
/// in the instructions.
fn distance(recorded: &Value, received: &Value) -> i64 {
    let turns = |body: &Value| body["contents"].as_array().map_or(0, Vec::len);
    let turns = turns(recorded).abs_diff(turns(received));
    let words: i64 = ["contents", "systemInstruction"]
        .iter()
        .map(|part| {
            let (recorded, received) = (words(&recorded[part]), words(&received[part]));
            difference(&recorded, &received) + difference(&received, &recorded)
        })
        .sum();
    100 * i64::try_from(turns).unwrap_or(i64::MAX / 200) + words
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
