//! Caches for results of nodes.
//!
//! A node sets how long its results are valid, and a launch sets where they are stored. The next task of that node, in
//! this run or in another, that reads the same values and gets the same item takes the stored result instead of
//! running: its writes, its route and its deliveries.
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
//! The cache key consists of the flow, the node, the item and the values of the keys that the node reads; all keys for
//! a node that takes the whole state, a closure, or a sub-flow. Other dependencies (managed values, the value of a node
//! value, the clock) are not part of it, so launches that differ in those need separate caches. Only successful results
//! are stored, and none for which a person has answered a question of the node: the answer is for its thread alone. A node with
//! a cached result does not run: no middleware and no events of it, only a
//! [`NodeFinished`](crate::event::EventKind::NodeFinished) with `cached: true`. A sub-flow that keeps its state cannot be
//! cached.
//!
//! Without a cache, the node runs. It also runs if a value that it reads, writes or gets cannot be stored, such as an
//! `untracked` key. The maps of the standard library have no defined order: read a `BTreeMap` instead of a `HashMap`,
//! or an equal map may not be found.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

/// A cache for results of nodes. A cache never fails a run: on an error of its own, it returns no value.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a cache",
    label = "not a cache",
    note = "`petalflow::cache::InMemoryCache` is one; implement `petalflow::cache::Cache` for a type of your own"
)]
#[async_trait]
pub trait Cache: Send + Sync + 'static {
    /// The value stored under this key, if it is still valid. Keys can be long; they contain the values that were read.
    async fn get(&self, key: &[u8]) -> Option<Vec<u8>>;

    /// Stores a value under a key for `ttl`. The cache may remove it earlier.
    async fn put(&self, key: &[u8], value: Vec<u8>, ttl: Duration);
}

/// A cache in memory. Clones share the values.
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
    fn is_valid(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Default for InMemoryCache {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(InMemoryCache, |this| limit = this.limit);

impl InMemoryCache {
    /// A cache of at most 1,024 results.
    pub fn new() -> Self {
        Self::with_limit(1024)
    }

    /// A cache of at most this many results. If it is full, the result that expires first is removed.
    pub fn with_limit(results: usize) -> Self {
        InMemoryCache {
            entries: Arc::default(),
            limit: results,
        }
    }

    /// Removes all values.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u8>, Entry>> {
        // Nothing that can panic happens under the lock.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Cache for InMemoryCache {
    async fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut entries = self.lock();
        let entry = entries.get(key)?;
        if entry.is_valid(Instant::now()) {
            return Some(entry.value.clone());
        }
        entries.remove(key);
        None
    }

    async fn put(&self, key: &[u8], value: Vec<u8>, ttl: Duration) {
        let now = Instant::now();
        let until = now.checked_add(ttl);
        let mut entries = self.lock();
        if entries.len() >= self.limit && !entries.contains_key(key) {
            entries.retain(|_, entry| entry.is_valid(now));
            if entries.len() >= self.limit {
                // A result without expiry is removed last.
                let first = entries
                    .iter()
                    .min_by_key(|(_, entry)| (entry.until.is_none(), entry.until));
                if let Some(first) = first.map(|(key, _)| key.clone()) {
                    entries.remove(&first);
                }
            }
        }
        if self.limit > 0 {
            entries.insert(key.to_vec(), Entry { value, until });
        }
    }
}

/// The cache of a run, provided as a managed value, and so also to its sub-flows.
pub(crate) struct RunCache(pub(crate) Arc<dyn Cache>);
