//! One difference between a program and a stored thread.

use std::fmt;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// The thread belongs to another flow.
    Flow,
    /// A node of the graph.
    Node,
    /// Where a node, or one of its routes, leads to.
    Edge,
    /// A join of the graph.
    Join,
    /// A key of the state: its type, its reducer or its properties.
    Key,
    /// The program cannot resume the thread from this checkpoint.
    Resume,
    /// The recorded result of a task does not fit the program: for example, it chose a route that is gone.
    Result,
    /// A node that ran wrote, chose or sent something else.
    Output,
    /// A part of a request to a model.
    Request,
    /// A node that ran wants an effect that was not recorded. It was not run.
    Effect,
    /// A node that ran asks a question, sleeps or waits, and did not.
    Wait,
    /// A node that ran failed.
    Failure,
    /// The value of a key after the superstep.
    State,
    /// The nodes that run next.
    Next,
}

impl DifferenceKind {
    const ALL: [(Self, &str); 14] = [
        (DifferenceKind::Flow, "flow"),
        (DifferenceKind::Node, "node"),
        (DifferenceKind::Edge, "edge"),
        (DifferenceKind::Join, "join"),
        (DifferenceKind::Key, "key"),
        (DifferenceKind::Resume, "resume"),
        (DifferenceKind::Result, "result"),
        (DifferenceKind::Output, "output"),
        (DifferenceKind::Request, "request"),
        (DifferenceKind::Effect, "effect"),
        (DifferenceKind::Wait, "wait"),
        (DifferenceKind::Failure, "failure"),
        (DifferenceKind::State, "state"),
        (DifferenceKind::Next, "next"),
    ];
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Self::ALL[*self as usize].1)
    }
}

/// One difference between a program and a stored thread. Names are those in storage.
///
/// ```
/// use petalflow::engine::DifferenceKind;
///
/// assert_eq!(DifferenceKind::Output.to_string(), "output");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What differs.
    pub kind: DifferenceKind,
    /// The sub-flow, as the names of the nodes that lead to it, such as `review/dig[3]`. Empty for the thread's own flow.
    pub flow: String,
    /// The turn and the superstep of the flow. `None` for a difference of the program itself.
    pub superstep: Option<(u64, u64)>,
    /// The node. For a difference of the state or of the next nodes, those of the superstep.
    pub node: Option<String>,
    /// The name of what differs, such as a key, an effect or a route. It may be empty.
    pub name: String,
    /// What is stored. Values are JSON. `-`: nothing.
    pub expected: String,
    /// What the program of today has.
    pub found: String,
}

impl Difference {
    pub(super) fn of_program(
        kind: DifferenceKind,
        node: Option<&str>,
        expected: &str,
        found: &str,
    ) -> Self {
        Difference {
            kind,
            flow: String::new(),
            superstep: None,
            node: node.map(Into::into),
            name: String::new(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}
