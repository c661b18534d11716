//! An error in a graph, and its location.

use std::fmt;

use crate::idx::{JoinIdx, NodeIdx};
use crate::rule::Rule;

/// A location in a graph, for the caller to underline.
///
/// ```
/// use petalflow_graph::{Edge, Graph, Node, NodeIdx, Location, Source, Target, Via, check};
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
/// assert_eq!(check(&graph)[0].at, Location::Node(publish));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// The graph as a whole.
    Graph,
    /// A node.
    Node(NodeIdx),
    /// An edge, by its index in [`Graph::edges`](crate::Graph::edges).
    Edge(usize),
    /// A join.
    Join(JoinIdx),
}

/// One error: the rule that is broken, the location, and one line that says what is wrong, where, why and how to fix it.
///
/// ```
/// use petalflow_graph::{NodeIdx, Diagnostic, Rule, Location};
///
/// let [first, second] = [NodeIdx::new(0), NodeIdx::new(1)];
/// let diagnostic = Diagnostic::new(Rule::DuplicateNode, Location::Node(second), "node `a` is declared twice; rename one of them")
///     .with(Location::Node(first), "first declared here");
/// assert_eq!(diagnostic.to_string(), "PF003: node `a` is declared twice; rename one of them");
/// assert_eq!(diagnostic.also[0].0, Location::Node(first));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The rule.
    pub rule: Rule,
    /// The location of the error.
    pub at: Location,
    /// The other locations that are involved, each with its own message.
    pub also: Vec<(Location, String)>,
    /// The line without the code. [`Display`](fmt::Display) adds the code.
    pub text: String,
}

impl Diagnostic {
    /// A diagnostic at one location.
    pub fn new(rule: Rule, at: Location, text: impl Into<String>) -> Self {
        Diagnostic {
            rule,
            at,
            also: Vec::new(),
            text: text.into(),
        }
    }

    /// The diagnostic with one more location that is involved.
    #[must_use]
    pub fn with(mut self, also: Location, text: impl Into<String>) -> Self {
        self.also.push((also, text.into()));
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.code(), self.text)
    }
}
