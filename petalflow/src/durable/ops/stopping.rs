//! Stops the run that has a thread: gives it the command, waits for it, and does what remains. Threads that are cancelled with the
//! thread are stopped, too.

use std::sync::Arc;

use super::super::claim::stop::{StopKind, StoredStop, send, stored, write};
use super::super::claim::thread_claim::{ClaimedRun, ThreadClaim, Waits, claimed_run, new_owner};
use super::super::links::{claimed, is_end, wake_joining};
use crate::checkpoint::{
    Claim, LINKS, Moment, STOPS, Store, ThreadStatus, ThreadStorage, WriteName,
};
use crate::future::BoxFuture;
use crate::outcome::ThreadError;

/// Stops the run that has the thread, in any process, and waits until no run has it. Returns the status of the thread then.
pub(crate) async fn stop(
    storage: &ThreadStorage,
    kind: StopKind,
) -> Result<ThreadStatus, ThreadError> {
    let (owner, mut waits) = (new_owner(), Waits::new());
    let mut told: Option<Told> = None;
    // Made before the claim is granted: if this future is dropped while it waits, the store may have granted it already.
    let mut claim = ThreadClaim::pending(&owner, storage);
    loop {
        let begun = Moment::now();
        let Claim::Busy { owner: other } = storage.store.claim(&storage.thread, &owner).await?
        else {
            claim.grant(begun);
            break;
        };
        if let Some(earlier) = told.take_if(|earlier| earlier.owner != other)
            && earlier.has_carried_out(storage, kind).await?
        {
            // And a later run has the thread.
            return Ok(ThreadStatus::Running);
        }
        let (run, change) = claimed_run(&storage.thread, &other).unzip();
        if told.is_none() {
            match &run {
                Some(run) => run.stop(kind),
                None => send(storage, &other, kind).await?,
            }
            let owner = other;
            told = Some(Told { owner, run });
        }
        waits.wait(change, &storage.store, None).await;
    }
    let mut storage = storage.clone();
    storage.claim = claim.granted();
    complete(&storage, kind).await
}

/// Who was told to stop.
struct Told {
    owner: String,
    /// The run, if it is one of this process.
    run: Option<ClaimedRun>,
}

impl Told {
    async fn has_carried_out(
        &self,
        storage: &ThreadStorage,
        kind: StopKind,
    ) -> Result<bool, ThreadError> {
        if let Some(run) = &self.run {
            return Ok(run.has_stopped());
        }
        let stops = stored(storage).await?;
        let own = stops.iter().find(|stop| stop.kind == kind);
        // Another caller with the same command has removed it when it was carried out.
        Ok(own.is_none_or(|stop| stop.to == self.owner && stop.is_done))
    }
}

/// Does what remains to be done of a command when no run has the thread, and removes the command.
async fn complete(storage: &ThreadStorage, kind: StopKind) -> Result<ThreadStatus, ThreadError> {
    let info = storage.info().await?;
    let status = match &info {
        None => None,
        Some(info) if kind.holds() && continues(info.status) => {
            let mut storage = storage.clone();
            if !info.flow.is_empty() {
                storage.flow = (&*info.flow).into();
            }
            storage.describe(ThreadStatus::Held, None).await?;
            held(&storage).await?;
            Some(ThreadStatus::Held)
        }
        Some(info) => Some(info.status),
    };
    let stops = stored(storage).await?;
    let is_other = |stop: &StoredStop| stop.kind != kind && !stop.is_done;
    if stops.iter().any(is_other) {
        let own = stops.iter().find(|stop| stop.kind == kind);
        if let Some(own) = own {
            write(storage, &own.to, &[kind], true).await?;
        }
    } else if !stops.is_empty() {
        storage.prune(STOPS, 0, 1).await?;
    }
    status.ok_or_else(|| ThreadError::Unknown {
        thread: storage.thread.to_string(),
    })
}

/// Whether a thread with this status goes on without a person who resumes it.
fn continues(status: ThreadStatus) -> bool {
    matches!(
        status,
        ThreadStatus::Running
            | ThreadStatus::Waiting
            | ThreadStatus::Sleeping
            | ThreadStatus::Stopped
    )
}

/// Cancels the threads that are cancelled with this one, and those that are cancelled with them.
pub(in crate::durable) async fn cancel_children(
    storage: &ThreadStorage,
) -> Result<(), ThreadError> {
    for link in storage.writes(LINKS, 0).await? {
        if let Some(WriteName::Child(_)) = link.contents() {
            let child = String::from_utf8_lossy(&link.bytes);
            cancel(&storage.store, &child).await?;
        }
    }
    Ok(())
}

/// Cancels the run of a thread, in any process, or holds a thread that does not run. Leaves a thread alone that has ended.
async fn cancel(store: &Arc<dyn Store>, thread: &str) -> Result<(), ThreadError> {
    let mut storage = ThreadStorage::new(Arc::clone(store), thread.into(), "".into());
    let claim = loop {
        match claimed(&storage).await {
            Err(ThreadError::Busy { .. }) => {}
            claim => break claim?,
        }
        let owner = new_owner();
        if let Claim::Busy { owner } = store.claim(thread, &owner).await? {
            match claimed_run(&storage.thread, &owner) {
                Some((run, _)) => run.stop(StopKind::Cancel),
                None => stop_elsewhere(storage, &owner).await?,
            }
            return Ok(());
        }
        store.release(thread, &owner);
    };
    storage.claim = claim.granted();
    let info = storage.info().await?;
    let Some(info) = info.filter(|info| !is_end(info.status) && info.damage.is_none()) else {
        return Ok(());
    };
    storage.flow = info.flow.into();
    storage.describe(ThreadStatus::Held, None).await?;
    held(&storage).await?;
    drop(claim);
    Ok(())
}

/// Cancels the run of a thread in another process, which holds the thread itself when it looks for commands. Nobody waits for it, but
/// its process may have died, and the claim remains for a while: then the thread is held as soon as it is free, before anything
/// recovers it.
async fn stop_elsewhere(storage: ThreadStorage, owner: &str) -> Result<(), ThreadError> {
    send(&storage, owner, StopKind::Cancel).await?;
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(completed(storage));
    }
    Ok(())
}

/// Boxed, because the thread is held with its own children.
fn completed(storage: ThreadStorage) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        // If the store fails now, the command remains, and a run that lives carries it out.
        let _ = stop(&storage, StopKind::Cancel).await;
    })
}

/// A thread without a run is held, so no run tells those that wait for it, or cancels its children.
fn held(storage: &ThreadStorage) -> BoxFuture<'_, Result<(), ThreadError>> {
    Box::pin(async move {
        cancel_children(storage).await?;
        wake_joining(storage).await
    })
}
