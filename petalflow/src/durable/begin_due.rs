//! Threads that begin without a run: a process that wakes their flow runs them when they are due.

use super::record::fingerprint::{Fingerprint, codec_of};
use super::write::checkpoint_writer::{CheckpointWriter, PlannedFrontier};
use crate::checkpoint::{Durability, StoreChange, ThreadStatus, ThreadStorage};
use crate::erased::InputBox;
use crate::exec::Committed;
use crate::flow::AnyFlow;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::superstep::Planner;

/// When a thread begins that no run has.
pub(crate) enum Begins {
    /// At once, for a task of another thread.
    AsChild(TaskId),
    /// At a time, in milliseconds since 1970 (UTC).
    At(u64),
}

/// Begins a thread that does not exist. Its input and its due time are stored together.
pub(crate) async fn begin_due(
    flow: &dyn AnyFlow,
    storage: &ThreadStorage,
    begins: Begins,
    input: InputBox,
) -> Result<(), ThreadError> {
    let (plan, ty) = (flow.plan(), flow.state_type());
    let (state, written) = (ty.start)(input)
        .map_err(|error| ThreadError::Request(format!("the input cannot be applied: {error}")))?;
    storage.begin().await?;
    storage.set_newest(None);
    let fingerprint = Fingerprint::of(ty, flow.stored_name(), &plan);
    let mut writer = CheckpointWriter::new(
        storage.clone(),
        String::new(),
        codec_of(ty)?,
        fingerprint,
        Durability::Sync,
        None,
    );
    let (status, due_ms) = match begins {
        Begins::AsChild(task) => {
            writer.set_owner(task);
            (ThreadStatus::Running, storage.store.now_ms().await?)
        }
        Begins::At(due_ms) => (ThreadStatus::Sleeping, due_ms),
    };
    let (mut planner, mut frontier) = (Planner::new(&plan), Vec::new());
    planner.start(&plan, &mut frontier);
    writer.begin_turn(1);
    writer.describe(&PlannedFrontier {
        plan: &plan,
        planner: &planner,
        frontier: &frontier,
        superstep: 0,
    })?;
    let mut changes = writer.change(Committed {
        state: &*state,
        written,
    })?;
    changes.push(StoreChange::Status {
        flow: flow.stored_name().into(),
        status,
        due_ms: Some(due_ms),
    });
    Ok(storage.apply(changes).await?)
}
