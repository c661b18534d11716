//! What happens in a run: lines of JSON for programs, progress for people.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use indicatif::{ProgressBar, ProgressStyle};
use petalflow::State;
use petalflow::event::{Event, EventKind, TaskId};
use petalflow::interrupt::Interrupt;
use petalflow::thread::ThreadError;
use petalflow_envelope::RouteDecision;
use petalflow_envelope::run::RunEventKind;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answers;
use crate::exit::Result;
use crate::terminal::{self, NOTE};

/// Shows the events of a run.
pub(crate) struct View {
    thread: String,
    seq: u64,
    lines: bool,
    bar: Option<ProgressBar>,
    started: HashMap<TaskId, Instant>,
    running: Vec<String>,
    /// The last line of the text that a model streams, until it is complete.
    streamed: HashMap<TaskId, String>,
}

/// An event as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    event: &'a str,
    thread: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    superstep: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    at: String,
    #[serde(flatten)]
    data: Map<String, Value>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl View {
    /// Shows lines of JSON, or progress if stderr is a terminal and nothing forbids it.
    pub(crate) fn new(thread: &str, lines: bool, quiet: bool) -> Self {
        let bar = (!lines && !quiet).then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        View {
            thread: thread.into(),
            seq: 0,
            lines,
            bar,
            started: HashMap::new(),
            running: Vec::new(),
            streamed: HashMap::new(),
        }
    }

    /// Shows an event.
    pub(crate) fn event<S: State>(&mut self, event: &Event<S>) -> Result<()> {
        self.progress(event);
        if !self.lines {
            return Ok(());
        }
        let (kind, data) = match &event.kind {
            EventKind::RunStarted => ("run.started", Value::Null),
            EventKind::NodeStarted => ("node.started", Value::Null),
            EventKind::NodeFinished { cached, .. } => {
                ("node.finished", json!({ "cached": cached }))
            }
            EventKind::NodeRestored { .. } => ("node.restored", Value::Null),
            EventKind::NodeFailed { error } => (
                "node.failed",
                json!({ "error": error.message, "attempt": error.attempt }),
            ),
            EventKind::Retry { error, wait } => (
                "node.retried",
                json!({ "error": error.message, "attempt": error.attempt, "wait_ms": wait.as_millis() }),
            ),
            EventKind::Checkpoint { checkpoint } => {
                ("checkpoint", json!({ "checkpoint": checkpoint }))
            }
            EventKind::Custom(custom) => {
                let value = custom
                    .value()
                    .ok()
                    .and_then(|it| serde_json::to_value(it).ok());
                let mut data = object(value.unwrap_or_default());
                let kind = if custom.downcast_ref::<RouteDecision>().is_some() {
                    RunEventKind::RouteDecision
                } else {
                    let named = data
                        .get("kind")
                        .and_then(Value::as_str)
                        .and_then(RunEventKind::parse);
                    if named.is_some() {
                        data.remove("kind");
                    }
                    named.unwrap_or(RunEventKind::NodeOutput)
                };
                (kind.as_str(), Value::Object(data))
            }
            EventKind::Interrupted { interrupts, .. } => paused(interrupts),
            EventKind::Failed { error } => match error.thread_error() {
                // A new input of a thread that waits is refused: the thread is paused as before.
                Some(ThreadError::Waiting { waiting, .. }) => paused(waiting),
                _ => ("run.failed", json!({ "error": error.to_string() })),
            },
            // Its line has the result, which the command adds.
            _ => return Ok(()),
        };
        self.line(kind, event.superstep, event.node(), data)
    }

    /// Prints a line of JSON, if lines are wanted.
    pub(crate) fn line(
        &mut self,
        event: &str,
        superstep: u64,
        node: Option<&str>,
        data: Value,
    ) -> Result<()> {
        if !self.lines {
            return Ok(());
        }
        self.seq += 1;
        terminal::json_line(&Line {
            seq: self.seq,
            event,
            thread: &self.thread,
            superstep,
            node,
            at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            data: object(data),
        })
    }

    fn progress<S: State>(&mut self, event: &Event<S>) {
        let Some(bar) = &self.bar else { return };
        let Some(task) = &event.task else { return };
        let end = |mark: &str, started: Option<Instant>| {
            let took = started.map_or(0.0, |it| it.elapsed().as_secs_f64());
            bar.println(format!("{mark} {} ({took:.1} s)", task.node));
        };
        if !matches!(event.kind, EventKind::Custom(_))
            && let Some(line) = self.streamed.remove(&task.id)
            && !line.is_empty()
        {
            bar.println(text_of(&task.node, &line));
        }
        match &event.kind {
            EventKind::NodeStarted => {
                self.started.entry(task.id).or_insert_with(Instant::now);
                self.running.push(task.node.to_string());
            }
            EventKind::NodeFinished { .. } => end("✓", self.started.remove(&task.id)),
            EventKind::NodeFailed { .. } => end("✗", self.started.remove(&task.id)),
            EventKind::Retry { error, .. } => {
                bar.println(format!("↻ {}: {}", task.node, error.message));
            }
            EventKind::Custom(custom) => {
                let Some(piece) = custom.value().ok().and_then(streamed_text) else {
                    return;
                };
                let line = self.streamed.entry(task.id).or_default();
                line.push_str(&piece);
                while let Some((complete, rest)) = line.split_once('\n') {
                    bar.println(text_of(&task.node, complete));
                    *line = rest.into();
                }
                bar.set_message(text_of(&task.node, last_part(line)));
                return;
            }
            _ => return,
        }
        if !matches!(event.kind, EventKind::NodeStarted)
            && let Some(at) = self.running.iter().position(|it| **it == *task.node)
        {
            self.running.remove(at);
        }
        bar.set_message(self.running.join(", "));
    }

    /// Removes the progress from the terminal, before something else is printed.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Shows the progress again.
    pub(crate) fn go_on(&self) {
        if let Some(bar) = &self.bar {
            bar.reset();
        }
    }
}

/// A piece of the text that a model streams.
fn streamed_text(value: impl Serialize) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    let is_piece = value["kind"] == RunEventKind::NodeOutputDelta.as_str();
    is_piece.then(|| value["delta"].as_str().map(str::to_owned))?
}

fn text_of(node: &str, line: &str) -> String {
    // A model may write what a terminal obeys.
    let line: String = line.chars().filter(|it| !it.is_control()).collect();
    format!("  {NOTE}{node}:{NOTE:#} {line}")
}

/// What fits into a line of a terminal.
fn last_part(line: &str) -> &str {
    const LONGEST: usize = 60;
    let from = line.char_indices().rev().nth(LONGEST - 1);
    from.map_or(line, |(at, _)| &line[at..])
}

fn paused(interrupts: &[Interrupt]) -> (&'static str, Value) {
    let questions: Vec<Value> = interrupts.iter().map(answers::as_json).collect();
    ("run.paused", json!({ "questions": questions }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        value => Map::from_iter([("value".to_owned(), value)]),
    }
}
