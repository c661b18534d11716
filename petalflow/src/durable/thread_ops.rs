//! What is done to a thread without running it.

use std::time::Duration;

use super::checkpoint_writer::{Barrier, CheckpointWriter};
use super::fingerprint::{Fingerprint, codec_of};
use super::load::{LoadedCheckpoint, read, waiting};
use super::restored_frontier::{node_of, restore_frontier};
use super::subflow_history::restore_subflows;
use crate::checkpoint::{Archive, Cause, Durability, Record, Retention, StoredCheckpoint};
use crate::clock::now_ms;
use crate::codec::unpack;
use crate::error::NodeError;
use crate::flow::Flow;
use crate::ids::task_id;
use crate::node::Effects;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::question::AnswerError;
use crate::snapshot::{CheckpointInfo, Edit, Snapshot, TaskState};
use crate::state::{State, StateCodec};
use crate::superstep::{Outcome, Planner, apply, prepare};

/// A thread at a checkpoint.
pub(crate) async fn snapshot<F: Flow>(
    flow: &F,
    archive: &Archive,
    checkpoint: Option<u64>,
) -> Result<Option<Snapshot<F::State>>, ThreadError> {
    let plan = flow.plan();
    let program = Fingerprint::of::<F::State>(flow.stored_name(), &plan);
    let codec = codec_of::<F::State>()?;
    let Some(head) = read(archive, "", checkpoint, &codec, &program).await? else {
        return Ok(None);
    };
    let waits = waiting(archive, "", &plan, &head.record, &head.writes)?;
    let header = &head.record.header;
    let mut states = Vec::new();
    for task in &header.frontier {
        let id = task_id(&archive.thread, "", header.origin, &task.node, task.send);
        let left = |name: &str| {
            head.writes
                .iter()
                .find(|write| write.task == id && write.name == name)
        };
        let error = left("error").map(|write| {
            unpack(&write.bytes, NodeError::unpack).map_err(ThreadError::value("a stored failure"))
        });
        let finished = left("done").is_some();
        states.push(TaskState {
            node: plan.current_name(&task.node).into(),
            index: task.send.map(|send| send as usize),
            finished,
            error: error.transpose()?.filter(|_| !finished),
        });
    }
    let stored = StoredCheckpoint {
        seq: head.seq,
        base: head.base,
        created_ms: head.created_ms,
        bytes: Vec::new(),
    };
    let mut info = CheckpointInfo::of(&stored, &head.record, &plan);
    info.bytes = if head.base == head.seq {
        head.sizes.0
    } else {
        head.last
    };
    Ok(Some(Snapshot {
        info,
        state: head.state,
        tasks: states,
        interrupts: waits.into_iter().map(|(_, interrupt)| interrupt).collect(),
    }))
}

/// A writer of changes to a thread, all of them in the store when they are made.
fn writer<S: State>(
    archive: &Archive,
    program: Fingerprint,
    codec: StateCodec<S>,
    newest: Option<u64>,
) -> CheckpointWriter<S> {
    let archive = archive.clone();
    CheckpointWriter::new(
        archive,
        String::new(),
        codec,
        program,
        Durability::Sync,
        newest,
    )
}

/// Goes back to a checkpoint, or begins another thread with it. Says the new checkpoint's number.
pub(crate) async fn fork<F: Flow>(
    flow: &F,
    from: &Archive,
    checkpoint: u64,
    to: &Archive,
) -> Result<u64, ThreadError> {
    let plan = flow.plan();
    let program = Fingerprint::of::<F::State>(flow.stored_name(), &plan);
    let codec = codec_of::<F::State>()?;
    let head = read(from, "", Some(checkpoint), &codec, &program).await?;
    let Some(head) = head else {
        return Err(ThreadError::UnknownCheckpoint {
            thread: from.thread.to_string(),
            checkpoint,
        });
    };
    let newest = to.history("", None, 1).await?;
    let mut writer = writer(to, program, codec, newest.first().map(|newest| newest.seq));
    let inside = restore_subflows(from, checkpoint, to, writer.seq).await?;
    let same = from.thread == to.thread;
    let was = head.record.header;
    let is = &mut writer.header;
    is.cause = Cause::Fork;
    is.parent = same.then_some(checkpoint);
    is.turn = was.turn;
    is.superstep = was.superstep;
    is.frontier = was.frontier;
    is.deferred = was.deferred;
    is.joins = was.joins;
    is.gates = was.gates;
    is.origin = writer.seq;
    // What the tasks of the checkpoint before have left stays beside it.
    writer.unsettled = writer.seq;
    inside.write(to).await?;
    writer.save(&head.state, head.written).await?;
    Ok(writer.seq)
}

/// DirtyKeys a thread's state from outside, superstep by superstep.
pub(crate) async fn edit<F: Flow>(
    flow: &F,
    archive: &Archive,
    supersteps: Vec<Vec<Edit<F::State>>>,
) -> Result<Vec<u64>, ThreadError> {
    if supersteps.is_empty() {
        return Err(ThreadError::Request("no supersteps to update with".into()));
    }
    let plan = flow.plan();
    let program = Fingerprint::of::<F::State>(flow.stored_name(), &plan);
    let codec = codec_of::<F::State>()?;
    let head = read(archive, "", None, &codec, &program).await?;
    let Some(head) = head else {
        return Err(ThreadError::Unknown {
            thread: archive.thread.to_string(),
        });
    };
    let LoadedCheckpoint {
        mut state,
        mut written,
        record,
        seq,
        base,
        sizes,
        outline,
        ..
    } = head;
    let mut writer = writer(archive, program, codec, Some(seq));
    writer.was = outline;
    let was = record.header;
    writer.follow(seq, base, sizes, &was);
    writer.header.cause = Cause::Update;
    writer.header.origin = was.origin;
    writer.header.turn = was.turn;
    writer.header.gates.clone_from(&was.gates);
    writer.header.answers.clone_from(&was.answers);
    let mut superstep = was.superstep;
    let mut planner = Planner::new(&plan);
    let waits = restore_frontier(&plan, &writer, was)?;
    let mut frontier = waits.frontier;
    planner.restore(waits.deferred, &waits.arrived);
    // All of it is looked at before any of it is written.
    let mut checked = Vec::new();
    for edits in supersteps {
        checked.push(check(&plan, edits)?);
    }
    let mut checkpoints = Vec::new();
    for mut edits in checked {
        let updates = || edits.iter().map(|(_, effects)| &effects.update);
        let overwritten = prepare(&state, updates()).map_err(|error| {
            ThreadError::Request(format!("the update cannot be applied: {error}"))
        })?;
        writer.absorb(updates(), overwritten)?;
        let outcomes: Vec<(u32, Outcome<'_>)> = edits
            .iter()
            .filter_map(|(node, effects)| Some(((*node)?, Outcome::done(effects))))
            .collect();
        writer.seq += 1;
        let stepped = !outcomes.is_empty();
        if stepped {
            // The frontier is another one now.
            planner
                .advance(&plan, outcomes.into_iter(), &mut frontier)
                .map_err(|missing| {
                    ThreadError::Request(format!(
                        "the route that the edit takes from node `{}` has no edge",
                        plan.name(missing.node)
                    ))
                })?;
            superstep += 1;
            writer.header.origin = writer.seq;
            writer.header.gates.clear();
            writer.header.answers.clear();
        }
        let updates = edits.iter_mut().map(|(_, effects)| &mut effects.update);
        if stepped {
            apply(&mut state, &mut written, overwritten, updates);
        } else {
            // What lasts one superstep is still there.
            for update in updates {
                state.commit(update, overwritten, &mut written);
            }
        }
        writer.describe(&Barrier {
            plan: &plan,
            planner: &planner,
            frontier: &frontier,
            superstep,
        })?;
        writer.save(&state, written).await?;
        checkpoints.push(writer.seq);
    }
    Ok(checkpoints)
}

type Checked<S> = Vec<(Option<u32>, Effects<S>)>;

/// The edits of one superstep, in the order in which they fold.
fn check<S: State>(plan: &ExecutionPlan, edits: Vec<Edit<S>>) -> Result<Checked<S>, ThreadError> {
    if edits.is_empty() {
        return Err(ThreadError::Request(
            "no updates in one of the supersteps".into(),
        ));
    }
    let several = edits.len() > 1;
    let mut checked = Vec::new();
    for Edit { node, effects } in edits {
        let node = node.map(|node| node_of(plan, &node)).transpose()?;
        if several && node.is_none() {
            return Err(ThreadError::Request(
                "several updates of one superstep must each say by which node they are: `Edit::by`"
                    .into(),
            ));
        }
        let effects = effects.map_err(|error| AnswerError::Value(error.to_string()))?;
        if node.is_none() && effects.chosen() != crate::node::RouteChoice::Edges {
            return Err(ThreadError::Request(
                "an update with a route must say by which node it is: `Edit::by`".into(),
            ));
        }
        checked.push((node, effects));
    }
    checked.sort_by_key(|(node, _)| *node);
    Ok(checked)
}

/// Forgets what need not be kept.
#[inline]
pub(crate) async fn prune(archive: &Archive, keep: Retention) -> Result<(), ThreadError> {
    if keep == Retention::ALL {
        return Ok(());
    }
    let now = now_ms();
    for namespace in archive.store.namespaces(&archive.thread).await? {
        let address = archive.address(&namespace);
        let (mut before, mut newer, mut bytes) = (None, 0, 0);
        let mut oldest = None;
        'pages: loop {
            let page = archive.history(&namespace, before, 100).await?;
            let Some(last) = page.last() else { break };
            before = Some(last.seq);
            for checkpoint in &page {
                bytes += checkpoint.bytes.len() as u64;
                let age = Duration::from_millis(now.saturating_sub(checkpoint.created_ms));
                if !keep.covers(newer, bytes, age) {
                    break 'pages;
                }
                newer += 1;
                oldest = Some(checkpoint.clone());
            }
        }
        if let Some(oldest) = oldest {
            let record = Record::decode(&oldest.bytes).map_err(ThreadError::value(format!(
                "checkpoint {} of thread `{}`",
                oldest.seq, archive.thread
            )))?;
            // What tasks have left stands beside the frontier's number, which may be smaller than the checkpoint's.
            let needed = oldest.base.min(record.header.origin);
            archive.store.prune(address, needed).await?;
        }
    }
    Ok(())
}
