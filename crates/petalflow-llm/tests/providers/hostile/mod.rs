//! Servers that send everything but a good answer: a table of cases for each format. Every case ends within its time and
//! memory, and every error has the server's words and no key.

#![allow(clippy::too_many_lines, reason = "lists of cases")]

mod chat;
mod drops;
mod events;
mod gemini;
mod http;
mod messages;
mod redirects;
mod responses;
mod runs;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};
use serde_json::Value;

/// Does not look like a key: only that it is known removes it.
pub(super) const KEY: &str = "Zebra-Crossing-77-hidden";
/// What the servers say in their errors.
pub(super) const WORDS: &str = "The server says no";
/// The maximum size of an answer in the cases.
pub(super) const LIMIT: usize = 250_000;
/// A client may leave this in the buffers of the machine when it disconnects.
const BUFFERS: u64 = 32_000_000;

/// A format, and how its servers write.
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) model: fn(&Server) -> ProviderModel,
    /// A whole answer with this text.
    pub(super) whole: fn(&str) -> Value,
    /// The events of an answer with this text, which arrives in two pieces.
    pub(super) events: fn(&str) -> Vec<Value>,
    /// The error body for a status.
    pub(super) error: fn(u16, &str) -> Value,
    /// Whether an answer is complete before its last event, after this number of events.
    pub(super) complete_after: usize,
    /// Whether the streams end with `[DONE]`.
    pub(super) done: bool,
}

impl Format {
    /// The text of an event.
    pub(super) fn frame(event: &Value) -> String {
        match event["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        }
    }

    /// The text of a stream with these events, to its end.
    pub(super) fn stream(&self, events: &[Value]) -> String {
        let frames: String = events.iter().map(Self::frame).collect();
        let done = if self.done { "data: [DONE]\n\n" } else { "" };
        frames + done
    }

    /// The text of a good stream.
    pub(super) fn valid_stream(&self) -> String {
        self.stream(&(self.events)("Hello"))
    }

    /// The start of a good stream, in which the first piece of text has arrived.
    pub(super) fn stream_start(&self) -> String {
        let events = (self.events)("Hello");
        let until = events
            .iter()
            .position(|event| event.to_string().contains("Hel"));
        events[..=until.unwrap()].iter().map(Self::frame).collect()
    }

    /// The answer `whole`, which says `Hello`, and the events of the same answer, both with these fields besides. `place` finds the
    /// object of an event that has the fields. All of them are read as without the fields.
    pub(super) fn with_fields(
        &self,
        name: &str,
        mut whole: Value,
        fields: &Value,
        place: fn(&mut Value) -> Option<&mut Value>,
    ) -> Vec<Case> {
        let add = |object: &mut Value| {
            let object = object.as_object_mut().expect("it has fields");
            object.extend(fields.as_object().expect("fields").clone());
        };
        add(&mut whole);
        let steps = json(&whole.to_string());
        let mut cases: Vec<Case> =
            Case::whole_and_streamed(&format!("an answer with {name}"), &steps, text("Hello"))
                .into_iter()
                .collect();
        let mut events = (self.events)("Hello");
        events.iter_mut().filter_map(place).for_each(add);
        let name = format!("events with {name}");
        let steps = stream(&self.stream(&events));
        cases.push(Case::new(name, Asks::Stream, steps, text("Hello")));
        cases
    }
}

/// How a case asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Asks {
    Whole,
    Stream,
}

type Outcome = Result<LlmResponse, LlmError>;

/// What a server does, and what the client makes of it.
pub(super) struct Case {
    name: String,
    asks: Asks,
    steps: Vec<Step>,
    expected: Box<dyn Fn(&Outcome) -> bool>,
    /// Whether the timeouts are short, because the case waits for them.
    waits: bool,
}

impl Case {
    pub(super) fn new(
        name: impl Into<String>,
        asks: Asks,
        steps: Vec<Step>,
        expected: impl Fn(&Outcome) -> bool + 'static,
    ) -> Self {
        Case {
            name: name.into(),
            asks,
            steps,
            expected: Box::new(expected),
            waits: false,
        }
    }

    /// The same for a whole answer and for a stream.
    pub(super) fn whole_and_streamed(
        name: &str,
        steps: &[Step],
        expected: impl Fn(&Outcome) -> bool + Copy + 'static,
    ) -> [Self; 2] {
        [Asks::Whole, Asks::Stream].map(|asks| Self::new(name, asks, steps.to_vec(), expected))
    }

    pub(super) fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }
}

/// An answer as JSON.
pub(super) fn json(body: &str) -> Vec<Step> {
    answer("200 OK", "application/json", body)
}

/// An answer as events, with this text.
pub(super) fn stream(text: &str) -> Vec<Step> {
    vec![events(), chunk(text), end()]
}

/// The start of an answer as events, which goes on with this step.
pub(super) fn stream_then(text: &str, then: Step) -> Vec<Step> {
    match text {
        "" => vec![events(), then],
        text => vec![events(), chunk(text), then],
    }
}

/// A response with this text.
pub(super) fn text(expected: &'static str) -> impl Fn(&Outcome) -> bool + Copy {
    move |outcome| {
        outcome
            .as_ref()
            .is_ok_and(|response| response.text() == expected)
    }
}

/// A response with these calls: names, and arguments as JSON.
pub(super) fn calls(
    expected: &'static [(&'static str, &'static str)],
) -> impl Fn(&Outcome) -> bool + Copy {
    move |outcome| {
        let Ok(response) = outcome else { return false };
        let calls = response.calls();
        let calls: Vec<_> = calls
            .map(|call| (call.name.clone(), call.arguments.to_string()))
            .collect();
        calls.len() == expected.len()
            && calls
                .iter()
                .zip(expected)
                .all(|(call, expected)| (&*call.0, &*call.1) == *expected)
    }
}

/// An error of this kind with these words.
pub(super) fn fails(kind: LlmErrorKind, words: &'static str) -> impl Fn(&Outcome) -> bool + Clone {
    move |outcome| {
        let Err(error) = outcome else { return false };
        error.kind == kind && error.to_string().contains(words)
    }
}

pub(super) fn is_malformed(words: &'static str) -> impl Fn(&Outcome) -> bool + Copy {
    move |outcome| fails(LlmErrorKind::Malformed, words)(outcome)
}

pub(super) fn is_connection_error(words: &'static str) -> impl Fn(&Outcome) -> bool + Copy {
    move |outcome| fails(LlmErrorKind::Connection, words)(outcome)
}

pub(super) fn is_timeout(outcome: &Outcome) -> bool {
    outcome
        .as_ref()
        .is_err_and(|error| error.kind == LlmErrorKind::Timeout && error.is_transient())
}

pub(super) fn is_too_large(outcome: &Outcome) -> bool {
    is_malformed("its answer has more than 250000 bytes; `with_max_response_size` sets the limit")(
        outcome,
    )
}

/// The arguments of a call are wrong, and the error has the answer.
pub(super) fn wrong_arguments(outcome: &Outcome) -> bool {
    outcome
        .as_ref()
        .is_err_and(|error| matches!(error.kind, LlmErrorKind::Arguments { .. }))
}

/// An answer or an error: what matters is that it comes.
pub(super) fn is_any(_: &Outcome) -> bool {
    true
}

/// Runs the cases at once, and reports all that failed.
pub(super) async fn run(format: &Format, cases: Vec<Case>) {
    watch_logs();
    // Those that wait for short timeouts come last, when nothing else takes their time.
    let (waiting, quick): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.waits);
    let mut problems = Vec::new();
    for (cases, at_once) in [(quick, 16), (waiting, 64)] {
        let cases = futures_util::stream::iter(cases).map(|case| run_case(format, case));
        let found: Vec<_> = cases.buffered(at_once).collect().await;
        problems.extend(found.into_iter().flatten());
    }
    assert!(
        problems.is_empty(),
        "{} problems in {} cases of {}:\n{}",
        problems.len(),
        cases.len(),
        format.name,
        problems.join("\n")
    );
    assert!(!KEY_IN_LOG.load(Ordering::SeqCst), "a log has the key");
}

async fn run_case(format: &Format, case: &Case) -> Vec<String> {
    let server = Server::always(case.steps.clone()).await;
    let model = (format.model)(&server)
        .with_key(KEY)
        .without_retry()
        .with_max_response_size(LIMIT);
    let model = if case.waits {
        let short = Duration::from_secs(2);
        model.with_idle_timeout(short).with_total_timeout(2 * short)
    } else {
        model
    };
    let start = Instant::now();
    let outcome = tokio::time::timeout(Duration::from_mins(1), ask(&model, case.asks)).await;
    let mut problems = Vec::new();
    let mut report = |problem: &str| {
        problems.push(format!("- {} ({:?}): {problem}", case.name, case.asks));
    };
    let Ok(outcome) = outcome else {
        report("it does not end");
        return problems;
    };
    if !(case.expected)(&outcome) {
        report(&match &outcome {
            Ok(response) => format!("{:?} {:?}", response.message, response.finish),
            Err(error) => format!("{:?}: {error}", error.kind),
        });
    }
    if let Err(error) = &outcome {
        let text = error.to_string();
        if text.contains('\n') || text.len() > 1_000 {
            report(&format!("its text is long: {text}"));
        }
        if !text.contains(model.name()) && !matches!(error.kind, LlmErrorKind::Arguments { .. }) {
            report(&format!("it does not name the provider: {text}"));
        }
    }
    if format!("{outcome:?} {model:?}").contains(KEY) || source_texts(&outcome).contains(KEY) {
        report("it has the key");
    }
    if server.bytes_sent() > BUFFERS {
        report(&format!("{} bytes were sent", server.bytes_sent()));
    }
    if matches!(
        case.steps.last(),
        Some(Step::Stall | Step::Repeat(_) | Step::Drip(..))
    ) {
        // The model lives on: the connection is closed because the answer is over.
        let closed = server.wait_for_disconnects(1);
        if tokio::time::timeout(Duration::from_secs(8), closed)
            .await
            .is_err()
        {
            report("the connection stays open");
        }
    }
    if start.elapsed() > Duration::from_secs(40) {
        report(&format!("it took {:?}", start.elapsed()));
    }
    problems
}

pub(super) async fn ask(model: &ProviderModel, asks: Asks) -> Outcome {
    let request = LlmRequest::prompt("hi");
    match asks {
        Asks::Whole => model.complete(&request).await,
        Asks::Stream => model.stream(&request).await?.into_response().await,
    }
}

fn source_texts(outcome: &Outcome) -> String {
    let error = outcome.as_ref().err();
    let mut source = error.and_then(std::error::Error::source);
    let mut texts = String::new();
    while let Some(error) = source {
        texts = format!("{texts} {error} {error:?}");
        source = error.source();
    }
    texts
}

static KEY_IN_LOG: AtomicBool = AtomicBool::new(false);

/// Looks for the key in everything that any library logs.
struct Watch;

impl log::Log for Watch {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.args().to_string().contains(KEY) {
            KEY_IN_LOG.store(true, Ordering::SeqCst);
        }
    }

    fn flush(&self) {}
}

fn watch_logs() {
    // Another test may have set it before.
    let _ = log::set_logger(&Watch);
    log::set_max_level(log::LevelFilter::Trace);
}

async fn run_format(format: &Format, own: fn() -> Vec<Case>) {
    let mut cases = http::cases(format);
    cases.extend(events::cases(format));
    cases.extend(own());
    assert!(
        cases.len() >= 115,
        "{} cases of {}",
        cases.len(),
        format.name
    );
    run(format, cases).await;
}

#[tokio::test]
async fn hostile_servers_of_the_chat_format() {
    run_format(&chat::FORMAT, chat::cases).await;
}

#[tokio::test]
async fn hostile_servers_of_the_responses_format() {
    run_format(&responses::FORMAT, responses::cases).await;
}

#[tokio::test]
async fn hostile_servers_of_the_messages_format() {
    run_format(&messages::FORMAT, messages::cases).await;
}

#[tokio::test]
async fn hostile_servers_of_the_gemini_format() {
    run_format(&gemini::FORMAT, gemini::cases).await;
}
