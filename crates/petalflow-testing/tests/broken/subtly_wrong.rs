//! A store over the store in memory that is wrong in calls that are seldom made so.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadCount, ThreadFilter::Not, ThreadInfo, ThreadOrder,
    ThreadQuery, ThreadStatus,
};

use super::subtle::Subtle::{self, *};

/// A store with a mistake. Clones share their data.
#[derive(Clone)]
pub(super) struct SubtlyWrongStore {
    mistake: Subtle,
    store: InMemoryStore,
    /// The threads that were claimed, with their owners.
    claims: Arc<Mutex<BTreeSet<(String, String)>>>,
    /// How many threads with checkpoints were deleted.
    deleted: Arc<AtomicU64>,
    /// The last status that was set for a thread, and when the newest checkpoint was created then.
    described: Arc<Mutex<BTreeMap<String, (ThreadStatus, u64)>>>,
}

impl SubtlyWrongStore {
    pub(super) fn new(mistake: Subtle) -> Self {
        SubtlyWrongStore {
            mistake,
            store: InMemoryStore::new(),
            claims: Arc::default(),
            deleted: Arc::default(),
            described: Arc::default(),
        }
    }

    fn is(&self, mistake: Subtle) -> bool {
        self.mistake == mistake
    }

    fn claims(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the other threads of an owner.
    fn free_others(&self, thread: &str, owner: &str) {
        for (other, by) in &*self.claims() {
            if other != thread && by == owner {
                self.store.release(other, owner);
            }
        }
    }

    fn described(&self) -> MutexGuard<'_, BTreeMap<String, (ThreadStatus, u64)>> {
        self.described
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The query that a list answers instead.
    fn misread<'a>(&self, query: ThreadQuery<'a>) -> ThreadQuery<'a> {
        let mut query = query;
        let by_time = query.order != ThreadOrder::Id;
        match self.mistake {
            CursorIsAnId if by_time && query.after.is_some() => query.after_ms = 0,
            NewestIsOldest if query.order == ThreadOrder::CreatedNewest => {
                query.order = ThreadOrder::CreatedOldest;
            }
            NotIsIgnored => query.filter = query.filter.filter(|it| !matches!(it, Not(_))),
            RangesOfTimeAreIgnored => (query.created_from_ms, query.updated_from_ms) = (None, None),
            OrdersAreIgnored if by_time => query.order = ThreadOrder::Id,
            _ => {}
        }
        query
    }

    fn range(&self, range: Range<u64>) -> Range<u64> {
        if self.is(RangesAreTurned) && range.end < range.start {
            return range.end..range.start;
        }
        range
    }
}

fn refused(why: &str) -> StoreError {
    StoreError::Other(why.into())
}

#[async_trait]
impl Store for SubtlyWrongStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut settled = self.range(settled);
        if self.is(SettledWithoutEndIsIgnored) && settled.end == u64::MAX {
            settled = 0..0;
        }
        let follows = after.is_none_or(|after| checkpoint.seq == after + 1);
        if self.is(NumbersFollowEachOther) && !follows {
            return Err(refused("the number does not follow"));
        }
        let appended = self
            .store
            .append(address, checkpoint, after, settled, owner);
        let appended = appended.await;
        if let (true, Some(owner), Err(StoreError::Conflict { .. })) =
            (self.is(ConflictEndsClaim), owner, &appended)
        {
            self.store.release(address.thread, owner);
        }
        appended
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        if self.is(WriteOfNothingIsNotFenced) && writes.is_empty() {
            return Ok(());
        }
        self.store.write(address, seq, writes, owner).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        if self.is(ApplyOfNothingIsNotFenced) && changes.is_empty() {
            return Ok(());
        }
        self.store.apply(thread, changes, owner).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        self.store.read(address, seq).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.store.writes(address, self.range(seqs)).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let before = match before {
            // As a number with a sign.
            Some(u64::MAX) if self.is(HistoryBeforeTheLargestIsEmpty) => Some(0),
            before => before,
        };
        let least = usize::from(self.is(HistoryOfNoneHasOne));
        self.store.history(address, before, limit.max(least)).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let ignores = self.is(LimitOfNoneIsIgnored);
        let limit = query.limit.filter(|limit| *limit > 0 || !ignores);
        let query = self.misread(ThreadQuery { limit, ..query });
        let described = self.described().clone();
        let by_change = query.order == ThreadOrder::UpdatedNewest;
        if !by_change || !(self.is(IndexKeepsTheStatus) || self.is(UpdatesAreThoseOfTheStatus)) {
            return self.store.threads(query).await;
        }
        let mut all = self.store.threads(ThreadQuery::default()).await?;
        for info in &mut all {
            if let Some((status, updated_ms)) = described.get(&info.id) {
                if self.is(IndexKeepsTheStatus) {
                    info.status = *status;
                } else {
                    info.updated_ms = *updated_ms;
                }
            }
        }
        Ok(query.page(all))
    }

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        if self.is(CountsAreOfOnePage) {
            let limit = Some(30);
            let page = ThreadQuery { limit, ..query };
            return Ok(ThreadCount::of(&self.store.threads(page).await?));
        }
        let filter = query.filter.filter(|_| !self.is(CountsIgnoreConditions));
        let query = ThreadQuery { filter, ..query };
        self.store.thread_counts(query).await
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let running = ThreadChange::Status {
            flow: "",
            status: ThreadStatus::Running,
            due_ms: None,
        };
        let no_labels = BTreeMap::new();
        match change {
            ThreadChange::Labels(labels) if self.is(NoLabelsAreIgnored) && labels.is_empty() => {
                return Ok(());
            }
            ThreadChange::Labels(_) if self.is(LabelsEndStatus) => {
                self.store.describe(thread, running, owner).await?;
            }
            ThreadChange::Status { .. } if self.is(StatusEndsLabels) => {
                let none = ThreadChange::Labels(&no_labels);
                self.store.describe(thread, none, owner).await?;
            }
            _ => {}
        }
        self.store.describe(thread, change, owner).await?;
        if let ThreadChange::Status { status, .. } = change
            && let Some(info) = super::listed(&self.store, thread).await?
        {
            let described = (status, info.updated_ms);
            self.described().insert(thread.into(), described);
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
        self.store.prune(address, seq, writes, owner).await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let listed = super::listed(&self.store, thread).await?;
        self.store.delete(thread, owner).await?;
        if listed.is_some() {
            self.deleted.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        if self.is(DeleteManyRefusesNone) && threads.is_empty() {
            return Err(refused("no thread is named"));
        }
        let different: BTreeSet<&&str> = threads.iter().collect();
        if self.is(DeleteManyRefusesTheSameTwice) && different.len() < threads.len() {
            return Err(refused("a thread is named twice"));
        }
        let mut lost = Ok(());
        for thread in threads {
            match self.delete(thread, owner).await {
                Err(error @ StoreError::ClaimLost { .. }) => lost = Err(error),
                deleted => deleted?,
            }
        }
        lost
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        if self.is(IncarnationCountsCheckpointsOnly) {
            return Ok(self.deleted.load(Ordering::SeqCst));
        }
        self.store.incarnation(thread).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        let claim = self.store.claim(thread, owner).await?;
        if claim == Claim::Granted {
            if self.is(OneClaimForEachOwner) {
                self.free_others(thread, owner);
            }
            self.claims().insert((thread.into(), owner.into()));
        }
        Ok(claim)
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.store.confirm(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
        if self.is(ReleaseFreesAllOfTheOwner) {
            self.free_others(thread, owner);
        }
    }
}
