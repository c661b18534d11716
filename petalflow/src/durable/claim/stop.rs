//! Commands to the run that has a thread: the run stops, whichever process it is in.
//!
//! A command is a record beside number 0 of a namespace of its own. It names the owner of the claim: a later run of the thread is
//! another run, and the command is not for it. The run looks for commands once in a second, and records that it has carried one
//! out after it has set the status of the thread. Whoever gave the command waits until the thread is free. If the run has ended
//! without carrying it out, because it was dropped, its process has failed, or it ended at that moment, the caller does so, under
//! its own claim.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::checkpoint::{STOPS, StoredWrite, ThreadStorage, WriteName};
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

    pub(in crate::durable) fn is_at_once(self) -> bool {
        matches!(self, StopKind::Cancel | StopKind::Replace)
    }

    pub(in crate::durable) fn holds(self) -> bool {
        matches!(self, StopKind::Hold | StopKind::Cancel)
    }
}

/// A command that is stored.
pub(in crate::durable) struct StoredStop {
    pub(in crate::durable) kind: StopKind,
    /// The owner of the claim to whom it is addressed.
    pub(in crate::durable) to: String,
    /// Whether its run has carried it out.
    pub(in crate::durable) is_done: bool,
}

/// Stores a command to the run that has the claim.
pub(in crate::durable) async fn send(
    storage: &ThreadStorage,
    to: &str,
    kind: StopKind,
) -> Result<(), ThreadError> {
    write(storage, to, &[kind], false).await
}

/// Looks for commands to a run again and again, and calls `stop_run` for each. Adds what it has found to `heard`.
pub(in crate::durable) async fn listen(
    storage: &ThreadStorage,
    owner: &str,
    stop_run: impl Fn(StopKind),
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
                stop_run(stop.kind);
            }
        }
    }
}

/// Records that the run has carried out these commands. If that fails, those who gave them find out from the status.
pub(in crate::durable) async fn carried_out(
    storage: &ThreadStorage,
    owner: &str,
    heard: &[StopKind],
) {
    if !heard.is_empty() {
        let _ = write(storage, owner, heard, true).await;
    }
}

/// Stores commands to this owner, or that they were carried out.
pub(in crate::durable) async fn write(
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

/// The commands of the thread that are stored.
pub(in crate::durable) async fn stored(
    storage: &ThreadStorage,
) -> Result<Vec<StoredStop>, ThreadError> {
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
