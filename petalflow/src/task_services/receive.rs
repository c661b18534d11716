//! A task that receives a message, from its call to the moment at which it gets one.
//!
//! 1. **There is one.** The task gets the next message of the key: the one behind the last that a task of the thread has got. Which one
//!    is recorded beside the checkpoint, under the position of the call in its attempt, before the task goes on. So a node that runs
//!    again gets the same message.
//! 2. **There is none.** The task waits, as one that [sleeps](super::sleep): it is dropped, and its record says since when and until
//!    when it waits. It looks again after half of the time that it has waited. Whoever sends a message makes the thread due before that,
//!    and a run that ends looks once more behind its status, so that no message is missed. While other tasks of the superstep run, the
//!    run looks once in a second.
//! 3. **The time is over.** That is recorded as well: a message that comes later is for the next call.
//! 4. **The superstep is committed.** The checkpoint has the number of the last message of each key, and the records are gone.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::receipt::{Given, Got, Receipt};
use super::services::Inner;
use super::wake::Wake;
use super::{LATEST_MS, TaskRef, TaskServices};
use crate::checkpoint::{AwaitedMessage, StoredWrite, ThreadStorage, WriteName, inbox_of};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::inbox::{KEPT, prune, received, taken};
use crate::outcome::ThreadError;
use petalflow_store::codec::pack;

/// How long a task waits at least and at most before it looks for a message again.
const LOOKS_MS: (u64, u64) = (5_000, 10 * 60 * 1_000);

/// How often a run looks for messages while other tasks run.
const LOOK_IN_RUN: Duration = Duration::from_secs(1);

/// What a task finds that looks for a message.
enum Found {
    /// The write of a message.
    Message(Vec<u8>),
    TimeOver,
    Nothing(Wake),
}

/// A call in progress, or one that has returned something.
struct CalledReceive<'a> {
    services: &'a TaskServices,
    name: (TaskId, u32, String),
    id: TaskId,
    is_done: bool,
}

impl Drop for CalledReceive<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.services.lock().used_names.remove(&self.name);
        }
    }
}

/// A wait for a message: its id, the name of the key in storage, and the time until which it waits, made of the time now.
struct Call<'a> {
    id: TaskId,
    key: &'a str,
    until: Option<Box<dyn FnOnce(u64) -> u64 + Send + 'a>>,
}

impl TaskServices {
    /// The write of the next message to a key, with the name of the key in storage. `None` if the time is over that `until` makes of the
    /// time now. If there is no message, and the time is not over, this does not complete while the node runs.
    ///
    /// Boxed, so that no program compiles it again.
    pub(crate) fn receive<'a>(
        &'a self,
        task: &'a TaskRef<'_>,
        key: &'a str,
        until: Option<Box<dyn FnOnce(u64) -> u64 + Send + 'a>>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>> {
        Box::pin(async move {
            task.check_alive("receive")?;
            self.check_can_receive(task)?;
            let mut call = self.call_receive(task, key);
            let id = call.id;
            // As for a sleep: the task is not dropped before all that it waits for is recorded.
            let recording = self.call_effect(task.id);
            let stored = pin!(self.barrier_stored(task.superstep));
            task.while_alive("receive", stored).await?;
            let found = match self.look_for(task, Call { id, key, until }).await {
                Ok(found) => found,
                Err(error) => return Err(self.abort(task, "receive", error.into()).await),
            };
            match found {
                Found::Message(writes) => {
                    call.is_done = true;
                    Ok(Some(writes))
                }
                Found::TimeOver => {
                    call.is_done = true;
                    Ok(None)
                }
                Found::Nothing(wake) => {
                    self.wake_at(task.id, wake);
                    drop(recording);
                    Err(task.wait_until_over("receive").await)
                }
            }
        })
    }

    /// The error of a node of a sub-flow that receives messages.
    pub(crate) fn in_subflow(node: &str) -> BoxError {
        format!(
            "node `{node}` receives messages in a sub-flow, and messages are for the outermost flow: receive in a node of that flow, and give the sub-flow the message as its input"
        )
        .into()
    }

    /// Messages are for a thread, and its outermost flow takes them.
    fn check_can_receive(&self, task: &TaskRef<'_>) -> Result<(), BoxError> {
        let node = task.node;
        if self.parent.is_some() {
            return Err(Self::in_subflow(node));
        }
        if let Some(engine) = self.storage.store.engine() {
            return Err(format!(
                "node `{node}` receives messages, and nobody can send messages to a thread of the engine `{engine}`: ask a question, or run the flow with a store"
            )
            .into());
        }
        Ok(())
    }

    /// The next call of the attempt: its name is its position among those for the key. A call that was dropped before it has returned
    /// anything, as in `select!`, does not count, so that the next one gets what it would have got.
    fn call_receive(&self, task: &TaskRef<'_>, key: &str) -> CalledReceive<'_> {
        let mut inner = self.lock();
        let mut position = 1_u32;
        let name = |position| (task.id, task.attempt, format!("receive/{position}/{key}"));
        while !inner.used_names.insert(name(position)) {
            position += 1;
        }
        drop(inner);
        self.has_records.store(true, Ordering::Release);
        let bytes = (task.id.to_bytes(), position.to_le_bytes());
        CalledReceive {
            services: self,
            name: name(position),
            id: TaskId::of(&[&bytes.0, b"receive", key.as_bytes(), &bytes.1]),
            is_done: false,
        }
    }

    async fn look_for(&self, task: &TaskRef<'_>, call: Call<'_>) -> Result<Found, ThreadError> {
        let Call { id, key, until } = call;
        let mut given = self.given.lock().await;
        let known = self.lock().receives.get(&id).cloned();
        if let Some(known) = &known
            && let Some(got) = known.got
        {
            if self.lock().unstored_receives.contains(&id) {
                self.record_receipt(task, id, known.clone(), None).await?;
            }
            return match got {
                Got::Message(number) => self.message(key, number).await,
                Got::Nothing => Ok(Found::TimeOver),
            };
        }
        let last = match given.get_mut(key) {
            Some(last) => last,
            None => given.entry(key.into()).or_insert(self.given_to(key).await?),
        };
        if last.last.saturating_sub(last.pruned) >= 2 * KEPT {
            last.pruned = prune(&self.storage, &inbox_of(key)).await?;
        }
        let now_ms = self.storage.store.now_ms().await?;
        let mut receipt = known.unwrap_or_else(|| Receipt {
            key: key.into(),
            since_ms: now_ms,
            until_ms: until.map(|until| until(now_ms).min(LATEST_MS)),
            got: None,
        });
        let number = last.last + 1;
        if let Some(writes) = received(&self.storage, key, number).await? {
            receipt.got = Some(Got::Message(number));
            // First in memory: whatever becomes of this call, no other one gets the message.
            last.last = number;
            self.record_receipt(task, id, receipt, None).await?;
            return Ok(Found::Message(writes));
        }
        if receipt.until_ms.is_some_and(|until_ms| until_ms <= now_ms) {
            receipt.got = Some(Got::Nothing);
            self.record_receipt(task, id, receipt, None).await?;
            return Ok(Found::TimeOver);
        }
        let waited_ms = now_ms.saturating_sub(receipt.since_ms);
        let look_ms = now_ms.saturating_add((waited_ms / 2).clamp(LOOKS_MS.0, LOOKS_MS.1));
        let wake_ms = look_ms.min(receipt.until_ms.unwrap_or(LATEST_MS));
        self.record_receipt(task, id, receipt, Some(wake_ms))
            .await?;
        self.storage.links.await_message(AwaitedMessage {
            task: task.id,
            key: key.into(),
            number,
        });
        Ok(Found::Nothing(Wake::new(wake_ms, now_ms)))
    }

    /// The message with a number that the task has got before.
    async fn message(&self, key: &str, number: u64) -> Result<Found, ThreadError> {
        match received(&self.storage, key, number).await? {
            Some(writes) => Ok(Found::Message(writes)),
            None => Err(ThreadError::Request(format!(
                "message {number} to key `{key}` is not stored any more, and the node that has received it runs again"
            ))),
        }
    }

    /// Which messages of a key the tasks of the thread have got before this run.
    async fn given_to(&self, key: &str) -> Result<Given, ThreadError> {
        let taken = taken(&self.storage, &inbox_of(key)).await?;
        let inner = self.lock();
        let receipts = inner.receives.values().filter(|receipt| receipt.key == key);
        let numbers = receipts.filter_map(|receipt| match receipt.got {
            Some(Got::Message(number)) => Some(number),
            _ => None,
        });
        Ok(Given {
            last: numbers.fold(taken, u64::max),
            pruned: 0,
        })
    }

    /// Records what a task has received, or that it waits, and when it looks again.
    async fn record_receipt(
        &self,
        task: &TaskRef<'_>,
        id: TaskId,
        receipt: Receipt,
        look_ms: Option<u64>,
    ) -> Result<(), ThreadError> {
        let sleep = |at_ms| {
            let mut bytes = Vec::new();
            pack::number(at_ms, &mut bytes);
            StoredWrite::new(task.id, WriteName::Sleep(id), bytes)
        };
        let mut writes = vec![StoredWrite::new(
            task.id,
            WriteName::Receive(id),
            receipt.encode(),
        )];
        let (namespace, origin) = (self.namespace.as_str(), self.origin(task.superstep));
        let waited = self.record_in_memory(id, &receipt);
        if let Some(look_ms) = look_ms {
            writes.push(sleep(look_ms));
            let written = self.storage.write_due(namespace, origin, writes, look_ms);
            written.await?;
        } else {
            // It does not wait for that look any more.
            writes.extend(waited.then(|| sleep(receipt.since_ms)));
            self.storage.write(namespace, origin, writes).await?;
        }
        let mut inner = self.lock();
        inner.sleeps.extend(look_ms.map(|look_ms| (id, look_ms)));
        inner.unstored_receives.remove(&id);
        Ok(())
    }

    /// Returns whether the task has waited for it.
    fn record_in_memory(&self, id: TaskId, receipt: &Receipt) -> bool {
        self.has_records.store(true, Ordering::Release);
        let mut inner = self.lock();
        inner.receives.insert(id, receipt.clone());
        inner.unstored_receives.insert(id);
        inner.sleeps.contains_key(&id)
    }

    /// Completes when a message has arrived for which a task waits. The task runs again.
    pub(super) fn poll_arrival(&self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.storage.links.awaits_messages() {
            return Poll::Pending;
        }
        // Not polled under the lock, because it calls the store.
        let watch = self.lock().arrival.take();
        let mut watch = watch.unwrap_or_else(|| Box::pin(arrival(self.storage.clone())));
        if watch.as_mut().poll(cx).is_ready() {
            self.lock().wake_all(&self.storage.links.awaited());
            return Poll::Ready(());
        }
        self.lock().arrival = Some(watch);
        Poll::Pending
    }
}

impl Inner {
    /// The tasks that wait for messages look for them now.
    fn wake_all(&mut self, awaited: &[AwaitedMessage]) {
        for awaited in awaited {
            if let Some(waits) = self.questions.get_mut(&awaited.task) {
                waits.wake = waits.wake.map(|wake| Wake {
                    at: Instant::now(),
                    ..wake
                });
            }
        }
    }
}

/// Completes when one of the messages has arrived for which tasks wait.
async fn arrival(storage: ThreadStorage) {
    loop {
        tokio::time::sleep(LOOK_IN_RUN).await;
        for awaited in storage.links.awaited() {
            // If the store fails, the task learns it when it looks.
            if let Ok(Some(_)) = received(&storage, &awaited.key, awaited.number).await {
                return;
            }
        }
    }
}
