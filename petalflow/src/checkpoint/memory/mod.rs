//! The store of tests and of programs whose threads need not outlive them.

mod block;
mod line;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::{Bound, Range};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use line::Line;

use super::{
    Address, Claim, Store, StoreError, Stored, StoredCheckpoint, StoredWrite, ThreadInfo,
    ThreadQuery,
};
use crate::future::BoxFuture;

/// Keeps checkpoints in memory: they survive a failed or cancelled run, not the process. Clones share what they hold.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// assert_eq!(store.read(Address::root("essay-42"), None).await?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct InMemoryStore(Arc<Mutex<Threads>>);

#[derive(Default)]
struct Threads {
    threads: BTreeMap<String, Lines>,
    owners: HashMap<String, String>,
}

/// The lines of a thread: its own, which nearly all that is asked for is about, and those of flows inside its flow.
#[derive(Default)]
struct Lines {
    root: Line,
    nested: BTreeMap<String, Line>,
}

impl Lines {
    #[inline]
    fn get(&self, namespace: &str) -> Option<&Line> {
        match namespace {
            "" => Some(&self.root),
            nested => self.nested.get(nested),
        }
    }

    #[inline]
    fn get_mut(&mut self, namespace: &str) -> Option<&mut Line> {
        match namespace {
            "" => Some(&mut self.root),
            nested => self.nested.get_mut(nested),
        }
    }

    /// All of them, by namespace.
    #[inline]
    fn all(&self) -> impl Iterator<Item = (&str, &Line)> {
        let nested = self.nested.iter();
        std::iter::once(("", &self.root)).chain(nested.map(|(name, line)| (&**name, line)))
    }
}

impl fmt::Debug for InMemoryStore {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("threads", &self.lock().threads.len())
            .finish()
    }
}

impl InMemoryStore {
    /// A store that holds nothing.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Threads> {
        // No panic can leave it half-changed: each call only inserts or removes.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Threads {
    #[inline]
    fn line(&self, address: Address<'_>) -> Option<&Line> {
        self.threads.get(address.thread)?.get(address.namespace)
    }

    /// The line at an address, which may be new. Names are copied only then.
    #[inline]
    fn line_mut(&mut self, address: Address<'_>) -> &mut Line {
        if self.line(address).is_none() {
            let lines = self.threads.entry(address.thread.into()).or_default();
            if !address.namespace.is_empty() {
                lines
                    .nested
                    .insert(address.namespace.into(), Line::default());
            }
        }
        let lines = self.threads.get_mut(address.thread);
        let Some(line) = lines.and_then(|lines| lines.get_mut(address.namespace)) else {
            unreachable!("it was just put there")
        };
        line
    }
}

/// A future that is ready at once and has no size, so that boxing it allocates nothing.
struct Done;

impl Future for Done {
    type Output = Result<(), StoreError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}

#[async_trait]
impl Store for InMemoryStore {
    // `append` and `write` run at every barrier. They are written as `async_trait` would expand them, except that the box of
    // `Done` allocates nothing.
    #[inline]
    fn append<'life0, 'life1, 'life2, 'async_trait>(
        &'life0 self,
        address: Address<'life1>,
        checkpoint: &'life2 StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> BoxFuture<'async_trait, Result<(), StoreError>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        Self: 'async_trait,
    {
        let mut threads = self.lock();
        let lines = threads.threads.get_mut(address.thread);
        let known = lines.and_then(|lines| lines.get_mut(address.namespace));
        let found = known.as_ref().and_then(|line| line.newest());
        if found != after {
            return Box::pin(std::future::ready(Err(StoreError::Conflict {
                thread: address.thread.into(),
                expected: after,
                found,
            })));
        }
        let line = match known {
            Some(line) => line,
            None => threads.line_mut(address),
        };
        line.append(checkpoint, &settled);
        Box::pin(Done)
    }

    #[inline]
    fn write<'life0, 'life1, 'life2, 'async_trait>(
        &'life0 self,
        address: Address<'life1>,
        seq: u64,
        writes: &'life2 [StoredWrite],
    ) -> BoxFuture<'async_trait, Result<(), StoreError>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        Self: 'async_trait,
    {
        let mut threads = self.lock();
        threads.line_mut(address).write(seq, writes);
        Box::pin(Done)
    }

    #[inline]
    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let threads = self.lock();
        let stored = threads.line(address).and_then(|line| line.read(seq));
        Ok(stored)
    }

    #[inline]
    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let threads = self.lock();
        let line = threads.line(address);
        Ok(line
            .map(|line| line.writes(seqs).collect())
            .unwrap_or_default())
    }

    #[inline]
    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let threads = self.lock();
        let line = threads.line(address);
        let checkpoints = line.map(|line| match before {
            Some(0) => Vec::new(),
            before => {
                let below = 0..=before.map_or(u64::MAX, |before| before - 1);
                line.checkpoints(below).rev().take(limit).collect()
            }
        });
        Ok(checkpoints.unwrap_or_default())
    }

    #[inline]
    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let threads = self.lock();
        let lines = threads.threads.get(thread).into_iter().flat_map(Lines::all);
        let held = lines.filter(|(_, line)| !line.is_empty());
        Ok(held.map(|(namespace, _)| namespace.into()).collect())
    }

    #[inline]
    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let threads = self.lock();
        let from = match query.after {
            Some(after) if after >= query.prefix => Bound::Excluded(after),
            _ => Bound::Included(query.prefix),
        };
        let infos = threads
            .threads
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(id, _)| id.starts_with(query.prefix))
            .filter_map(|(id, lines)| {
                let sizes = lines.all().map(|(_, line)| line.sizes());
                let (checkpoints, bytes, made) = sizes.fold((0, 0, None), |sum, line| {
                    (sum.0 + line.0, sum.1 + line.1, sum.2.max(line.2))
                });
                Some(ThreadInfo {
                    id: id.clone(),
                    checkpoints,
                    bytes,
                    updated_ms: made?,
                })
            })
            .take(query.limit.unwrap_or(usize::MAX))
            .collect();
        Ok(infos)
    }

    #[inline]
    async fn prune(&self, address: Address<'_>, seq: u64) -> Result<(), StoreError> {
        let mut threads = self.lock();
        if threads.line(address).is_some() {
            threads.line_mut(address).prune(seq);
        }
        Ok(())
    }

    #[inline]
    async fn delete(&self, thread: &str) -> Result<(), StoreError> {
        self.lock().threads.remove(thread);
        Ok(())
    }

    #[inline]
    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        let mut threads = self.lock();
        let claim = match threads.owners.get(thread) {
            Some(other) if other != owner => Claim::Busy {
                owner: other.clone(),
            },
            Some(_) => Claim::Granted,
            None => {
                threads.owners.insert(thread.into(), owner.into());
                Claim::Granted
            }
        };
        Ok(claim)
    }

    #[inline]
    fn release(&self, thread: &str, owner: &str) {
        let mut threads = self.lock();
        if threads
            .owners
            .get(thread)
            .is_some_and(|other| other == owner)
        {
            threads.owners.remove(thread);
        }
    }

    #[inline]
    fn needs_checksums(&self) -> bool {
        false
    }
}
