//! What a program does with a thread on Restate.

use std::time::SystemTime;

use bytes::Bytes;
use petalflow::checkpoint::{ThreadInfo, ThreadStatus};
use petalflow::engine::{EventSource, RecordChanges, RecordsError, ThreadRecords};
use petalflow::interrupt::{Ask, Resume};
use petalflow::run::RunErrorKind;
use petalflow::state::{InputOf, Storable};
use petalflow::thread::{Snapshot, Thread};
use petalflow::{Flow, RunError};
use restate_sdk::serde::{Deserialize as _, Serialize as _};
use uuid::Uuid;

use crate::client::Client;
use crate::driver::CONFLICT;
use crate::error::RestateError;
use crate::thread_state::{ChangeMeta, Message, Meta, ThreadState};
use crate::trouble::Trouble;

/// A thread on a Restate server.
#[derive(Debug)]
pub struct RestateThread<F: Flow> {
    pub(crate) client: Client<F>,
    pub(crate) id: String,
}

/// How a thread rests.
///
/// ```
/// use petalflow::checkpoint::ThreadStatus;
/// use petalflow_restate::Rest;
///
/// let rest = Rest { status: ThreadStatus::Failed, failure: Some("node `fetch` failed".into()), trouble: None };
/// assert_ne!(rest.status, ThreadStatus::Finished);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The status.
    pub status: ThreadStatus,
    /// Why it failed. Of a long text, the first 16 KiB.
    pub failure: Option<String>,
    /// Why it does not go on, if a process is away or fails. Only a client with an [administration](Client::admin) knows it.
    pub trouble: Option<Trouble>,
}

impl<F: Flow> Clone for RestateThread<F> {
    fn clone(&self) -> Self {
        RestateThread {
            client: self.client.clone(),
            id: self.id.clone(),
        }
    }
}

impl<F: Flow<State: Storable>> RestateThread<F> {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Begins the thread with an input, or another turn of a thread that has ended. Does not wait for the run.
    ///
    /// # Errors
    ///
    /// The thread runs, or waits for a person; or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread has begun or not.
    pub async fn begin(&self, input: impl InputOf<F::State>) -> Result<(), RestateError> {
        self.begin_as(None, input).await
    }

    /// Does the same once for each key: a repeated call with the key of an earlier one does nothing, whether the thread runs, rests or has
    /// begun other turns. So a caller that does not know whether its call has arrived repeats it. The last 100 keys of a thread are
    /// remembered.
    ///
    /// ```no_run
    /// # use petalflow::prelude::*;
    /// # use petalflow_restate::RestateThread;
    /// # #[state]
    /// # struct Essay { #[key(input)] topic: String }
    /// # #[node(Essay)]
    /// # async fn write() {}
    /// # flow!(Write(Essay) { write });
    /// async fn order(thread: &RestateThread<Write>) -> petalflow::Result<()> {
    ///     thread.begin_once("request-7", "petals".to_string()).await?;
    ///     thread.begin_once("request-7", "petals".to_string()).await?; // Does nothing.
    ///     Ok(())
    /// }
    /// # let _ = order;
    /// ```
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread has begun or not.
    pub async fn begin_once(
        &self,
        key: impl Into<String>,
        input: impl InputOf<F::State>,
    ) -> Result<(), RestateError> {
        self.begin_as(Some(key.into()), input).await
    }

    /// Begins a new thread with an input at this time, by the clock of the drivers. Until then it is
    /// [sleeping](ThreadStatus::Sleeping), occupies nothing, and can be [cancelled](Self::cancel). A time that has passed begins it at
    /// once. Does not wait for the run.
    ///
    /// ```no_run
    /// # use std::time::{Duration, SystemTime};
    /// # use petalflow::prelude::*;
    /// # use petalflow_restate::RestateThread;
    /// # #[state]
    /// # struct Essay { #[key(input)] topic: String }
    /// # #[node(Essay)]
    /// # async fn write() {}
    /// # flow!(Write(Essay) { write });
    /// async fn tomorrow(thread: &RestateThread<Write>) -> petalflow::Result<()> {
    ///     let tomorrow = SystemTime::now() + Duration::from_hours(24);
    ///     thread.begin_at("petals".to_string(), tomorrow).await?;
    ///     Ok(())
    /// }
    /// # let _ = tomorrow;
    /// ```
    ///
    /// # Errors
    ///
    /// There is such a thread already, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread is stored or not.
    pub async fn begin_at(
        &self,
        input: impl InputOf<F::State>,
        time: SystemTime,
    ) -> Result<(), RestateError> {
        let begun = self.edit(async move |thread| thread.begin_at(input, time).await);
        Ok(begun.await??)
    }

    async fn begin_as(
        &self,
        key: Option<String>,
        input: impl InputOf<F::State>,
    ) -> Result<(), RestateError> {
        let begun = |state: &ThreadState| key.as_ref().is_some_and(|key| state.meta.has_begun(key));
        let state = self.read().await?;
        if begun(&state) {
            return Ok(());
        }
        self.check_rests(&state).await?;
        let engine = &self.client.flow.engine;
        let changes = engine.begin(&self.id, &state.records, input).await?;
        match self.change(&state, changes, key.clone()).await {
            // A call with the same key may have been faster.
            Err(RestateError::Busy(_)) if begun(&self.read().await?) => Ok(()),
            changed => changed,
        }
    }

    /// Answers the only question of the type `A` that the thread waits for. Does not wait for the run.
    ///
    /// # Errors
    ///
    /// The thread waits for no such question, or for several; another caller has answered; or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the answer is stored or not.
    pub async fn answer<A: Ask>(&self, answer: A::Answer) -> Result<(), RestateError> {
        self.edit(async move |thread| drained(thread.answer::<A>(answer).await))
            .await?
    }

    /// Resumes the thread with answers and decisions, or after a failure. Does not wait for the run.
    ///
    /// If the thread runs and Restate [repeats or has paused](Rest::trouble) what it does, this makes Restate try again now. Then there is
    /// nothing to answer, and what is given is not used.
    ///
    /// # Errors
    ///
    /// They do not fit what the thread waits for, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread is resumed or not.
    pub async fn resume(&self, with: impl Into<Resume<F::State>>) -> Result<(), RestateError> {
        if let Some(admin) = &self.client.admin
            && let Some(trouble) = self.rest().await?.trouble
        {
            return admin.resume(trouble.invocation()).await;
        }
        let with = with.into();
        self.edit(async move |thread| drained(thread.resume(with).await))
            .await?
    }

    /// Reads and changes the thread with all that a local [`Thread`] can do: its history, forks, edits. No node runs in `work`; if
    /// the thread has something to run then, it runs on the server.
    ///
    /// # Errors
    ///
    /// The thread runs, another caller has changed it, or the server failed. Then nothing has changed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the changes are stored or not.
    pub async fn edit<T>(&self, work: impl AsyncFnOnce(Thread<F>) -> T) -> Result<T, RestateError> {
        let state = self.resting().await?;
        let engine = &self.client.flow.engine;
        let (done, changes) = engine.edit(&self.id, &state.records, work).await?;
        if !changes.is_empty() {
            self.change(&state, changes, None).await?;
        }
        Ok(done)
    }

    /// The newest snapshot. `None` if there is no such thread.
    ///
    /// # Errors
    ///
    /// The server failed, or this program cannot read the thread.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot(&self) -> Result<Option<Snapshot<F::State>>, RestateError> {
        let read = self.copy(async |thread| thread.snapshot().await);
        Ok(read.await??)
    }

    /// Reads the thread, whether it runs or not. What `work` changes is dropped.
    pub(crate) async fn copy<T>(
        &self,
        work: impl AsyncFnOnce(Thread<F>) -> T,
    ) -> Result<T, RestateError> {
        let state = self.read().await?;
        let engine = &self.client.flow.engine;
        Ok(engine.edit(&self.id, &state.records, work).await?.0)
    }

    /// What is listed of the thread. `None` if there is no such thread.
    ///
    /// # Errors
    ///
    /// The server failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn info(&self) -> Result<Option<ThreadInfo>, RestateError> {
        Ok(self.read().await?.info(&self.id)?)
    }

    /// The version of the thread, if no superstep is to come. A thread that does not exist does not run.
    pub(crate) async fn rests_at(&self) -> Result<Option<u64>, RestateError> {
        let state = self.read().await?;
        Ok(state.rests()?.then_some(state.meta.version))
    }

    /// Waits until the thread has ended, or waits for a person.
    ///
    /// # Errors
    ///
    /// There is no such thread, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn wait(&self) -> Result<Rest, RestateError> {
        self.call("wait", Vec::new()).await?;
        self.rest().await
    }

    /// The status at the moment, and what keeps the thread from going on.
    ///
    /// # Errors
    ///
    /// There is no such thread, no driver answers, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn rest(&self) -> Result<Rest, RestateError> {
        let state = self.read().await?;
        if state.records.is_empty() {
            return Err(RestateError::Unknown(self.id.clone()));
        }
        let status = state.records.status()?.0;
        let trouble = match &self.client.admin {
            Some(admin) if status == ThreadStatus::Running => {
                admin
                    .trouble(&self.client.ingress.service, &self.id)
                    .await?
            }
            _ => None,
        };
        Ok(Rest {
            status,
            failure: state.meta.failure,
            trouble,
        })
    }

    /// Deletes the thread, after the superstep that runs at the moment.
    ///
    /// # Errors
    ///
    /// The server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread may still be deleted.
    pub async fn delete(&self) -> Result<(), RestateError> {
        self.call("delete", b"0".to_vec()).await.map(drop)
    }

    /// The records of the thread, which [`ThreadRecords::write_to`] writes to any store. The thread remains; cancel it before and
    /// delete it after, so that it does not run in both places.
    ///
    /// # Errors
    ///
    /// The server failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn export(&self) -> Result<ThreadRecords, RestateError> {
        Ok(self.read().await?.records)
    }

    /// Takes over the records of a thread with the same id, which [`ThreadRecords::read`] reads from any store. If it was running, it
    /// goes on. A thread that failed or was stopped goes on with [`resume`](Self::resume).
    ///
    /// # Errors
    ///
    /// There is such a thread already, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread is taken over or not.
    pub async fn import(&self, records: &ThreadRecords) -> Result<(), RestateError> {
        let state = self.read().await?;
        if !state.records.is_empty() {
            return Err(RestateError::Exists(self.id.clone()));
        }
        let changes = records.changes_since(&state.records);
        self.change(&state, changes, None).await
    }

    /// Copies the thread with its history and its labels, as [`Thread::copy_to`] does. It may run, and does not change. If nodes are to
    /// run next, the copy is [held](ThreadStatus::Held) until it is [resumed](Self::resume). It has no log of events.
    ///
    /// ```no_run
    /// # use petalflow::prelude::*;
    /// # use petalflow_restate::RestateThread;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    /// async fn try_again(thread: &RestateThread<Write>) -> petalflow::Result<()> {
    ///     let other = thread.copy_to("second-try").await?;
    ///     other.resume(()).await?;
    ///     Ok(())
    /// }
    /// # let _ = try_again;
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such thread, the other one exists, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, there is no other thread, or the complete one.
    pub async fn copy_to(&self, id: impl Into<String>) -> Result<Self, RestateError> {
        let other = self.client.thread(id);
        let id = other.id().to_string();
        let copied = self.make(&other, async move |thread| {
            thread.copy_to(id).await.map(drop)
        });
        copied.await??;
        Ok(other)
    }

    /// Begins another thread with the state at a checkpoint of this one, as [`Thread::fork_to`] does. This one may run, and does not
    /// change. If nodes are to run next, the fork is [held](ThreadStatus::Held) until it is [resumed](Self::resume). With the usual
    /// [retention](RestateFlow::retention), only the newest checkpoint is there.
    ///
    /// # Errors
    ///
    /// There is no such thread or checkpoint, the other thread exists, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, there is no other thread, or the complete one.
    pub async fn fork_to(
        &self,
        checkpoint: u64,
        id: impl Into<String>,
    ) -> Result<Self, RestateError> {
        let other = self.client.thread(id);
        let id = other.id().to_string();
        let forked = self.make(&other, async move |thread| {
            thread.fork_to(checkpoint, id).await.map(drop)
        });
        forked.await??;
        Ok(other)
    }

    /// Makes the other thread with what `work` makes of a copy of this one.
    pub(crate) async fn make<T>(
        &self,
        other: &Self,
        work: impl AsyncFnOnce(Thread<F>) -> T,
    ) -> Result<T, RestateError> {
        let state = self.read().await?;
        let engine = &self.client.flow.engine;
        let made = engine.make(&self.id, &state.records, &other.id, work);
        let (done, records) = made.await?;
        if !records.is_empty() {
            other.import(&records).await?;
        }
        Ok(done)
    }

    /// Where the events of the flow are read.
    pub(crate) fn source(&self) -> Result<&dyn EventSource, RestateError> {
        self.client
            .flow
            .source
            .as_deref()
            .ok_or(RestateError::NoEvents)
    }

    async fn resting(&self) -> Result<ThreadState, RestateError> {
        let state = self.read().await?;
        self.check_rests(&state).await?;
        Ok(state)
    }

    /// Fails if the thread runs. If no invocation executes it, because one was killed, this begins another.
    async fn check_rests(&self, state: &ThreadState) -> Result<(), RestateError> {
        if state.rests()? {
            return Ok(());
        }
        self.client.ingress.send(&self.id, "nudge").await?;
        Err(RestateError::Busy(self.id.clone()))
    }

    pub(crate) async fn read(&self) -> Result<ThreadState, RestateError> {
        let mut missing = None;
        loop {
            let body = self.call("read", Vec::new()).await?;
            let stored = Message::<Meta>::deserialize(&mut Bytes::from(body))?;
            let Meta {
                version,
                incarnation,
                ..
            } = &stored.head;
            let (flow, version) = (&self.client.flow, *version);
            let bodies = flow.thread_bodies(&self.id, incarnation, version);
            match ThreadState::open(stored, &bodies).await {
                // The thread may have gone on since, or is gone.
                Err(error) if error.is_missing() && missing != Some(version) => {
                    missing = Some(version);
                }
                opened => return Ok(opened?),
            }
        }
    }

    async fn change(
        &self,
        known: &ThreadState,
        changes: RecordChanges,
        key: Option<String>,
    ) -> Result<(), RestateError> {
        let version = known.meta.version;
        let incarnation = match version {
            0 => Uuid::new_v4().simple().to_string(),
            _ => known.meta.incarnation.clone(),
        };
        let flow = &self.client.flow;
        let bodies = flow.thread_bodies(&self.id, &incarnation, version + 1);
        let body = bodies.put(changes.to_bytes()).await?;
        if let Some(problem) = bodies.too_large("what is to be stored", body.len()) {
            return Err(RestateError::TooLarge(problem));
        }
        let head = ChangeMeta {
            version,
            incarnation,
            key,
        };
        let change = Message { head, body }.serialize();
        let body = change.map_err(|error| RecordsError::Damaged(error.to_string()))?;
        match self.call("change", body.to_vec()).await {
            Err(RestateError::Refused { status, .. }) if status == CONFLICT => {
                Err(RestateError::Busy(self.id.clone()))
            }
            answer => answer.map(drop),
        }
    }

    pub(crate) async fn call(&self, handler: &str, body: Vec<u8>) -> Result<Vec<u8>, RestateError> {
        self.client.ingress.call(&self.id, handler, body).await
    }
}

/// The result of a run that has stored what it begins with, and executes no superstep here.
fn drained<T>(outcome: Result<T, RunError>) -> Result<(), RestateError> {
    match outcome {
        Err(error)
            if !matches!(
                error.kind(),
                RunErrorKind::Drained { .. } | RunErrorKind::Rejected { .. }
            ) =>
        {
            Err(error.into())
        }
        _ => Ok(()),
    }
}
