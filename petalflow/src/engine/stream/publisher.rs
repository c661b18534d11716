//! Hands events to a sink, so that a run neither waits for it nor fails with it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::event::StreamedEvent;
use super::sink::EventSink;

/// How many events wait for the sink. Further ones are dropped.
const BUFFER: usize = 4_096;

/// How many events the sink gets at once.
const BATCH: usize = 256;

/// After this time, a call of the sink has failed.
const CALL: Duration = Duration::from_secs(5);

/// How long a pass that ends waits until its events are published. While the sink fails, it does not wait.
const FLUSH: Duration = Duration::from_millis(100);

/// Hands events to a sink, from a task of tokio. The buffer is bounded: what does not fit is dropped and counted.
pub(in crate::engine) struct Publisher {
    sink: Arc<dyn EventSink>,
    /// Set with the first event, because an engine may be made outside of a runtime.
    sender: OnceLock<mpsc::Sender<Message>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    dropped: AtomicU64,
    /// Whether the newest call of the sink failed.
    is_failing: AtomicBool,
}

enum Message {
    Event(Box<StreamedEvent>),
    /// Completes when all events before it were handed over.
    Flush(oneshot::Sender<()>),
}

impl Publisher {
    pub(in crate::engine) fn new(sink: Arc<dyn EventSink>) -> Self {
        Publisher {
            sink,
            sender: OnceLock::new(),
            counts: Arc::default(),
        }
    }

    /// How many events were dropped, because the buffer was full or the sink failed.
    pub(in crate::engine) fn dropped(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }

    /// Removes the events of a thread. A failure is ignored.
    pub(in crate::engine) async fn forget(&self, thread: &str) {
        // First, so that what waits does not come after it.
        self.flush().await;
        let _ = timeout(CALL, self.sink.forget(thread)).await;
    }

    /// Adds an event. Must be called in a runtime of tokio.
    pub(in crate::engine) fn publish(&self, event: StreamedEvent) {
        if self
            .sender()
            .try_send(Message::Event(Box::new(event)))
            .is_err()
        {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Adds the next event of an attempt, with the number that it has in it. Must be called in a runtime of tokio.
    ///
    /// Nodes emit from several threads. A reader takes an event with a lower number than the one before for a repetition, so both
    /// the number and the place in the buffer are given under one lock.
    pub(in crate::engine) fn publish_next(&self, sequence: &Mutex<u64>, event: StreamedEvent) {
        let mut next = sequence.lock().unwrap_or_else(PoisonError::into_inner);
        self.publish(StreamedEvent {
            sequence: *next,
            ..event
        });
        *next += 1;
    }

    /// Waits until what was added is published: for a short time, and not at all while the sink fails.
    pub(in crate::engine) async fn flush(&self) {
        if self.counts.is_failing.load(Ordering::Relaxed) {
            return;
        }
        let (flushed, wait) = oneshot::channel();
        if self.sender().try_send(Message::Flush(flushed)).is_ok() {
            let _ = timeout(FLUSH, wait).await;
        }
    }

    fn sender(&self) -> &mpsc::Sender<Message> {
        self.sender.get_or_init(|| {
            let (sender, messages) = mpsc::channel(BUFFER);
            tokio::spawn(publish_all(
                messages,
                Arc::clone(&self.sink),
                Arc::clone(&self.counts),
            ));
            sender
        })
    }
}

/// Publishes until the publisher is dropped.
async fn publish_all(
    mut messages: mpsc::Receiver<Message>,
    sink: Arc<dyn EventSink>,
    counts: Arc<Counts>,
) {
    let mut taken = Vec::with_capacity(BATCH);
    while messages.recv_many(&mut taken, BATCH).await > 0 {
        let (mut events, mut flushed) = (Vec::new(), Vec::new());
        for message in taken.drain(..) {
            match message {
                Message::Event(event) => events.push(*event),
                Message::Flush(sender) => flushed.push(sender),
            }
        }
        if !events.is_empty() {
            let published = timeout(CALL, sink.publish(&events)).await;
            let has_failed = !matches!(published, Ok(Ok(())));
            counts.is_failing.store(has_failed, Ordering::Relaxed);
            if has_failed {
                let dropped = events.len() as u64;
                counts.dropped.fetch_add(dropped, Ordering::Relaxed);
            }
        }
        for sender in flushed {
            // Who waited has given up.
            let _ = sender.send(());
        }
    }
}
