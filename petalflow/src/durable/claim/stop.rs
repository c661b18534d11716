//! Commands to the run that has a thread: the run stops, whichever process it is in.
//!
//! A command is a record beside number 0 of a namespace of its own. It names the owner of the claim: a later run of the thread is
//! another run, and the command is not for it. The run looks for commands once in a second, and records that it has carried one
//! out after it has set the status of the thread. Whoever gave the command waits until the thread is free. If the run has ended
//! without carrying it out, because it was dropped, its process has failed, or it ended at that moment, the caller does so, under
//! its own claim.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::thread_claim::{ClaimedRun, ThreadClaim, Waits, claimed_run, new_owner};
use crate::checkpoint::{
    Claim, Moment, STOPS, StoredWrite, ThreadStatus, ThreadStorage, WriteName,
};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::{Unpack, pack, unpack};

/// How often a run looks for commands of other processes.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How a run is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopKind {
    /// At its next barrier. What recovers threads continues it.
    Drain,
    /// At its next barrier. The thread is held.
    Hold,
    /// At once. The thread is held.
    Cancel,
    /// At once, because another run takes its place.
    Replace,
}

impl StopKind {
    const ALL: [(Self, &str); 4] = [
        (StopKind::Drain, "drain"),
        (StopKind::Hold, "hold"),
        (StopKind::Cancel, "cancel"),
        (StopKind::Replace, "replace"),
    ];

    /// Its name in a store.
    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The kind with this name. `None` if this version has no such command.
    fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(kind, _)| kind)
    }

    pub(super) fn is_at_once(self) -> bool {
        matches!(self, StopKind::Cancel | StopKind::Replace)
    }

    pub(super) fn holds(self) -> bool {
        matches!(self, StopKind::Hold | StopKind::Cancel)
    }
}

/// A command that is stored.
struct StoredStop {
    kind: StopKind,
    /// The owner of the claim to whom it is addressed.
    to: String,
    /// Whether its run has carried it out.
    is_done: bool,
}

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

/// Stores a command to the run that has the claim.
pub(super) async fn send(
    storage: &ThreadStorage,
    to: &str,
    kind: StopKind,
) -> Result<(), ThreadError> {
    write(storage, to, &[kind], false).await
}

/// Looks for commands to a run again and again, and stops the run when there is one. Adds what it has found to `heard`.
pub(super) async fn listen(
    storage: &ThreadStorage,
    owner: &str,
    run: ClaimedRun,
    heard: &Mutex<Vec<StopKind>>,
) {
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        // If the store cannot be read now, the next look finds it.
        let stops = stored(storage).await.unwrap_or_default();
        for stop in stops
            .into_iter()
            .filter(|stop| stop.to == owner && !stop.is_done)
        {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            if !heard.contains(&stop.kind) {
                heard.push(stop.kind);
                run.stop(stop.kind);
            }
        }
    }
}

/// Records that the run has carried out these commands. If that fails, those who gave them find out from the status.
pub(super) async fn carried_out(storage: &ThreadStorage, owner: &str, heard: &[StopKind]) {
    if !heard.is_empty() {
        let _ = write(storage, owner, heard, true).await;
    }
}

async fn write(
    storage: &ThreadStorage,
    to: &str,
    kinds: &[StopKind],
    is_done: bool,
) -> Result<(), ThreadError> {
    let mut bytes = Vec::new();
    pack::array(2, &mut bytes);
    pack::text(to, &mut bytes);
    pack::boolean(is_done, &mut bytes);
    let record = |kind: &StopKind| {
        let no_task = TaskId::from_bytes([0; 16]);
        StoredWrite::new(no_task, WriteName::Stop(kind.name()), bytes.clone())
    };
    let writes = kinds.iter().map(record).collect();
    Ok(storage.write(STOPS, 0, writes).await?)
}

async fn stored(storage: &ThreadStorage) -> Result<Vec<StoredStop>, ThreadError> {
    let writes = storage.writes(STOPS, 0).await?;
    let known = writes.iter().filter_map(|write| match write.contents()? {
        WriteName::Stop(name) => Some((StopKind::named(name)?, write)),
        _ => None,
    });
    let read = known.map(|(kind, write)| {
        let (to, is_done) = unpack(&write.bytes, |from| {
            from.tuple(2)?;
            Ok((from.text()?, Unpack::boolean(from)?))
        })
        .map_err(ThreadError::value(format!("the command `{}`", kind.name())))?;
        Ok(StoredStop { kind, to, is_done })
    });
    read.collect()
}

/// Reads all commands that are stored.
pub(in crate::durable) async fn verify(storage: &ThreadStorage) -> Result<(), ThreadError> {
    stored(storage).await.map(drop)
}
