//! The trait `CacheStore`, with which a cache node stores its entries, and a store in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::Changes;
use petalflow::{BoxError, async_trait};

/// An entry of a cache.
///
/// ```
/// use petalflow_documents::Changes;
/// use petalflow_documents::kinds::{CacheEntry, CacheStore, MemoryCacheStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let entry = CacheEntry { changes: Changes::new().var("n", 7), stored_ms: 0, expires_ms: None };
/// let store = MemoryCacheStore::new();
/// store.set("measure:petal", entry.clone()).await?;
/// assert_eq!(store.get("measure:petal").await?, Some(entry));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// The changes of the node.
    pub changes: Changes,
    /// When it was stored, in milliseconds since 1970 (UTC).
    pub stored_ms: u64,
    /// When it expires, in milliseconds since 1970 (UTC).
    pub expires_ms: Option<u64>,
}

/// Where a [`CacheNode`](super::CacheNode) stores its entries.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_documents::kinds::{CacheEntry, CacheStore};
///
/// struct Nowhere;
///
/// #[async_trait]
/// impl CacheStore for Nowhere {
///     async fn get(&self, _: &str) -> Result<Option<CacheEntry>, BoxError> {
///         Ok(None)
///     }
///
///     async fn set(&self, _: &str, _: CacheEntry) -> Result<(), BoxError> {
///         Ok(())
///     }
/// }
/// # let _ = Nowhere;
/// ```
#[async_trait]
pub trait CacheStore: Send + Sync + 'static {
    /// Returns the entry with this key, unless it is expired.
    ///
    /// # Errors
    ///
    /// If the store cannot be read. The node then fails.
    async fn get(&self, key: &str) -> Result<Option<CacheEntry>, BoxError>;

    /// Stores an entry.
    ///
    /// # Errors
    ///
    /// If the store cannot be written. The node then fails.
    async fn set(&self, key: &str, entry: CacheEntry) -> Result<(), BoxError>;
}

#[async_trait]
impl<S: CacheStore + ?Sized> CacheStore for Arc<S> {
    async fn get(&self, key: &str) -> Result<Option<CacheEntry>, BoxError> {
        (**self).get(key).await
    }

    async fn set(&self, key: &str, entry: CacheEntry) -> Result<(), BoxError> {
        (**self).set(key, entry).await
    }
}

/// A [`CacheStore`] in memory. Clones share it. Its clock is that of tokio, so that tests can pause it.
///
/// ```
/// use petalflow_documents::kinds::MemoryCacheStore;
///
/// assert_eq!(MemoryCacheStore::new().size(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryCacheStore(Arc<Mutex<BTreeMap<String, Stored>>>);

#[derive(Debug)]
struct Stored {
    entry: CacheEntry,
    /// `None` if it never expires.
    expires: Option<Instant>,
}

impl Stored {
    fn is_expired(&self) -> bool {
        self.expires
            .is_some_and(|expires| Instant::now() >= expires)
    }
}

impl MemoryCacheStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Stored>> {
        // No code that can panic runs while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of entries. Expired ones count until they are removed.
    pub fn size(&self) -> usize {
        self.entries().len()
    }

    /// The keys, sorted.
    ///
    /// ```
    /// use petalflow_documents::kinds::MemoryCacheStore;
    ///
    /// assert!(MemoryCacheStore::new().keys().is_empty());
    /// ```
    pub fn keys(&self) -> Vec<String> {
        self.entries().keys().cloned().collect()
    }

    /// Removes all entries.
    ///
    /// ```
    /// use petalflow_documents::kinds::MemoryCacheStore;
    ///
    /// MemoryCacheStore::new().clear();
    /// ```
    pub fn clear(&self) {
        self.entries().clear();
    }

    /// Removes the expired entries, and returns how many.
    ///
    /// ```
    /// use petalflow_documents::kinds::MemoryCacheStore;
    ///
    /// assert_eq!(MemoryCacheStore::new().prune(), 0);
    /// ```
    pub fn prune(&self) -> usize {
        let mut entries = self.entries();
        let before = entries.len();
        entries.retain(|_, stored| !stored.is_expired());
        before - entries.len()
    }
}

#[async_trait]
impl CacheStore for MemoryCacheStore {
    async fn get(&self, key: &str) -> Result<Option<CacheEntry>, BoxError> {
        let mut entries = self.entries();
        if entries.get(key).is_some_and(Stored::is_expired) {
            entries.remove(key);
        }
        Ok(entries.get(key).map(|stored| stored.entry.clone()))
    }

    async fn set(&self, key: &str, entry: CacheEntry) -> Result<(), BoxError> {
        let ttl = entry.expires_ms.map(|expires| {
            std::time::Duration::from_millis(expires.saturating_sub(entry.stored_ms))
        });
        let expires = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        self.entries().insert(key.into(), Stored { entry, expires });
        Ok(())
    }
}
