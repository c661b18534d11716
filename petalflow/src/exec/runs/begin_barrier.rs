//! The point where a run on a thread has stored what it begins with, and no node has run.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use crate::event::Sink;

/// Stops a run once, when it has stored what it begins with.
pub(crate) struct BeginBarrier {
    is_reached: AtomicBool,
    /// The receiver of the events, if the caller wants them.
    pub(crate) sink: OnceLock<Arc<dyn Sink>>,
}

impl Default for BeginBarrier {
    fn default() -> Self {
        BeginBarrier {
            is_reached: AtomicBool::new(false),
            sink: OnceLock::new(),
        }
    }
}

impl BeginBarrier {
    /// Whether the run has stored what it begins with.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Acquire)
    }

    /// The run has stored what it begins with. Continues when the run is polled again.
    pub(crate) async fn pass(&self) {
        poll_fn(|cx| {
            if self.is_reached.swap(true, Ordering::AcqRel) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}
