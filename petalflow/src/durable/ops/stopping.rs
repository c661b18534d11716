//! Stops the run that has a thread: gives it the command, waits for it, and does what remains.

use super::super::claim::stop::{StopKind, StoredStop, send, stored, write};
use super::super::claim::thread_claim::{ClaimedRun, ThreadClaim, Waits, claimed_run, new_owner};
use super::super::links;
use crate::checkpoint::{Claim, Moment, STOPS, ThreadStatus, ThreadStorage};
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
            links::held(&storage).await?;
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
