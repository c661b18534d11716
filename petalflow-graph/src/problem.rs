//! What is wrong with a graph, and where.

use std::fmt;

use crate::idx::{JoinIdx, NodeIdx};
use crate::rule::Rule;

/// A place in a graph, for the caller to underline.
///
/// ```
/// use petalflow_graph::{Edge, Graph, Node, NodeIdx, Site, Source, Target, Via, check};
///
/// let [write, publish] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let graph = Graph {
///     nodes: vec![Node::named("write"), Node::named("publish")].into(),
///     edges: vec![
///         Edge { from: Source::Start, via: Via::Plain, to: Target::Node(write) },
///         Edge { from: Source::Node(publish), via: Via::Plain, to: Target::End },
///     ]
///     .into(),
///     joins: 0,
/// };
/// // No edge leads to `publish`.
/// assert_eq!(check(&graph)[0].at, Site::Node(publish));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// The graph as a whole.
    Graph,
    /// A node.
    Node(NodeIdx),
    /// An edge, by its index in [`Graph::edges`](crate::Graph::edges).
    Edge(usize),
    /// A join.
    Join(JoinIdx),
}

/// One mistake: the rule it breaks, where, and one line that says what, where, why and how to fix it.
///
/// ```
/// use petalflow_graph::{NodeIdx, Problem, Rule, Site};
///
/// let [first, second] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let problem = Problem::new(Rule::DuplicateNode, Site::Node(second), "node `a` is declared twice; rename one of them")
///     .with(Site::Node(first), "first declared here");
/// assert_eq!(problem.to_string(), "PF003: node `a` is declared twice; rename one of them");
/// assert_eq!(problem.also[0].0, Site::Node(first));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The rule.
    pub rule: Rule,
    /// Where the mistake is.
    pub at: Site,
    /// Other places involved, each with its own words.
    pub also: Vec<(Site, String)>,
    /// The line without the code: [`Display`](fmt::Display) puts the code in front.
    pub text: String,
}

impl Problem {
    /// A problem in one place.
    pub fn new(rule: Rule, at: Site, text: impl Into<String>) -> Self {
        Problem {
            rule,
            at,
            also: Vec::new(),
            text: text.into(),
        }
    }

    /// The problem with one more place that is involved.
    #[must_use]
    pub fn with(mut self, also: Site, text: impl Into<String>) -> Self {
        self.also.push((also, text.into()));
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.code(), self.text)
    }
}
