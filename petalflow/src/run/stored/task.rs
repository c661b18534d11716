//! Tasks as they are stored: those that wait to run, and what those that have run left.

use crate::checkpoint::{Bytes, CodecError, TaskEntry, decode, encode};
use crate::flow::{Hop, Wiring};
use crate::node::{Chosen, Delivery, Effects, ItemCodec};
use crate::run::fork::JobEnd;
use crate::state::{StateCodec, Update as _};
use crate::superstep::Task;
use crate::thread::ThreadError;
use crate::{NodeError, State};

use super::changes::{each, of_key, untracked};

/// What a task that has run left, before its superstep was committed.
pub(crate) struct Finished<S: State> {
    pub(crate) effects: Effects<S>,
    pub(crate) end: JobEnd,
}

impl<S: State> Finished<S> {
    /// A task that did not run, and behind which the run goes on.
    pub(crate) fn skipped() -> Self {
        Finished {
            effects: Effects::default(),
            end: JobEnd::Ignored,
        }
    }
}

/// A task of the frontier.
pub(crate) fn save(wiring: &Wiring, task: &Task) -> Result<TaskEntry, ThreadError> {
    let node = wiring.name(task.node);
    let item = task.delivery.as_ref().map(|delivery| {
        let mut bytes = Vec::new();
        let codec = codec(wiring, task.node)?;
        (codec.save)(delivery, task.item.map(|item| item as usize), &mut bytes)
            .map_err(ThreadError::value(format!("the item of node `{node}`")))?;
        Ok::<_, ThreadError>(bytes)
    });
    Ok(TaskEntry {
        node: wiring.stored_name(task.node).into(),
        send: task.send,
        item: item.transpose()?,
    })
}

/// The task that was stored for the node at this place.
pub(crate) fn load(wiring: &Wiring, node: u32, entry: TaskEntry) -> Result<Task, ThreadError> {
    let delivery = entry.item.map(|bytes| {
        let codec = codec(wiring, node)?;
        (codec.load)(&bytes).map_err(ThreadError::value(format!(
            "the item of node `{}`",
            wiring.name(node)
        )))
    });
    Ok(Task {
        node,
        send: entry.send,
        item: None,
        delivery: delivery.transpose()?,
    })
}

fn codec(wiring: &Wiring, node: u32) -> Result<ItemCodec, ThreadError> {
    wiring.items[node as usize].ok_or_else(|| {
        ThreadError::Request(format!(
            "node `{}` takes an item that cannot be stored: its type needs `Serialize` and `Deserialize`, and a node written by hand sets `Node::ITEM`",
            wiring.name(node)
        ))
    })
}

type Key = (String, Bytes<Vec<u8>>);
type Sent = (Option<String>, bool, Bytes<Vec<u8>>);
type Layout = (u8, Vec<Key>, u8, Vec<String>, Vec<Sent>, Option<NodeError>);

/// What a finished task left, as bytes.
pub(crate) fn save_finished<S: State>(
    codec: &StateCodec<S>,
    wiring: &Wiring,
    node: u32,
    effects: &Effects<S>,
    end: &JobEnd,
) -> Result<Vec<u8>, ThreadError> {
    let mut keys: Vec<Key> = Vec::new();
    for key in each(effects.update.written().minus(untracked::<S>())) {
        let mut bytes = Vec::new();
        (codec.save_writes)(&effects.update, key, &mut bytes).map_err(of_key::<S>(key))?;
        keys.push((S::KEYS[key].id.into(), Bytes(bytes)));
    }
    let names = wiring.routes[node as usize];
    let name = |route: u32| names.get(route as usize).copied().unwrap_or_default();
    let (chosen, routes) = match effects.chosen() {
        Chosen::Edges => (0, Vec::new()),
        Chosen::One(route) => (1, vec![name(route).to_string()]),
        Chosen::Many => (
            2,
            effects
                .routes()
                .iter()
                .map(|route| name(*route).to_string())
                .collect(),
        ),
    };
    let mut sends: Vec<Sent> = Vec::new();
    for (route, delivery) in effects.deliveries() {
        let Some((list, target)) = taker(wiring, node, *route) else {
            continue;
        };
        let mut bytes = Vec::new();
        let item = self::codec(wiring, target)?;
        let saved = if list {
            (item.save_list)(delivery, &mut bytes)
        } else {
            (item.save)(delivery, None, &mut bytes)
        };
        saved.map_err(ThreadError::value(format!(
            "what node `{}` sends to `{}`",
            wiring.name(node),
            wiring.name(target)
        )))?;
        sends.push((
            route.map(|route| name(route).to_string()),
            list,
            Bytes(bytes),
        ));
    }
    let (kind, failure) = match end {
        JobEnd::Caught { failure, .. } => (1, failure.get::<NodeError>(None).cloned()),
        JobEnd::Ignored => (2, None),
        JobEnd::Done | JobEnd::Parked => (0, None),
    };
    let layout: Layout = (kind, keys, chosen, routes, sends, failure);
    let mut bytes = Vec::new();
    encode(&layout, &mut bytes).map_err(ThreadError::value(format!(
        "what node `{}` left",
        wiring.name(node)
    )))?;
    Ok(bytes)
}

/// What a finished task left. `None` where the program was changed so that it does not fit any more: the task runs again.
pub(crate) fn load_finished<S: State>(
    codec: &StateCodec<S>,
    wiring: &Wiring,
    node: u32,
    bytes: &[u8],
) -> Result<Option<Finished<S>>, CodecError> {
    let (kind, keys, chosen, routes, sends, failure): Layout = decode(bytes)?;
    let mut effects = Effects::<S>::default();
    for (id, Bytes(bytes)) in &keys {
        let Some(key) = S::KEYS.iter().position(|key| key.id == id) else {
            return Ok(None);
        };
        (codec.load_writes)(&mut effects.update, key, bytes)?;
    }
    let names = wiring.routes[node as usize];
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
    for (route, list, Bytes(bytes)) in &sends {
        let route = match route {
            None => None,
            Some(route) => match index(route) {
                Some(route) => Some(route),
                None => return Ok(None),
            },
        };
        let taker = taker(wiring, node, route);
        let Some(item) = taker.and_then(|(_, target)| wiring.items[target as usize]) else {
            return Ok(None);
        };
        let delivery = if *list {
            (item.load_list)(bytes)?
        } else {
            (item.load)(bytes)?
        };
        effects.send(route, delivery);
    }
    let end = match (kind, failure, wiring.ways[node as usize].catch) {
        (0, ..) => JobEnd::Done,
        (1, Some(failure), Some(to)) => JobEnd::Caught {
            to,
            failure: Delivery::one(failure),
        },
        (2, ..) => JobEnd::Ignored,
        _ => return Ok(None),
    };
    Ok(Some(Finished { effects, end }))
}

/// Who takes what a node sends along a route, and whether item by item: its type says how to store it.
fn taker(wiring: &Wiring, node: u32, route: Option<u32>) -> Option<(bool, u32)> {
    let ways = &wiring.ways[node as usize];
    let hops = match route {
        None => &ways.plain,
        Some(route) => ways.routes.get(route as usize)?,
    };
    let each = hops.iter().find_map(|hop| match hop {
        Hop::Each(node) => Some((true, *node)),
        _ => None,
    });
    each.or_else(|| {
        hops.iter().find_map(|hop| match hop {
            Hop::Node(node) if wiring.takes[*node as usize] => Some((false, *node)),
            _ => None,
        })
    })
}
