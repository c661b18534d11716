//! Values that expire, such as tokens: fetched when they are needed, once for all who wait.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use petalflow::BoxError;
use tokio::time::Instant;

/// A value that can expire.
pub(super) trait Expires: Clone + PartialEq + Send + Sync + 'static {
    /// When the next value is fetched. `None`: when a server refuses this one.
    fn renew_at(&self) -> Option<Instant>;
}

type Fetched<T> = Result<T, Arc<BoxError>>;
type Fetch<T> = BoxFuture<'static, Fetched<T>>;

/// The current value of a source, and the fetch of the next one. Clones share both.
#[derive(Clone)]
pub(super) struct Renewing<T: Expires> {
    source: Arc<dyn Fn() -> BoxFuture<'static, Result<T, BoxError>> + Send + Sync>,
    state: Arc<Mutex<State<T>>>,
}

struct State<T: Expires> {
    current: Option<T>,
    /// Dropped with the last of those who wait for it: a fetch that nobody polls would never end.
    pending: Option<WeakShared<Fetch<T>>>,
}

impl<T: Expires> Renewing<T> {
    pub(super) fn new<F, Fut>(source: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, BoxError>> + Send + 'static,
    {
        Renewing {
            source: Arc::new(move || source().boxed()),
            state: Arc::new(Mutex::new(State {
                current: None,
                pending: None,
            })),
        }
    }

    /// The current value, or a new one. All who wait for a fetch get its result, also if it fails.
    pub(super) async fn get(&self) -> Fetched<T> {
        let pending = {
            let mut state = lock(&self.state);
            let is_valid = |value: &&T| value.renew_at().is_none_or(|at| Instant::now() < at);
            if let Some(current) = state.current.as_ref().filter(is_valid) {
                return Ok(current.clone());
            }
            let running = state.pending.as_ref().and_then(WeakShared::upgrade);
            running.unwrap_or_else(|| {
                let pending = self.fetch();
                state.pending = pending.downgrade();
                pending
            })
        };
        pending.await
    }

    fn fetch(&self) -> Shared<Fetch<T>> {
        let (source, state) = (Arc::clone(&self.source), Arc::clone(&self.state));
        let fetch = async move {
            let fetched = source().await.map_err(Arc::new);
            let mut state = lock(&state);
            state.pending = None;
            state.current = fetched.clone().ok();
            fetched
        };
        fetch.boxed().shared()
    }

    /// Forgets a value that a server refused, unless there is another one by now.
    pub(super) fn reject(&self, refused: &T) {
        let mut state = lock(&self.state);
        state.current = state.current.take().filter(|current| current != refused);
    }
}

/// Nothing panics while it holds the lock, except in an allocation.
fn lock<T: Expires>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
