//! A store over the store in memory, of which one method is wrong.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};
use tokio::time::sleep;

use super::flaw::Flaw::{self, *};

/// How many of everything a store with pages has in one.
const PAGE: usize = 100;

/// The most bytes of a value of a store that has a limit.
const LARGEST: usize = 8 * 1024 * 1024;

/// A store with a flaw. Clones share their data.
#[derive(Clone)]
pub(super) struct FlawedStore {
    flaw: Flaw,
    store: InMemoryStore,
    /// What the flaw counts: calls, or checkpoints.
    count: Arc<AtomicU64>,
    is_busy: Arc<AtomicBool>,
    /// What the flaw remembers of each thread.
    known: Arc<Mutex<HashMap<String, ThreadInfo>>>,
}

fn claim_lost(thread: &str) -> StoreError {
    StoreError::ClaimLost {
        thread: thread.into(),
    }
}

impl FlawedStore {
    pub(super) fn new(flaw: Flaw) -> Self {
        FlawedStore {
            flaw,
            store: InMemoryStore::new(),
            count: Arc::default(),
            is_busy: Arc::default(),
            known: Arc::default(),
        }
    }

    fn is(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, ThreadInfo>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn owner_of(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let claim = self.store.claim(thread, "\u{1}probe").await?;
        self.store.release(thread, "\u{1}probe");
        Ok(match claim {
            Claim::Granted => None,
            Claim::Busy { owner } => Some(owner),
        })
    }

    /// The owner that the inner store checks, after the flaws of fences in general.
    async fn fence<'a>(
        &self,
        thread: &str,
        owner: Option<&'a str>,
        unfenced: Flaw,
    ) -> Result<Option<&'a str>, StoreError> {
        let free = match self.flaw {
            flaw if flaw == unfenced || flaw == NothingIsFenced => true,
            FreeThreadsAreNotFenced => self.owner_of(thread).await?.is_none(),
            AnyClaimIsEnough => self.owner_of(thread).await?.is_some(),
            UnclaimedIsRefused if owner.is_none() => {
                if self.owner_of(thread).await?.is_some() {
                    return Err(claim_lost(thread));
                }
                false
            }
            FenceChecksThenActs => {
                if let Some(owner) = owner
                    && !self.store.confirm(thread, owner).await?
                {
                    return Err(claim_lost(thread));
                }
                if unfenced == WriteIsNotFenced {
                    // Cannot be dropped here, as in a thread of its own. Longer than another owner takes on a busy machine.
                    std::thread::sleep(Duration::from_millis(5));
                }
                true
            }
            _ => false,
        };
        Ok(owner.filter(|_| !free))
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
        super::listed(&self.store, thread).await
    }

    async fn namespaces_with_prefix(
        &self,
        address: Address<'_>,
    ) -> Result<Vec<String>, StoreError> {
        let mut namespaces = self.store.namespaces(address.thread).await?;
        namespaces.retain(|namespace| namespace.starts_with(address.namespace));
        Ok(namespaces)
    }

    /// The numbers of the first writes beside a range, as far as one page goes.
    async fn page_of_writes(
        &self,
        address: Address<'_>,
        range: Range<u64>,
    ) -> Result<u64, StoreError> {
        let end = range.end;
        let writes = self.store.writes(address, range).await?;
        Ok(writes.get(PAGE).map_or(end, |(seq, _)| *seq))
    }

    /// Stores writes again that were removed.
    async fn put_back(
        &self,
        address: Address<'_>,
        writes: Vec<(u64, StoredWrite)>,
    ) -> Result<(), StoreError> {
        for (seq, write) in writes {
            self.store.write(address, seq, &[write], None).await?;
        }
        Ok(())
    }

    fn cut<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], StoreError> {
        match self.flaw {
            LargeValuesAreCut => Ok(&bytes[..bytes.len().min(LARGEST)]),
            LargeValuesAreRefused if bytes.len() > LARGEST => {
                Err(StoreError::Other("the value is too large".into()))
            }
            _ => Ok(bytes),
        }
    }

    async fn set_status(&self, info: &ThreadInfo, due_ms: Option<u64>) -> Result<(), StoreError> {
        let change = ThreadChange::Status {
            flow: &info.flow,
            status: info.status,
            due_ms,
        };
        self.store.describe(&info.id, change, None).await
    }

    fn change_listed(&self, info: &mut ThreadInfo) {
        let known = self.known().get(&info.id).cloned();
        match self.flaw {
            CountsIgnorePrune | CountsAreLost => {
                info.checkpoints = self.count.load(Ordering::SeqCst);
            }
            BytesIgnorePrune => info.bytes = known.map_or(0, |known| known.bytes),
            UpdatedIgnoresPrune => info.updated_ms = known.map_or(0, |known| known.updated_ms),
            CreatedIsThatOfTheNewestNamespace => {
                info.created_ms = known.map_or(0, |known| known.created_ms);
            }
            DueIsKept => info.due_ms = info.due_ms.and(known.and_then(|known| known.due_ms)),
            DueNeverGoes => info.due_ms = info.due_ms.or(known.and_then(|known| known.due_ms)),
            LabelsHaveAPage => {
                let labels = std::mem::take(&mut info.labels);
                info.labels = labels.into_iter().take(PAGE).collect::<BTreeMap<_, _>>();
            }
            _ => {}
        }
    }

    /// Remembers what some flaws need of an append.
    async fn remember(&self, address: Address<'_>, checkpoint: &StoredCheckpoint, is_first: bool) {
        {
            let mut known = self.known();
            let known = known.entry(address.thread.into()).or_default();
            known.bytes += checkpoint.bytes.len() as u64;
            known.updated_ms = known.updated_ms.max(checkpoint.created_ms);
            if is_first {
                known.created_ms = checkpoint.created_ms;
            }
        }
        let counted = self.count.load(Ordering::SeqCst);
        if self.is(CountsAreLost) {
            sleep(Duration::from_millis(1)).await;
        }
        if self.is(CountsIgnorePrune) || self.is(CountsAreLost) {
            self.count.store(counted + 1, Ordering::SeqCst);
        }
    }
}

#[async_trait]
impl Store for FlawedStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let fenced = self.fence(address.thread, owner, AppendIsNotFenced).await?;
        let mut settled = settled;
        if self.is(SettlesAPage) && settled.start < settled.end {
            settled.end = self.page_of_writes(address, settled.clone()).await?;
        }
        let mut kept = self.store.writes(address, settled.clone()).await?;
        let never = match self.flaw {
            OnceIsNeverSettled => "once/",
            AskIsNeverSettled => "ask/",
            _ => "\0",
        };
        kept.retain(|(_, write)| write.name.starts_with(never));
        if self.is(NamespacesConflict) {
            if self.is_busy.swap(true, Ordering::SeqCst) {
                return Err(StoreError::Conflict {
                    thread: address.thread.into(),
                    expected: after,
                    found: None,
                });
            }
            sleep(Duration::from_millis(1)).await;
        }
        let checkpoint = StoredCheckpoint {
            bytes: self.cut(&checkpoint.bytes)?.to_vec(),
            ..*checkpoint
        };
        let appended = self
            .store
            .append(address, &checkpoint, after, settled.clone(), fenced)
            .await;
        self.is_busy.store(false, Ordering::SeqCst);
        appended?;
        self.remember(address, &checkpoint, after.is_none()).await;
        self.put_back(address, kept).await?;
        if self.is(SettlesNamespacesByPrefix) {
            for namespace in self.namespaces_with_prefix(address).await? {
                let nested = Address {
                    namespace: &namespace,
                    ..address
                };
                if let (true, Some(newest)) = (
                    !settled.is_empty(),
                    self.store.history(nested, None, 1).await?.pop(),
                ) {
                    let _ = self.store.prune(nested, 0, newest.seq + 1, None).await;
                }
            }
        }
        Ok(())
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let fenced = self.fence(address.thread, owner, WriteIsNotFenced).await?;
        let mut writes = writes.to_vec();
        for write in &mut writes {
            write.bytes = self.cut(&write.bytes)?.to_vec();
            if self.is(NamesOfWritesByPrefix) {
                let found = self.store.writes(address, seq..seq + 1).await?;
                let same = |known: &&(u64, StoredWrite)| {
                    known.1.task == write.task && known.1.name.starts_with(&*write.name)
                };
                if let Some((_, known)) = found.iter().find(same) {
                    write.name.clone_from(&known.name);
                }
            }
        }
        if self.is(FenceComesAfterTheWrite) {
            self.store.write(address, seq, &writes, None).await?;
        }
        self.store.write(address, seq, &writes, fenced).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let fenced = self.fence(thread, owner, ApplyIsNotFenced).await?;
        self.store.apply(thread, changes, fenced).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let newest = self.store.history(address, None, 1).await?.pop();
        let Some(mut stored) = self.store.read(address, seq).await? else {
            return Ok(None);
        };
        if self.is(OldWritesAreHidden) && newest.as_ref() != stored.chain.last() {
            stored.writes.clear();
        }
        if self.is(ChainHasAPage) {
            let len = stored.chain.len();
            stored.chain.drain(..len.saturating_sub(PAGE));
        }
        Ok(Some(stored))
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let mut writes = self.store.writes(address, seqs.clone()).await?;
        if self.is(WritesHaveAPage) {
            writes.truncate(PAGE);
        }
        if self.is(WritesOfNamespacesByPrefix) {
            writes.clear();
            for namespace in self.namespaces_with_prefix(address).await? {
                let nested = Address {
                    namespace: &namespace,
                    ..address
                };
                writes.extend(self.store.writes(nested, seqs.clone()).await?);
            }
        }
        Ok(writes)
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let most = if self.is(HistoryHasAPage) {
            PAGE
        } else {
            limit
        };
        self.store.history(address, before, limit.min(most)).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let mut namespaces = self.store.namespaces(thread).await?;
        if self.is(NamespacesHaveAPage) {
            namespaces.truncate(PAGE);
        }
        if self.is(NamespacesWithWritesComeLast) {
            let mut last = Vec::new();
            for namespace in std::mem::take(&mut namespaces) {
                let address = Address {
                    thread,
                    namespace: &namespace,
                };
                if self.store.history(address, None, 1).await?.is_empty() {
                    last.push(namespace);
                } else {
                    namespaces.push(namespace);
                }
            }
            namespaces.append(&mut last);
        }
        Ok(namespaces)
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let mut threads = self.store.threads(ThreadQuery::default()).await?;
        for info in &mut threads {
            self.change_listed(info);
            if self.is(CreatedIsThatOfWhatIsLeft) {
                let mut oldest = u64::MAX;
                for namespace in self.store.namespaces(&info.id).await? {
                    let address = Address {
                        thread: &info.id,
                        namespace: &namespace,
                    };
                    let history = self.store.history(address, None, usize::MAX).await?;
                    let created = history.iter().map(|checkpoint| checkpoint.created_ms);
                    oldest = created.min().unwrap_or(u64::MAX).min(oldest);
                }
                info.created_ms = oldest;
            }
        }
        threads.retain(|info| query.covers(info));
        let most = if self.is(ThreadsHaveAPage) {
            PAGE
        } else {
            usize::MAX
        };
        threads.truncate(query.limit.unwrap_or(most).min(most));
        Ok(threads)
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let unfenced = match change {
            ThreadChange::Status { .. } => StatusIsNotFenced,
            ThreadChange::Labels(_) => LabelsAreNotFenced,
        };
        let fenced = self.fence(thread, owner, unfenced).await?;
        if let ThreadChange::Status {
            due_ms: due @ Some(_),
            ..
        } = change
        {
            let mut known = self.known();
            let known = known.entry(thread.into()).or_default();
            known.due_ms = match self.flaw {
                DueIsKept => known.due_ms.or(due),
                _ => due,
            };
        }
        self.store.describe(thread, change, fenced).await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let fenced = self.fence(address.thread, owner, PruneIsNotFenced).await?;
        let listed = self.info(address.thread).await?;
        let (mut seq, mut writes) = (seq, writes);
        match self.flaw {
            WritesArePrunedByTheNumberOfCheckpoints => writes = seq,
            PrunesAPage => {
                let all = self.store.history(address, None, usize::MAX).await?;
                let page = all.iter().rev().map(|found| found.seq).nth(PAGE);
                seq = page.unwrap_or(seq).min(seq);
            }
            PrunesAPageOfWrites => writes = self.page_of_writes(address, 0..writes).await?,
            PruneIsTornByDrop => {
                self.store.prune(address, seq, 0, fenced).await?;
                sleep(Duration::from_millis(1)).await;
            }
            PrunesNamespacesByPrefix => {
                for namespace in self.namespaces_with_prefix(address).await? {
                    let nested = Address {
                        namespace: &namespace,
                        ..address
                    };
                    self.store.prune(nested, seq, writes, fenced).await?;
                }
            }
            _ => {}
        }
        self.store.prune(address, seq, writes, fenced).await?;
        match listed.filter(|info| info.status != ThreadStatus::Running) {
            Some(info) if self.is(PruneEndsStatus) => {
                let running = ThreadInfo {
                    status: ThreadStatus::Running,
                    ..info
                };
                self.set_status(&running, None).await
            }
            Some(info) if self.is(PruneForgetsDue) => self.set_status(&info, None).await,
            _ => Ok(()),
        }
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let fenced = self.fence(thread, owner, DeleteIsNotFenced).await?;
        match self.flaw {
            DeletesAPageOfNamespaces => {
                let namespaces = self.store.namespaces(thread).await?;
                if namespaces.len() > PAGE {
                    for namespace in &namespaces[..PAGE] {
                        let address = Address { thread, namespace };
                        let all = u64::MAX;
                        self.store.prune(address, all, all, fenced).await?;
                    }
                    return Ok(());
                }
            }
            DeleteIsTornByDrop => {
                let root = Address::root(thread);
                self.store.prune(root, u64::MAX, u64::MAX, fenced).await?;
                sleep(Duration::from_millis(1)).await;
            }
            DeleteComesLate => {
                let (store, thread) = (self.store.clone(), thread.to_string());
                let owner = fenced.map(String::from);
                let waits = self.count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
                let late = tokio::spawn(async move {
                    if waits {
                        sleep(Duration::from_millis(10)).await;
                    }
                    store.delete(&thread, owner.as_deref()).await
                });
                return late.await.map_err(|lost| StoreError::Other(lost.into()))?;
            }
            DeletionEndsTheFence => {
                self.store.delete(thread, fenced).await?;
                if let Some(owner) = self.owner_of(thread).await? {
                    self.store.release(thread, &owner);
                }
                return Ok(());
            }
            _ => {}
        }
        self.store.delete(thread, fenced).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        if let (DeleteManyIsAllOrNothing, Some(owner)) = (self.flaw, owner) {
            for thread in threads {
                if !self.store.confirm(thread, owner).await? {
                    return Err(claim_lost(thread));
                }
            }
        }
        let most = if self.is(DeletesAPageOfThreads) {
            PAGE
        } else {
            usize::MAX
        };
        let mut lost = Ok(());
        for thread in threads.iter().take(most) {
            if self.is(DeleteManyStopsAtUnknown) && self.info(thread).await?.is_none() {
                break;
            }
            let owner = self.fence(thread, owner, DeleteManyIsNotFenced).await?;
            match self.delete(thread, owner).await {
                Err(error @ StoreError::ClaimLost { .. }) => lost = Err(error),
                deleted => deleted?,
            }
        }
        lost
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        let incarnation = self.store.incarnation(thread).await?;
        Ok(match self.flaw {
            IncarnationIsZero => 0,
            IncarnationBeginsAtOne => incarnation + 1,
            _ => incarnation,
        })
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        if self.is(OwnersByPrefix) {
            let found = self.owner_of(thread).await?;
            if let Some(found) = found.filter(|found| found.starts_with(owner)) {
                self.store.release(thread, &found);
            }
        }
        let waits = self.is(ClaimIsGrantedLate)
            && self.count.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
        if !waits || self.owner_of(thread).await?.is_some() {
            return self.store.claim(thread, owner).await;
        }
        let (late, thread, owner) = (self.clone(), thread.to_string(), owner.to_string());
        let granted = tokio::spawn(async move {
            sleep(Duration::from_millis(10)).await;
            if let Some(found) = late.owner_of(&thread).await? {
                late.store.release(&thread, &found);
            }
            late.store.claim(&thread, &owner).await
        });
        granted
            .await
            .map_err(|lost| StoreError::Other(lost.into()))?
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        match self.flaw {
            ConfirmIsTrue => Ok(true),
            ConfirmGrants => Ok(self.store.claim(thread, owner).await? == Claim::Granted),
            _ => self.store.confirm(thread, owner).await,
        }
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
        if self.is(ReleasesByPrefix) {
            // The names in the cases.
            for rest in ["/", "/b", "b", "/b[1]", "b[1]", "[1]"] {
                self.store.release(thread, &format!("{owner}{rest}"));
            }
        }
    }
}
