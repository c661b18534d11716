//! What a node can ask about the run it is part of.

use std::fmt;
use std::future::Future;
use std::hash::Hasher as _;
use std::num::NonZeroU32;
use std::sync::Arc;

use siphasher::sip128::Hasher128 as _;

use super::{Delivery, ManagedValues};
use crate::BoxError;
use crate::interrupt::Ask;
use crate::run::{CancelToken, Pulse, Shared};

/// Where in a run of flows within flows something happens: the names of the sub-flow nodes on the way down, each with the
/// index of the item it ran for. Empty at the top.
///
/// ```
/// use petalflow::Namespace;
///
/// let namespace = Namespace::ROOT.child("review", None).child("dig", Some(3));
/// assert_eq!(namespace.to_string(), "review/dig[3]");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Namespace(Option<Arc<str>>);

impl Namespace {
    /// The namespace of the run itself.
    pub const ROOT: Self = Namespace(None);

    /// The namespace of a sub-flow in this one.
    #[must_use]
    pub fn child(&self, node: &str, index: Option<usize>) -> Self {
        use fmt::Write as _;
        let mut path = self.as_str().to_string();
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(node);
        if let Some(index) = index {
            let _ = write!(path, "[{index}]");
        }
        Namespace(Some(path.into()))
    }

    /// The path, joined by `/`; empty at the top.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Namespace({:?})", self.as_str())
    }
}

/// Names one run of one node within a thread: the same over retries and, with a store, over crashes and resumes; so it can
/// be passed on as an idempotency key.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Shop { receipt: String }
/// /// A service that charges once per key, however often it is asked.
/// async fn charge(idempotency_key: String) -> petalflow::Result<String> {
///     Ok(format!("receipt for {idempotency_key}"))
/// }
///
/// #[node(Shop, retry = 3)]
/// async fn pay(cx: Context) -> petalflow::Result<ShopReceipt> {
///     Ok(ShopReceipt(charge(cx.task_id().to_string()).await?))
/// }
///
/// flow!(Buy(Shop) { pay });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert!(Buy::run(()).await?.receipt.starts_with("receipt for "));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(u128);

impl TaskId {
    /// The id as bytes, for a store.
    ///
    /// ```
    /// use petalflow::TaskId;
    ///
    /// let id = TaskId::from_bytes([7; 16]);
    /// assert_eq!(id.to_bytes(), [7; 16]);
    /// assert_eq!(id.to_string(), "07".repeat(16));
    /// ```
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The id of these bytes. Ids sort as their bytes do.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        TaskId(u128::from_be_bytes(bytes))
    }

    /// The id of a task: a hash of all that tells it from the others.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        // SipHash with fixed keys: a published function, because the id must not change between builds. Parts are
        // length-prefixed so that ("ab", "c") and ("a", "bc") differ.
        let mut hasher = siphasher::sip128::SipHasher13::new();
        for part in parts {
            hasher.write(&(part.len() as u64).to_le_bytes());
            hasher.write(part);
        }
        TaskId(hasher.finish128().as_u128())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

/// One run of a node, as the engine sees it: what extractors draw from.
///
/// ```
/// use petalflow::{BoxError, Extract, Scope};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Log { #[key(append)] lines: Vec<String> }
///
/// /// A prefix for log lines.
/// struct Prefix(String);
///
/// impl Extract for Prefix {
///     fn extract(scope: &Scope) -> Result<Self, BoxError> {
///         Ok(Prefix(format!("[{} {}]", scope.superstep(), scope.node())))
///     }
/// }
///
/// #[node(Log)]
/// async fn greet(prefix: Prefix) -> LogLines {
///     LogLines(vec![format!("{} hello", prefix.0)])
/// }
///
/// flow!(Greet(Log) { greet });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Greet::run(()).await?.lines, ["[1 greet] hello"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Scope {
    pub(crate) shared: Arc<Shared>,
    pub(crate) superstep: u64,
    pub(crate) node: u32,
    pub(crate) attempt: u32,
    // Tells the runs of one node in one superstep apart: the place among all that was sent to it.
    pub(crate) send: Place,
    // Which item of the delivery this run is for; all of it without one.
    pub(crate) item: Place,
    pub(crate) delivery: Option<Delivery>,
    // Only where the attempt has an idle timeout.
    pub(crate) pulse: Option<Arc<Pulse>>,
}

/// A place in a list, or none, in four bytes: every run in flight holds two of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(Option<NonZeroU32>);

impl Place {
    pub(crate) fn get(self) -> Option<u32> {
        self.0.map(|after| after.get() - 1)
    }
}

impl From<Option<u32>> for Place {
    fn from(place: Option<u32>) -> Self {
        // No list is so long that its last place would be lost.
        Place(place.and_then(|place| NonZeroU32::new(place.wrapping_add(1))))
    }
}

impl Scope {
    /// A scope of no task yet.
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Scope {
            shared,
            superstep: 0,
            node: 0,
            attempt: 1,
            send: Place::default(),
            item: Place::default(),
            delivery: None,
            pulse: None,
        }
    }

    /// The number of the superstep, from 1.
    pub fn superstep(&self) -> u64 {
        self.superstep
    }

    /// The name of the node in its graph.
    pub fn node(&self) -> &str {
        self.shared.wiring.name(self.node)
    }

    /// The index among what was sent to the node, where it is the target of `each`.
    pub fn index(&self) -> Option<usize> {
        self.send.get().map(|index| index as usize)
    }

    /// The managed values of the run, if it was given any.
    pub fn managed(&self) -> Option<&ManagedValues> {
        self.shared.managed.as_deref()
    }

    /// The handle that nodes take as `cx: Context`.
    pub fn context(&self) -> Context {
        Context(self.clone())
    }

    /// What the edge delivered, if it is a `T`.
    #[doc(hidden)]
    pub fn item<T: 'static>(&self) -> Result<&T, BoxError> {
        let item = self
            .delivery
            .as_ref()
            .and_then(|delivery| delivery.get(self.item.get().map(|item| item as usize)));
        item.ok_or_else(|| {
            format!(
                "node `{}` was not given the `{}` that it takes as its item",
                self.node(),
                std::any::type_name::<T>()
            )
            .into()
        })
    }
}

/// The run, as a node sees it: `cx: Context` by value.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Log {
///     #[key(append)]
///     lines: Vec<String>,
/// }
///
/// #[node(Log)]
/// async fn greet(cx: Context) -> LogLines {
///     LogLines(vec![format!("{} in superstep {}", cx.node(), cx.superstep())])
/// }
///
/// flow!(Greet(Log) { greet });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Greet::run(()).await?.lines, ["greet in superstep 1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Context(Scope);

impl From<Context> for Scope {
    fn from(cx: Context) -> Self {
        cx.0
    }
}

impl From<&Context> for Scope {
    fn from(cx: &Context) -> Self {
        cx.0.clone()
    }
}

impl Context {
    /// The name of the node in its graph.
    pub fn node(&self) -> &str {
        self.0.node()
    }

    /// The number of the superstep, from 1.
    pub fn superstep(&self) -> u64 {
        self.0.superstep
    }

    /// How many supersteps the run may still make after this one.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn work(cx: Context) -> (LogLines, bool) {
    ///     // Stops by itself rather than at the limit.
    ///     (LogLines(vec!["worked".into()]), cx.remaining_supersteps() > 0)
    /// }
    ///
    /// flow!(Work(Log) { work -> match { true => work, false => END } });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Work::new().limit(3).run(()).await?.lines.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remaining_supersteps(&self) -> u64 {
        self.0.shared.limit.saturating_sub(self.0.superstep)
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// The index of the item this run is for, where the node is the target of `each`.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn list() -> Each<String> {
    ///     Each(vec!["a".into(), "b".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn visit(#[item] page: &str, cx: Context) -> LogLines {
    ///     LogLines(vec![format!("{page} is number {}", cx.index().unwrap())])
    /// }
    ///
    /// flow!(Visit(Log) { list -> each visit });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Visit::run(()).await?.lines, ["a is number 0", "b is number 1"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn index(&self) -> Option<usize> {
        self.0.index()
    }

    /// Where the flow stands within the flows above it.
    pub fn namespace(&self) -> &Namespace {
        &self.0.shared.namespace
    }

    /// The name of this task, the same in every attempt.
    pub fn task_id(&self) -> TaskId {
        self.0.task_id()
    }

    /// A managed value, if the run has one of this type. A parameter `Managed<T>` instead makes the run insist on it.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// struct Greeting(&'static str);
    ///
    /// #[node(Log)]
    /// async fn greet(cx: Context) -> LogLines {
    ///     let greeting = cx.managed::<Greeting>().map_or("hello", |greeting| greeting.0);
    ///     LogLines(vec![greeting.into()])
    /// }
    ///
    /// flow!(Greet(Log) { greet });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Greet::run(()).await?.lines, ["hello"]);
    /// assert_eq!(Greet::new().manage(Greeting("ahoy")).run(()).await?.lines, ["ahoy"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn managed<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.managed()?.get()
    }

    /// Whether the run has been asked to stop. A node that works for long without awaiting checks this.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::{CancelToken, RunErrorKind};
    ///
    /// #[node(Log, blocking)]
    /// fn count(cx: Context, token: Managed<CancelToken>) {
    ///     let mut n = 0_u64;
    ///     while !cx.is_cancelled() {
    ///         n += 1;
    ///         if n == 1_000 {
    ///             token.cancel(); // From elsewhere, in real life.
    ///         }
    ///     }
    /// }
    ///
    /// #[node(Log)]
    /// async fn report() -> LogLines {
    ///     LogLines(vec!["counted".into()])
    /// }
    ///
    /// flow!(Count(Log) { count -> report });
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let token = CancelToken::new();
    /// let error = Count::new().cancel_with(&token).manage(token.clone()).run(()).await.err().unwrap();
    /// assert_eq!(*error.kind(), RunErrorKind::Cancelled);
    /// # }
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.0
            .shared
            .cancel
            .as_ref()
            .is_some_and(CancelToken::is_cancelled)
    }

    /// Sends a value of the node's own to whoever listens to the run's [events](crate::Run::events), and counts as a sign of
    /// life for the idle timeout. Nothing is serialized when nobody listens.
    ///
    /// # Errors
    ///
    /// When the value cannot be represented as JSON.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use futures_util::StreamExt;
    /// use petalflow::EventKind;
    ///
    /// #[node(Log)]
    /// async fn download(cx: Context) -> petalflow::Result<()> {
    ///     for percent in [50, 100] {
    ///         cx.emit(&percent)?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// flow!(Download(Log) { download });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut events = Download::run(()).events();
    /// let mut shown = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     if let EventKind::Custom { value } = event.kind {
    ///         shown.push(value.to_string());
    ///     }
    /// }
    /// assert_eq!(shown, ["50", "100"]);
    /// # }
    /// ```
    pub fn emit<T: serde::Serialize>(&self, value: &T) -> Result<(), serde_json::Error> {
        self.heartbeat();
        if let Some(listener) = &self.0.shared.listener {
            listener.custom(&self.0, serde_json::to_value(value)?);
        }
        Ok(())
    }

    /// Asks a person, and returns the answer.
    ///
    /// If nobody has answered yet, this does not return: the run stops with
    /// [`Interrupted`](crate::RunErrorKind::Interrupted) once the other nodes of the superstep have ended, and when the thread
    /// is resumed with the answer, the node runs again from its top and gets it here. What it did before asking happens again,
    /// so put that into [`once`](Self::once) if it must not. Other questions may be asked at the same time, as with `join!`.
    ///
    /// # Errors
    ///
    /// When the run is not a thread's, when the same question is asked twice in one run of the node (see
    /// [`Ask::key`](crate::interrupt::Ask::key)), and when question or answer cannot be stored.
    ///
    /// # Cancel safety
    ///
    /// The question stays asked when the future is dropped, and the node waits for the answer unless it ends first.
    pub async fn ask<A: Ask>(&self, question: A) -> Result<A::Answer, BoxError> {
        let Some(desk) = &self.0.shared.desk else {
            return Err(format!(
                "node `{}` asks `{}`, but the run has no thread to wait on: launch it with `.store(&store).thread(id)`",
                self.node(),
                A::NAME
            )
            .into());
        };
        desk.ask(&self.0, question).await
    }

    /// Does something that must not be done again: its result is recorded durably before this returns, in every
    /// [`Durability`](crate::thread::Durability), and is returned from the record when the node runs again. Only a crash
    /// between the effect and its record repeats the effect; pass [`task_id`](Self::task_id) on as an idempotency key where
    /// that matters, too.
    ///
    /// A failure is not recorded. In a run without a store there is no record, and the effect is simply done.
    ///
    /// # Errors
    ///
    /// The effect's own; when a name is used twice in one run of the node; when the result cannot be stored or read.
    pub async fn once<T, E>(
        &self,
        name: &str,
        effect: impl Future<Output = Result<T, E>>,
    ) -> Result<T, BoxError>
    where
        T: serde::Serialize + serde::de::DeserializeOwned,
        E: Into<BoxError>,
    {
        match &self.0.shared.desk {
            None => effect.await.map_err(Into::into),
            Some(desk) => desk.once(&self.0, name, effect).await,
        }
    }

    /// Whether anybody listens to what nodes send.
    #[cfg(feature = "agent")]
    pub(crate) fn is_watched(&self) -> bool {
        self.0.shared.listener.is_some()
    }

    /// A sign of life: the idle timeout of this attempt starts anew.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use std::time::Duration;
    ///
    /// #[node(Log, idle = 200ms)]
    /// async fn poll(cx: Context) {
    ///     for _ in 0..4 {
    ///         tokio::time::sleep(Duration::from_millis(100)).await;
    ///         cx.heartbeat();
    ///     }
    /// }
    ///
    /// flow!(Poll(Log) { poll });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// Poll::run(()).await?; // Takes 400 ms, but is never silent for 200.
    /// # Ok(())
    /// # }
    /// ```
    pub fn heartbeat(&self) {
        if let Some(pulse) = &self.0.pulse {
            pulse.beat();
        }
    }
}

#[cfg(feature = "tool")]
impl Scope {
    /// A scope outside any run, as if of a flow of one node.
    pub(crate) fn lone(node: &'static str, managed: Arc<ManagedValues>) -> Self {
        let graph = petalflow_graph::Graph {
            nodes: vec![petalflow_graph::Node::named(node)].into(),
            edges: vec![].into(),
            joins: 0,
        };
        let wiring = crate::flow::Wiring::new(&graph, &[crate::flow::NodeSpec::default()]);
        Self::new(Arc::new(Shared {
            wiring: Arc::new(wiring),
            managed: Some(managed),
            cancel: None,
            listener: None,
            namespace: Namespace::ROOT,
            limit: 1,
            thread: std::sync::OnceLock::new(),
            desk: None,
        }))
    }
}

impl Scope {
    /// The node's name in storage.
    pub(crate) fn stored_name(&self) -> &str {
        self.shared.wiring.stored_name(self.node)
    }

    pub(crate) fn task_id(&self) -> TaskId {
        self.shared
            .task_id(self.superstep, self.node, self.send.get())
    }
}

/// The id of a task: where it stands, the frontier it is part of, and what tells it from the frontier's other tasks.
pub(crate) fn task_id(
    thread: &str,
    namespace: &str,
    origin: u64,
    node: &str,
    send: Option<u32>,
) -> TaskId {
    let send = send.map_or(u64::MAX, u64::from);
    TaskId::of(&[
        thread.as_bytes(),
        namespace.as_bytes(),
        &origin.to_le_bytes(),
        node.as_bytes(),
        &send.to_le_bytes(),
    ])
}
