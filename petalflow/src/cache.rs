//! Caches: results of nodes that need not run again.
//!
//! A node says how long a result stands, and a launch where results are kept. The next task of that node, in this run or in
//! another, that reads the same values and is given the same item then takes the result instead of running: what it wrote,
//! which route it chose, what it sent.
//!
//! ```
//! use petalflow::cache::InMemoryCache;
//! use petalflow::prelude::*;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static FETCHED: AtomicU32 = AtomicU32::new(0);
//!
//! #[state]
//! struct Page {
//!     #[key(input)]
//!     url: String,
//!     text: String,
//! }
//!
//! #[node(Page, cache = 1h)]
//! async fn fetch(url: &str) -> PageText {
//!     FETCHED.fetch_add(1, Ordering::SeqCst);
//!     PageText(format!("the text at {url}"))
//! }
//!
//! flow!(Read(Page) { fetch });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let launch = Read::new().cache(&InMemoryCache::new());
//! for url in ["petals.example", "petals.example", "leaves.example"] {
//!     launch.clone().run(url.to_string()).await?;
//! }
//! assert_eq!(FETCHED.load(Ordering::SeqCst), 2);
//! # Ok(())
//! # }
//! ```
//!
//! A result is found by flow, node, item and the values of the keys that the node reads; of all keys for a node that takes the
//! whole state, a closure, or a flow inside another. What else it depends on (managed values, the value of a node value, the
//! clock) is not looked at, so launches that differ in those need caches of their own. Only what succeeded is kept. A cached
//! node is not run: its middleware, its events and its questions do not happen, and its result is told as
//! [`NodeFinished`](crate::event::EventKind::NodeFinished) with `cached: true`.
//!
//! Without a cache the node simply runs. So it does where something it reads, writes or is given cannot be stored, as an
//! `untracked` key. Maps of the standard library have no order of their own: read a `BTreeMap` rather than a `HashMap`, of
//! which an equal one may not be found.

// `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. Few programs have a cache.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

/// Keeps results of nodes. A cache never fails a run: what it cannot say it does not know.
///
/// ```
/// use petalflow::async_trait;
/// use petalflow::cache::Cache;
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// /// Stores every result and never removes one.
/// #[derive(Default)]
/// struct Archive(Mutex<HashMap<Vec<u8>, Vec<u8>>>);
///
/// #[async_trait]
/// impl Cache for Archive {
///     async fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
///         self.0.lock().unwrap().get(key).cloned()
///     }
///
///     async fn put(&self, key: &[u8], value: Vec<u8>, _: Duration) {
///         self.0.lock().unwrap().insert(key.into(), value);
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let archive = Archive::default();
/// # archive.put(b"key", vec![1], Duration::ZERO).await;
/// # assert_eq!(archive.get(b"key").await, Some(vec![1]));
/// # }
/// ```
#[async_trait]
pub trait Cache: Send + Sync + 'static {
    /// The value that was put under this key, if it still stands. Keys may be long; they hold the values that were read.
    async fn get(&self, key: &[u8]) -> Option<Vec<u8>>;

    /// Puts a value under a key, for as long as it lasts; the cache may forget it before.
    async fn put(&self, key: &[u8], value: Vec<u8>, lasts: Duration);
}

/// Keeps results in memory. Clones share what they hold.
///
/// ```
/// use petalflow::cache::{Cache, InMemoryCache};
/// use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let cache = InMemoryCache::new();
/// cache.put(b"key", vec![1], Duration::from_secs(60)).await;
/// assert_eq!(cache.clone().get(b"key").await, Some(vec![1]));
/// assert_eq!(cache.get(b"other").await, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct InMemoryCache {
    entries: Arc<Mutex<HashMap<Vec<u8>, Entry>>>,
    limit: usize,
}

struct Entry {
    value: Vec<u8>,
    until: Option<Instant>,
}

impl Entry {
    #[inline]
    fn stands(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Default for InMemoryCache {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for InMemoryCache {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryCache")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl InMemoryCache {
    /// A cache of at most 1,024 results.
    #[inline]
    pub fn new() -> Self {
        Self::with_limit(1024)
    }

    /// A cache of at most so many results. Where it is full, the one that expires first makes room.
    #[inline]
    pub fn with_limit(results: usize) -> Self {
        InMemoryCache {
            entries: Arc::default(),
            limit: results,
        }
    }

    /// Forgets everything.
    #[inline]
    pub fn clear(&self) {
        self.lock().clear();
    }

    #[inline]
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u8>, Entry>> {
        // Nothing that can panic happens under the lock.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Cache for InMemoryCache {
    #[inline]
    async fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let now = Instant::now();
        let mut entries = self.lock();
        let stands = entries.get(key).map(|entry| entry.stands(now));

        match stands {
            Some(true) => entries.get(key).map(|entry| entry.value.clone()),
            Some(false) => {
                entries.remove(key);
                None
            }
            None => None,
        }
    }

    #[inline]
    async fn put(&self, key: &[u8], value: Vec<u8>, lasts: Duration) {
        let now = Instant::now();
        let until = now.checked_add(lasts);
        let mut entries = self.lock();
        if entries.len() >= self.limit && !entries.contains_key(key) {
            entries.retain(|_, entry| entry.stands(now));
            if entries.len() >= self.limit {
                // One without an end is the last to go.
                let first = entries
                    .iter()
                    .min_by_key(|(_, entry)| (entry.until.is_none(), entry.until));
                let first = first.map(|(key, _)| key.clone());
                first.and_then(|first| entries.remove(&first));
            }
        }
        if self.limit > 0 {
            entries.insert(key.to_vec(), Entry { value, until });
        }
    }
}

/// The cache of a run: lent to it as a managed value is, and so to the flows inside it.
pub(crate) struct RunCache(pub(crate) Arc<dyn Cache>);
