//! Restores the frontier of a stored thread.

use petalflow_graph::{JoinIdx, NodeIdx};

use crate::checkpoint::{Header, NodeOutline, TaskEntry};
use crate::durable::record::task_entries::load;
use crate::durable::write::checkpoint_writer::CheckpointWriter;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::superstep::Task;
use crate::upgrade::{Change, InUse, difference, graph_changes};

/// The tasks and joins of a thread at a checkpoint.
pub(crate) struct RestoredFrontier {
    pub(crate) frontier: Vec<Task>,
    pub(crate) deferred: Vec<Task>,
    /// The sides of joins that have arrived, by index.
    pub(crate) arrived: Vec<(JoinIdx, u32)>,
}

/// Restores the frontier. Fails if this program does not have its nodes and joins.
pub(crate) fn restore_frontier(
    plan: &ExecutionPlan,
    writer: &CheckpointWriter,
    header: Header,
) -> Result<RestoredFrontier, ThreadError> {
    fits(writer, &header)?;
    Ok(RestoredFrontier {
        frontier: tasks(plan, writer, header.frontier)?,
        deferred: tasks(plan, writer, header.deferred)?,
        arrived: load_arrived(writer, header.joins)?,
    })
}

/// Checks that the program still has everything that the frontier uses.
fn fits(writer: &CheckpointWriter, header: &Header) -> Result<(), ThreadError> {
    let mut used = InUse::default();
    for task in header.frontier.iter().chain(&header.deferred) {
        used.nodes.push(task.node.clone());
        if task.item.is_none() {
            used.nodes_without_item.push(task.node.clone());
        }
    }
    used.joins = header.joins.iter().map(|(name, _)| name.clone()).collect();
    let changes = graph_changes(
        &writer.previous_outline().graph,
        &writer.fingerprint().outline.graph,
    );
    let breaking = changes.iter().find(|change| change.breaks(&used));
    breaking.map_or(Ok(()), |change| Err(changed_error(writer, change)))
}

/// Decodes the stored tasks.
fn tasks(
    plan: &ExecutionPlan,
    writer: &CheckpointWriter,
    entries: Vec<TaskEntry>,
) -> Result<Vec<Task>, ThreadError> {
    let mut tasks = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = entry.node.clone();
        let Some(node) = plan.index_of_stored(&name) else {
            return Err(changed_error(writer, &Change::NodeRemoved { node: name }));
        };
        tasks.push(load(plan, node, entry, |problem| {
            let previous = &writer.previous_outline().graph;
            let previous = NodeOutline::find(&previous.nodes, &name);
            let previous = previous.and_then(|node| node.item.as_deref()).unwrap_or("Old");
            let problem = format!(
                "the item of node `{name}` cannot be read: {problem}; convert it in a migration, `migration.map_item(\"{name}\", |old: {previous}| ..)`, or resume at another node with `Resume::goto`"
            );
            refused_error(writer, problem)
        })?);
    }
    // As the planner orders them: the order of the nodes may have changed.
    tasks.sort_by_key(|task| task.node);
    Ok(tasks)
}

/// The sides of joins that had arrived, by index.
fn load_arrived(
    writer: &CheckpointWriter,
    joins: Vec<(String, Vec<String>)>,
) -> Result<Vec<(JoinIdx, u32)>, ThreadError> {
    let mut arrived = Vec::new();
    for (name, sides) in joins {
        let known = writer
            .fingerprint()
            .joins
            .iter()
            .position(|join| join.name == name);
        let Some(join) = known else {
            return Err(changed_error(writer, &Change::JoinRemoved { join: name }));
        };
        for side in sides {
            let known = &writer.fingerprint().joins[join].sides;
            let index = known.iter().position(|known| *known == side);
            let side = petalflow_graph::to_u32(index.unwrap_or_default());
            arrived.push((JoinIdx::from_usize(join), side));
        }
    }
    Ok(arrived)
}

/// The error for a change of the program after which the thread cannot resume.
fn changed_error(writer: &CheckpointWriter, change: &Change) -> ThreadError {
    refused_error(writer, change.problem(writer.codec().ty.name))
}

fn refused_error(writer: &CheckpointWriter, problem: String) -> ThreadError {
    ThreadError::Changed {
        thread: writer.storage().thread.to_string(),
        problem,
        diff: difference(
            writer.previous_outline().graph.lines(),
            writer.fingerprint().outline.graph.lines(),
        ),
    }
}

/// The index of a node that a caller named.
pub(crate) fn node_of(plan: &ExecutionPlan, name: &str) -> Result<NodeIdx, ThreadError> {
    plan.index_of(name).ok_or_else(|| {
        let nodes: Vec<&str> = plan
            .graph()
            .nodes()
            .iter()
            .map(|node| &*node.name)
            .collect();
        let similar = petalflow_graph::similar(name, nodes.iter().copied());
        let hint = similar.map_or_else(
            || format!("the nodes are {}", nodes.join(", ")),
            |similar| format!("did you mean `{similar}`?"),
        );
        ThreadError::Request(format!("there is no node `{name}`; {hint}"))
    })
}
