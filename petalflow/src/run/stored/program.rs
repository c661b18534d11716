//! What of a program its checkpoints depend on.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use petalflow_graph::{Graph, Source, Target, Via};

use crate::State;
use crate::checkpoint::Outline;
use crate::flow::Wiring;
use crate::state::Trait;

/// What of a program its checkpoints depend on: hashes for a quick comparison, and the lines behind them.
pub(crate) struct Program {
    pub(crate) flow: Arc<str>,
    pub(crate) graph: u64,
    pub(crate) schema: u64,
    pub(crate) outline: Outline,
    /// The joins, by number: a text that names them in storage, and their sides.
    pub(crate) joins: Vec<JoinName>,
}

/// How a join is named where it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JoinName {
    pub(crate) name: String,
    pub(crate) sides: Vec<String>,
}

impl Program {
    pub(crate) fn of<S: State>(flow: &str, wiring: &Wiring) -> Self {
        let joins = joins(wiring.graph());
        let outline = Outline {
            graph: graph(wiring.graph(), &joins),
            schema: S::KEYS
                .iter()
                .filter(|key| !key.has(Trait::Untracked))
                .map(|key| format!("{}: {} {}", key.id, key.ty, key.reducer))
                .collect(),
        };
        Program {
            flow: flow.into(),
            graph: hash(&outline.graph),
            schema: hash(&outline.schema),
            outline,
            joins,
        }
    }
}

fn hash(lines: &[String]) -> u64 {
    let mut hasher = siphasher::sip::SipHasher13::new();
    for line in lines {
        use std::hash::Hasher as _;
        hasher.write(&(line.len() as u64).to_le_bytes());
        hasher.write(line.as_bytes());
    }
    std::hash::Hasher::finish(&hasher)
}

fn joins(graph: &Graph) -> Vec<JoinName> {
    let mut joins: Vec<JoinName> = Vec::new();
    for join in 0..graph.joins {
        let sides: Vec<String> = graph
            .edges()
            .iter()
            .filter(|edge| edge.to == Target::Join(join))
            .map(|edge| source(graph, &joins, edge.from) + &via(&edge.via))
            .collect();
        let targets: Vec<String> = graph
            .edges()
            .iter()
            .filter(|edge| edge.from == Source::Join(join))
            .map(|edge| target(graph, edge.to))
            .collect();
        joins.push(JoinName {
            name: format!("{} -> {}", sides.join(" & "), targets.join(" & ")),
            sides,
        });
    }
    joins
}

fn graph(graph: &Graph, joins: &[JoinName]) -> Vec<String> {
    let nodes = graph.nodes().iter().map(|node| {
        let mut line = format!("node {}", node.name);
        if node.deferred {
            let _ = write!(line, " (deferred)");
        }
        line
    });
    let edges = graph.edges().iter().map(|edge| {
        format!(
            "{} -{}-> {}",
            source(graph, joins, edge.from),
            via(&edge.via),
            target(graph, edge.to)
        )
    });
    nodes.chain(edges).collect()
}

fn source(graph: &Graph, joins: &[JoinName], source: Source) -> String {
    match source {
        Source::Start => "START".into(),
        Source::Node(node) => graph.nodes()[node as usize].name.to_string(),
        // Joins of joins come after those that they wait for.
        Source::Join(join) => joins
            .get(join as usize)
            .map_or_else(|| format!("join {join}"), |join| format!("({})", join.name)),
    }
}

fn target(graph: &Graph, target: Target) -> String {
    match target {
        Target::End => "END".into(),
        Target::Node(node) => graph.nodes()[node as usize].name.to_string(),
        Target::Join(_) => "join".into(),
    }
}

fn via(via: &Via) -> String {
    match via {
        Via::Plain => String::new(),
        Via::Each => "each".into(),
        Via::Route(route) => format!("[{route}]"),
        Via::RouteEach(route) => format!("[{route} each]"),
        Via::Catch => "catch".into(),
    }
}

/// What differs between the program that wrote a checkpoint and this one, a line each.
pub(crate) fn difference(was: &[String], is: &[String]) -> Vec<String> {
    let count = |lines: &[String]| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for line in lines {
            *counts.entry(line.clone()).or_default() += 1;
        }
        counts
    };
    let (before, now) = (count(was), count(is));
    let only = |lines: &[String], others: &HashMap<String, usize>, sign: char| {
        lines
            .iter()
            .filter(|line| !others.contains_key(*line))
            .map(|line| format!("{sign} {line}"))
            .collect::<Vec<_>>()
    };
    let mut lines = only(was, &now, '-');
    lines.extend(only(is, &before, '+'));
    lines
}
