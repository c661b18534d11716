//! Managed values that are computed on use.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A managed value that is computed when a node takes it, and then reused for a time: passed to
/// [`manage_with`](crate::Launch::manage_with). Clones share the provider.
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
pub struct ManagedProvider<T>(Arc<Inner<T>>);

struct Inner<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    stands: Stands,
    /// Incremented when earlier values become invalid.
    generation: AtomicU64,
}

/// How long a computed value is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    Use,
    Run,
    For(Duration),
}

impl<T> Clone for ManagedProvider<T> {
    fn clone(&self) -> Self {
        ManagedProvider(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for ManagedProvider<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedProvider")
            .field("stands", &self.0.stands)
            .finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> ManagedProvider<T> {
    /// Computes a new value each time a node takes it.
    pub fn each_use(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::new(Stands::Use, make)
    }

    /// Computes one value per run, which its sub-flows share.
    pub fn each_run(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::new(Stands::Run, make)
    }

    /// Computes a value and reuses it, in all runs, until it is older than `time`.
    pub fn lasting(time: Duration, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::new(Stands::For(time), make)
    }

    fn new(stands: Stands, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        ManagedProvider(Arc::new(Inner {
            make: Box::new(make),
            stands,
            generation: AtomicU64::new(0),
        }))
    }

    /// Invalidates the computed value: the next node that takes it gets a new one.
    pub fn invalidate(&self) {
        self.0.generation.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn is_per_run(&self) -> bool {
        self.0.stands == Stands::Run
    }

    pub(super) fn into_slot(self) -> Arc<dyn Provide> {
        Arc::new(Provided {
            provider: self,
            known: Mutex::new(None),
        })
    }
}

/// A provider without its type parameter.
pub(super) trait Provide: Send + Sync {
    fn value(&self) -> Arc<dyn Any + Send + Sync>;

    /// A provider for one run, if values are per run.
    fn for_run(&self) -> Option<Arc<dyn Provide>>;
}

/// A provider and the value that it computed last.
struct Provided<T> {
    provider: ManagedProvider<T>,
    known: Mutex<Option<Known<T>>>,
}

struct Known<T> {
    value: Arc<T>,
    since: Instant,
    generation: u64,
}

impl<T: Send + Sync + 'static> Provide for Provided<T> {
    fn value(&self) -> Arc<dyn Any + Send + Sync> {
        let Inner {
            make,
            stands,
            generation,
        } = &*self.provider.0;
        if *stands == Stands::Use {
            return Arc::new(make());
        }
        // Computed under the lock, so that it is computed once. A panic leaves the earlier value in place.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = generation.load(Ordering::SeqCst);
        let stands = |known: &&Known<T>| {
            let young = match stands {
                Stands::For(time) => known.since.elapsed() < *time,
                Stands::Use | Stands::Run => true,
            };
            young && known.generation == generation
        };
        if let Some(known) = known.as_ref().filter(stands) {
            return Arc::clone(&known.value) as _;
        }
        let value = Arc::new(make());
        *known = Some(Known {
            value: Arc::clone(&value),
            since: Instant::now(),
            generation,
        });
        value
    }

    fn for_run(&self) -> Option<Arc<dyn Provide>> {
        let own = self.provider.is_per_run();
        own.then(|| self.provider.clone().into_slot())
    }
}
