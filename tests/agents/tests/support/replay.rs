//! A server that answers as a recorded Gemini did.
//!
//! Our requests are not the recorded ones byte for byte: an answer belongs to the recorded request that means the most alike.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use petalflow_llm::ProviderModel;
use serde_json::Value;

use super::httprr::{self, Pair, Request};
use super::server::{self, Asked, Server};

/// A recording that is being replayed.
pub(crate) struct Replay {
    pub(crate) server: Server,
    left: Arc<Mutex<Vec<Pair>>>,
}

impl Replay {
    /// Replays a recording of the test data; none where the data is absent.
    pub(crate) async fn of(path: &str) -> Option<Self> {
        let file = super::data(path)?;
        Some(Self::file(&file).await)
    }

    /// Replays this file.
    pub(crate) async fn file(file: &Path) -> Self {
        let left = Arc::new(Mutex::new(httprr::read(file)));
        let server = Server::start({
            let left = Arc::clone(&left);
            move |_, asked| match take(&mut left.lock().unwrap(), asked) {
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
        Replay { server, left }
    }

    /// The recorded model, asked through the real code.
    pub(crate) fn model(&self, name: &str) -> ProviderModel {
        ProviderModel::new(name)
            .unwrap()
            .with_base_url(self.server.url("/v1beta"))
            .with_key("test-key")
    }

    /// How many recorded answers nobody has asked for yet.
    pub(crate) fn left(&self) -> usize {
        self.left.lock().unwrap().len()
    }
}

/// The pair that this request means, taken out of those that are left. The first of those that are equally alike.
fn take(left: &mut Vec<Pair>, asked: &Asked) -> Option<Pair> {
    let mut best: Option<(i64, usize)> = None;
    for (at, pair) in left.iter().enumerate() {
        if pair.request.path != asked.path {
            continue;
        }
        let alike = alike(&pair.request, asked);
        if best.is_none_or(|(most, _)| alike > most) {
            best = Some((alike, at));
        }
    }
    best.map(|(_, at)| left.remove(at))
}

/// How much two requests have in common: the words of their conversations, and how long these are.
fn alike(recorded: &Request, asked: &Asked) -> i64 {
    let contents = |body: &Value| body.get("contents").cloned().unwrap_or_default();
    let system = |body: &Value| body.get("systemInstruction").cloned().unwrap_or_default();
    let (ours, theirs) = (contents(&asked.body), contents(&recorded.body));
    let turns = |contents: &Value| i64::try_from(contents.as_array().map_or(0, Vec::len)).unwrap();
    let missing = difference(&words(&theirs), &words(&ours));
    let system = difference(
        &words(&system(&recorded.body)),
        &words(&system(&asked.body)),
    );
    -100 * (turns(&ours) - turns(&theirs)).abs() - missing - system
}

/// How many words the one has and the other has not.
fn difference(one: &HashMap<String, i64>, other: &HashMap<String, i64>) -> i64 {
    one.iter()
        .map(|(word, count)| (count - other.get(word).unwrap_or(&0)).max(0))
        .sum()
}

/// The words in all strings of a value, and how often they stand there.
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
