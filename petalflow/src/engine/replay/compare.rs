//! Compares what the program of today has committed with what was stored.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::difference::{Difference, DifferenceKind};
use super::program::ProgramChanges;
use super::rows::{first_difference, text};
use crate::checkpoint::{StoredWrite, TaskEntry, WriteName};
use crate::durable::{ReadCheckpoint, result_to_form};
use crate::ids::TaskId;
use crate::noted_request::NotedRequest;
use petalflow_store::codec::to_form;

/// A task of a superstep that was stored.
pub(super) struct Task {
    pub(super) id: TaskId,
    /// The requests to models that it has recorded, in their order.
    pub(super) requests: Vec<NotedRequest>,
    /// Its stored name.
    pub(super) node: String,
    pub(super) index: Option<u32>,
    /// Whether it runs in the replay.
    pub(super) runs: bool,
    /// The record of its result.
    pub(super) result: Option<Vec<u8>>,
}

/// A superstep that is compared.
pub(super) struct Context<'a> {
    pub(super) flow: &'a str,
    pub(super) at: (u64, u64),
    pub(super) tasks: &'a [Task],
    pub(super) nodes: Option<String>,
    pub(super) changes: &'a ProgramChanges,
    /// The keys whose values the file does not have.
    pub(super) removed: &'a [String],
}

impl Task {
    /// Whether its result does not fit because of a change that is reported.
    pub(super) fn is_explained_by(&self, changes: &ProgramChanges) -> bool {
        let form = self
            .result
            .as_ref()
            .and_then(|bytes| result_to_form(bytes).ok());
        let keys = form.as_ref().map(keys_of).unwrap_or_default();
        changes.nodes.contains(&self.node)
            || changes.sources.contains(&self.node)
            || keys.keys().any(|key| changes.keys.contains(key))
    }

    /// Its node and its index.
    pub(super) fn name(&self) -> String {
        match self.index {
            Some(index) => format!("{}[{index}]", self.node),
            None => self.node.clone(),
        }
    }
}

/// All differences of a superstep. What follows from another one is not a difference of its own: a state that differs because an output
/// does, or nodes that run next because a route does.
pub(super) fn differences(
    context: &Context<'_>,
    (was, is): (&ReadCheckpoint, &ReadCheckpoint),
    written: &[StoredWrite],
) -> Vec<Difference> {
    let mut outputs = Outputs::default();
    for task in context.tasks.iter().filter(|task| task.runs) {
        let found = written
            .iter()
            .find(|write| write.is(task.id, WriteName::Done));
        let (Some(expected), Some(found)) = (&task.result, found) else {
            continue;
        };
        if let (Ok(was), Ok(is)) = (result_to_form(expected), result_to_form(&found.bytes)) {
            outputs.compare(context, task, &was, &is);
        }
    }
    let mut differences = outputs.differences;
    if !outputs.leads_elsewhere {
        differences.extend(next(context, was, is));
    }
    let keys: BTreeSet<&String> = was.keys.keys().chain(is.keys.keys()).collect();
    for key in keys {
        let is_known = context.changes.keys.contains(key)
            || context.removed.contains(key)
            || outputs.keys.contains(key);
        if is_known {
            continue;
        }
        let (was, is) = (was.keys.get(key), is.keys.get(key));
        if let Some((path, was, is)) = first_difference(was, is) {
            differences.push(Difference {
                kind: DifferenceKind::State,
                flow: context.flow.into(),
                superstep: Some(context.at),
                node: context.nodes.clone(),
                name: format!("{key}{path}"),
                expected: text(was),
                found: text(is),
            });
        }
    }
    differences
}

/// What the nodes that ran have returned.
#[derive(Default)]
struct Outputs {
    differences: Vec<Difference>,
    /// The keys that were written differently.
    keys: BTreeSet<String>,
    /// Whether a node has chosen or sent something else.
    leads_elsewhere: bool,
}

impl Outputs {
    fn compare(&mut self, context: &Context<'_>, task: &Task, was: &Value, is: &Value) {
        let mut add = |name: String, was: Option<&Value>, is: Option<&Value>| {
            let Some((path, was, is)) = first_difference(was, is) else {
                return false;
            };
            self.differences.push(Difference {
                kind: DifferenceKind::Output,
                flow: context.flow.into(),
                superstep: Some(context.at),
                node: Some(task.name()),
                name: name + &path,
                expected: text(was),
                found: text(is),
            });
            true
        };
        let (keys_was, keys_is) = (keys_of(was), keys_of(is));
        let keys: BTreeSet<&String> = keys_was.keys().chain(keys_is.keys()).collect();
        for key in keys {
            if context.changes.keys.contains(key) || context.removed.contains(key) {
                continue;
            }
            if add(key.clone(), keys_was.get(key), keys_is.get(key)) {
                self.keys.insert(key.clone());
            }
        }
        for part in ["end", "route", "routes", "sends", "failure"] {
            if add(part.into(), was.get(part), is.get(part)) {
                self.leads_elsewhere = true;
            }
        }
    }
}

/// What a result has written: one value per key, or a list if it has written several.
fn keys_of(result: &Value) -> BTreeMap<String, Value> {
    let keys = result.get("keys").and_then(Value::as_array);
    let mut found = BTreeMap::new();
    for entry in keys.into_iter().flatten() {
        let Some(key) = entry.get("key").and_then(Value::as_str) else {
            continue;
        };
        let writes = entry.get("writes").cloned().unwrap_or_default();
        // Nearly always it is one write that folds.
        let single = match writes.as_array().map(Vec::as_slice) {
            Some([write]) => match write.as_array().map(Vec::as_slice) {
                Some([Value::Bool(false), value]) => Some(value.clone()),
                _ => None,
            },
            _ => None,
        };
        found.insert(key.into(), single.unwrap_or(writes));
    }
    found
}

/// The nodes that run next, with their items, and the joins that wait.
fn next(context: &Context<'_>, was: &ReadCheckpoint, is: &ReadCheckpoint) -> Option<Difference> {
    let tasks = |tasks: &[TaskEntry]| {
        let task = |task: &TaskEntry| {
            let item = task
                .item
                .as_ref()
                .map(|item| format!("({})", to_form(item)));
            format!("{}{}", task.node, item.unwrap_or_default())
        };
        let mut tasks: Vec<String> = tasks.iter().map(task).collect();
        tasks.sort_unstable();
        tasks
    };
    let shown = |of: &ReadCheckpoint| {
        let header = &of.header;
        let mut next = tasks(&header.frontier);
        next.extend(
            tasks(&header.deferred)
                .into_iter()
                .map(|task| format!("later {task}")),
        );
        next.extend(header.joins.iter().map(|(join, sides)| {
            let mut sides = sides.clone();
            sides.sort_unstable();
            format!("{join} waits with {}", sides.join(" & "))
        }));
        let points = header.interrupt_points.iter();
        next.extend(points.map(|node| format!("a person after {node}")));
        next
    };
    let (was_next, is_next) = (shown(was), shown(is));
    if was_next == is_next {
        return None;
    }
    let names = |of: &ReadCheckpoint| {
        let tasks = of.header.frontier.iter().chain(&of.header.deferred);
        tasks.map(|task| task.node.clone()).collect::<BTreeSet<_>>()
    };
    let (was_names, is_names) = (names(was), names(is));
    let mut differing = was_names.symmetric_difference(&is_names).peekable();
    let explained =
        differing.peek().is_some() && differing.all(|node| context.changes.nodes.contains(node));
    if explained {
        return None;
    }
    let shown = |next: &[String]| match next {
        [] => "the end".into(),
        next => next.join(", "),
    };
    Some(Difference {
        kind: DifferenceKind::Next,
        flow: context.flow.into(),
        superstep: Some(context.at),
        node: context.nodes.clone(),
        name: String::new(),
        expected: shown(&was_next),
        found: shown(&is_next),
    })
}
