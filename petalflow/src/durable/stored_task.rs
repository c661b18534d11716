//! Tasks as they are stored: those that wait to run, and what those that have run left.

use std::borrow::Cow;

use crate::checkpoint::{Outline, TaskEntry};
use crate::codec::{CodecError, Unpack, pack, unpack};
use crate::delivery::{Delivery, ItemCodec};
use crate::error::NodeError;
use crate::exec::TaskEnd;
use crate::node::{Effects, RouteChoice};
use crate::outcome::ThreadError;
use crate::plan::{EdgeTarget, ExecutionPlan};
use crate::state::{State, StateCodec, Update as _};
use crate::superstep::Task;

use super::dirty_keys::{each, of_key, untracked};
use super::fingerprint::Fingerprint;

/// What a task that has run left, before its superstep was committed.
pub(crate) struct FinishedTask<S: State> {
    pub(crate) effects: Effects<S>,
    pub(crate) end: TaskEnd,
}

impl<S: State> FinishedTask<S> {
    /// A task that did not run, and behind which the run goes on.
    pub(crate) fn skipped() -> Self {
        FinishedTask {
            effects: Effects::default(),
            end: TaskEnd::Ignored,
        }
    }
}

/// A task of the frontier.
#[inline]
pub(crate) fn save(plan: &ExecutionPlan, task: &Task) -> Result<TaskEntry, ThreadError> {
    let node = plan.name(task.node);
    let item = task.delivery.as_ref().map(|delivery| {
        let mut bytes = Vec::new();
        let codec = codec(plan, task.node)?;
        (codec.save)(delivery, task.item.map(|item| item as usize), &mut bytes)
            .map_err(ThreadError::value(format!("the item of node `{node}`")))?;
        Ok::<_, ThreadError>(bytes)
    });
    Ok(TaskEntry {
        node: plan.stored_name(task.node).into(),
        send: task.send,
        item: item.transpose()?,
    })
}

/// The task that was stored for the node at this place.
///
/// An item that the node does not take any more is dropped.
#[inline]
pub(crate) fn load(
    plan: &ExecutionPlan,
    node: u32,
    entry: TaskEntry,
    unreadable: impl FnOnce(CodecError) -> ThreadError,
) -> Result<Task, ThreadError> {
    let item = entry.item.filter(|_| plan.takes_item[node as usize]);
    let delivery = item.map(|bytes| {
        let codec = codec(plan, node)?;
        (codec.load)(&bytes).map_err(unreadable)
    });
    Ok(Task {
        node,
        send: entry.send,
        item: None,
        delivery: delivery.transpose()?,
    })
}

#[inline]
fn codec(plan: &ExecutionPlan, node: u32) -> Result<ItemCodec, ThreadError> {
    plan.items[node as usize].ok_or_else(|| {
        ThreadError::Request(format!(
            "node `{}` takes an item that cannot be stored: its type needs `Serialize` and `Deserialize`, and a node written by hand sets `Node::ITEM_CODEC`",
            plan.name(node)
        ))
    })
}

/// The version and the schema of the program that wrote it: beside one checkpoint there may be tasks of several programs.
type ProgramVersion = (u32, u64);

/// What a finished task left, as it stands in storage. Everything has its name there, never its number.
struct TaskRecord<'a> {
    by: ProgramVersion,
    /// 0 where it ended, 1 where its failure was caught, 2 where the run went on in spite of it.
    kind: u8,
    keys: Vec<(&'a str, Cow<'a, [u8]>)>,
    /// 0 for its edges, 1 for one route, 2 for several.
    chosen: u8,
    routes: Vec<&'a str>,
    sends: Vec<Sent<'a>>,
    failure: Option<NodeError>,
}

struct Sent<'a> {
    route: Option<&'a str>,
    list: bool,
    bytes: Cow<'a, [u8]>,
}

impl<'a> TaskRecord<'a> {
    #[inline]
    fn encode(&self, out: &mut Vec<u8>) {
        pack::array(7, out);
        pack::array(2, out);
        pack::number(self.by.0.into(), out);
        pack::number(self.by.1, out);
        pack::number(self.kind.into(), out);
        pack::list(self.keys.iter(), out, |(id, bytes), out| {
            pack::array(2, out);
            pack::text(id, out);
            pack::bytes(bytes, out);
        });
        pack::number(self.chosen.into(), out);
        pack::list(self.routes.iter(), out, |route, out| pack::text(route, out));
        pack::list(self.sends.iter(), out, |sent, out| {
            pack::array(3, out);
            pack::option(sent.route, out, pack::text);
            pack::flag(sent.list, out);
            pack::bytes(&sent.bytes, out);
        });
        pack::option(self.failure.as_ref(), out, NodeError::pack);
    }

    #[inline]
    fn decode(bytes: &'a [u8]) -> Result<Self, CodecError> {
        unpack(bytes, |from| {
            from.tuple(7)?;
            from.tuple(2)?;
            Ok(TaskRecord {
                by: (from.number()?, from.number()?),
                kind: from.number()?,
                keys: from.list(|from| {
                    from.tuple(2)?;
                    Ok((from.str()?, from.bytes()?.into()))
                })?,
                chosen: from.number()?,
                routes: from.list(Unpack::str)?,
                sends: from.list(|from| {
                    from.tuple(3)?;
                    Ok(Sent {
                        route: from.option(Unpack::str)?,
                        list: from.flag()?,
                        bytes: from.bytes()?.into(),
                    })
                })?,
                failure: from.option(NodeError::unpack)?,
            })
        })
    }
}

/// What a finished task left, as bytes.
pub(crate) fn save_finished<S: State>(
    codec: &StateCodec<S>,
    program: &Fingerprint,
    plan: &ExecutionPlan,
    node: u32,
    effects: &Effects<S>,
    end: &TaskEnd,
) -> Result<Vec<u8>, ThreadError> {
    let mut keys = Vec::new();
    for key in each(effects.update.written().minus(untracked::<S>())) {
        let mut bytes = Vec::new();
        (codec.save_writes)(&effects.update, key, &mut bytes).map_err(of_key::<S>(key))?;
        keys.push((S::KEYS[key].id, bytes.into()));
    }
    let names = plan.routes[node as usize];
    let name = |route: u32| names.get(route as usize).copied().unwrap_or_default();
    let (chosen, routes) = match effects.chosen() {
        RouteChoice::Edges => (0, Vec::new()),
        RouteChoice::One(route) => (1, vec![name(route)]),
        RouteChoice::Many => (
            2,
            effects.routes().iter().map(|route| name(*route)).collect(),
        ),
    };
    let mut sends = Vec::new();
    for (route, delivery) in effects.deliveries() {
        let Some((list, target)) = taker(plan, node, *route) else {
            continue;
        };
        let mut bytes = Vec::new();
        let item = self::codec(plan, target)?;
        let saved = if list {
            (item.save_list)(delivery, &mut bytes)
        } else {
            (item.save)(delivery, None, &mut bytes)
        };
        saved.map_err(ThreadError::value(format!(
            "what node `{}` sends to `{}`",
            plan.name(node),
            plan.name(target)
        )))?;
        sends.push(Sent {
            route: route.map(name),
            list,
            bytes: bytes.into(),
        });
    }
    let (kind, failure) = match end {
        TaskEnd::Caught { failure, .. } => (1, failure.get::<NodeError>(None).cloned()),
        TaskEnd::Ignored => (2, None),
        TaskEnd::Done | TaskEnd::Parked => (0, None),
    };
    let layout = TaskRecord {
        by: (program.version, program.schema),
        kind,
        keys,
        chosen,
        routes,
        sends,
        failure,
    };
    let mut bytes = Vec::new();
    layout.encode(&mut bytes);
    Ok(bytes)
}

/// What a finished task left. `None` where the program was changed so that it does not fit any more, or may mean something
/// else: the task runs again.
pub(crate) fn load_finished<S: State>(
    codec: &StateCodec<S>,
    (program, was): (&Fingerprint, &Outline),
    plan: &ExecutionPlan,
    node: u32,
    bytes: &[u8],
) -> Result<Option<FinishedTask<S>>, CodecError> {
    let TaskRecord {
        by,
        kind,
        keys,
        chosen,
        routes,
        sends,
        failure,
    } = TaskRecord::decode(bytes)?;
    if !program.reads_writes(by, was, keys.iter().map(|(key, _)| *key)) {
        return Ok(None);
    }
    let mut effects = Effects::<S>::default();
    for (id, bytes) in &keys {
        let Some(key) = S::KEYS.iter().position(|key| key.id == *id) else {
            return Ok(None);
        };
        // A type may have changed behind its name.
        if (codec.load_writes)(&mut effects.update, key, bytes).is_err() {
            return Ok(None);
        }
    }
    let names = plan.routes[node as usize];
    let index = |route: &str| {
        let place = names.iter().position(|name| *name == route)?;
        u32::try_from(place).ok()
    };
    match (chosen, &routes[..]) {
        (0, _) => {}
        (1, [route]) => match index(route) {
            Some(route) => effects.choose(route),
            None => return Ok(None),
        },
        (2, routes) => {
            effects.choose_none();
            for route in routes {
                let Some(route) = index(route) else {
                    return Ok(None);
                };
                effects.choose_also(route);
            }
        }
        _ => return Err(CodecError::Unknown("an unknown kind of choice".into())),
    }
    for Sent { route, list, bytes } in &sends {
        let route = match route {
            None => None,
            Some(route) => match index(route) {
                Some(route) => Some(route),
                None => return Ok(None),
            },
        };
        let taker = taker(plan, node, route);
        let Some(item) = taker.and_then(|(_, target)| plan.items[target as usize]) else {
            return Ok(None);
        };
        let delivery = if *list {
            (item.load_list)(bytes)
        } else {
            (item.load)(bytes)
        };
        let Ok(delivery) = delivery else {
            return Ok(None);
        };
        effects.send(route, delivery);
    }
    if kind == 0 && !leads_on(plan, node, &effects) {
        return Ok(None);
    }
    let end = match (kind, failure, plan.out_edges[node as usize].catch) {
        (0, ..) => TaskEnd::Done,
        (1, Some(failure), Some(to)) => TaskEnd::Caught {
            to,
            failure: Delivery::one(failure),
        },
        (2, ..) => TaskEnd::Ignored,
        _ => return Ok(None),
    };
    Ok(Some(FinishedTask { effects, end }))
}

/// Whether a task that left this has said all that the node's ways on need to know: it may have run when they were others.
fn leads_on<S: State>(plan: &ExecutionPlan, node: u32, effects: &Effects<S>) -> bool {
    let sent = |route: Option<u32>| {
        let sent = effects.deliveries().iter().any(|(by, _)| *by == route);
        sent || taker(plan, node, route).is_none()
    };
    match effects.chosen() {
        RouteChoice::Edges => plan.routes[node as usize].is_empty() && sent(None),
        RouteChoice::One(route) => sent(Some(route)),
        RouteChoice::Many => effects.routes().iter().all(|route| sent(Some(*route))),
    }
}

/// Who takes what a node sends along a route, and whether item by item: its type says how to store it.
#[inline]
fn taker(plan: &ExecutionPlan, node: u32, route: Option<u32>) -> Option<(bool, u32)> {
    let ways = &plan.out_edges[node as usize];
    let targets = match route {
        None => &ways.plain,
        Some(route) => ways.routes.get(route as usize)?,
    };
    let each = targets.iter().find_map(|target| match target {
        EdgeTarget::Each(node) => Some((true, *node)),
        _ => None,
    });
    each.or_else(|| {
        targets.iter().find_map(|target| match target {
            EdgeTarget::Node(node) if plan.takes_item[*node as usize] => Some((false, *node)),
            _ => None,
        })
    })
}
