//! A store in memory, for tests and for threads that end with the process.

mod block;
mod clock;
mod history;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::{Bound, Range};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use clock::Clock;
use history::AddressHistory;

use super::{
    Address, Attribute, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus,
};
use crate::BoxFuture;

/// Stores checkpoints in memory. They survive a failed or cancelled run, but not the process. Clones share the contents.
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
///
/// Its [clock](Store::now_ms) goes on with that of tokio. So a test with paused time skips days.
#[derive(Clone, Default)]
pub struct InMemoryStore(Arc<Mutex<Threads>>, Clock);

#[derive(Default)]
struct Threads {
    /// Also those of which nothing is stored but a claim.
    threads: BTreeMap<String, ThreadHistories>,
    /// How many threads were deleted.
    deleted: u64,
}

/// The checkpoints of a thread, by namespace. Nearly all calls are about the root.
#[derive(Default)]
struct ThreadHistories {
    root: AddressHistory,
    nested: BTreeMap<String, AddressHistory>,
    description: Option<Box<Description>>,
    /// When the first checkpoint was created. It may have been pruned.
    created_ms: Option<u64>,
    /// The owner of the claim. It is here because each write of a run compares it.
    owner: Option<String>,
}

/// The description of a thread: status, flow, labels and times.
#[derive(Default)]
struct Description {
    flow: String,
    status: ThreadStatus,
    due_ms: Option<u64>,
    /// The newest checkpoint when the status was set.
    at: Option<u64>,
    labels: BTreeMap<String, String>,
    attributes: BTreeMap<String, Attribute>,
}

impl ThreadHistories {
    fn get(&self, namespace: &str) -> Option<&AddressHistory> {
        match namespace {
            "" => Some(&self.root),
            nested => self.nested.get(nested),
        }
    }

    fn get_mut(&mut self, namespace: &str) -> Option<&mut AddressHistory> {
        match namespace {
            "" => Some(&mut self.root),
            nested => self.nested.get_mut(nested),
        }
    }

    /// Whether nothing is stored of the thread except for its claim.
    fn is_empty(&self) -> bool {
        self.description.is_none() && self.all().all(|(_, history)| history.is_empty())
    }

    /// All histories, by namespace.
    fn all(&self) -> impl Iterator<Item = (&str, &AddressHistory)> {
        let nested = self.nested.iter();
        std::iter::once(("", &self.root)).chain(nested.map(|(name, history)| (&**name, history)))
    }

    /// Sets the status. It holds until the next checkpoint of the root.
    fn set_status(&mut self, flow: &str, status: ThreadStatus, due_ms: Option<u64>) {
        let description = self.description.get_or_insert_default();
        description.flow = flow.into();
        description.status = status;
        description.due_ms = due_ms;
        description.at = self.root.newest();
    }

    /// What is listed of the thread. `None` if it has no checkpoint.
    fn info(&self, id: &str) -> Option<ThreadInfo> {
        let (mut checkpoints, mut bytes, mut newest) = (0, 0, None);
        for (_, history) in self.all() {
            let (count, size, updated) = history.sizes();
            checkpoints += count;
            bytes += size;
            newest = newest.max(updated);
        }
        let updated_ms = newest?;
        let unset = Description::default();
        let set = self.description.as_deref().unwrap_or(&unset);
        let holds = set.at == self.root.newest();
        Some(ThreadInfo {
            id: id.into(),
            checkpoints,
            bytes,
            created_ms: self.created_ms.unwrap_or(updated_ms),
            updated_ms,
            flow: set.flow.clone(),
            status: if holds {
                set.status
            } else {
                ThreadStatus::Running
            },
            due_ms: set.due_ms.filter(|_| holds),
            labels: set.labels.clone(),
            attributes: set.attributes.clone(),
            damage: None,
        })
    }
}

impl fmt::Debug for InMemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryStore")
            .field("threads", &self.lock().threads.len())
            .finish()
    }
}

impl InMemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        // No panic leaves it inconsistent: each call only inserts or removes.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a call of this owner may write to the thread.
fn is_claimed(thread: Option<&ThreadHistories>, owner: Option<&str>) -> bool {
    owner.is_none() || thread.is_some_and(|thread| thread.owner.as_deref() == owner)
}

fn claim_lost(thread: &str) -> StoreError {
    StoreError::ClaimLost {
        thread: thread.into(),
    }
}

impl Threads {
    fn check_claim(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        if is_claimed(self.threads.get(thread), owner) {
            Ok(())
        } else {
            Err(claim_lost(thread))
        }
    }

    /// Removes what is stored of a thread. Its claim remains.
    fn delete(&mut self, thread: &str) {
        let Some(histories) = self.threads.get_mut(thread) else {
            return;
        };
        let holds_something = histories.all().any(|(_, history)| !history.is_empty());
        self.deleted += u64::from(holds_something);
        *histories = ThreadHistories {
            owner: histories.owner.take(),
            ..ThreadHistories::default()
        };
        self.remove_unused(thread);
    }

    /// Removes a thread of which nothing is stored, not even a claim.
    fn remove_unused(&mut self, thread: &str) {
        let used = |it: &ThreadHistories| it.owner.is_some() || !it.is_empty();
        if !self.threads.get(thread).is_some_and(used) {
            self.threads.remove(thread);
        }
    }

    fn history(&self, address: Address<'_>) -> Option<&AddressHistory> {
        self.threads.get(address.thread)?.get(address.namespace)
    }

    /// Fails if one of the changes appends after another number than the newest.
    fn check_appends(&self, thread: &str, changes: &[StoreChange]) -> Result<(), StoreError> {
        let mut appended: HashMap<&str, u64> = HashMap::new();
        for change in changes {
            let StoreChange::Append {
                namespace,
                checkpoint,
                after,
                ..
            } = change
            else {
                continue;
            };
            let stored = || self.history(Address { thread, namespace })?.newest();
            let found = appended.get(&**namespace).copied().or_else(stored);
            if found != *after {
                return Err(StoreError::Conflict {
                    thread: thread.into(),
                    expected: *after,
                    found,
                });
            }
            appended.insert(namespace, checkpoint.seq);
        }
        Ok(())
    }

    /// The history at an address that gets this checkpoint.
    fn begin_or_continue(
        &mut self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
    ) -> &mut AddressHistory {
        let newest = self.history(address).and_then(AddressHistory::newest);
        match newest {
            Some(_) => self.history_mut(address),
            None => self.begin(address, checkpoint.created_ms),
        }
    }

    /// The history at an address that gets its first checkpoint at this time.
    fn begin(&mut self, address: Address<'_>, created_ms: u64) -> &mut AddressHistory {
        let histories = self.threads.entry(address.thread.into()).or_default();
        let first = histories.created_ms.get_or_insert(created_ms);
        *first = created_ms.min(*first);
        self.history_mut(address)
    }

    /// The history at an address. If it is new, it is added, and only then are the names copied.
    fn history_mut(&mut self, address: Address<'_>) -> &mut AddressHistory {
        if self.history(address).is_none() {
            let histories = self.threads.entry(address.thread.into()).or_default();
            if !address.namespace.is_empty() {
                histories
                    .nested
                    .insert(address.namespace.into(), AddressHistory::default());
            }
        }
        let histories = self.threads.get_mut(address.thread);
        let Some(history) = histories.and_then(|histories| histories.get_mut(address.namespace))
        else {
            unreachable!("it was just added")
        };
        history
    }
}

/// A future that is ready at once. It has no size, so boxing it allocates nothing.
struct Done;

impl Future for Done {
    type Output = Result<(), StoreError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl Store for InMemoryStore {
    // `append` and `write` run at every barrier. They are written as `async_trait` would expand them, except that the box of
    // `Done` allocates nothing.
    fn append<'life0, 'life1, 'life2, 'life3, 'async_trait>(
        &'life0 self,
        address: Address<'life1>,
        checkpoint: &'life2 StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&'life3 str>,
    ) -> BoxFuture<'async_trait, Result<(), StoreError>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        Self: 'async_trait,
    {
        let mut threads = self.lock();
        let histories = threads.threads.get_mut(address.thread);
        if !is_claimed(histories.as_deref(), owner) {
            return Box::pin(std::future::ready(Err(claim_lost(address.thread))));
        }
        let known = histories.and_then(|histories| histories.get_mut(address.namespace));
        let found = known.as_ref().and_then(|history| history.newest());
        if found != after {
            return Box::pin(std::future::ready(Err(StoreError::Conflict {
                thread: address.thread.into(),
                expected: after,
                found,
            })));
        }
        let history = match known {
            Some(history) if found.is_some() => history,
            _ => threads.begin(address, checkpoint.created_ms),
        };
        history.append(checkpoint, &settled);
        Box::pin(Done)
    }

    fn write<'life0, 'life1, 'life2, 'life3, 'async_trait>(
        &'life0 self,
        address: Address<'life1>,
        seq: u64,
        writes: &'life2 [StoredWrite],
        owner: Option<&'life3 str>,
    ) -> BoxFuture<'async_trait, Result<(), StoreError>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        Self: 'async_trait,
    {
        let mut threads = self.lock();
        if let Err(error) = threads.check_claim(address.thread, owner) {
            return Box::pin(std::future::ready(Err(error)));
        }
        threads.history_mut(address).write(seq, writes);
        Box::pin(Done)
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        threads.check_claim(thread, owner)?;
        // Checked before anything changes.
        threads.check_appends(thread, changes)?;
        for change in changes {
            let address = |namespace| Address { thread, namespace };
            match change {
                StoreChange::Append {
                    namespace,
                    checkpoint,
                    settled,
                    ..
                } => {
                    let history = threads.begin_or_continue(address(namespace), checkpoint);
                    history.append(checkpoint, settled);
                }
                StoreChange::Write {
                    namespace,
                    seq,
                    writes,
                } => threads.history_mut(address(namespace)).write(*seq, writes),
                StoreChange::Status {
                    flow,
                    status,
                    due_ms,
                } => {
                    let histories = threads.threads.entry(thread.into()).or_default();
                    histories.set_status(flow, *status, *due_ms);
                }
                StoreChange::Attributes(attributes) => {
                    let histories = threads.threads.entry(thread.into()).or_default();
                    let description = histories.description.get_or_insert_default();
                    description.attributes.clone_from(attributes);
                }
            }
        }
        Ok(())
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let threads = self.lock();
        let stored = threads
            .history(address)
            .and_then(|history| history.read(seq));
        Ok(stored)
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let threads = self.lock();
        let history = threads.history(address);
        Ok(history
            .map(|history| history.writes(seqs).collect())
            .unwrap_or_default())
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let threads = self.lock();
        let history = threads.history(address);
        let checkpoints = history.map(|history| match before {
            Some(0) => Vec::new(),
            before => {
                let below = 0..=before.map_or(u64::MAX, |before| before - 1);
                history.checkpoints(below).rev().take(limit).collect()
            }
        });
        Ok(checkpoints.unwrap_or_default())
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let threads = self.lock();
        let histories = threads
            .threads
            .get(thread)
            .into_iter()
            .flat_map(ThreadHistories::all);
        let held = histories.filter(|(_, history)| !history.is_empty());
        Ok(held.map(|(namespace, _)| namespace.into()).collect())
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let threads = self.lock();
        let by_id = query.order == ThreadOrder::Id;
        let from = match query.after.filter(|_| by_id) {
            Some(after) if after >= query.prefix => Bound::Excluded(after),
            _ => Bound::Included(query.prefix),
        };
        let infos = threads
            .threads
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(id, _)| id.starts_with(query.prefix))
            .filter_map(|(id, histories)| histories.info(id))
            .filter(|info| query.covers(info))
            .take(query.limit.filter(|_| by_id).unwrap_or(usize::MAX))
            .collect();
        let infos = if by_id { infos } else { query.page(infos) };
        Ok(infos)
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        threads.check_claim(thread, owner)?;
        let histories = threads.threads.entry(thread.into()).or_default();
        match change {
            ThreadChange::Status {
                flow,
                status,
                due_ms,
            } => histories.set_status(flow, status, due_ms),
            ThreadChange::Labels(labels) => {
                let description = histories.description.get_or_insert_default();
                description.labels.clone_from(labels);
            }
        }
        Ok(())
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        threads.check_claim(address.thread, owner)?;
        if threads.history(address).is_some() {
            threads.history_mut(address).prune(seq, writes);
            if let Some(histories) = threads.threads.get_mut(address.thread)
                && !histories
                    .all()
                    .any(|(_, history)| history.has_checkpoints())
            {
                histories.created_ms = None;
            }
        }
        Ok(())
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.delete_many(&[thread], owner).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let mut stored = self.lock();
        let mut lost = Ok(());
        for thread in threads {
            match stored.check_claim(thread, owner) {
                Ok(()) => stored.delete(thread),
                refused => lost = refused,
            }
        }
        lost
    }

    async fn now_ms(&self) -> Result<u64, StoreError> {
        Ok(self.1.now_ms())
    }

    async fn incarnation(&self, _: &str) -> Result<u64, StoreError> {
        Ok(self.lock().deleted)
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        let mut threads = self.lock();
        let claimed = &mut threads.threads.entry(thread.into()).or_default().owner;
        Ok(match claimed {
            Some(other) if other != owner => Claim::Busy {
                owner: other.clone(),
            },
            Some(_) => Claim::Granted,
            None => {
                *claimed = Some(owner.into());
                Claim::Granted
            }
        })
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        Ok(self.lock().check_claim(thread, Some(owner)).is_ok())
    }

    fn release(&self, thread: &str, owner: &str) {
        let mut threads = self.lock();
        if threads.check_claim(thread, Some(owner)).is_ok()
            && let Some(histories) = threads.threads.get_mut(thread)
        {
            histories.owner = None;
            threads.remove_unused(thread);
        }
    }

    fn needs_checksums(&self) -> bool {
        false
    }

    fn is_shared(&self) -> bool {
        false
    }
}
