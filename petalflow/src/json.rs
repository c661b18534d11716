//! The forms of threads, questions and events for people: `Serialize` for JSON that a web page can read. Ids are text.
//!
//! The forms in a store are other ones. These here are only written, except for the id of an interrupt, which comes back with
//! the answer. Written by hand, because serde's derive is not in the default build.

use serde_core::ser::{Error as _, Serialize, SerializeMap, Serializer};

use crate::checkpoint::{Cause, DecisionKind, DecisionRecord};
use crate::clock::to_ms;
use crate::event::{
    Event, EventKind, EventName, EventTypes, LoggedEvent, RunEnd, TaskInfo, WithoutState,
};
use crate::snapshot::{Awaited, CheckpointInfo, Snapshot, TaskState};
use crate::state::State;
use petalflow_store::{as_object, as_text};

as_text!(Shown<Cause>, Shown<DecisionKind>);

/// A type of another crate that is serialized as its text.
struct Shown<T>(T);

impl<T: std::fmt::Display> std::fmt::Display for Shown<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

as_object!(TaskState, node index finished error receives);
as_object!(Awaited, key since_ms until_ms);
as_object!(LoggedEvent, number recorded_ms kind value);
as_object!(
    TaskInfo,
    |this| node = *this.node,
    id = this.id,
    index = this.index,
    attempt = this.attempt
);
as_object!(
    CheckpointInfo,
    |this| checkpoint = this.checkpoint,
    parent = this.parent,
    cause = Shown(this.cause),
    turn = this.turn,
    superstep = this.superstep,
    next = this.next,
    notes = Notes(&this.notes),
    created_ms = this.created_ms,
    bytes = this.bytes
);
as_object!([S: State + Serialize] Snapshot<S>, |this| info = this.info, state = this.state,
    tasks = this.tasks, interrupts = this.interrupts);

struct Notes<'a>(&'a [DecisionRecord]);
struct Note<'a>(&'a DecisionRecord);

impl Serialize for Notes<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(self.0.iter().map(Note))
    }
}

as_object!(
    Note<'_>,
    |this| node = this.0.node,
    decision = Shown(this.0.decision),
    by = this.0.by,
    reason = this.0.reason,
    at_ms = this.0.at_ms
);
/// Of the writes of a node, the names of the keys. Of an event of a sub-flow, the name: serialize [`Event::nested`] for all of it.
impl<S: EventTypes<State: Serialize>> Serialize for Event<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        without_state(self, &mut map)?;
        if let EventKind::Values { state }
        | EventKind::Finished { state }
        | EventKind::Interrupted { state, .. }
        | EventKind::Sleeping { state, .. } = &self.kind
        {
            map.serialize_entry("state", state)?;
        }
        map.end()
    }
}

impl<S: EventTypes> Serialize for WithoutState<'_, S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        without_state(self.0, &mut map)?;
        map.end()
    }
}

fn without_state<S: EventTypes, M: SerializeMap>(
    event: &Event<S>,
    map: &mut M,
) -> Result<(), M::Error> {
    map.serialize_entry("kind", EventName::from(&event.kind).as_str())?;
    map.serialize_entry("namespace", &event.namespace)?;
    map.serialize_entry("superstep", &event.superstep)?;
    map.serialize_entry("task", &event.task)?;
    match &event.kind {
        EventKind::RunStarted
        | EventKind::NodeStarted
        | EventKind::NodeSkipped
        | EventKind::SuperstepFinished
        | EventKind::Values { .. }
        | EventKind::Finished { .. } => {}
        EventKind::SuperstepStarted { nodes, .. } => {
            let nodes: Vec<&str> = nodes.iter().map(|node| &**node).collect();
            map.serialize_entry("nodes", &nodes)?;
        }
        EventKind::NodeFinished { update, cached } => {
            map.serialize_entry("keys", &written_keys::<S>(update))?;
            map.serialize_entry("cached", cached)?;
        }
        EventKind::NodeRestored { update } => {
            map.serialize_entry("keys", &written_keys::<S>(update))?;
        }
        EventKind::Retry { error, wait } => {
            map.serialize_entry("error", error)?;
            map.serialize_entry("wait_ms", &wait.as_millis())?;
        }
        EventKind::NodeFailed { error } => map.serialize_entry("error", error)?,
        EventKind::Custom(event) => {
            let value = event.value().map_err(M::Error::custom)?;
            map.serialize_entry("value", &value)?;
        }
        EventKind::Checkpoint { checkpoint } => map.serialize_entry("checkpoint", checkpoint)?,
        EventKind::Nested(event) => map.serialize_entry("event", event.name())?,
        EventKind::Asked { interrupts } => map.serialize_entry("interrupts", interrupts)?,
        EventKind::Interrupted {
            interrupts, wakes, ..
        } => {
            map.serialize_entry("interrupts", interrupts)?;
            if let Some(wakes) = wakes {
                map.serialize_entry("wakes_ms", &to_ms(*wakes))?;
            }
        }
        EventKind::Sleeping { until, .. } => map.serialize_entry("wakes_ms", &to_ms(*until))?,
        EventKind::Failed { error } => map.serialize_entry("error", &error.to_string())?,
    }
    Ok(())
}

impl Serialize for RunEnd<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind)?;
        map.serialize_entry("namespace", "")?;
        map.serialize_entry("superstep", &self.superstep)?;
        map.serialize_entry("task", &None::<TaskInfo>)?;
        if !self.interrupts.is_empty() {
            map.serialize_entry("interrupts", self.interrupts)?;
        }
        if let Some(wakes_ms) = &self.wakes_ms {
            map.serialize_entry("wakes_ms", wakes_ms)?;
        }
        if let Some(error) = &self.error {
            map.serialize_entry("error", error)?;
        }
        if let Some(reason) = self.reason {
            map.serialize_entry("reason", reason)?;
        }
        map.end()
    }
}

/// The names of the keys that a node wrote.
fn written_keys<S: EventTypes>(update: &S::Update) -> Vec<&'static str> {
    let (written, keys) = S::written(update);
    let keys = keys.iter().enumerate();
    let keys = keys.filter(|(index, _)| written.contains(*index));
    keys.map(|(_, key)| key.name).collect()
}
