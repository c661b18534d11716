//! The settings of a run.

mod plan_changes;
mod properties;

use std::sync::Arc;
use std::time::Duration;

use crate::cache::{Cache, RunCache};
use crate::cancel_token::RunToken;
use crate::checkpoint::Store;
use crate::durable::find_cached;
use crate::erased::{AnyState, effects_mut, into_state, state_ref};
use crate::error::{BoxError, FailureLog};
use crate::event::NestedEvent;
use crate::exec::{Begin, Settings, Start};
use crate::flow::{Flow, HasFlow};
use crate::future::BoxFuture;
use crate::middleware::{Layer, Middleware, RunLayer, RunMiddleware};
use crate::node::{Context, Key, ManagedProvider, ManagedValues};
use crate::plan::ExecutionPlan;
use crate::run::{AnyRun, Run};
use crate::state::{InputOf, State, Storable, ThreadSafe, WriteError};
use crate::subflow::{NestedLaunch, run_nested};
use crate::thread::{DocumentVersion, Thread, Threads};

/// A flow with the settings of its runs: limits, managed values, middleware. Clones have the same settings.
///
/// ```
/// use petalflow::prelude::*;
/// use std::time::Duration;
///
/// #[state]
/// struct Count {
///     #[key(sum)]
///     n: u64,
/// }
///
/// #[node(Count)]
/// async fn add(n: &u64) -> (CountN, bool) {
///     (CountN(1), *n < 999)
/// }
///
/// flow!(Add(Count) { add -> match { true => add, false => END } });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let count = Add::new().limit(1_000).timeout(Duration::from_secs(60)).run(()).await?;
/// assert_eq!(count.n, 1_000);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing runs before `run`"]
pub struct Launch<F: Flow> {
    flow: Arc<F>,
    /// The plan, if this launch has changed that of the flow.
    plan: Option<Arc<ExecutionPlan>>,
    settings: Settings,
}

impl<F: Flow> Clone for Launch<F> {
    fn clone(&self) -> Self {
        Launch {
            flow: Arc::clone(&self.flow),
            plan: self.plan.clone(),
            settings: self.settings.clone(),
        }
    }
}

impl_debug!([F: Flow] Launch<F>, |this| flow = this.flow.name());

impl<F: Flow> HasFlow for Launch<F> {
    type Flow = F;

    fn flow(&self) -> &F {
        &self.flow
    }

    fn plan_of_runs(&self) -> Arc<ExecutionPlan> {
        self.plan()
    }
}

impl<F: Flow> Launch<F> {
    /// A launch with the defaults: at most 100 supersteps, no timeouts.
    pub fn new(flow: F) -> Self {
        Self::shared(Arc::new(flow))
    }

    pub(crate) fn shared(flow: Arc<F>) -> Self {
        Launch {
            flow,
            plan: None,
            settings: Settings::default(),
        }
    }

    /// Changes the flow. Used by the builder of a flow with node values.
    #[doc(hidden)]
    pub fn edit(mut self, edit: impl FnOnce(&mut F)) -> Self
    where
        F: Clone,
    {
        edit(Arc::make_mut(&mut self.flow));
        self
    }

    /// Sets the maximum number of supersteps; 100 by default. A run of N supersteps needs a limit of N.
    ///
    /// The limit also applies to each run of a sub-flow, which counts its own supersteps: for its parent, it is one
    /// superstep. A node that calls [`run_in`](Self::run_in) sets the limit of that launch.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Count {
    ///     #[key(sum)]
    ///     n: u64,
    /// }
    ///
    /// #[node(Count)]
    /// async fn add(n: &u64) -> (CountN, bool) {
    ///     (CountN(1), *n < 499)
    /// }
    ///
    /// flow!(Add(Count) { add -> match { true => add, false => END } });
    /// flow!(AddInside(Count) {
    ///     node inside: Add { in: || CountInput {}, out: |count: Count| CountN(count.n) };
    ///     START -> inside;
    /// });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert!(AddInside::run(()).await.is_err());
    /// assert_eq!(AddInside::new().limit(500).run(()).await?.n, 500);
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(mut self, supersteps: u64) -> Self {
        self.settings.limit = supersteps;
        self
    }

    /// Sets how many levels of sub-flows may be inside each other; 16 by default. A deeper call is an error of its node.
    ///
    /// Each level uses the stack of the thread that runs the flow: up to 65 kB without optimization. For more levels than
    /// the default, run the flow on threads with a larger stack, for example with `thread_stack_size` of tokio's runtime
    /// builder: a stack overflow ends the process.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Count {
    ///     #[key(input)]
    ///     n: u32,
    /// }
    ///
    /// #[node(Count)]
    /// async fn down(n: &u32, cx: Context) -> petalflow::Result<()> {
    ///     if *n > 0 {
    ///         Down::new().run_in(&cx, "inner", n - 1).await?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// flow!(Down(Count) { down });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert!(Down::new().max_depth(3).run(3).await.is_ok());
    /// assert!(Down::new().max_depth(3).run(4).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.settings.max_depth = levels;
        self
    }

    /// Sets the maximum number of nodes that run at the same time; unlimited by default. Other nodes wait in order.
    ///
    /// # Panics
    ///
    /// If it is 0, because no node could run.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use std::sync::atomic::{AtomicUsize, Ordering};
    /// # #[state]
    /// # struct Nothing {}
    /// static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);
    ///
    /// #[node(Nothing)]
    /// async fn visit(#[item] page: &u32) {
    ///     assert!(IN_FLIGHT.fetch_add(1, Ordering::SeqCst) < 2, "page {page} had to wait");
    ///     tokio::task::yield_now().await;
    ///     IN_FLIGHT.fetch_sub(1, Ordering::SeqCst);
    /// }
    /// # #[node(Nothing)]
    /// # async fn list() -> Each<u32> { (0..10).collect() }
    /// # flow!(Crawl(Nothing) { list -> each visit });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// Crawl::new().max_concurrency(2).run(()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_concurrency(mut self, nodes: usize) -> Self {
        assert!(
            nodes > 0,
            "`max_concurrency` must be at least 1: with 0 no node could ever run"
        );
        self.settings.extras_mut().max_concurrency = nodes;
        self
    }

    /// Sets the maximum duration of a run.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use petalflow::run::{RunErrorKind, TimeoutScope};
    /// # use std::time::Duration;
    /// # #[state]
    /// # struct Nothing {}
    /// # #[node(Nothing)]
    /// # async fn wait_for_ever() { std::future::pending().await }
    /// # flow!(Wait(Nothing) { wait_for_ever });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Wait::new().timeout(Duration::from_millis(1)).run(()).await.err().unwrap();
    /// assert_eq!(*error.kind(), RunErrorKind::Timeout { scope: TimeoutScope::Run });
    /// # }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.extras_mut().timeout = Some(timeout);
        self
    }

    /// Sets the maximum duration of each superstep.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use petalflow::run::{RunErrorKind, TimeoutScope};
    /// # use std::time::Duration;
    /// # #[state]
    /// # struct Nothing {}
    /// # #[node(Nothing)]
    /// # async fn wait_for_ever() { std::future::pending().await }
    /// # flow!(Wait(Nothing) { wait_for_ever });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Wait::new().superstep_timeout(Duration::from_millis(1)).run(()).await.err().unwrap();
    /// assert_eq!(*error.kind(), RunErrorKind::Timeout { scope: TimeoutScope::Superstep });
    /// # }
    /// ```
    pub fn superstep_timeout(mut self, timeout: Duration) -> Self {
        self.settings.extras_mut().superstep_timeout = Some(timeout);
        self
    }

    /// Sets a token that stops the runs: a [`CancelToken`](crate::run::CancelToken), or a `CancellationToken` of `tokio-util`.
    ///
    /// A run whose token is drained before it begins runs no node.
    pub fn cancel_with(mut self, token: impl Into<RunToken>) -> Self {
        self.settings.cancel = Some(token.into());
        self
    }

    /// Provides a value to the nodes, which take it as [`Managed<T>`](crate::Managed). It replaces an earlier value of
    /// the same type.
    pub fn manage<T: ThreadSafe>(self, value: T) -> Self {
        self.manage_with(Arc::new(value))
    }

    /// Provides a value that is already shared, or one that is made by a [`ManagedProvider`]: on each use, once per run, again
    /// after a time, or for each run of a thread. It replaces an earlier value of the same type, except one for threads.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use std::sync::{Arc, Mutex};
    ///
    /// #[node(Log)]
    /// async fn record(seen: Managed<Mutex<Vec<u64>>>, cx: Context) {
    ///     seen.lock().unwrap().push(cx.superstep());
    /// }
    ///
    /// flow!(Record(Log) { record });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let seen = Arc::new(Mutex::new(Vec::<u64>::new()));
    /// Record::new().manage_with(seen.clone()).run(()).await?;
    /// assert_eq!(*seen.lock().unwrap(), [1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn manage_with<T: ThreadSafe>(mut self, value: impl Into<ManagedProvider<T>>) -> Self {
        value.into().add_to(self.managed_mut());
        self
    }

    fn managed_mut(&mut self) -> &mut ManagedValues {
        Arc::make_mut(self.settings.managed.get_or_insert_with(Arc::default))
    }

    /// Sets the cache for results of nodes with a cache time, such as `cache = 1h`: see [`cache`](crate::cache).
    /// Launches with the same cache share results.
    pub fn cache(mut self, cache: &(impl Cache + Clone)) -> Self {
        self.settings.extras_mut().find_cached = Some(find_cached);
        self.manage(RunCache(Arc::new(cache.clone())))
    }

    /// Adds middleware around every node. The one that was added first is the outermost.
    pub fn middleware(mut self, middleware: impl Middleware<F::State>) -> Self {
        self.settings
            .extras_mut()
            .middleware
            .push(Arc::new(Layer::<F::State, _>::new(middleware)));
        self
    }

    /// Sets the version of the document that the flow was made of. It is stored with each thread, and errors about a changed
    /// document name it. Runs that are not stored ignore it. See [`DocumentVersion`] for an example.
    pub fn document_version(mut self, version: &DocumentVersion) -> Self {
        self.settings.extras_mut().document = Some(version.clone());
        self
    }

    /// Sets which threads wait although their runs have finished, because somebody has to do something before the next turn: an agent
    /// whose call a person has to approve, for example. They are listed as [`Waiting`](crate::checkpoint::ThreadStatus::Waiting)
    /// instead of [`Finished`](crate::checkpoint::ThreadStatus::Finished). How the run ends does not change. Runs that are not stored
    /// ignore it.
    ///
    /// ```
    /// use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Order {
    ///     #[key(input)]
    ///     paid: bool,
    /// }
    ///
    /// #[node(Order)]
    /// async fn check(paid: &bool) {
    ///     println!("paid: {paid}");
    /// }
    ///
    /// flow!(CheckOrder(Order) { check });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let orders = CheckOrder::new().waits_when(|order| !order.paid).store(&InMemoryStore::new());
    /// let order = orders.thread("1");
    /// order.run(false).await?.into_finished()?;
    /// assert_eq!(order.info().await?.expect("it exists").status, ThreadStatus::Waiting);
    /// order.run(true).await?.into_finished()?;
    /// assert_eq!(order.info().await?.expect("it exists").status, ThreadStatus::Finished);
    /// # Ok(())
    /// # }
    /// ```
    pub fn waits_when(
        mut self,
        condition: impl Fn(&F::State) -> bool + Send + Sync + 'static,
    ) -> Self {
        let condition = move |state: &dyn AnyState| condition(state_ref::<F::State>(state));
        self.settings.extras_mut().waits_when = Some(Arc::new(condition));
        self
    }

    /// Adds middleware around the whole run. The one that was added first is the outermost.
    pub fn run_middleware(mut self, middleware: impl RunMiddleware<F::State>) -> Self {
        self.settings
            .extras_mut()
            .run_middleware
            .push(Arc::new(RunLayer::<F::State, _>::new(middleware)));
        self
    }

    /// Continues the run after a node has failed. The failure is written to the key `K`, which holds a list of
    /// [`NodeError`](crate::NodeError) or of a type that is `From<NodeError>`. The plain edges of the node then fire as
    /// if it had written nothing; the path of a node with routes ends.
    ///
    /// A `catch` edge takes precedence. Later nodes can read a default value, because the writer failed.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow::NodeError;
    ///
    /// #[state]
    /// struct Job {
    ///     #[key(append)]
    ///     failures: Vec<NodeError>,
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
    /// let job = Try::new().continue_on_error::<JobFailures>().run(()).await?;
    /// assert_eq!(job.failures[0].message, "no luck");
    /// # Ok(())
    /// # }
    /// ```
    pub fn continue_on_error<K>(mut self) -> Self
    where
        K: Key<State = F::State>,
        K::Value: FailureLog,
    {
        self.settings.extras_mut().record_failure = Some(|error, effects| {
            effects.clear();
            let update = &mut effects_mut::<F::State>(effects).update;
            // The first write to an empty update is always accepted.
            let recorded: Result<(), WriteError> = update.add::<K>(K::Value::of(error), false);
            debug_assert!(recorded.is_ok());
        });
        self
    }

    /// Stores the runs: they become runs of threads.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Count {
    ///     #[key(sum)]
    ///     n: u64,
    /// }
    ///
    /// #[node(Count)]
    /// async fn add() -> CountN {
    ///     CountN(1)
    /// }
    ///
    /// flow!(Add(Count) { add });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Add::new().store(&InMemoryStore::new()).thread("one");
    /// thread.run(()).await?.into_finished()?;
    /// let count = thread.run(()).await?.into_finished()?;
    /// assert_eq!(count.n, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(self, store: &impl SharedStore) -> Threads<F>
    where
        F::State: Storable,
    {
        let (flow, settings) = self.into_any();
        Threads::new(flow, settings, Arc::new(store.clone()))
    }

    #[doc(hidden)]
    pub fn thread(self, _: impl HasStore) -> Thread<F> {
        unreachable!("no flow has a store before it is given")
    }

    /// Starts a run with this input: the keys marked `input`, or the bare value if there is only one such key.
    ///
    /// No code of the program panics out of the run, and no sum wraps around: both are [errors](crate::run::RunErrorKind) of the
    /// run.
    pub fn run(self, input: impl InputOf<F::State>) -> Run<F> {
        let input: <F::State as State>::Input = input.into();
        let (flow, settings) = self.into_any();
        Run::typed(AnyRun::new(Start {
            flow,
            settings,
            begin: Begin::Input(Box::new(input)),
        }))
    }

    /// Runs the flow inside a node, which calls this in its body. The sub-flow is stored with the node's run, its
    /// events are among that run's events, and it stops with the run. A node can do this once for each `name`.
    ///
    /// Of this launch's settings, only the limit and the managed values apply. Managed values of other types, cancellation and
    /// the store are the node's.
    ///
    /// # Errors
    ///
    /// The errors of the sub-flow's run.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the sub-flow. On a thread, it resumes when the node runs again.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Count {
    ///     #[key(input)]
    ///     n: u64,
    /// }
    ///
    /// #[node(Count)]
    /// async fn double(n: &u64) -> CountN {
    ///     CountN(n * 2)
    /// }
    ///
    /// flow!(Double(Count) { double });
    ///
    /// #[node(Count)]
    /// async fn twice(n: &u64, cx: Context) -> petalflow::Result<CountN> {
    ///     let once = Double::new().run_in(&cx, "first", *n).await?;
    ///     Ok(CountN(Double::new().run_in(&cx, "second", once.n).await?.n))
    /// }
    ///
    /// flow!(Twice(Count) { twice });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Twice::run(3).await?.n, 12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_in<'a>(
        self,
        cx: &'a Context,
        name: &'a str,
        input: impl InputOf<F::State>,
    ) -> BoxFuture<'a, Result<F::State, BoxError>> {
        let input: <F::State as State>::Input = input.into();
        let (flow, settings) = self.into_any();
        let launch = NestedLaunch {
            flow,
            limit: settings.limit,
            managed: settings.managed,
            input: Box::new(input),
            nest: NestedEvent::of::<F::State>,
        };
        Box::pin(async move { Ok(into_state(run_nested(launch, cx, name).await?)) })
    }
}

/// What [`Launch::store`] takes: a store whose clones are the same store.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store",
    label = "not a store that can be cloned",
    note = "a store is opened before, such as `SqliteStore::open(\"threads.db\").await?` of `petalflow-sqlite`; in a test, it can be `petalflow::checkpoint::InMemoryStore::new()`. A store of your own is given in an `Arc`, unless it is `Clone`; a generic function takes `&(impl Store + Clone)`"
)]
pub trait SharedStore: Store + Clone {}

#[diagnostic::do_not_recommend]
impl<T: Store + Clone> SharedStore for T {}

/// The id of a thread in a launch with a store. No type implements it: `Launch::store` returns threads.
#[diagnostic::on_unimplemented(
    message = "a thread needs a store, and this launch has none",
    label = "no store before this",
    note = "write `.store(&store).thread(..)`; in a test, `store` can be `petalflow::checkpoint::InMemoryStore::new()`"
)]
pub trait HasStore {}
