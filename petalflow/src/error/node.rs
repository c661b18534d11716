//! The failure of a node, as data.

use crate::ids::Namespace;

/// The failure of a node after its last attempt: the item of a `catch` edge, and what `continue_on_error` records.
///
/// It is plain data, because it can be stored.
///
/// ```
/// use petalflow::error::FailureKind;
/// use petalflow::NodeError;
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
    /// The last attempt, from 1.
    pub attempt: u32,
    /// The index of the item, if the node is the target of `each`.
    pub index: Option<usize>,
    /// The kind of failure.
    pub kind: FailureKind,
    /// The messages of the error and its sources.
    pub message: String,
}

/// A list in which failures of nodes can be recorded: a `Vec` of [`NodeError`], or of a type that implements
/// `From<NodeError>`.
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
pub trait FailureLog {
    /// A list with this failure.
    fn of(error: NodeError) -> Self;
}

impl<E: From<NodeError>> FailureLog for Vec<E> {
    fn of(error: NodeError) -> Self {
        vec![error.into()]
    }
}

/// The kinds of node failures.
///
/// ```
/// use petalflow::error::FailureKind;
/// use petalflow::run::RunErrorKind;
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
    /// An attempt had no activity for longer than its idle timeout.
    Idle,
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
