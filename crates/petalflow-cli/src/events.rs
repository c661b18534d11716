//! Shows the events of a run: lines of JSON for programs, a progress bar for people.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use indicatif::{ProgressBar, ProgressStyle};
use petalflow::State;
use petalflow::event::{Event, EventKind, TaskId};
use petalflow::interrupt::Interrupt;
use petalflow::thread::ThreadError;
use petalflow_documents::run::RunEventKind;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::answers;
use crate::exit::Result;
use crate::terminal::{self, NOTE, rendered};

/// How the events of a run are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewMode {
    /// Lines of JSON on stdout.
    JsonLines,
    /// A progress bar on stderr, if that is a terminal.
    Progress,
    /// Not at all.
    Quiet,
}

/// Shows the events of a run.
pub(crate) struct View {
    thread: String,
    mode: ViewMode,
    /// The number of the last line of JSON.
    seq: u64,
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
    pub(crate) fn new(thread: &str, mode: ViewMode) -> Self {
        let bar = (mode == ViewMode::Progress).then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        View {
            thread: thread.into(),
            mode,
            seq: 0,
            bar,
            started: HashMap::new(),
            running: Vec::new(),
            streamed: HashMap::new(),
        }
    }

    /// Shows an event.
    pub(crate) fn event<S: State>(&mut self, event: &Event<S>) -> Result<()> {
        self.update_progress(event);
        if self.mode != ViewMode::JsonLines {
            return Ok(());
        }
        let (name, data) = match &event.kind {
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
                let (kind, payload) = RunEventKind::of(custom);
                (kind.as_str(), payload.into())
            }
            EventKind::Interrupted { interrupts, .. } => paused(interrupts),
            EventKind::Sleeping { until, .. } => {
                let until = until.duration_since(UNIX_EPOCH).unwrap_or_default();
                ("run.sleeping", json!({ "wakes_ms": until.as_millis() }))
            }
            EventKind::Failed { error } => match error.thread_error() {
                // A new input of a thread that waits is refused: the thread is paused as before.
                Some(ThreadError::Waiting { waiting, .. }) => paused(waiting),
                _ => ("run.failed", json!({ "error": error.to_string() })),
            },
            // The command prints the line of a finished run, because that line has the result.
            _ => return Ok(()),
        };
        self.line(name, event.superstep, event.node(), data)
    }

    /// Prints a line of JSON in the mode for that.
    pub(crate) fn line(
        &mut self,
        event: &str,
        superstep: u64,
        node: Option<&str>,
        data: Value,
    ) -> Result<()> {
        if self.mode != ViewMode::JsonLines {
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

    fn update_progress<S: State>(&mut self, event: &Event<S>) {
        let Some(bar) = &self.bar else { return };
        let Some(task) = &event.task else { return };
        let end = |mark: &str, started: Option<Instant>| {
            let took = started.map_or(0.0, |it| it.elapsed().as_secs_f64());
            bar.println(rendered(format_args!("{mark} {} ({took:.1} s)", task.node)));
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
                bar.println(rendered(format_args!("↻ {}: {}", task.node, error.message)));
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
            && let Some(index) = self.running.iter().position(|it| **it == *task.node)
        {
            self.running.remove(index);
        }
        bar.set_message(rendered(self.running.join(", ")));
    }

    /// Removes the progress bar from the terminal, before something else is printed.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Shows the progress bar again.
    pub(crate) fn restart(&self) {
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
    rendered(format_args!("  {NOTE}{node}:{NOTE:#} {line}"))
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
