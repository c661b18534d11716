//! What can go wrong: in a node ([`BoxError`]), and in a run ([`RunError`]).

mod stored;

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::interrupt::Interrupt;
use crate::thread::ThreadError;
use crate::{Namespace, State};

/// Any error: what a node may fail with.
///
/// ```
/// use petalflow::BoxError;
///
/// fn attempt() -> Result<u32, BoxError> {
///     let n: u32 = "12".parse()?;
///     if n > 10 { Err(format!("{n} is too many").into()) } else { Ok(n) }
/// }
/// assert_eq!(attempt().unwrap_err().to_string(), "12 is too many");
/// ```
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// What nodes return when they can fail: `petalflow::Result<EssayDraft>`.
///
/// ```
/// fn parse(text: &str) -> petalflow::Result<u32> {
///     Ok(text.parse()?)
/// }
/// assert!(parse("petal").is_err());
/// ```
pub type Result<T, E = BoxError> = std::result::Result<T, E>;

/// How a node failed for good: what a `catch` edge delivers, and what `continue_on_error` records.
///
/// It is plain data, because it may be stored.
///
/// ```
/// use petalflow::{FailureKind, NodeError};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Job { note: String }
/// #[node(Job)]
/// async fn fetch() -> petalflow::Result<()> {
///     Err("offline".into())
/// }
///
/// #[node(Job)]
/// async fn explain(#[item] failure: &NodeError) -> JobNote {
///     assert_eq!((failure.kind, failure.attempt), (FailureKind::Error, 1));
///     JobNote(format!("`{}` said: {}", failure.node, failure.message))
/// }
///
/// flow!(Fetch(Job) { START -> fetch; catch fetch -> explain });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Fetch::run(()).await?.note, "`fetch` said: offline");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node `{node}` failed in superstep {superstep}: {message}")]
#[non_exhaustive]
pub struct NodeError {
    /// The name of the node.
    pub node: String,
    /// Its namespace, empty at the top.
    pub namespace: String,
    /// The superstep, from 1.
    pub superstep: u64,
    /// The attempt that failed last, from 1.
    pub attempt: u32,
    /// The item's index, where the node is the target of `each`.
    pub index: Option<usize>,
    /// What kind of failure it was.
    pub kind: FailureKind,
    /// The error and its sources, in words.
    pub message: String,
}

/// A list that failures of nodes can be recorded in: a `Vec` of [`NodeError`], or of anything that is made `From` one.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::NodeError;
///
/// #[derive(Clone, serde::Serialize, serde::Deserialize)]
/// struct Complaint(String);
///
/// impl From<NodeError> for Complaint {
///     fn from(error: NodeError) -> Self {
///         Complaint(error.message)
///     }
/// }
///
/// #[state]
/// struct Job {
///     #[key(append)]
///     complaints: Vec<Complaint>,
/// }
///
/// #[node(Job)]
/// async fn fail() -> petalflow::Result<()> {
///     Err("no luck".into())
/// }
///
/// flow!(Try(Job) { fail });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let job = Try::new().continue_on_error::<JobComplaints>().run(()).await?;
/// assert_eq!(job.complaints[0].0, "no luck");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "failures cannot be recorded in a `{Self}`",
    label = "not a list of failures",
    note = "make the key a `Vec<NodeError>`, or a `Vec` of something that implements `From<NodeError>`"
)]
pub trait Failures {
    /// The list of this one failure.
    fn of(error: NodeError) -> Self;
}

impl<E: From<NodeError>> Failures for Vec<E> {
    fn of(error: NodeError) -> Self {
        vec![error.into()]
    }
}

/// The kinds of failure of a node.
///
/// ```
/// use petalflow::{FailureKind, RunErrorKind};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Nothing {}
/// #[node(Nothing, timeout = 1ms)]
/// async fn wait_for_ever() {
///     std::future::pending::<()>().await;
/// }
///
/// flow!(Wait(Nothing) { wait_for_ever });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Wait::run(()).await.err().unwrap();
/// assert!(matches!(error.kind(), RunErrorKind::Node(error) if error.kind == FailureKind::Timeout));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The node returned an error.
    Error,
    /// The node panicked.
    Panic,
    /// An attempt took longer than its timeout.
    Timeout,
    /// An attempt showed no sign of life for longer than its idle timeout.
    Idle,
}

/// Why a run ended without reaching its end.
///
/// What had been committed when it failed is still there: [`state`](Self::state) shows the last barrier.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// #[derive(Debug)]
/// struct Essay {
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// #[node(Essay)]
/// async fn note() -> EssayNotes {
///     EssayNotes(vec!["begun".into()])
/// }
///
/// #[node(Essay)]
/// async fn fail() -> petalflow::Result<()> {
///     Err("out of ink".into())
/// }
///
/// flow!(Fail(Essay) { note -> fail });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Fail::run(()).await.unwrap_err();
/// assert_eq!(error.to_string(), "node `fail` failed in superstep 2: out of ink");
/// assert_eq!(error.state::<Essay>().unwrap().notes, ["begun"]);
/// # }
/// ```
pub struct RunError(Box<Inner>);

struct Inner {
    kind: RunErrorKind,
    flow: String,
    superstep: u64,
    source: Option<BoxError>,
    barrier: Option<Box<dyn Any + Send + Sync>>,
}

/// The kinds of [`RunError`].
///
/// ```
/// use petalflow::RunErrorKind;
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
    /// Two nodes of one superstep wrote what takes one write, or a reducer refused a write; nothing of the superstep was
    /// applied.
    Write {
        /// The nodes that wrote the key in this superstep.
        nodes: Vec<String>,
        /// What was wrong.
        problem: String,
    },
    /// The run did not end within its limit of supersteps.
    Limit {
        /// The limit.
        limit: u64,
        /// The nodes that would have run next.
        next: Vec<String>,
    },
    /// The nodes need managed values that the run was not given; no node has run.
    MissingManaged(Vec<&'static str>),
    /// A managed value could not be made for a thread's run; no node has run.
    Rehydrate {
        /// The name of its type.
        name: &'static str,
        /// What was wrong.
        problem: String,
    },
    /// The run was cancelled.
    Cancelled,
    /// The run was asked to drain: it finished a superstep and stopped before these nodes.
    Drained {
        /// The nodes that would have run next.
        next: Vec<String>,
    },
    /// The run, or one superstep of it, took too long.
    Timeout {
        /// Which limit was hit: `run` or `superstep`.
        of: &'static str,
    },
    /// The run ended while joins still held arrivals. Only `continue_on_error` can bring a checked graph here.
    StrandedJoin {
        /// The nodes that the joins lead to.
        waiting: Vec<String>,
    },
    /// A thread's run stopped to ask: it goes on when [`Thread::resume`](crate::thread::Thread::resume) brings the answers.
    Interrupted {
        /// What is asked.
        interrupts: Vec<Interrupt>,
    },
    /// A person ended the run at an `interrupt`.
    Rejected {
        /// The node before or after which it stopped.
        node: String,
        /// Who rejected it, if that was said.
        by: Option<String>,
        /// Why, if that was said.
        reason: Option<String>,
    },
    /// The thread could not be opened, claimed or written: [`RunError::thread_error`] has the details.
    Thread {
        /// What was wrong.
        problem: String,
    },
    /// A route had no edge; only a graph that was not checked can bring a run here.
    NoEdge {
        /// The node that chose.
        node: String,
        /// The route that it chose.
        route: String,
    },
}

/// What a failed run leaves: the state of the last barrier, and what siblings of the failed node had finished.
pub(crate) struct Barrier<S: State> {
    pub(crate) state: S,
    pub(crate) pending: Vec<(String, S::Update)>,
}

impl RunError {
    /// An error after which nothing is left of the run.
    pub(crate) fn bare(kind: RunErrorKind, flow: &str, superstep: u64) -> Self {
        RunError(Box::new(Inner {
            kind,
            flow: flow.into(),
            superstep,
            source: None,
            barrier: None,
        }))
    }

    pub(crate) fn new<S: State>(
        kind: RunErrorKind,
        flow: &str,
        superstep: u64,
        source: Option<BoxError>,
        barrier: Barrier<S>,
    ) -> Self {
        RunError(Box::new(Inner {
            kind,
            flow: flow.into(),
            superstep,
            source,
            barrier: Some(Box::new(barrier)),
        }))
    }

    /// A thread could not be opened.
    pub(crate) fn of_thread(error: ThreadError, flow: &str) -> Self {
        RunError(Box::new(Inner {
            kind: RunErrorKind::Thread {
                problem: error.to_string(),
            },
            flow: flow.into(),
            superstep: 0,
            source: Some(error.into()),
            barrier: None,
        }))
    }

    /// A managed value could not be made.
    pub(crate) fn of_managed(name: &'static str, error: BoxError, flow: &str) -> Self {
        RunError(Box::new(Inner {
            kind: RunErrorKind::Rehydrate {
                name,
                problem: chain(&*error),
            },
            flow: flow.into(),
            superstep: 0,
            source: Some(error),
            barrier: None,
        }))
    }

    /// What was wrong with the thread, if that is why the run ended.
    pub fn thread_error(&self) -> Option<&ThreadError> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// What the run waits for, if it stopped to ask.
    pub fn interrupts(&self) -> &[Interrupt] {
        match &self.0.kind {
            RunErrorKind::Interrupted { interrupts } => interrupts,
            _ => &[],
        }
    }

    /// What kind of error it is.
    pub fn kind(&self) -> &RunErrorKind {
        &self.0.kind
    }

    /// The name of the flow.
    pub fn flow(&self) -> &str {
        &self.0.flow
    }

    /// The superstep in which the run ended, from 1; 0 before the first.
    pub fn superstep(&self) -> u64 {
        self.0.superstep
    }

    /// The node that failed, if one did.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn begin() -> LogLines {
    ///     LogLines(vec!["begun".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn works() -> LogLines {
    ///     LogLines(vec!["worked".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn fails() -> petalflow::Result<()> {
    ///     tokio::task::yield_now().await;
    ///     Err("out of ink".into())
    /// }
    ///
    /// flow!(Fail(Log) { START -> begin -> works & fails });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Fail::run(()).await.err().unwrap();
    /// assert_eq!((error.node(), error.flow(), error.superstep()), (Some("fails"), "Fail", 2));
    /// # }
    /// ```
    pub fn node(&self) -> Option<&str> {
        match &self.0.kind {
            RunErrorKind::Node(error) => Some(&error.node),
            RunErrorKind::NoEdge { node, .. } => Some(node),
            _ => None,
        }
    }

    /// The state at the last barrier, if `S` is the flow's state.
    pub fn state<S: State>(&self) -> Option<&S> {
        Some(&self.barrier::<S>()?.state)
    }

    /// What other nodes of the failed superstep had finished, in declaration order: kept beside the state, not applied.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn begin() -> LogLines {
    ///     LogLines(vec!["begun".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn works() -> LogLines {
    ///     LogLines(vec!["worked".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn fails() -> petalflow::Result<()> {
    ///     tokio::task::yield_now().await;
    ///     Err("out of ink".into())
    /// }
    ///
    /// flow!(Fail(Log) { START -> begin -> works & fails });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Fail::run(()).await.err().unwrap();
    /// let pending: Vec<_> = error.pending::<Log>().collect();
    /// assert_eq!(pending[0].0, "works");
    /// assert_eq!(pending[0].1.lines().only().unwrap(), &["worked"]);
    /// # }
    /// ```
    pub fn pending<S: State>(&self) -> impl Iterator<Item = (&str, &S::Update)> {
        self.barrier::<S>().into_iter().flat_map(|barrier| {
            barrier
                .pending
                .iter()
                .map(|(node, update)| (node.as_str(), update))
        })
    }

    /// Takes the state at the last barrier out, if `S` is the flow's state.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn begin() -> LogLines {
    ///     LogLines(vec!["begun".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn works() -> LogLines {
    ///     LogLines(vec!["worked".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn fails() -> petalflow::Result<()> {
    ///     tokio::task::yield_now().await;
    ///     Err("out of ink".into())
    /// }
    ///
    /// flow!(Fail(Log) { START -> begin -> works & fails });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Fail::run(()).await.err().unwrap();
    /// assert_eq!(error.into_state::<Log>().unwrap().lines, ["begun"]);
    /// # }
    /// ```
    pub fn into_state<S: State>(self) -> Option<S> {
        Some(self.0.barrier?.downcast::<Barrier<S>>().ok()?.state)
    }

    fn barrier<S: State>(&self) -> Option<&Barrier<S>> {
        self.0.barrier.as_deref()?.downcast_ref()
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            flow,
            superstep,
            ..
        } = &*self.0;
        match kind {
            RunErrorKind::Node(error) => {
                write!(f, "node `{}`", error.node)?;
                if !error.namespace.is_empty() {
                    write!(f, " of `{}`", error.namespace)?;
                }
                write!(
                    f,
                    " failed in superstep {}: {}",
                    error.superstep, error.message
                )
            }
            RunErrorKind::Write { nodes, problem } => {
                write!(
                    f,
                    "{problem} (written in superstep {superstep} of `{flow}` by {}); nothing of this superstep was applied",
                    quoted(nodes)
                )
            }
            RunErrorKind::Limit { limit, next } => write!(
                f,
                "`{flow}` did not end within {limit} supersteps (next: {}); raise it with `.limit(..)` if the loop is meant to be that long",
                quoted(next)
            ),
            RunErrorKind::MissingManaged(names) => {
                write!(
                    f,
                    "`{flow}` needs managed values that it was not given: {}; give them with `.manage(..)`",
                    quoted(names)
                )
            }
            RunErrorKind::Cancelled => write!(f, "`{flow}` was cancelled in superstep {superstep}"),
            RunErrorKind::Drained { next } => write!(
                f,
                "`{flow}` was drained after superstep {superstep} (next: {})",
                quoted(next)
            ),
            RunErrorKind::Timeout { of } => write!(
                f,
                "`{flow}` took too long in superstep {superstep}: the {of} timeout was hit"
            ),
            RunErrorKind::StrandedJoin { waiting } => {
                write!(
                    f,
                    "`{flow}` ended while the joins before {} still waited for a side that failed",
                    quoted(waiting)
                )
            }
            RunErrorKind::Interrupted { interrupts } => {
                write!(f, "`{flow}` waits in superstep {superstep}: ")?;
                for (place, interrupt) in interrupts.iter().enumerate() {
                    let comma = if place > 0 { ", " } else { "" };
                    write!(f, "{comma}{interrupt}")?;
                }
                Ok(())
            }
            RunErrorKind::Rejected { node, by, reason } => {
                write!(f, "`{flow}` was rejected at node `{node}`")?;
                if let Some(by) = by {
                    write!(f, " by {by}")?;
                }
                match reason {
                    Some(reason) => write!(f, ": {reason}"),
                    None => Ok(()),
                }
            }
            RunErrorKind::Thread { problem } => f.write_str(problem),
            RunErrorKind::Rehydrate { name, problem } => write!(
                f,
                "the managed value `{name}` could not be made for the run of `{flow}`: {problem}"
            ),
            RunErrorKind::NoEdge { node, route } => write!(
                f,
                "node `{node}` chose the route `{route}`, which has no edge in `{flow}`"
            ),
        }
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            flow,
            superstep,
            source,
            ..
        } = &*self.0;
        f.debug_struct("RunError")
            .field("kind", kind)
            .field("flow", flow)
            .field("superstep", superstep)
            .field("source", source)
            .finish_non_exhaustive()
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// An error and its sources, in words: what is kept where the error itself cannot be.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        // Many errors repeat their source's words in their own.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}

impl NodeError {
    pub(crate) fn new(
        node: &str,
        namespace: &Namespace,
        superstep: u64,
        kind: FailureKind,
        message: String,
    ) -> Self {
        NodeError {
            node: node.into(),
            namespace: namespace.to_string(),
            superstep,
            attempt: 1,
            index: None,
            kind,
            message,
        }
    }
}
