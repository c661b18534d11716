//! Managed values that are computed on use.

use std::any::Any;
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
        ManagedProvider(Arc::clone(&self.0))
    }
}

impl_debug!([T] ManagedProvider<T>, |this| reuse = this.0.reuse);

impl<T: Send + Sync + 'static> ManagedProvider<T> {
    /// Computes a new value each time a node takes it.
    pub fn each_use(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::new(Reuse::Never, make)
    }

    /// Computes one value per run, which its sub-flows share.
    pub fn each_run(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::new(Reuse::Run, make)
    }

    /// Computes a value and reuses it, in all runs, until it is older than `time`.
    pub fn lasting(time: Duration, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self::new(Reuse::For(time), make)
    }

    fn new(reuse: Reuse, make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        ManagedProvider(Arc::new(Inner {
            make: Box::new(make),
            reuse,
            generation: AtomicU64::new(0),
        }))
    }

    /// Invalidates the computed value: the next node that takes it gets a new one.
    pub fn invalidate(&self) {
        self.0.generation.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn is_per_run(&self) -> bool {
        self.0.reuse == Reuse::Run
    }

    pub(super) fn into_slot(self) -> Arc<dyn Provide> {
        Arc::new(Provided {
            provider: self,
            last: Mutex::new(None),
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
    last: Mutex<Option<Computed<T>>>,
}

struct Computed<T> {
    value: Arc<T>,
    since: Instant,
    generation: u64,
}

impl<T: Send + Sync + 'static> Provide for Provided<T> {
    fn value(&self) -> Arc<dyn Any + Send + Sync> {
        let Inner {
            make,
            reuse,
            generation,
        } = &*self.provider.0;
        if *reuse == Reuse::Never {
            return Arc::new(make());
        }
        // Computed under the lock, so that it is computed once. A panic leaves the earlier value in place.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = generation.load(Ordering::SeqCst);
        let is_valid = |last: &&Computed<T>| {
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
        *last = Some(Computed {
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
