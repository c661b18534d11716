//! The parts of a program that its checkpoints depend on.

use std::sync::Arc;

use petalflow_graph::{Edge, Graph, JoinIdx, NodeIdx, Source, Target, Via};

use crate::checkpoint::{Header, KeyLine, NodeLine, Outline, quoted};
use crate::migration::Migrate;
use crate::outcome::ThreadError;
use crate::plan::ExecutionPlan;
use crate::state::{KeyFlag, State, StateCodec};

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
        // Sorted: the order of declarations has no influence.
        let mut outline = Outline {
            graph: graph(plan, &joins),
            schema: schema::<S>(),
        };
        outline.graph.sort_unstable();
        outline.schema.sort_unstable();
        Fingerprint {
            flow: flow.into(),
            graph: hash(&outline.graph),
            schema: hash(&outline.schema),
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
        // Of any other program, the keys are not known.
        let known = version == self.version && schema == hash(&was.schema);
        let prefix = |key: &str| format!("{}: ", quoted(key));
        let line = |lines: &[String], prefix: &str| {
            let line = lines.iter().find(|line| line.starts_with(prefix));
            line.cloned()
        };
        known
            && keys.all(|key| {
                let prefix = prefix(key);
                let line = |lines: &[String]| line(lines, &prefix);
                line(&was.schema).is_some_and(|was| line(&self.outline.schema) == Some(was))
            })
    }
}

#[inline]
fn hash(lines: &[String]) -> u64 {
    let mut hasher = siphasher::sip::SipHasher13::new();
    for line in lines {
        use std::hash::Hasher as _;
        hasher.write(&(line.len() as u64).to_le_bytes());
        hasher.write(line.as_bytes());
    }
    std::hash::Hasher::finish(&hasher)
}

fn schema<S: State>() -> Vec<String> {
    let stored = S::KEYS.iter().filter(|key| !key.has(KeyFlag::Untracked));
    let line = |key: &crate::state::KeyMeta| KeyLine {
        id: key.id.into(),
        ty: key.ty.into(),
        reducer: key.reducer.into(),
        ephemeral: key.has(KeyFlag::Ephemeral),
        required: key.has(KeyFlag::Required),
    };
    stored.map(|key| line(key).to_string()).collect()
}

#[inline]
fn graph(plan: &ExecutionPlan, joins: &[JoinName]) -> Vec<String> {
    let graph = plan.graph();
    let nodes = graph.nodes().iter().enumerate().map(|(index, node)| {
        let item = plan.items.get(index).copied().flatten();
        let line = NodeLine {
            name: plan.stored_name(NodeIdx::from_usize(index)).into(),
            takes: item.map(|item| unqualified((item.ty)()).into()),
            deferred: node.deferred,
        };
        line.to_string()
    });
    // The line of a join contains the edges to it and from it.
    let edges = graph.edges().iter().filter(|edge| {
        !matches!(edge.to, Target::Join(_)) && !matches!(edge.from, Source::Join(_))
    });
    let edges = edges.map(|edge| {
        let to = target(plan, edge.to);
        format!("edge {} -> {to}", source(plan, joins, edge))
    });
    let joins = joins.iter().map(|join| format!("join {}", join.name));
    nodes.chain(edges).chain(joins).collect()
}

#[inline]
fn joins(plan: &ExecutionPlan) -> Vec<JoinName> {
    let graph: &Graph = plan.graph();
    let mut joins: Vec<JoinName> = Vec::new();
    for join in JoinIdx::all(graph.joins as usize) {
        let sides = graph
            .edges()
            .iter()
            .filter(|edge| edge.to == Target::Join(join));
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
