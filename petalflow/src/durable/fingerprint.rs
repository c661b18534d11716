//! The parts of a program that its checkpoints depend on.

use std::sync::Arc;

use petalflow_graph::{Edge, Graph, JoinIdx, Source, Target, Via};

use crate::checkpoint::{
    GraphOutline, Header, KeyOutline, NodeOutline, Outline, encode_keys, quoted,
};
use crate::migration::Migrate;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::state::{KeyFlag, KeyMeta, State, StateCodec};

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

/// The stored name of a join, and those of its sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JoinName {
    pub(crate) name: String,
    pub(crate) sides: Vec<String>,
}

/// The codec of the state.
pub(super) fn codec_of<S: State>() -> Result<StateCodec<S>, ThreadError> {
    S::codec()
        .ok_or_else(|| ThreadError::Request(format!("the state `{}` cannot be stored", S::NAME)))
}

impl Fingerprint {
    pub(crate) fn of<S: State>(flow: &str, plan: &ExecutionPlan) -> Self {
        let joins = joins(plan);
        let version = S::codec().and_then(|codec| codec.version);
        let outline = Outline {
            keys: keys::<S>(),
            graph: graph(plan, &joins),
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
    #[inline]
    pub(crate) fn wrote(&self, header: &Header) -> bool {
        (self.version, self.graph, self.schema) == (header.version, header.graph, header.schema)
    }

    /// Whether writes to these keys mean the same as in the program that wrote them, which had this version, schema and outline.
    #[inline]
    pub(crate) fn reads_writes<'a>(
        &self,
        (version, schema): (u32, u64),
        was: &Outline,
        mut keys: impl Iterator<Item = &'a str>,
    ) -> bool {
        if (version, schema) == (self.version, self.schema) {
            return true;
        }
        // Nothing is known of the keys of any other program.
        let known = version == self.version && schema == hash(|out| encode_keys(&was.keys, out));
        known
            && keys.all(|id| {
                let key = KeyOutline::find(&was.keys, id);
                key.is_some() && key == KeyOutline::find(&self.outline.keys, id)
            })
    }
}

/// The hash of a part of an outline, over its bytes in a checkpoint.
#[inline]
fn hash(encode: impl FnOnce(&mut Vec<u8>)) -> u64 {
    let mut bytes = Vec::new();
    encode(&mut bytes);
    siphasher::sip::SipHasher13::new().hash(&bytes)
}

fn keys<S: State>() -> Vec<KeyOutline> {
    let stored = S::KEYS.iter().filter(|key| !key.has(KeyFlag::Untracked));
    let outline = |key: &KeyMeta| KeyOutline {
        id: key.id.into(),
        ty: key.ty.into(),
        reducer: key.reducer,
        ephemeral: key.has(KeyFlag::Ephemeral),
        required: key.has(KeyFlag::Required),
    };
    stored.map(outline).collect()
}

#[inline]
fn graph(plan: &ExecutionPlan, joins: &[JoinName]) -> GraphOutline {
    let graph = plan.graph();
    let nodes = graph.node_indices().map(|node| NodeOutline {
        name: plan.stored_name(node).into(),
        item: plan.items[node.index()].map(|item| unqualified((item.ty)())),
        deferred: graph.node(node).deferred,
    });
    // The name of a join contains the edges into it and out of it.
    let edges = graph.edges().iter().filter(|edge| {
        !matches!(edge.to, Target::Join(_)) && !matches!(edge.from, Source::Join(_))
    });
    let edges = edges.map(|edge| {
        let (from, to) = (source(plan, joins, edge), target(plan, edge.to));
        format!("{from} -> {to}")
    });
    GraphOutline {
        nodes: nodes.collect(),
        edges: edges.collect(),
        joins: joins.iter().map(|join| join.name.clone()).collect(),
    }
}

#[inline]
fn joins(plan: &ExecutionPlan) -> Vec<JoinName> {
    let graph: &Graph = plan.graph();
    let mut joins: Vec<JoinName> = Vec::new();
    for join in JoinIdx::all(graph.joins as usize) {
        let sides = graph.sides(join).into_iter();
        let sides: Vec<String> = sides.map(|edge| source(plan, &joins, edge)).collect();
        let targets = graph
            .edges()
            .iter()
            .filter(|edge| edge.from == Source::Join(join));
        let mut targets: Vec<String> = targets.map(|edge| target(plan, edge.to)).collect();
        // Sorted: the order of the sides has no influence.
        let mut sorted = sides.clone();
        sorted.sort_unstable();
        targets.sort_unstable();
        joins.push(JoinName {
            name: format!("{} -> {}", sorted.join(" & "), targets.join(" & ")),
            sides,
        });
    }
    joins
}

/// The source of an edge, and the condition under which the edge fires.
#[inline]
fn source(plan: &ExecutionPlan, joins: &[JoinName], edge: &Edge) -> String {
    let from = match edge.from {
        Source::Start => "START".into(),
        Source::Node(node) => quoted(plan.stored_name(node)).into_owned(),
        // A join of joins comes after those that it waits for.
        Source::Join(join) => joins.get(join.index()).map_or_else(
            || format!("join {}", join.index()),
            |join| format!("({})", join.name),
        ),
    };
    match &edge.via {
        Via::Plain => from,
        Via::Each => format!("{from} [each]"),
        Via::Route(route) => format!("{from} [{route}]"),
        Via::RouteEach(route) => format!("{from} [{route} each]"),
        Via::Catch => format!("{from} [catch]"),
    }
}

#[inline]
fn target(plan: &ExecutionPlan, target: Target) -> String {
    match target {
        Target::End => "END".into(),
        Target::Node(node) => quoted(plan.stored_name(node)).into_owned(),
        Target::Join(_) => "join".into(),
    }
}

/// The name of a type without module paths, so that a type may be moved.
#[inline]
fn unqualified(ty: &str) -> String {
    let mut text = String::new();
    let mut word = 0;
    for c in ty.chars() {
        text.push(c);
        if text.ends_with("::") && text.len() > word + 2 {
            text.truncate(word);
        } else if !c.is_alphanumeric() && c != '_' && c != ':' {
            word = text.len();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::unqualified;

    #[test]
    fn module_paths_are_removed_from_type_names() {
        for (full, short) in [
            ("u8", "u8"),
            ("alloc::string::String", "String"),
            ("(a::B, c_d::e::F<g::H>)", "(B, F<H>)"),
            ("&[alloc::vec::Vec<u8>]", "&[Vec<u8>]"),
        ] {
            assert_eq!(unqualified(full), short);
        }
    }
}
