//! Begins the turns of queued messages.
//!
//! A queued message begins its turn once. Before the turn, a label of the thread names the message and the newest checkpoint. If a
//! process is killed before the record of the message is deleted, the next one finds the label: the turn has begun if the thread has a
//! later checkpoint of an input. All who begin turns of a thread look at the label first, so such an input is that of the message.
//!
//! A thread of an engine is changed as a whole: it gets the input together with a label that says which message it was.

use std::sync::Arc;

use petalflow::checkpoint::{Cause, ThreadInfo, ThreadStatus};
use petalflow::thread::{HistoryQuery, ThreadError};
use serde_json::json;

use super::steering;
use crate::MultitaskStrategy;
use crate::Notice;
use crate::message_queue::{Queued, Waiting};
use crate::refusal::Refusal;
#[cfg(feature = "protocol")]
use crate::request_labels::{self, Fate, Requested};
use crate::served::{Input, InputValue, Labels, ServedThreads, known_message};
use crate::server::{Inner, Server};
use crate::start_lock::StartLock;

/// The label with the message that begins a turn, and the newest checkpoint before it.
const LABEL: &str = "petalflow.queued";

/// The number of records that are read at once.
const PAGE: usize = 100;

impl Inner {
    /// Before a client begins a turn: finishes what a process has left that was killed while it began the turn of a queued message.
    /// With a strategy that stores messages or stops runs, the caller gets the lock of the requests of the thread.
    pub(crate) async fn settle_queue(
        self: &Arc<Self>,
        flow: &Arc<dyn ServedThreads>,
        thread: &str,
        strategy: MultitaskStrategy,
    ) -> Result<Option<StartLock>, Refusal> {
        let info = self.info(thread).await?;
        let in_doubt = info.is_some_and(|info| info.labels.contains_key(LABEL));
        if !in_doubt && strategy == MultitaskStrategy::Reject {
            return Ok(None);
        }
        let lock = StartLock::of_requests(self, thread).await?;
        if in_doubt {
            self.advance(flow, thread).await?;
        }
        Ok(Some(lock))
    }

    /// A message to the thread was queued by this process, which looks at the queue when the run has ended.
    pub(crate) fn expect_queued(self: &Arc<Self>, thread: &str) {
        self.queued().insert(thread.to_string());
        // The run may have ended already.
        if !self.is_running(thread) {
            self.advance_soon(thread.to_string());
        }
    }

    /// A run of this process has ended.
    pub(crate) fn run_has_ended(self: &Arc<Self>, thread: &str) {
        if self.queued().remove(thread) {
            self.advance_soon(thread.to_string());
        }
    }

    fn advance_soon(self: &Arc<Self>, thread: String) {
        let server = Arc::clone(self);
        self.spawn(async move {
            // What fails now is tried again with the other threads.
            let _ = server.advance_alone(&thread).await;
        });
    }

    /// Begins the turn of the first queued message of a thread, if no run has the thread.
    async fn advance_alone(self: &Arc<Self>, thread: &str) -> Result<(), Refusal> {
        let flow = self.owner(thread).await?;
        let _lock = StartLock::of_requests(self, thread).await?;
        self.advance(&flow, thread).await
    }

    /// Begins the turn of the first queued message of a thread, if the last turn has ended. The caller has the lock of the requests of the
    /// thread.
    pub(crate) async fn advance(
        self: &Arc<Self>,
        flow: &Arc<dyn ServedThreads>,
        thread: &str,
    ) -> Result<(), Refusal> {
        let queue = &self.settings.queue;
        for waiting in queue.waiting(thread).await? {
            let Waiting {
                record,
                cancelled_ms,
                ..
            } = waiting;
            let Some(queued) = queue.read(&record).await? else {
                continue;
            };
            let Some(info) = self.info(thread).await? else {
                queue.delete(&record).await?;
                continue;
            };
            let (id, is_named) = (queued.id.clone(), queued.is_named);
            let message = Forgotten {
                id: &id,
                is_named,
                record: &record,
            };
            let rests = matches!(info.status, ThreadStatus::Finished | ThreadStatus::Failed);
            if known_message::is_known(&info.labels, &id)
                || has_begun(&**flow, &info, &record).await?
                || rests && was_read(&**flow, thread, &queued).await?
            {
                self.forget(&**flow, thread, &message).await?;
                continue;
            }
            if let Some(at_ms) = cancelled_ms {
                // The labels of a thread that an engine keeps are set between its turns.
                if rests {
                    self.mark_cancelled(&**flow, thread, &queued, at_ms).await?;
                    self.forget(&**flow, thread, &message).await?;
                }
                continue;
            }
            // A run that was stopped goes on first, and a person or a time that it waits for comes before the next message.
            if !rests {
                return Ok(());
            }
            // The end of its run looks for the next one.
            self.queued().insert(thread.to_string());
            match self
                .begin_queued(flow, thread, &record, queued, info.labels)
                .await
            {
                Ok(()) => {
                    self.forget(&**flow, thread, &message).await?;
                    return Ok(());
                }
                Err(refusal) if refusal.may_be_repeated() => return Err(refusal),
                Err(refusal) => {
                    let problem = refusal.text();
                    self.notify(Notice::NotRecovered { thread, problem });
                    self.forget(&**flow, thread, &message).await?;
                }
            }
        }
        // A process that was killed may have left it.
        self.remove_label(&**flow, thread).await
    }

    async fn begin_queued(
        self: &Arc<Self>,
        flow: &Arc<dyn ServedThreads>,
        thread: &str,
        record: &str,
        queued: Queued,
        labels: Labels,
    ) -> Result<(), Refusal> {
        let newest = newest(&**flow, thread).await?;
        let mut labels = self
            .labels_of_request(&**flow, thread, &queued, labels)
            .await?;
        let is_elsewhere = flow.elsewhere().is_some();
        if !is_elsewhere {
            labels.insert(LABEL.to_string(), format!("{record} {newest}"));
            flow.set_labels(thread, std::mem::take(&mut labels)).await?;
        }
        let message = is_elsewhere.then(|| queued.id.clone());
        let value = if queued.steers {
            // It is stored for the run, unless the process was killed before. A turn without a message reads it.
            let write = steering::write(&queued.id, &queued.input)?;
            let key = steering::KEY.to_string();
            flow.send(thread, key, write, Some(queued.id)).await?;
            InputValue::Json(json!({}))
        } else {
            queued.input.into()
        };
        let input = Input {
            value,
            labels,
            discards: queued.discards,
            rolls_back: false,
            message,
        };
        let (of_turn, id) = (Arc::clone(flow), thread.to_string());
        let begin = async move |token| of_turn.begin(&id, input, &token).await;
        self.begin(thread.to_string(), begin).await
    }

    /// The labels with that of the request of a protocol, so that its turn is found.
    #[cfg(feature = "protocol")]
    async fn labels_of_request(
        &self,
        flow: &dyn ServedThreads,
        thread: &str,
        queued: &Queued,
        labels: Labels,
    ) -> Result<Labels, Refusal> {
        self.labels_with(flow, thread, queued, labels, Fate::Queued)
            .await
    }

    #[cfg(feature = "protocol")]
    async fn labels_with(
        &self,
        flow: &dyn ServedThreads,
        thread: &str,
        queued: &Queued,
        labels: Labels,
        fate: Fate,
    ) -> Result<Labels, Refusal> {
        let Some(checksum) = &queued.checksum else {
            return Ok(labels);
        };
        let requested = Requested {
            after: flow.last_event(thread).await?,
            checksum,
            fate,
        };
        Ok(request_labels::with(&queued.id, requested, labels))
    }

    /// Stores in the thread that a queued request was cancelled, so that its client finds it.
    #[cfg(feature = "protocol")]
    async fn mark_cancelled(
        &self,
        flow: &dyn ServedThreads,
        thread: &str,
        queued: &Queued,
        at_ms: u64,
    ) -> Result<(), Refusal> {
        let Some(info) = self.info(thread).await? else {
            return Ok(());
        };
        let fate = Fate::Cancelled { at_ms };
        let labels = self.labels_with(flow, thread, queued, info.labels, fate);
        flow.set_labels(thread, labels.await?).await
    }

    /// Only clients of protocols cancel what is queued.
    #[cfg(not(feature = "protocol"))]
    #[allow(clippy::unused_async)]
    async fn mark_cancelled(
        &self,
        _: &dyn ServedThreads,
        _: &str,
        _: &Queued,
        _: u64,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    #[cfg(not(feature = "protocol"))]
    #[allow(clippy::unused_async)]
    async fn labels_of_request(
        &self,
        _: &dyn ServedThreads,
        _: &str,
        _: &Queued,
        labels: Labels,
    ) -> Result<Labels, Refusal> {
        Ok(labels)
    }

    /// The message has begun its turn, was read, or can never begin one. One that has an id of the client is known from now on, so that
    /// a repetition does nothing.
    async fn forget(
        &self,
        flow: &dyn ServedThreads,
        thread: &str,
        message: &Forgotten<'_>,
    ) -> Result<(), Refusal> {
        if message.is_named
            && let Some(info) = self.info(thread).await?
            && !known_message::is_known(&info.labels, message.id)
        {
            let newest = newest(flow, thread).await?;
            let labels = known_message::with(info.labels, message.id, newest);
            flow.set_labels(thread, labels).await?;
        }
        // The record goes first: without it, the label says nothing.
        self.settings.queue.delete(message.record).await?;
        self.remove_label(flow, thread).await
    }

    async fn remove_label(&self, flow: &dyn ServedThreads, thread: &str) -> Result<(), Refusal> {
        if let Some(mut info) = self.info(thread).await?
            && info.labels.remove(LABEL).is_some()
        {
            flow.set_labels(thread, info.labels).await?;
        }
        Ok(())
    }
}

/// A message that leaves the queue.
struct Forgotten<'a> {
    id: &'a str,
    is_named: bool,
    record: &'a str,
}

/// The number of the newest checkpoint.
async fn newest(flow: &dyn ServedThreads, thread: &str) -> Result<u64, Refusal> {
    let newest = flow.history(thread, HistoryQuery::all().limit(1)).await?;
    Ok(newest.first().map_or(0, |newest| newest.checkpoint))
}

/// Whether the message of a record has begun its turn.
async fn has_begun(
    flow: &dyn ServedThreads,
    info: &ThreadInfo,
    record: &str,
) -> Result<bool, Refusal> {
    let label = info.labels.get(LABEL);
    let newest = label.and_then(|label| label.strip_prefix(record)?.trim().parse::<u64>().ok());
    let Some(newest) = newest else {
        return Ok(false);
    };
    let inputs = HistoryQuery::all().cause(Cause::Input).limit(1);
    let last = flow.history(&info.id, inputs).await?;
    Ok(last.first().is_some_and(|input| input.checkpoint > newest))
}

async fn was_read(
    flow: &dyn ServedThreads,
    thread: &str,
    queued: &Queued,
) -> Result<bool, Refusal> {
    if !queued.steers {
        return Ok(false);
    }
    let view = flow.view(thread, None).await?;
    Ok(view.is_some_and(|view| steering::was_read(&view, &queued.id)))
}

impl Server {
    /// Begins the turns of messages that were queued, in any process, for threads that no run has.
    pub(crate) async fn begin_queued(&self) -> Result<(), ThreadError> {
        let inner = self.inner();
        let (mut after, mut last) = (None::<String>, None::<String>);
        loop {
            let page = inner.settings.queue.some(PAGE, after.as_deref()).await?;
            for record in &page {
                let Some(thread) = inner.settings.queue.thread(record).await? else {
                    continue;
                };
                // The first message of a thread says what happens to the others.
                if last.as_ref() == Some(&thread) || inner.is_running(&thread) {
                    continue;
                }
                last = Some(thread.clone());
                if inner.is_stopping() {
                    return Ok(());
                }
                // Another process may do it, or its turn has not ended. Then it is tried again.
                let _ = inner.advance_alone(&thread).await;
            }
            after = page.last().cloned();
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }
}
