//! The traced run: its current superstep, and whether its spans record content.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::{Span, field};

use super::span::int;

/// A traced run.
pub(super) struct Run {
    span: Span,
    content: bool,
    /// The current superstep and its span.
    step: Mutex<Option<(u64, Span)>>,
}

tokio::task_local! {
    static RUN: Option<Arc<Run>>;
}

impl Run {
    /// Creates a run with this span.
    pub(super) fn new(span: Span, content: bool) -> Self {
        Run {
            span,
            content,
            step: Mutex::new(None),
        }
    }

    /// Returns the span of this superstep. It ends when the next one starts, or when the run ends.
    fn step(&self, number: u64) -> Span {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        match &*step {
            Some((current, span)) if *current == number => span.clone(),
            _ => {
                // End the previous span before the new one starts.
                *step = None;
                let span = step_span(&self.span, number);
                *step = Some((number, span.clone()));
                span
            }
        }
    }
}

fn step_span(run: &Span, number: u64) -> Span {
    tracing::info_span!(
        target: "petalflow",
        parent: run,
        "superstep",
        otel.name = format!("superstep {number}"),
        otel.kind = "internal",
        otel.status_code = field::Empty,
        petalflow.superstep = int(number),
    )
}

/// Returns the span of this superstep of the current run. Without a traced run it returns the current span.
pub(super) fn step(number: u64) -> Span {
    match current() {
        Some(run) => run.step(number),
        None => Span::current(),
    }
}

/// Whether the spans of the current run record content.
pub(super) fn records_content() -> bool {
    RUN.try_with(|run| run.as_ref().is_some_and(|run| run.content))
        .unwrap_or(false)
}

/// Returns the current run.
pub(super) fn current() -> Option<Arc<Run>> {
    RUN.try_with(Option::clone).ok().flatten()
}

/// Runs a future inside a run.
pub(super) fn within<F: Future>(run: Option<Arc<Run>>, work: F) -> impl Future<Output = F::Output> {
    RUN.scope(run, work)
}

/// Calls a function inside a run.
pub(super) fn enter<R>(run: Option<Arc<Run>>, work: impl FnOnce() -> R) -> R {
    RUN.sync_scope(run, work)
}
