//! The kinds of errors of a run.

use std::fmt;
use std::time::SystemTime;

use crate::checkpoint::DecisionRecord;
use crate::error::NodeError;
use crate::question::Interrupt;

/// The kinds of [`RunError`](super::RunError).
///
/// ```
/// use petalflow::run::RunErrorKind;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Count { #[key(sum)] n: u32 }
/// #[node(Count)]
/// async fn add(n: &u32) -> (CountN, bool) {
///     (CountN(1), *n < 999)
/// }
///
/// flow!(Add(Count) { add -> match { true => add, false => END } });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Add::new().limit(10).run(()).await.err().unwrap();
/// match error.kind() {
///     RunErrorKind::Limit { limit, next } => assert_eq!((*limit, &next[..]), (10, &["add".to_string()][..])),
///     other => panic!("{other:?}"),
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// A node failed for good.
    Node(NodeError),
    /// Two nodes of one superstep wrote a key that accepts one write, or a reducer refused a write. Nothing of the superstep
    /// was applied.
    Write {
        /// The nodes that wrote the key in this superstep. Empty if it was the input of the run.
        nodes: Vec<String>,
        /// The problem.
        problem: String,
    },
    /// A reducer refused a [message](crate::thread::Thread::send) to the thread. The superstep was applied without it, and a run that
    /// resumes the thread goes on without it.
    Message {
        /// The number of the message.
        number: u64,
        /// The problem.
        problem: String,
    },
    /// Code of the program panicked outside of a node: a reducer, for example, or an implementation of `Clone` or `Serialize`.
    /// Nothing of the superstep was stored. The error has no [state](super::RunError::state).
    Panic {
        /// The message of the panic.
        message: String,
    },
    /// The run did not end within its limit of supersteps.
    Limit {
        /// The limit.
        limit: u64,
        /// The nodes that would have run next.
        next: Vec<String>,
    },
    /// The nodes need managed values that the launch does not have. No node has run.
    MissingManaged(Vec<&'static str>),
    /// A managed value could not be created for the run of a thread. No node has run.
    RestoreManaged {
        /// The name of its type.
        name: &'static str,
        /// The problem.
        problem: String,
    },
    /// The run was cancelled.
    Cancelled,
    /// The run was drained: it finished a superstep and stopped before these nodes.
    Drained {
        /// The nodes that would have run next.
        next: Vec<String>,
    },
    /// The run, or one superstep of it, took too long.
    Timeout {
        /// Which limit was reached.
        scope: TimeoutScope,
    },
    /// The run ended while some sides of a join had not arrived. In a checked graph, only `continue_on_error` leads to this.
    IncompleteJoin {
        /// The nodes that the joins lead to.
        waiting: Vec<String>,
    },
    /// The run is paused: it waits for answers, which [`Thread::resume`](crate::thread::Thread::resume) takes. It may sleep besides:
    /// [`RunError::wakes`](super::RunError::wakes).
    Interrupted {
        /// What the run waits for.
        interrupts: Vec<Interrupt>,
    },
    /// The run is paused: it [sleeps](crate::Context::sleep), and waits for no person.
    /// [`Thread::resume`](crate::thread::Thread::resume) continues it after this time, as [`Threads::wake`](crate::thread::Threads::wake)
    /// does.
    Sleeping {
        /// When the first of its sleeps ends, by the clock of the store.
        until: SystemTime,
    },
    /// A person ended the run at an `interrupt`.
    Rejected {
        /// The node before or after which it stopped.
        node: String,
        /// Who rejected it, if stated.
        by: Option<String>,
        /// Why, if stated.
        reason: Option<String>,
    },
    /// The thread could not be opened, claimed or written: [`thread_error`](super::RunError::thread_error) has the details.
    Thread {
        /// The problem.
        problem: String,
    },
    /// A route had no edge. Only a graph that was not checked leads to this.
    NoEdge {
        /// The node that chose.
        node: String,
        /// The route that it chose.
        route: String,
    },
}

impl RunErrorKind {
    /// A person has rejected what the run waited for.
    pub(crate) fn rejected(decision: DecisionRecord) -> Self {
        RunErrorKind::Rejected {
            node: decision.node,
            by: decision.by,
            reason: decision.reason,
        }
    }
}

/// Which time limit a run reached.
///
/// ```
/// use petalflow::run::TimeoutScope;
///
/// assert_eq!(TimeoutScope::Superstep.to_string(), "superstep");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeoutScope {
    /// The limit of the whole run, set with [`Launch::timeout`](crate::Launch::timeout).
    Run,
    /// The limit of one superstep, set with [`Launch::superstep_timeout`](crate::Launch::superstep_timeout).
    Superstep,
}

impl fmt::Display for TimeoutScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeoutScope::Run => "run",
            TimeoutScope::Superstep => "superstep",
        })
    }
}
