//! The events of a run as a stream, without the types of its flow.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::AnyRun;
use crate::clock::from_ms;
use crate::erased::CopyState;
use crate::event::{AnyEvent, AnyEventKind, EventQueue, Sink as _};
use crate::ids::Namespace;
use crate::outcome::AnyPaused;

/// [`Events`](super::Events) without the types of their flow.
pub(crate) struct AnyEvents {
    /// `None` once the run has ended.
    run: Option<AnyRun>,
    sink: Arc<EventQueue>,
}

impl_debug!(AnyEvents, |this| run = this.run);

impl AnyEvents {
    pub(crate) fn of(run: AnyRun) -> Self {
        let sink = EventQueue::new();
        AnyEvents {
            run: Some(run.send_events_to(Arc::clone(&sink) as _)),
            sink,
        }
    }

    /// Adds the states, which this function copies.
    pub(crate) fn want_values(&self, copy: CopyState) {
        let is_new = self.run.as_ref().is_some_and(|run| !run.is_running());
        assert!(
            is_new,
            "`with_values` must be called before the stream is polled"
        );
        self.sink.want_values(copy);
    }

    /// Leaves out the events of progress.
    pub(crate) fn leave_out_progress(&self) {
        self.sink.leave_out_progress();
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<AnyEvent>> {
        if let Some(event) = self.sink.begin_poll() {
            return Poll::Ready(Some(event));
        }
        let Some(run) = &mut self.run else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(result) = Pin::new(run).poll(cx) {
            self.run = None;
            let (superstep, kind) = match result {
                Ok(state) => (
                    self.sink.newest_superstep.get(),
                    AnyEventKind::Finished { state },
                ),
                Err(error) => {
                    let superstep = error.superstep();
                    let kind = match error.into_paused_any() {
                        Ok(paused) => paused_event(paused),
                        Err(error) => AnyEventKind::Failed { error },
                    };
                    (superstep, kind)
                }
            };
            self.sink.send(AnyEvent {
                namespace: Namespace::ROOT,
                superstep,
                task: None,
                kind,
            });
        }
        // The run can queue events before it returns `Pending`: these are returned first.
        self.sink
            .end_poll(cx)
            .map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}

fn paused_event(paused: AnyPaused) -> AnyEventKind {
    let AnyPaused {
        state,
        interrupts,
        wakes_ms,
    } = paused;
    match wakes_ms.map(from_ms) {
        Some(until) if interrupts.is_empty() => AnyEventKind::Sleeping { until, state },
        wakes => AnyEventKind::Interrupted {
            interrupts,
            wakes,
            state,
        },
    }
}
