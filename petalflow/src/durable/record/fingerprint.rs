//! The parts of a program that its checkpoints depend on.

use std::sync::Arc;

use crate::checkpoint::{Header, KeyOutline, NodeOutline, Outline, encode_keys};
use crate::erased::{AnyCodec, StateType};
use crate::migration::Migrate;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::state::{KeyFlag, KeyMeta};
use crate::upgrade::{JoinName, graph_outline, unqualified};

/// The parts of a program that its checkpoints depend on: hashes for a fast comparison, and the lines that were hashed.
pub(crate) struct Fingerprint {
    pub(crate) flow: Arc<str>,
    pub(crate) graph: u64,
    pub(crate) schema: u64,
    pub(crate) outline: Outline,
    /// The stored names of the joins, by index.
    pub(crate) joins: Vec<JoinName>,
    /// The version of the state.
    pub(crate) version: u32,
    pub(crate) migrate: Option<Migrate>,
}

/// The codec of the state.
pub(in crate::durable) fn codec_of(ty: &StateType) -> Result<AnyCodec, ThreadError> {
    (ty.codec)()
        .ok_or_else(|| ThreadError::Request(format!("the state `{}` cannot be stored", ty.name)))
}

impl Fingerprint {
    /// Of a flow with this stored name, over states of this type.
    pub(crate) fn of(ty: &StateType, flow: &str, plan: &ExecutionPlan) -> Self {
        let (graph, joins) = graph_outline(plan.graph(), nodes(plan));
        let version = (ty.codec)().and_then(|codec| codec.version);
        let outline = Outline {
            keys: keys(ty),
            graph,
        }
        .sorted();
        Fingerprint {
            flow: flow.into(),
            graph: hash(|out| outline.graph.encode(out)),
            schema: hash(|out| encode_keys(&outline.keys, out)),
            outline,
            joins,
            version: version.map_or(0, |(version, _)| version),
            migrate: version.map(|(_, migrate)| migrate),
        }
    }

    /// Whether a program with the same fingerprint wrote the checkpoint.
    pub(crate) fn matches(&self, header: &Header) -> bool {
        (self.version, self.graph, self.schema) == (header.version, header.graph, header.schema)
    }

    /// Whether writes to these keys mean the same as in the program that wrote them, beside a checkpoint with this outline.
    pub(crate) fn reads_writes<'a>(
        &self,
        by: &WrittenBy,
        was: &Outline,
        mut keys: impl Iterator<Item = &'a str>,
    ) -> bool {
        if by.version != self.version {
            return false;
        }
        if by.schema == self.schema {
            return true;
        }
        if !by.keys.is_empty() {
            return keys
                .map(|id| self.key_hash(id))
                .eq(by.keys.iter().copied().map(Some));
        }
        // A record from before the hashes of keys: nothing is known of the keys of any other program.
        let known = by.schema == hash(|out| encode_keys(&was.keys, out));
        known
            && keys.all(|id| {
                let key = KeyOutline::find(&was.keys, id);
                key.is_some() && key == KeyOutline::find(&self.outline.keys, id)
            })
    }

    /// What says of writes to these keys that this program made them.
    pub(crate) fn written_by<'a>(&self, keys: impl Iterator<Item = &'a str>) -> WrittenBy {
        WrittenBy {
            version: self.version,
            schema: self.schema,
            keys: keys.filter_map(|id| self.key_hash(id)).collect(),
        }
    }

    /// The hash of the type and the properties of a stored key.
    fn key_hash(&self, id: &str) -> Option<u64> {
        let key = KeyOutline::find(&self.outline.keys, id)?;
        Some(hash(|out| encode_keys(std::slice::from_ref(key), out)))
    }
}

/// The program that wrote the result of a task. Beside one checkpoint there may be results of several programs.
pub(crate) struct WrittenBy {
    /// The version of the state.
    pub(crate) version: u32,
    pub(crate) schema: u64,
    /// The hash of each key that was written, in their order, so that another program can tell whether it means the same by them.
    pub(crate) keys: Vec<u64>,
}

/// The hash of a part of an outline, over its bytes in a checkpoint.
fn hash(encode: impl FnOnce(&mut Vec<u8>)) -> u64 {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    siphasher::sip::SipHasher13::new().hash(&bytes)
}

fn keys(ty: &StateType) -> Vec<KeyOutline> {
    let stored = ty.keys.iter().filter(|key| !key.has(KeyFlag::Untracked));
    let outline = |key: &KeyMeta| KeyOutline {
        id: key.id.into(),
        ty: key.ty.into(),
        reducer: key.reducer,
        ephemeral: key.has(KeyFlag::Ephemeral),
        required: key.has(KeyFlag::Required),
    };
    stored.map(outline).collect()
}

fn nodes(plan: &ExecutionPlan) -> Vec<NodeOutline> {
    let graph = plan.graph();
    let nodes = graph.node_indices().map(|node| NodeOutline {
        name: plan.stored_name(node).into(),
        item: plan.item(node).map(|item| unqualified((item.ty)())),
        deferred: graph.node(node).deferred,
    });
    nodes.collect()
}
