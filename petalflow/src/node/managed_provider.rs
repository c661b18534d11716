//! How a managed value comes to the nodes.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::managed::{MakeForThread, ManagedValues, Provide, RestoreContext, Shared};
use crate::error::BoxError;
use crate::future::BoxFuture;

/// How a managed value comes to the nodes, for [`manage_with`](crate::Launch::manage_with): one that is already shared (from an
/// `Arc`), one that is computed when a node takes it and then reused for a time, or one that is made for each run of a thread.
/// Clones share the provider.
///
/// ```
/// use petalflow::node::ManagedProvider;
/// use petalflow::prelude::*;
/// use std::time::Duration;
///
/// struct Token(String);
///
/// #[state]
/// struct Call {
///     #[key(append)]
///     used: Vec<String>,
/// }
///
/// #[node(Call)]
/// async fn call(token: Managed<Token>) -> CallUsed {
///     CallUsed(vec![token.0.clone()])
/// }
///
/// flow!(CallTwice(Call) { call -> again; node again = call; });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let n = std::sync::atomic::AtomicU32::new(0);
/// let fetch = move || {
///     # let number = n.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
///     Token(format!("token {number}"))
/// };
/// let token = ManagedProvider::lasting(Duration::from_secs(3600), fetch);
/// let launch = CallTwice::new().manage_with(token.clone());
/// assert_eq!(launch.clone().run(()).await?.used, ["token 1", "token 1"]);
/// token.invalidate();
/// assert_eq!(launch.run(()).await?.used, ["token 2", "token 2"]);
/// # Ok(())
/// # }
/// ```
pub struct ManagedProvider<T>(Source<T>);

enum Source<T> {
    Shared(Arc<T>),
    Computed(Computed<T>),
    ForThread(Arc<MakeForThread<T>>),
}

/// A function, and how long its values are reused.
struct Computed<T>(Arc<Inner<T>>);

impl<T> Clone for Computed<T> {
    fn clone(&self) -> Self {
        Computed(Arc::clone(&self.0))
    }
}

struct Inner<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    reuse: Reuse,
    /// Incremented when earlier values become invalid.
    generation: AtomicU64,
}

/// How long a computed value is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reuse {
    Never,
    Run,
    For(Duration),
}

impl<T> Clone for ManagedProvider<T> {
    fn clone(&self) -> Self {
        ManagedProvider(match &self.0 {
            Source::Shared(value) => Source::Shared(Arc::clone(value)),
            Source::Computed(computed) => Source::Computed(computed.clone()),
            Source::ForThread(make) => Source::ForThread(Arc::clone(make)),
        })
    }
}

impl<T> std::fmt::Debug for ManagedProvider<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("ManagedProvider");
        match &self.0 {
            Source::Shared(_) => debug.finish_non_exhaustive(),
            Source::Computed(computed) => debug.field("reuse", &computed.0.reuse).finish(),
            Source::ForThread(_) => debug.field("made", &"for each run of a thread").finish(),
        }
    }
}

/// A value that is already shared. With [`manage`](crate::Launch::manage), the type would be `Managed<Arc<T>>`.
impl<T> From<Arc<T>> for ManagedProvider<T> {
    fn from(value: Arc<T>) -> Self {
        ManagedProvider(Source::Shared(value))
    }
}

impl<T: Send + Sync + 'static> ManagedProvider<T> {
    /// Computes a new value each time a node takes it.
    ///
    /// ```
    /// use petalflow::node::ManagedProvider;
    /// use petalflow::prelude::*;
    /// use std::time::Instant;
    ///
    /// #[state]
    /// struct Log { #[key(append)] lines: Vec<String> }
    ///
    /// #[node(Log)]
    /// async fn look(now: Managed<Instant>) -> LogLines {
    ///     LogLines(vec![format!("{:?}", *now)])
    /// }
    ///
    /// flow!(Look(Log) { look });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let log = Look::new().manage_with(ManagedProvider::each_use(Instant::now)).run(()).await?;
    /// assert_eq!(log.lines.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn each_use(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::computed(Reuse::Never, make)
    }

    /// Computes one value per run, which its sub-flows share.
    pub fn each_run(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::computed(Reuse::Run, make)
    }

    /// Computes a value and reuses it, in all runs, until it is older than `time`.
    pub fn lasting(time: Duration, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::computed(Reuse::For(time), make)
    }

    fn computed(reuse: Reuse, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        ManagedProvider(Source::Computed(Computed(Arc::new(Inner {
            make: Box::new(make),
            reuse,
            generation: AtomicU64::new(0),
        }))))
    }

    /// Makes the value for each run of a thread, when the run begins or resumes, before its first node. An error ends the run. A
    /// value that the launch already has takes precedence.
    ///
    /// Checkpoints never contain managed values, so this makes what a thread needs to resume in another
    /// process.
    ///
    /// ```
    /// use petalflow::BoxError;
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::node::ManagedProvider;
    /// use petalflow::prelude::*;
    ///
    /// struct Client(String);
    ///
    /// #[state]
    /// struct Call {
    ///     reply: String,
    /// }
    ///
    /// #[node(Call)]
    /// async fn call(client: Managed<Client>) -> CallReply {
    ///     CallReply(format!("from {}", client.0))
    /// }
    ///
    /// flow!(CallOnce(Call) { call });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let launch = CallOnce::new()
    ///     .manage_with(ManagedProvider::for_thread(async |cx| Ok::<_, BoxError>(Client(cx.thread().to_string()))));
    /// let outcome = launch.store(&InMemoryStore::new()).thread("ann").run(()).await?;
    /// assert_eq!(outcome.into_finished()?.reply, "from ann");
    /// # Ok(())
    /// # }
    /// ```
    pub fn for_thread<R, E>(make: impl Fn(RestoreContext) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Result<T, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let make = move |cx| -> BoxFuture<'static, _> {
            let made = make(cx);
            Box::pin(async move { made.await.map_err(Into::into) })
        };
        ManagedProvider(Source::ForThread(Arc::new(make)))
    }

    /// Invalidates a computed value: the next node that takes it gets a new one. Other values do not change.
    pub fn invalidate(&self) {
        if let Source::Computed(computed) = &self.0 {
            computed.0.generation.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Adds the value to those of a run.
    pub(crate) fn add_to(self, values: &mut ManagedValues) {
        match self.0 {
            Source::Shared(value) => values.insert(value),
            Source::Computed(computed) => values.provide::<T>(Provided::slot(computed)),
            Source::ForThread(make) => values.make_for_thread(make),
        }
    }
}

/// A provider and the value that it computed last.
struct Provided<T> {
    computed: Computed<T>,
    last: Mutex<Option<Last<T>>>,
}

struct Last<T> {
    value: Arc<T>,
    since: Instant,
    generation: u64,
}

impl<T: Send + Sync + 'static> Provided<T> {
    fn slot(computed: Computed<T>) -> Arc<dyn Provide> {
        Arc::new(Provided {
            computed,
            last: Mutex::new(None),
        })
    }
}

impl<T: Send + Sync + 'static> Provide for Provided<T> {
    fn value(&self) -> Shared {
        let Inner {
            make,
            reuse,
            generation,
        } = &*self.computed.0;
        if *reuse == Reuse::Never {
            return Arc::new(make());
        }
        // Computed under the lock, so that it is computed once. A panic leaves the earlier value in place.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = generation.load(Ordering::SeqCst);
        let is_valid = |last: &&Last<T>| {
            let recent = match reuse {
                Reuse::For(time) => last.since.elapsed() < *time,
                Reuse::Never | Reuse::Run => true,
            };
            recent && last.generation == generation
        };
        if let Some(last) = last.as_ref().filter(is_valid) {
            return Arc::clone(&last.value) as _;
        }
        let value = Arc::new(make());
        *last = Some(Last {
            value: Arc::clone(&value),
            since: Instant::now(),
            generation,
        });
        value
    }

    fn for_run(&self) -> Option<Arc<dyn Provide>> {
        self.is_per_run()
            .then(|| Provided::slot(self.computed.clone()))
    }

    fn is_per_run(&self) -> bool {
        self.computed.0.reuse == Reuse::Run
    }
}
