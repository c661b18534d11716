//! The run that is traced: its superstep, and whether its spans tell what is said.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tracing::{Span, field};

use super::span::int;

/// A run that is traced.
pub(super) struct Run {
    span: Span,
    content: bool,
    /// The superstep that runs, and its span.
    step: Mutex<Option<(u64, Span)>>,
}

tokio::task_local! {
    static RUN: Option<Arc<Run>>;
}

impl Run {
    /// A run of this span. Within a run whose spans tell what is said, its own do.
    pub(super) fn new(span: Span, content: bool) -> Self {
        Run {
            span,
            content: content || tells_content(),
            step: Mutex::new(None),
        }
    }

    /// The span of this superstep, which ends when the next one begins, or the run ends.
    fn step(&self, number: u64) -> Span {
        let mut step = self.step.lock().unwrap_or_else(PoisonError::into_inner);
        match &*step {
            Some((current, span)) if *current == number => span.clone(),
            _ => {
                // The last one ends before this one begins.
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

/// The span of this superstep of the run in which the caller is; where no run is traced, the span in which the caller is.
pub(super) fn step(number: u64) -> Span {
    match current() {
        Some(run) => run.step(number),
        None => Span::current(),
    }
}

/// Whether the spans of the run in which the caller is tell what is said.
pub(super) fn tells_content() -> bool {
    RUN.try_with(|run| run.as_ref().is_some_and(|run| run.content))
        .unwrap_or(false)
}

/// The run in which the caller is.
pub(super) fn current() -> Option<Arc<Run>> {
    RUN.try_with(Option::clone).ok().flatten()
}

/// Runs something within a run.
pub(super) fn within<F: Future>(run: Option<Arc<Run>>, work: F) -> impl Future<Output = F::Output> {
    RUN.scope(run, work)
}

/// Calls something within a run.
pub(super) fn called<R>(run: Option<Arc<Run>>, work: impl FnOnce() -> R) -> R {
    RUN.sync_scope(run, work)
}
