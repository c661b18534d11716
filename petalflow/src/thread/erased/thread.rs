//! One thread, without the types of its flow.

use std::sync::Arc;

use super::AnyThreads;
use crate::checkpoint::{Retention, ThreadStatus, ThreadStorage};
use crate::durable::{self, Command, NewBase, StopKind, ThreadClaim, ThreadStart};
use crate::erased::EffectsBox;
use crate::event::LogSettings;
use crate::exec::{Begin, Start};
use crate::future::BoxFuture;
use crate::ids::Namespace;
use crate::interrupt::{AnyResume, OnlyQuestion, Response};
use crate::outcome::{RunError, ThreadError, check_id};
use crate::question::Ask;
use crate::run::AnyRun;
use crate::snapshot::AnyEdit;

/// See [`Thread`](crate::thread::Thread).
#[derive(Clone)]
pub(crate) struct AnyThread {
    pub(crate) threads: AnyThreads,
    pub(crate) id: Arc<str>,
}

impl AnyThreads {
    /// The thread with this id, which need not exist yet.
    pub(crate) fn thread(&self, id: &str) -> AnyThread {
        AnyThread {
            threads: self.clone(),
            id: id.into(),
        }
    }
}

impl std::fmt::Debug for AnyThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id)
            .field("flow", &self.threads.flow.name())
            .finish_non_exhaustive()
    }
}

impl AnyThread {
    /// A run of the thread. `leaves_held`: it is refused if a person holds the thread.
    pub(crate) fn run(&self, command: Command, leaves_held: bool) -> AnyRun {
        let threads = &self.threads;
        let start = ThreadStart {
            storage: self.storage(),
            namespace: Namespace::ROOT,
            durability: threads.durability,
            on_busy: threads.on_busy,
            command,
            retention: threads.retention,
            event_log: threads.event_log.map(|events| LogSettings {
                events,
                filter: threads.event_filter.clone(),
                role: threads.log_role,
            }),
            discard_pending: false,
            leaves_held,
            begin_barrier: None,
            claimed: None,
            nested: None,
        };
        AnyRun::new(Start {
            flow: Arc::clone(&threads.flow),
            settings: threads.settings.clone(),
            begin: Begin::Stored(Box::new(start)),
        })
    }

    pub(crate) fn resume(&self, resume: AnyResume) -> AnyRun {
        self.run(Command::Resume(Box::new(resume)), false)
    }

    pub(crate) fn recover(&self) -> AnyRun {
        self.run(Command::Resume(Box::default()), true)
    }

    /// The run that resumes the thread with an answer to the only question of the type `A` that it waits for.
    pub(crate) fn answer<A: Ask>(&self, answer: &A::Answer) -> AnyRun {
        match OnlyQuestion::answered::<A>(answer) {
            Ok(answered) => {
                let mut resume = AnyResume::default();
                resume.responses.push(Response::Only(answered));
                self.resume(resume)
            }
            Err(error) => {
                let flow = Arc::clone(&self.threads.flow);
                let error = RunError::of_thread(error.into(), flow.name());
                AnyRun::failed(flow, error)
            }
        }
    }

    pub(crate) fn fork(&self, checkpoint: u64) -> BoxFuture<'_, Result<u64, ThreadError>> {
        Box::pin(async move {
            let (storage, _claim) = self.claimed().await?;
            let fork = self.fork_boxed(&storage, checkpoint, &storage).await?;
            self.describe_waiting(&storage).await?;
            Ok(fork)
        })
    }

    /// Forks this thread to another one, which must not exist yet.
    pub(crate) fn fork_to<'a>(
        &'a self,
        checkpoint: u64,
        other: &'a AnyThread,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            let from = self.checked()?;
            let (to, _claim) = other.claimed().await?;
            other.must_be_new().await?;
            durable::copy_labels(&from, &to).await?;
            self.fork_boxed(&from, checkpoint, &to).await?;
            self.describe_waiting(&to).await
        })
    }

    async fn fork_boxed(
        &self,
        from: &ThreadStorage,
        checkpoint: u64,
        to: &ThreadStorage,
    ) -> Result<u64, ThreadError> {
        let flow = &*self.threads.flow;
        let fork = Box::pin(durable::fork(flow, from, checkpoint, to));
        ThreadError::catch_panic(fork).await
    }

    /// Copies this thread to another one, which must not exist yet.
    pub(crate) fn copy_to<'a>(
        &'a self,
        other: &'a AnyThread,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            if self.id == other.id {
                // A second claim on the same thread would wait for the first.
                return Err(other.exists());
            }
            let (from, _claim) = self.claimed().await?;
            let (to, _other_claim) = other.claimed().await?;
            other.must_be_new().await?;
            durable::copy_labels(&from, &to).await?;
            durable::copy(&from, &to).await?;
            self.describe_waiting(&to).await
        })
    }

    /// Lists a thread that a person has changed as waiting, if [`Launch::waits_when`](crate::Launch::waits_when) says so.
    async fn describe_waiting(&self, storage: &ThreadStorage) -> Result<(), ThreadError> {
        let threads = &self.threads;
        match threads.settings.waits_when() {
            Some(waits) => {
                let described = durable::describe_waiting(&*threads.flow, storage, waits);
                ThreadError::catch_panic(Box::pin(described)).await
            }
            None => Ok(()),
        }
    }

    pub(super) async fn must_be_new(&self) -> Result<(), ThreadError> {
        if self.storage().flows().await?.is_empty() {
            return Ok(());
        }
        Err(self.exists())
    }

    fn exists(&self) -> ThreadError {
        ThreadError::Exists {
            thread: self.id.to_string(),
        }
    }

    /// Edits the state of the thread, superstep by superstep.
    pub(crate) fn update(
        &self,
        supersteps: Vec<Vec<AnyEdit>>,
    ) -> BoxFuture<'_, Result<Vec<u64>, ThreadError>> {
        Box::pin(async move {
            let (storage, _claim) = self.claimed().await?;
            let flow = &*self.threads.flow;
            let edit = Box::pin(durable::edit(flow, &storage, supersteps));
            let edited = ThreadError::catch_panic(edit).await?;
            self.describe_waiting(&storage).await?;
            Ok(edited)
        })
    }

    /// Adds a write to the inbox. `effects` has a write to this key alone.
    pub(crate) fn send(
        &self,
        id: Option<String>,
        key: usize,
        effects: EffectsBox,
    ) -> BoxFuture<'_, Result<u64, ThreadError>> {
        Box::pin(async move {
            let storage = self.checked()?;
            durable::send(&storage, id.as_deref(), key, effects).await
        })
    }

    /// Stops the run of the thread, in any process.
    pub(crate) fn stop(&self, kind: StopKind) -> BoxFuture<'_, Result<ThreadStatus, ThreadError>> {
        Box::pin(async move { durable::stop(&self.checked()?, kind).await })
    }

    pub(crate) fn prune(&self, retention: Retention) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(async move {
            let pruned = durable::prune(&self.checked()?, retention, NewBase::No).await?;
            if !pruned.needs_base {
                return Ok(());
            }
            let thread = self.threads.refusing_busy().thread(&self.id);
            match thread.claimed().await {
                Ok((storage, _claim)) => {
                    durable::prune(&storage, retention, NewBase::Allowed).await?;
                    Ok(())
                }
                Err(ThreadError::Busy { .. }) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    pub(crate) fn delete(&self) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(async move {
            let (storage, _claim) = self.claimed().await?;
            Ok(storage.delete().await?)
        })
    }

    /// Claims the thread, as the setting for busy threads says. The result writes under the claim.
    pub(super) async fn claimed(&self) -> Result<(ThreadStorage, ThreadClaim), ThreadError> {
        self.claimed_by(durable::new_owner()).await
    }

    /// [`claimed`](Self::claimed) by an owner that may have claimed other threads as well.
    pub(super) async fn claimed_by(
        &self,
        owner: String,
    ) -> Result<(ThreadStorage, ThreadClaim), ThreadError> {
        let mut storage = self.checked()?;
        let on_busy = self.threads.on_busy;
        let claim = ThreadClaim::acquire(owner, &storage, on_busy, &mut None, None).await?;
        storage.claim = claim.granted();
        Ok((storage, claim))
    }

    fn storage(&self) -> ThreadStorage {
        let threads = &self.threads;
        let (store, flow) = (Arc::clone(&threads.store), threads.flow.stored_name());
        ThreadStorage::new(store, Arc::clone(&self.id), flow.into())
    }

    pub(crate) fn checked(&self) -> Result<ThreadStorage, ThreadError> {
        check_id(&self.id)?;
        Ok(self.storage())
    }
}
