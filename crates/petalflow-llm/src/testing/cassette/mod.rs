//! Recorded responses of a real model.

mod recording;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, stream};

use crate::secrets::Secrets;
use crate::stream::{Delta, StreamAccumulator, StreamEvent};
use crate::usage::{Price, TokenCount};
use crate::{Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;
use recording::{Recording, Recordings};

/// A model that records the responses of another model in a file, and then replays them. Tests use responses of a real
/// model, without a key and without a network, and are deterministic.
///
/// The file is readable JSON, and can be committed. It contains no keys: requests have none, and text that looks like a
/// key, or was set with [`with_secret`](Self::with_secret), is replaced by `***`. So are values of fields with names such
/// as `token`, `refresh_token`, `client_secret` and `password`, and what follows `Bearer`. Errors are not recorded.
///
/// The file also has what the model says of itself: its name, its capabilities, the prices of the models that were asked,
/// and its counts of tokens. A count that is not recorded is [an estimate](TokenCount::estimate).
///
/// A request gets the response to an equal recorded request. Each response is used once, in order. Ids of messages and
/// calls are ignored, because they may differ in each run. If there is no equal one, the error shows the differences from
/// the most similar one.
///
/// ```
/// use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};
/// use petalflow_llm::testing::Cassette;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), petalflow_llm::LlmError> {
/// # let dir = std::env::temp_dir().join(format!("petalflow-cassette-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// let file = dir.join("capitals.json");
/// let question = LlmRequest::prompt("What is the capital of France?");
/// for run in ["recorded", "replayed"] {
///     // A real provider, in real life. It is only made where there is no recording.
///     let model = Cassette::open(&file, || Ok(ScriptedModel::new(["Paris"])))?;
///     assert_eq!(model.is_recording(), run == "recorded");
///     assert_eq!(model.complete(&question).await?.text(), "Paris");
/// }
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct Cassette {
    file: PathBuf,
    name: String,
    model: Option<String>,
    /// The model that is recorded. `None` for a replay.
    source: Option<Arc<dyn LlmClient>>,
    secrets: Secrets,
    recordings: Arc<Mutex<Recordings>>,
}

impl Cassette {
    /// Replays the file. If there is no file, records this model. To record again, delete the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the model cannot be created.
    pub fn open<C: LlmClient>(
        file: impl Into<PathBuf>,
        model: impl FnOnce() -> Result<C, LlmError>,
    ) -> Result<Self, LlmError> {
        let file = file.into();
        if file.exists() {
            return Self::replay(file);
        }
        let source: Arc<dyn LlmClient> = Arc::new(model()?);
        Ok(Cassette {
            recordings: Arc::new(Mutex::new(Recordings::new(&*source))),
            file,
            name: source.name().to_string(),
            model: source.model().map(String::from),
            source: Some(source),
            secrets: Secrets::default(),
        })
    }

    /// Replays the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn replay(file: impl Into<PathBuf>) -> Result<Self, LlmError> {
        let file = file.into();
        let recordings = read(&file).map_err(|error| {
            let file = file.display();
            LlmError::request(format!("cassette `{file}` cannot be read: {error}"))
        })?;
        Ok(Cassette {
            file,
            name: recordings.provider().to_string(),
            model: recordings.model().map(String::from),
            source: None,
            secrets: Secrets::default(),
            recordings: Arc::new(Mutex::new(recordings)),
        })
    }

    /// Adds a text that must not appear in the file.
    #[must_use]
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.secrets.add(secret.into());
        self
    }

    /// Whether requests go to the real model.
    pub fn is_recording(&self) -> bool {
        self.source.is_some()
    }

    /// The number of unused recorded responses.
    pub fn remaining(&self) -> usize {
        lock(&self.recordings).remaining()
    }

    /// The recorded response to a request.
    fn recorded(&self, request: &LlmRequest) -> Result<(Vec<Delta>, LlmResponse), LlmError> {
        let request_key = recording::comparable(&self.secrets.redact(recording::value(request)?));
        let recorded = lock(&self.recordings).take(&request_key, &self.secrets);
        recorded.map_err(|why| {
            let file = self.file.display();
            LlmError::request(format!(
                "cassette `{file}` has no answer to this request: {why}; delete the file to record anew"
            ))
        })
    }
}

/// Records responses, for `complete` and for `stream`.
struct Recorder {
    source: Arc<dyn LlmClient>,
    file: PathBuf,
    secrets: Secrets,
    recordings: Arc<Mutex<Recordings>>,
}

impl Recorder {
    fn new(cassette: &Cassette, source: &Arc<dyn LlmClient>) -> Self {
        Recorder {
            source: Arc::clone(source),
            file: cassette.file.clone(),
            secrets: cassette.secrets.clone(),
            recordings: Arc::clone(&cassette.recordings),
        }
    }

    fn write(
        &self,
        request: &LlmRequest,
        events: &[Delta],
        response: &LlmResponse,
    ) -> Result<(), LlmError> {
        let recording = Recording::new(request, events, response, &self.secrets)?;
        let mut recordings = lock(&self.recordings);
        recordings.record(recording);
        let models = [request.model.as_deref(), Some(&*response.model)];
        for model in models.into_iter().flatten() {
            recordings.record_price(&*self.source, model);
        }
        self.write_file(&recordings)
    }

    fn write_count(&self, request: &LlmRequest, count: TokenCount) -> Result<(), LlmError> {
        let request = self.secrets.redact(recording::value(request)?);
        let mut recordings = lock(&self.recordings);
        recordings.record_count(&request, count);
        self.write_file(&recordings)
    }

    fn write_file(&self, recordings: &Recordings) -> Result<(), LlmError> {
        write(&self.file, recordings).map_err(|error| {
            let file = self.file.display();
            LlmError::request(format!("cassette `{file}` cannot be written: {error}"))
        })
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl LlmClient for Cassette {
    fn name(&self) -> &str {
        &self.name
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    fn capabilities(&self) -> Capabilities {
        match &self.source {
            Some(source) => source.capabilities(),
            None => lock(&self.recordings).capabilities(),
        }
    }

    fn price(&self, model: &str) -> Option<Price> {
        match &self.source {
            Some(source) => source.price(model),
            None => lock(&self.recordings).price(model),
        }
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let Some(source) = &self.source else {
            return self.recorded(request)?.1.checked(request);
        };
        let response = source.complete(request).await;
        let received = match &response {
            Ok(response) => response,
            Err(error) => match &error.kind {
                // The response is recorded: a test may need it.
                LlmErrorKind::Arguments { response } | LlmErrorKind::Blocked { response } => {
                    response
                }
                _ => return response,
            },
        };
        Recorder::new(self, source).write(request, &[], received)?;
        response
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let Some(source) = &self.source else {
            let (events, response) = self.recorded(request)?;
            let events = events.into_iter().map(StreamEvent::Delta);
            let events = events.chain([StreamEvent::End(Box::new(response))]).map(Ok);
            return Ok(LlmStream::new(request, stream::iter(events)));
        };
        let response = source.stream(request).await?;
        let (recorder, request) = (Recorder::new(self, source), request.clone());
        let mut received = Vec::new();
        Ok(response.wrap_source(move |events| {
            events.map(move |event| {
                match &event {
                    Ok(StreamEvent::Delta(delta)) => received.push(delta.clone()),
                    Ok(StreamEvent::End(rest)) => {
                        let mut response = StreamAccumulator::new();
                        received.iter().for_each(|delta| response.push(delta));
                        let complete = response.finish(LlmResponse::clone(rest));
                        recorder.write(&request, &received, &complete)?;
                    }
                    Err(_) => {}
                }
                event
            })
        }))
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        let Some(source) = &self.source else {
            let request_key = self.secrets.redact(recording::value(request)?);
            let recorded = lock(&self.recordings).count(&request_key);
            return Ok(recorded.unwrap_or_else(|| TokenCount::estimate(request)));
        };
        let count = source.count_tokens(request).await?;
        Recorder::new(self, source).write_count(request, count)?;
        Ok(count)
    }
}

fn read(file: &Path) -> Result<Recordings, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let recordings: Recordings = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    recordings
        .is_supported()
        .then_some(recordings)
        .ok_or_else(|| "it is of another version".to_string())
}

/// Writes a new file and renames it over the old one: an interrupted test leaves no incomplete file.
fn write(file: &Path, recordings: &Recordings) -> std::io::Result<()> {
    let mut text = serde_json::to_string_pretty(recordings).map_err(std::io::Error::other)?;
    text.push('\n');
    let new = file.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(&new, file)
}

/// No code panics while it holds the lock, so the value is always consistent.
fn lock(recordings: &Mutex<Recordings>) -> MutexGuard<'_, Recordings> {
    recordings.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette")
            .field("file", &self.file)
            .field("recording", &self.is_recording())
            .finish_non_exhaustive()
    }
}
