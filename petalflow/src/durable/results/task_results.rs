//! The results of tasks that have finished, as they are stored beside a checkpoint until their superstep is committed.

use std::borrow::Cow;

use petalflow_graph::{NodeIdx, RouteIdx};

use crate::checkpoint::{Outline, StoredWrite};
use crate::delivery::Delivery;
use crate::durable::record::dirty_keys::of_key;
use crate::durable::record::fingerprint::{Fingerprint, WrittenBy};
use crate::durable::record::task_entries::item_codec;
use crate::effects::{Choice, RouteChoice};
use crate::erased::{AnyCodec, AnyEffects, EffectsBox};
use crate::error::NodeError;
use crate::exec::{FinishedTask, TaskEnd, TaskResult};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::plan::{EdgeTarget, ExecutionPlan, RouteNames};
use crate::state::KeySet;
use petalflow_store::codec::{CodecError, Unpack, pack, unpack};

/// The stored form of a result. It contains names and no indices, so that it survives changes of the program.
pub(super) struct TaskRecord<'a> {
    pub(super) by: WrittenBy,
    /// 0 if the task ran, 1 if its failure was caught, 2 if its failure was ignored.
    pub(super) kind: u8,
    pub(super) keys: Vec<(&'a str, Cow<'a, [u8]>)>,
    /// 0 for its edges, 1 for one route, 2 for several.
    pub(super) chosen: u8,
    pub(super) routes: Vec<&'a str>,
    pub(super) sends: Vec<StoredSend<'a>>,
    pub(super) failure: Option<NodeError>,
}

pub(super) struct StoredSend<'a> {
    pub(super) route: Option<&'a str>,
    pub(super) list: bool,
    pub(super) bytes: Cow<'a, [u8]>,
}

impl<'a> TaskRecord<'a> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        pack::array(7, out);
        let by = [self.by.version.into(), self.by.schema];
        let by: Vec<u64> = by.into_iter().chain(self.by.keys.iter().copied()).collect();
        pack::list(by.iter(), out, |number, out| pack::number(*number, out));
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
            pack::boolean(sent.list, out);
            pack::bytes(&sent.bytes, out);
        });
        pack::option(self.failure.as_ref(), out, NodeError::pack);
    }

    pub(super) fn decode(bytes: &'a [u8]) -> Result<Self, CodecError> {
        unpack(bytes, |from| {
            from.tuple(7)?;
            Ok(TaskRecord {
                by: decode_by(&from.list(Unpack::number)?)?,
                kind: from.number()?,
                keys: from.list(|from| {
                    from.tuple(2)?;
                    Ok((from.str()?, from.bytes()?.into()))
                })?,
                chosen: from.number()?,
                routes: from.list(Unpack::str)?,
                sends: from.list(|from| {
                    from.tuple(3)?;
                    Ok(StoredSend {
                        route: from.option(Unpack::str)?,
                        list: from.boolean()?,
                        bytes: from.bytes()?.into(),
                    })
                })?,
                failure: from.option(NodeError::unpack)?,
            })
        })
    }
}

fn decode_by(by: &[u64]) -> Result<WrittenBy, CodecError> {
    let unknown = || CodecError::Unknown("a result of an unknown program".into());
    let [version, schema, keys @ ..] = by else {
        return Err(unknown());
    };
    Ok(WrittenBy {
        version: u32::try_from(*version).map_err(|_| unknown())?,
        schema: *schema,
        keys: keys.into(),
    })
}

/// Encodes the result of a task, which has written no key that is not stored.
pub(crate) fn save_finished(
    codec: AnyCodec,
    program: &Fingerprint,
    plan: &ExecutionPlan,
    result: &TaskResult<'_>,
) -> Result<Vec<u8>, ThreadError> {
    let TaskResult {
        node, effects, end, ..
    } = *result;
    let mut keys = Vec::new();
    for key in effects.written().iter() {
        let mut bytes = Vec::new();
        (codec.save_writes)(effects, key, &mut bytes).map_err(of_key(codec.ty, key))?;
        keys.push((codec.ty.keys[key].id, bytes.into()));
    }
    let names = &plan.routes[node.index()];
    let name = |route: RouteIdx| names.name(route);
    let (chosen, routes) = match effects.chosen() {
        RouteChoice::Edges => (0, Vec::new()),
        RouteChoice::One(route) => (1, vec![name(route)]),
        RouteChoice::Many => (
            2,
            effects.routes().iter().map(|route| name(*route)).collect(),
        ),
    };
    let sends = save_sends(plan, node, effects)?;
    let (kind, failure) = match end {
        TaskEnd::Caught { failure, .. } => (1, failure.get::<NodeError>(None).cloned()),
        TaskEnd::Ignored => (2, None),
        TaskEnd::Done | TaskEnd::Unfinished => (0, None),
    };
    let record = TaskRecord {
        by: program.written_by(keys.iter().map(|(key, _)| *key)),
        kind,
        keys,
        chosen,
        routes,
        sends,
        failure,
    };
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    Ok(bytes)
}

/// Encodes what a task sends along edges that deliver a value.
fn save_sends<'a>(
    plan: &'a ExecutionPlan,
    node: NodeIdx,
    effects: &dyn AnyEffects,
) -> Result<Vec<StoredSend<'a>>, ThreadError> {
    let names = &plan.routes[node.index()];
    let mut sends = Vec::new();
    for (route, delivery) in effects.deliveries() {
        let Some((list, target)) = item_target(plan, node, *route) else {
            continue;
        };
        let mut bytes = Vec::new();
        let item = item_codec(plan, target)?;
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
        sends.push(StoredSend {
            route: route.map(|route| names.name(route)),
            list,
            bytes: bytes.into(),
        });
    }
    Ok(sends)
}

/// The result of a task, from the records beside the checkpoint of its superstep. `None` if the task has none: it has not finished,
/// or the program has changed so that the result does not fit.
pub(crate) fn load_result(
    codec: AnyCodec,
    program: (&Fingerprint, &Outline),
    plan: &ExecutionPlan,
    (task, node): (TaskId, NodeIdx),
    writes: &[StoredWrite],
) -> Result<Option<FinishedTask>, ThreadError> {
    let Some(write) = StoredWrite::result_of(task, writes) else {
        return Ok(None);
    };
    let what = || format!("the result of node `{}`", plan.name(node));
    load_finished(codec, program, plan, node, &write.bytes).map_err(ThreadError::value(what()))
}

/// The record of a result as if this program had made it.
#[cfg(feature = "engine")]
pub(in crate::durable) fn adopt(
    program: &Fingerprint,
    bytes: &[u8],
) -> Result<Vec<u8>, CodecError> {
    let mut record = TaskRecord::decode(bytes)?;
    record.by = program.written_by(record.keys.iter().map(|(key, _)| *key));
    let mut adopted = Vec::new();
    record.encode(&mut adopted);
    Ok(adopted)
}

/// Decodes the result of a task. `None` if the program has changed so that the result does not fit, or may mean something
/// else. The task then runs again.
pub(crate) fn load_finished(
    codec: AnyCodec,
    program: (&Fingerprint, &Outline),
    plan: &ExecutionPlan,
    node: NodeIdx,
    bytes: &[u8],
) -> Result<Option<FinishedTask>, CodecError> {
    let mut effects = (codec.ty.no_effects)();
    let end = load_into(codec, program, plan, node, bytes, &mut *effects)?;
    Ok(end.map(|end| FinishedTask { effects, end }))
}

/// Decodes the result of a task into effects that are empty. Unless there is an end of the task, they may then have a part of it.
pub(super) fn load_into(
    codec: AnyCodec,
    (program, was): (&Fingerprint, &Outline),
    plan: &ExecutionPlan,
    node: NodeIdx,
    bytes: &[u8],
    effects: &mut dyn AnyEffects,
) -> Result<Option<TaskEnd>, CodecError> {
    let TaskRecord {
        by,
        kind,
        keys,
        chosen,
        routes,
        sends,
        failure,
    } = TaskRecord::decode(bytes)?;
    if !program.reads_writes(&by, was, keys.iter().map(|(key, _)| *key)) {
        return Ok(None);
    }
    if !load_update(codec, KeySet::ALL, &keys, effects) {
        return Ok(None);
    }
    let names = &plan.routes[node.index()];
    let choice = effects.choice_mut();
    if !load_choice(choice, chosen, &routes, names)? {
        return Ok(None);
    }
    for send in &sends {
        let Some((route, delivery)) = load_send(plan, node, send) else {
            return Ok(None);
        };
        choice.send(route, delivery);
    }
    if kind == 0 && !fits_edges(plan, node, effects) {
        return Ok(None);
    }
    let end = match (kind, failure, plan.out_edges[node.index()].catch) {
        (0, ..) => TaskEnd::Done,
        (1, Some(failure), Some(to)) => TaskEnd::Caught {
            to,
            failure: Delivery::one(failure),
        },
        (2, ..) => TaskEnd::Ignored,
        _ => return Ok(None),
    };
    Ok(Some(end))
}

/// Chooses the routes of a record. Returns `false` if the node does not have one of them.
fn load_choice(
    choice: &mut Choice,
    chosen: u8,
    routes: &[&str],
    names: &RouteNames,
) -> Result<bool, CodecError> {
    let routes: Option<Vec<u32>> = routes.iter().map(|route| names.index(route)).collect();
    match (chosen, routes.as_deref()) {
        (0, _) => {}
        (1 | 2, None) => return Ok(false),
        (1, Some([route])) => choice.choose(*route),
        (2, Some(routes)) => {
            choice.choose_none();
            for route in routes {
                choice.choose_also(*route);
            }
        }
        _ => return Err(CodecError::Unknown("an unknown kind of choice".into())),
    }
    Ok(true)
}

/// Decodes what a task sent, and along which route. `None` if the program has changed so that it does not fit.
fn load_send(
    plan: &ExecutionPlan,
    node: NodeIdx,
    StoredSend { route, list, bytes }: &StoredSend<'_>,
) -> Option<(Option<u32>, Delivery)> {
    let route = match route {
        None => None,
        Some(route) => Some(plan.routes[node.index()].index(route)?),
    };
    let (_, target) = item_target(plan, node, route.map(RouteIdx::new))?;
    let item = plan.item(target)?;
    let delivery = if *list {
        (item.load_list)(bytes)
    } else {
        (item.load)(bytes)
    };
    Some((route, delivery.ok()?))
}

/// Decodes the writes of a finished task to these keys. `None` if the task failed, or if the program has changed.
pub(in crate::durable) fn load_writes_of(
    codec: AnyCodec,
    (program, was): (&Fingerprint, &Outline),
    keys: KeySet,
    bytes: &[u8],
) -> Result<Option<EffectsBox>, CodecError> {
    let record = TaskRecord::decode(bytes)?;
    let written = record.keys.iter().map(|(key, _)| *key);
    let fits = record.kind == 0 && program.reads_writes(&record.by, was, written);
    let mut effects = (codec.ty.no_effects)();
    let fits = fits && load_update(codec, keys, &record.keys, &mut *effects);
    Ok(fits.then_some(effects))
}

/// Decodes those of the writes that are to these keys. Returns `false` if the program has changed so that one does not fit.
fn load_update(
    codec: AnyCodec,
    keys: KeySet,
    writes: &[(&str, Cow<'_, [u8]>)],
    effects: &mut dyn AnyEffects,
) -> bool {
    for (id, bytes) in writes {
        let Some(key) = codec.ty.keys.iter().position(|key| key.id == *id) else {
            return false;
        };
        // A type may have changed behind its name.
        if keys.contains(key) && (codec.load_writes)(effects, key, bytes).is_err() {
            return false;
        }
    }
    true
}

/// Whether the result has everything that the edges of the node need now: the task may have run when they were different.
fn fits_edges(plan: &ExecutionPlan, node: NodeIdx, effects: &dyn AnyEffects) -> bool {
    let sent = |route: Option<RouteIdx>| {
        let sent = effects.deliveries().iter().any(|(by, _)| *by == route);
        sent || item_target(plan, node, route).is_none()
    };
    match effects.chosen() {
        RouteChoice::Edges => !plan.chooses(node) && sent(None),
        RouteChoice::One(route) => sent(Some(route)),
        RouteChoice::Many => effects.routes().iter().all(|route| sent(Some(*route))),
    }
}

/// The node that receives what this node sends along a route, and whether it receives the items one by one. Its type decides
/// how the item is stored.
fn item_target(
    plan: &ExecutionPlan,
    node: NodeIdx,
    route: Option<RouteIdx>,
) -> Option<(bool, NodeIdx)> {
    let edges = &plan.out_edges[node.index()];
    let targets = match route {
        None => &edges.plain,
        Some(route) => edges.routes.get(route.index())?,
    };
    let each = targets.iter().find_map(|target| match target {
        EdgeTarget::Each(node) => Some((true, *node)),
        _ => None,
    });
    each.or_else(|| {
        targets.iter().find_map(|target| match target {
            EdgeTarget::Node(node) if plan.takes_item(*node) => Some((false, *node)),
            _ => None,
        })
    })
}
