//! Snapshots, forks and edits.

use petalflow_graph::NodeIdx;

use super::held::{held_status, status_at};
use super::subflow_history::restore_subflows;
use crate::checkpoint::{
    Cause, Durability, Header, StoreChange, StoredCheckpoint, StoredWrite, TaskEntry,
    ThreadStorage, WriteName,
};
#[cfg(feature = "engine")]
use crate::durable::load::checkpoint::decode;
use crate::durable::load::checkpoint::{LoadedCheckpoint, load_checkpoint, waiting};
use crate::durable::record::fingerprint::{Fingerprint, codec_of};
use crate::durable::record::seq::CheckpointSeq;
use crate::durable::results::task_results::load_result;
use crate::durable::resume::restored_frontier::{node_of, restore_frontier};
use crate::durable::write::checkpoint_writer::{CheckpointWriter, PlannedFrontier};
use crate::erased::{AnyCodec, AnyEffects, EffectsBox, StateBox};
use crate::error::NodeError;
use crate::exec::Committed;
use crate::flow::AnyFlow;
#[cfg(feature = "engine")]
use crate::ids::TaskId;
use crate::node::Following;
use crate::outcome::ThreadError;
use crate::plan::{ExecutionPlan, NodeNames};
use crate::question::{AnswerError, Interrupt};
use crate::snapshot::{AnyEdit, AnySnapshot, CheckpointInfo, TaskState};
use crate::state::KeySet;
use crate::superstep::{Outcome, Planner, Task, apply, prepare};
use petalflow_store::codec::unpack;

/// The state, the tasks and the questions of a thread at a checkpoint.
pub(crate) async fn snapshot(
    flow: &dyn AnyFlow,
    storage: &ThreadStorage,
    checkpoint: Option<u64>,
) -> Result<Option<AnySnapshot>, ThreadError> {
    let plan = flow.plan();
    let (fingerprint, codec) = program(flow, &plan)?;
    let Some(head) = load_checkpoint(storage, "", checkpoint, codec, &fingerprint).await? else {
        return Ok(None);
    };
    let names = NodeNames::Current(&plan);
    let waits = waiting(storage, "", names, &head.record, &head.writes)?;
    let header = &head.record.header;
    let (mut states, mut pending) = (Vec::new(), Vec::new());
    for task in &header.frontier {
        let id = storage.task_id("", header.origin, &task.node, task.send);
        let written = |contents| head.writes.iter().find(|write| write.is(id, contents));
        let error = written(WriteName::Error).map(|write| {
            unpack(&write.bytes, NodeError::unpack).map_err(ThreadError::value("a stored failure"))
        });
        let result = match plan.index_of_stored(&task.node) {
            Some(node) => {
                let program = (&fingerprint, &head.outline);
                load_result(codec, program, &plan, (id, node), &head.writes)?
            }
            None => None,
        };
        let finished = result.is_some();
        pending.extend(result.map(|result| (states.len(), result.effects)));
        states.push(TaskState {
            node: plan.current_name(&task.node).into(),
            index: task.send.map(|send| send as usize),
            finished,
            error: error.transpose()?.filter(|_| !finished),
            receives: TaskState::awaited(id, finished, &head.writes),
        });
    }
    let (seq, base) = (head.position.seq, head.position.base);
    let stored = StoredCheckpoint {
        seq: seq.get(),
        base: base.get(),
        created_ms: head.created_ms,
        bytes: Vec::new(),
    };
    let mut info = CheckpointInfo::of(&stored, &head.record, names);
    info.bytes = head.own_bytes;
    let unfinished = states.iter().filter(|task| !task.finished);
    info.next = unfinished.map(|task| task.node.clone()).collect();
    Ok(Some(AnySnapshot {
        info,
        state: head.state,
        tasks: states,
        pending,
        interrupts: waits.into_iter().map(|(_, interrupt)| interrupt).collect(),
    }))
}

/// Whether a task of the next superstep has a result.
#[cfg(feature = "engine")]
pub(crate) async fn has_result(
    flow: &dyn AnyFlow,
    storage: &ThreadStorage,
    task: TaskId,
) -> Result<bool, ThreadError> {
    let writes = storage.writes_beside("", 0..u64::MAX).await?;
    let writes: Vec<StoredWrite> = writes.into_iter().map(|(_, write)| write).collect();
    if StoredWrite::result_of(task, &writes).is_none() {
        return Ok(false);
    }
    let plan = flow.plan();
    let fingerprint = Fingerprint::of(flow.state_type(), flow.stored_name(), &plan);
    let codec = codec_of(flow.state_type())?;
    let Some(head) = load_checkpoint(storage, "", None, codec, &fingerprint).await? else {
        return Ok(false);
    };
    let header = &head.record.header;
    let mut tasks = header.frontier.iter();
    let entry =
        tasks.find(|entry| storage.task_id("", header.origin, &entry.node, entry.send) == task);
    let Some(node) = entry.and_then(|entry| plan.index_of_stored(&entry.node)) else {
        return Ok(false);
    };
    let program = (&fingerprint, &head.outline);
    Ok(load_result(codec, program, &plan, (task, node), &head.writes)?.is_some())
}

/// Whether this program can use the record of the result of a task of a node, beside the last checkpoint of this chain.
#[cfg(feature = "engine")]
pub(crate) fn reads_result(
    flow: &dyn AnyFlow,
    chain: &[StoredCheckpoint],
    node: &str,
    result: &StoredWrite,
) -> bool {
    let plan = flow.plan();
    let Some(node) = plan.index_of(node) else {
        return false;
    };
    let (Ok((fingerprint, codec)), Ok(records)) = (program(flow, &plan), decode(chain)) else {
        return false;
    };
    let outline = records
        .first()
        .and_then(|first| first.header.outline.clone());
    let known = (&fingerprint, &outline.unwrap_or_default());
    let writes = std::slice::from_ref(result);
    let read = load_result(codec, known, &plan, (result.task, node), writes);
    matches!(read, Ok(Some(_)))
}

/// Which tasks of the frontier of a checkpoint have finished.
pub(super) async fn results_beside(
    storage: &ThreadStorage,
    header: &Header,
) -> Result<Vec<bool>, ThreadError> {
    let writes = storage.writes("", header.origin).await?;
    let is_finished = |task: &TaskEntry| {
        let id = storage.task_id("", header.origin, &task.node, task.send);
        StoredWrite::result_of(id, &writes).is_some()
    };
    Ok(header.frontier.iter().map(is_finished).collect())
}

/// What the checkpoints of a flow depend on, and the encoding of its state.
fn program(
    flow: &dyn AnyFlow,
    plan: &ExecutionPlan,
) -> Result<(Fingerprint, AnyCodec), ThreadError> {
    let ty = flow.state_type();
    let fingerprint = Fingerprint::of(ty, flow.stored_name(), plan);
    Ok((fingerprint, codec_of(ty)?))
}

/// A writer for the changes of a person.
fn sync_writer(
    storage: &ThreadStorage,
    fingerprint: Fingerprint,
    codec: AnyCodec,
    newest: Option<CheckpointSeq>,
) -> CheckpointWriter {
    let storage = storage.clone();
    CheckpointWriter::new(
        storage,
        String::new(),
        codec,
        fingerprint,
        Durability::Sync,
        newest,
    )
}

/// Copies a checkpoint to the end of its thread, or to the beginning of another thread, in one step. Returns the number of the
/// copy.
pub(crate) async fn fork(
    flow: &dyn AnyFlow,
    from: &ThreadStorage,
    checkpoint: u64,
    to: &ThreadStorage,
) -> Result<u64, ThreadError> {
    let plan = flow.plan();
    let (fingerprint, codec) = program(flow, &plan)?;
    let head = load_checkpoint(from, "", Some(checkpoint), codec, &fingerprint).await?;
    let Some(head) = head else {
        return Err(ThreadError::UnknownCheckpoint {
            thread: from.thread.to_string(),
            checkpoint,
        });
    };
    let newest = to.history("", None, 1).await?;
    let newest = newest.first().map(|newest| newest.seq);
    to.set_newest(newest);
    let same_thread = from.thread == to.thread;
    if same_thread {
        to.set_incarnation(from.incarnation());
    } else {
        to.begin().await?;
    }
    let newest = newest.map(CheckpointSeq::new);
    let mut writer = sync_writer(to, fingerprint, codec, newest);
    writer.set_lost(head.lost);
    let seq = writer.seq().get();
    let mut changes = restore_subflows(from, checkpoint, to, seq).await?;
    let status = status_at(flow.stored_name(), &head.record.header);
    let parent = same_thread.then_some(CheckpointSeq::new(checkpoint));
    writer.begin_fork(head.record.header, parent);
    let committed = Committed {
        state: &*head.state,
        written: head.written,
    };
    changes.extend(writer.change(committed)?);
    changes.push(status);
    to.apply(changes).await?;
    Ok(seq)
}

/// Edits the state of a thread, superstep by superstep: all of them or none. Returns the numbers of the new checkpoints.
pub(crate) async fn edit(
    flow: &dyn AnyFlow,
    storage: &ThreadStorage,
    supersteps: Vec<Vec<AnyEdit>>,
) -> Result<Vec<u64>, ThreadError> {
    if supersteps.is_empty() {
        return Err(ThreadError::Request("no supersteps to update with".into()));
    }
    let plan = flow.plan();
    let (fingerprint, codec) = program(flow, &plan)?;
    let head = load_checkpoint(storage, "", None, codec, &fingerprint).await?;
    let Some(head) = head else {
        return Err(ThreadError::Unknown {
            thread: storage.thread.to_string(),
        });
    };
    let names = NodeNames::Current(&plan);
    let waits = waiting(storage, "", names, &head.record, &head.writes)?;
    let LoadedCheckpoint {
        state,
        written,
        record,
        position,
        outline,
        lost,
        ..
    } = head;
    storage.set_newest(Some(position.seq.get()));
    let mut writer = sync_writer(storage, fingerprint, codec, Some(position.seq));
    writer.set_previous_outline(outline);
    writer.set_lost(lost);
    let previous = record.header;
    writer.resume_from(position, &previous);
    let superstep = previous.superstep;
    let mut planner = Planner::new(&plan);
    let restored = restore_frontier(&plan, &writer, previous)?;
    planner.restore(restored.deferred, &restored.arrived);
    let mut checked = Vec::new();
    for edits in supersteps {
        checked.push(check(&plan, edits)?);
    }
    if let Some(first) = checked.first() {
        check_items(&plan, first, &restored.frontier)?;
    }
    let mut editor = Editor {
        plan: &plan,
        writer,
        planner,
        frontier: restored.frontier,
        superstep,
        state,
        written,
        waits: waits.into_iter().map(|(_, interrupt)| interrupt).collect(),
    };
    let (mut checkpoints, mut changes) = (Vec::new(), Vec::new());
    for edits in checked {
        changes.extend(editor.superstep(edits)?);
        checkpoints.push(editor.writer.seq().get());
    }
    changes.push(editor.status(flow.stored_name()));
    storage.apply(changes).await?;
    Ok(checkpoints)
}

/// A thread while it is edited.
struct Editor<'p> {
    plan: &'p ExecutionPlan,
    writer: CheckpointWriter,
    planner: Planner,
    frontier: Vec<Task>,
    superstep: u64,
    state: StateBox,
    written: KeySet,
    /// What the tasks of the frontier wait for.
    waits: Vec<Interrupt>,
}

impl Editor<'_> {
    /// Applies the edits of one superstep. Returns the new checkpoint.
    fn superstep(&mut self, mut edits: Vec<Checked>) -> Result<Vec<StoreChange>, ThreadError> {
        let effects: Vec<&dyn AnyEffects> = edits.iter().map(|edit| &*edit.effects).collect();
        let stepped = edits.iter().any(|edit| edit.node.is_some());
        let expired = if stepped {
            self.state.ty().expiring(self.written)
        } else {
            KeySet::NONE
        };
        let overwritten = prepare(&*self.state, expired, &effects).map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        self.writer.record_writes(&effects, overwritten)?;
        let outcomes: Vec<(NodeIdx, Outcome<'_>)> = edits
            .iter()
            .filter_map(|edit| Some((edit.node?, edit.outcome())))
            .collect();
        self.writer.begin_change(Cause::Update);
        if stepped {
            self.planner
                .advance(self.plan, outcomes.into_iter(), &mut self.frontier)
                .map_err(|missing| {
                    ThreadError::Request(format!(
                        "the route that the edit takes from node `{}` has no edge",
                        self.plan.name(missing.node)
                    ))
                })?;
            self.superstep += 1;
            self.writer.replace_frontier();
            self.waits.clear();
        }
        let effects = edits.iter_mut().map(|edit| &mut *edit.effects);
        if stepped {
            apply(&mut *self.state, &mut self.written, overwritten, effects);
        } else {
            // This is not a superstep: values that last one superstep remain.
            for effects in effects {
                self.state.commit(effects, overwritten, &mut self.written);
            }
        }
        self.writer.describe(&PlannedFrontier {
            plan: self.plan,
            planner: &self.planner,
            frontier: &self.frontier,
            superstep: self.superstep,
        })?;
        let committed = Committed {
            state: &*self.state,
            written: self.written,
        };
        self.writer.change(committed)
    }

    /// What is listed of the thread after the edits.
    fn status(&self, flow: &str) -> StoreChange {
        let (is_waiting, is_finished) = (!self.waits.is_empty(), self.frontier.is_empty());
        held_status(flow, is_waiting, is_finished, first_expiry(&self.waits))
    }
}

/// An edit whose output fits its node.
struct Checked {
    node: Option<NodeIdx>,
    effects: EffectsBox,
    following: Following,
}

impl Checked {
    fn outcome(&self) -> Outcome<'_> {
        match self.following {
            Following::Edges => Outcome::done(&*self.effects),
            Following::Node => Outcome::Undecided,
        }
    }
}

/// Checks the edits of one superstep. Returns them in the order in which they are applied.
fn check(plan: &ExecutionPlan, edits: Vec<AnyEdit>) -> Result<Vec<Checked>, ThreadError> {
    if edits.is_empty() {
        return Err(ThreadError::Request(
            "no updates in one of the supersteps".into(),
        ));
    }
    let several = edits.len() > 1;
    let mut checked = Vec::new();
    for AnyEdit { node, output } in edits {
        let node = node.map(|node| node_of(plan, &node)).transpose()?;
        if several && node.is_none() {
            return Err(ThreadError::Request(
                "several updates of one superstep must each say by which node they are: `Edit::by`"
                    .into(),
            ));
        }
        let output = output.map_err(|error| AnswerError::Value(error.to_string()))?;
        let fitting = match node {
            Some(node) => output.by(plan, node),
            None => output
                .of_no_node()
                .map(|effects| (effects, Following::Edges)),
        };
        let (effects, following) = fitting.map_err(ThreadError::Request)?;
        checked.push(Checked {
            node,
            effects,
            following,
        });
    }
    checked.sort_by_key(|edit| edit.node);
    Ok(checked)
}

/// Fails if an edit names a node that is to run for items: the edit is one result, and would replace those of all items that have
/// finished, and the questions of the others.
fn check_items(
    plan: &ExecutionPlan,
    edits: &[Checked],
    frontier: &[Task],
) -> Result<(), ThreadError> {
    let named = edits.iter().filter_map(|edit| edit.node);
    let runs_for_items = |node: &NodeIdx| {
        frontier
            .iter()
            .any(|task| task.node == *node && task.send.is_some())
    };
    let Some(node) = named.into_iter().find(runs_for_items) else {
        return Ok(());
    };
    let name = plan.name(node);
    Err(ThreadError::Request(format!(
        "node `{name}` runs for items, and an edit by it would replace the results of all of them, and what they wait for: resume the thread, answer what its items ask, or edit by the node that sends the items"
    )))
}

/// When the first of the questions expires.
pub(in crate::durable) fn first_expiry(interrupts: &[Interrupt]) -> Option<u64> {
    interrupts.iter().filter_map(|it| it.expires_ms).min()
}
