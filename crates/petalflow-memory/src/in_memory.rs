//! A memory backend in the process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::entry::{check, expiry};
use super::{Cursor, Entry, MemoryBackend, MemoryError, Namespace, Page, Query};
use crate::entry::now_ms;
use petalflow::async_trait;

/// A backend that stores entries in the process. Clones share them.
///
/// ```
/// use petalflow_memory::{InMemory, Memory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let kept = InMemory::new();
/// Memory::new(kept.clone()).put("ann", "a gardener").await?;
/// assert_eq!(Memory::new(kept).get("ann").await?.unwrap().value, "a gardener");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct InMemory(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    entries: BTreeMap<Cursor, Entry>,
    /// The expiry times, earliest first, of exactly the entries that have one.
    mortal: BTreeSet<(u64, Cursor)>,
}

impl fmt::Debug for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemory").finish_non_exhaustive()
    }
}

impl InMemory {
    /// Creates an empty backend.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks the entries and removes expired ones.
    fn now(&self, now_ms: u64) -> MutexGuard<'_, Kept> {
        // Each change is complete before anything can panic.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((at, place)) = kept.mortal.pop_first() {
            if at > now_ms {
                kept.mortal.insert((at, place));
                break;
            }
            kept.entries.remove(&place);
        }
        kept
    }
}

impl Kept {
    fn remove(&mut self, place: &Cursor) -> Option<Entry> {
        let entry = self.entries.remove(place)?;
        if let Some(at) = entry.expires_ms {
            self.mortal.remove(&(at, place.clone()));
        }
        Some(entry)
    }
}

fn place(namespace: &Namespace, key: &str) -> Cursor {
    Cursor {
        namespace: namespace.clone(),
        key: key.into(),
    }
}

#[async_trait]
impl MemoryBackend for InMemory {
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError> {
        let kept = self.now(now_ms());
        Ok(kept.entries.get(&place(namespace, key)).cloned())
    }

    async fn put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Value,
        ttl: Option<Duration>,
    ) -> Result<(), MemoryError> {
        check(&value)?;
        let now = now_ms();
        let place = place(namespace, key);
        let mut kept = self.now(now);
        let created_ms = kept.remove(&place).map_or(now, |entry| entry.created_ms);
        let entry = Entry {
            namespace: namespace.clone(),
            key: key.into(),
            value,
            created_ms,
            updated_ms: now,
            expires_ms: expiry(now, ttl),
        };
        if let Some(at) = entry.expires_ms {
            kept.mortal.insert((at, place.clone()));
        }
        kept.entries.insert(place, entry);
        Ok(())
    }

    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError> {
        let mut kept = self.now(now_ms());
        Ok(kept.remove(&place(namespace, key)).is_some())
    }

    async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        let kept = self.now(now_ms());
        let first = place(&query.prefix, "");
        let from = match &query.after {
            Some(after) if *after >= first => Bound::Excluded(after),
            _ => Bound::Included(&first),
        };
        // Entries under a prefix are adjacent and start at the prefix. Only entries that match are cloned.
        let under = kept
            .entries
            .range((from, Bound::Unbounded))
            .take_while(|(place, _)| place.namespace.starts_with(&query.prefix))
            .filter(|(_, entry)| query.matches(entry));
        Page::collect(&query, under.map(|(_, entry)| Ok(entry.clone())))
    }
}
