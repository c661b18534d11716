//! A store in memory with one defect.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};
use tokio::time::sleep;

use super::defect::Defect::{self, *};

/// How long claims last where they must be renewed.
const CLAIM_LASTS: Duration = Duration::from_millis(1200);

/// A store with a defect. Clones share their data.
#[derive(Clone)]
pub(super) struct BrokenStore {
    defect: Defect,
    store: InMemoryStore,
    /// The writes, where they are stored apart from the checkpoints.
    writes: InMemoryStore,
    claims: Arc<Mutex<Claims>>,
    /// The first result of `read` through this handle, for a defect that returns it forever.
    stale: Option<Arc<Mutex<Option<Stored>>>>,
}

/// The owner of each claimed thread, and when the claim ends.
type Claims = HashMap<String, (String, Instant)>;

impl BrokenStore {
    pub(super) fn new(defect: Defect) -> Self {
        let store = InMemoryStore::new();
        BrokenStore {
            defect,
            writes: match defect {
                SettlesInSecondStep => InMemoryStore::new(),
                _ => store.clone(),
            },
            store,
            claims: Arc::default(),
            stale: None,
        }
    }

    /// The second handle of a test.
    pub(super) fn other(&self) -> Self {
        BrokenStore {
            stale: self.is(OtherHandleIsStale).then(Arc::default),
            ..self.clone()
        }
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn address<'a>(&self, address: Address<'a>) -> Address<'a> {
        Address {
            thread: self.id(address.thread),
            ..address
        }
    }

    fn id<'a>(&self, thread: &'a str) -> &'a str {
        if self.is(ThreadIdsTrimmed) {
            thread.trim()
        } else {
            thread
        }
    }

    fn fence(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let found = self.owner(&self.lock_claims(), &self.key(thread));
        if owner.is_none() || found.as_deref() == owner {
            return Ok(());
        }
        Err(StoreError::ClaimLost {
            thread: thread.into(),
        })
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
        super::listed(&self.store, thread).await
    }

    async fn set_status(
        &self,
        info: &ThreadInfo,
        status: ThreadStatus,
        due_ms: Option<u64>,
    ) -> Result<(), StoreError> {
        let flow = &info.flow;
        let change = ThreadChange::Status {
            flow,
            status,
            due_ms,
        };
        self.store.describe(&info.id, change, None).await
    }

    async fn newest(&self, address: Address<'_>) -> Result<Option<u64>, StoreError> {
        let history = self.store.history(address, None, 1).await?;
        Ok(history.first().map(|checkpoint| checkpoint.seq))
    }

    /// Sets a wrong status after a checkpoint was appended. `before` is the thread as it was.
    async fn damage_status(
        &self,
        address: Address<'_>,
        before: &ThreadInfo,
    ) -> Result<(), StoreError> {
        match self.defect {
            StatusOutlivesCheckpoint => self.set_status(before, before.status, before.due_ms).await,
            DueIgnoresStatus if address.namespace.is_empty() => {
                self.set_status(before, ThreadStatus::Running, before.due_ms)
                    .await
            }
            StatusEndsWithNested => self.set_status(before, ThreadStatus::Running, None).await,
            _ => Ok(()),
        }
    }

    /// Gives the owner of a claim that has not ended.
    fn owner(&self, claims: &Claims, thread: &str) -> Option<String> {
        let (owner, ends) = claims.get(thread)?;
        let expires = self.claim_lasts().is_some() && !self.is(ClaimNeverExpires);
        (!expires || *ends > Instant::now()).then(|| owner.clone())
    }

    fn lock_claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, thread: &str) -> String {
        if self.is(ClaimsIgnoreCase) {
            thread.to_lowercase()
        } else {
            thread.into()
        }
    }
}

/// Lets others run between two steps that should be one.
async fn pause() {
    sleep(Duration::from_millis(1)).await;
}

#[async_trait]
impl Store for BrokenStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let address = self.address(address);
        self.fence(address.thread, owner)?;
        let checkpoint = self.defect.damage_checkpoint(checkpoint);
        match self.defect {
            AppendChecksThenActs => {
                let newest = self.newest(address).await?;
                if newest == after {
                    pause().await;
                    let newest = self.newest(address).await?;
                    return self
                        .store
                        .append(address, &checkpoint, newest, settled, None)
                        .await;
                }
            }
            AppendWithoutAfterNeverConflicts if after.is_none() => {
                let newest = self.newest(address).await?;
                return self
                    .store
                    .append(address, &checkpoint, newest, settled, None)
                    .await;
            }
            SettlesInSecondStep => {
                self.store
                    .append(address, &checkpoint, after, 0..0, None)
                    .await?;
                pause().await;
                return self
                    .writes
                    .append(address, &checkpoint, after, settled, None)
                    .await;
            }
            SettlesOneMore if !settled.is_empty() => {
                let settled = settled.start..settled.end.saturating_add(1);
                return self
                    .store
                    .append(address, &checkpoint, after, settled, None)
                    .await;
            }
            _ => {}
        }
        let listed = self.info(address.thread).await?;
        let result = self
            .store
            .append(address, &checkpoint, after, settled, None)
            .await;
        if let (Ok(()), Some(info)) = (&result, listed) {
            self.damage_status(address, &info).await?;
        }
        match result {
            Err(StoreError::Conflict {
                thread, expected, ..
            }) if self.is(ConflictNamesNoNumber) => Err(StoreError::Conflict {
                thread,
                expected,
                found: None,
            }),
            result => result,
        }
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let address = self.address(address);
        self.fence(address.thread, owner)?;
        match self.defect {
            WriteKeepsFirst => {
                let mut found = self.writes.writes(address, seq..seq + 1).await?;
                for write in writes {
                    let known = |known: &(u64, StoredWrite)| {
                        (known.1.task, &known.1.name) == (write.task, &write.name)
                    };
                    if !found.iter().any(known) {
                        found.push((seq, write.clone()));
                    }
                }
                let all: Vec<_> = found.into_iter().map(|(_, write)| write).collect();
                self.writes.write(address, seq, &all, None).await
            }
            WriteTornByDrop | WritesSeparately => {
                for (index, write) in writes.iter().enumerate() {
                    if index == 1 && self.is(WriteTornByDrop) {
                        pause().await;
                    }
                    if index == 1 && self.is(WritesSeparately) {
                        // Cannot be dropped here, as in a thread of its own.
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    let one = std::slice::from_ref(write);
                    self.writes.write(address, seq, one, None).await?;
                }
                Ok(())
            }
            _ if writes.is_empty() => Ok(()),
            _ => self.writes.write(address, seq, writes, None).await,
        }
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.fence(self.id(thread), owner)?;
        self.store.apply(self.id(thread), changes, None).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let address = self.address(address);
        if self.is(Hangs) {
            std::future::pending::<()>().await;
        }
        let mut seq = seq;
        if self.is(NewestByText) && seq.is_none() {
            let all = self.store.history(address, None, usize::MAX).await?;
            let numbers = all.iter().map(|checkpoint| checkpoint.seq);
            seq = numbers.max_by_key(u64::to_string);
        }
        let Some(mut stored) = self.store.read(address, seq).await? else {
            return Ok(None);
        };
        if self.is(ChainHasOneCheckpoint) {
            stored.chain.drain(..stored.chain.len() - 1);
        }
        if self.is(ReadOfTwoMoments) || self.is(SettlesInSecondStep) {
            if self.is(ReadOfTwoMoments) {
                pause().await;
            }
            let seq = stored.chain.last().map_or(0, |newest| newest.seq);
            let writes = self.writes.writes(address, seq..seq + 1).await?;
            stored.writes = writes.into_iter().map(|(_, write)| write).collect();
        }
        if let Some(stale) = &self.stale {
            let mut stale = stale.lock().unwrap_or_else(PoisonError::into_inner);
            return Ok(Some(stale.get_or_insert(stored).clone()));
        }
        Ok(Some(stored))
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let mut writes = self.writes.writes(self.address(address), seqs).await?;
        if self.is(WritesReversed) {
            writes.reverse();
        }
        Ok(writes)
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let before = match before {
            Some(before) if self.is(HistoryIncludesBefore) => before.checked_add(1),
            before => before,
        };
        let address = self.address(address);
        let mut history = self.store.history(address, before, limit).await?;
        if self.is(HistoryOldestFirst) {
            history.reverse();
        }
        if self.is(HistoryOfTwoMoments) {
            history.truncate(1);
            // Cannot be dropped here, as in a thread of its own.
            std::thread::sleep(Duration::from_millis(1));
            let rest = self.store.history(address, before, limit).await?;
            history.extend(rest.into_iter().skip(1));
        }
        Ok(history)
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let thread = self.id(thread);
        let mut found = Vec::new();
        for namespace in self.store.namespaces(thread).await? {
            let address = Address {
                thread,
                namespace: &namespace,
            };
            if !self.is(NamespacesNeedCheckpoint) || self.newest(address).await?.is_some() {
                found.push(namespace);
            }
        }
        Ok(found)
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        match self.defect {
            LimitIgnored => {
                let query = ThreadQuery {
                    limit: None,
                    ..query
                };
                self.store.threads(query).await
            }
            PageRepeatsLast => {
                let mut page = self.store.threads(query).await?;
                let all = self.store.threads(ThreadQuery::default()).await?;
                let last = all.into_iter().find(|info| Some(&*info.id) == query.after);
                page.splice(0..0, last);
                page.truncate(query.limit.unwrap_or(usize::MAX));
                Ok(page)
            }
            PrefixIgnoresCase => {
                let mut all = self.store.threads(ThreadQuery::default()).await?;
                let prefix = query.prefix.to_lowercase();
                all.retain(|info| info.id.to_lowercase().starts_with(&prefix));
                Ok(all)
            }
            FiltersWithinPage => {
                let page = ThreadQuery {
                    prefix: query.prefix,
                    after: query.after,
                    limit: query.limit,
                    ..ThreadQuery::default()
                };
                let mut page = self.store.threads(page).await?;
                page.retain(|info| query.covers(info));
                Ok(page)
            }
            LabelsIgnoreCase => {
                let all = ThreadQuery {
                    label: None,
                    ..query
                };
                let mut all = self.store.threads(all).await?;
                let is = |label: &str, wanted: &str| label.eq_ignore_ascii_case(wanted);
                if let Some((name, value)) = query.label {
                    all.retain(|info| {
                        let mut labels = info.labels.iter();
                        labels.any(|label| is(label.0, name) && is(label.1, value))
                    });
                }
                Ok(all)
            }
            CreatedIsOldest => {
                let mut infos = self.store.threads(query).await?;
                for info in &mut infos {
                    let address = Address::root(&info.id);
                    let history = self.store.history(address, None, usize::MAX).await?;
                    info.created_ms = history.last().map_or(0, |oldest| oldest.created_ms);
                }
                Ok(infos)
            }
            _ => self.store.threads(query).await,
        }
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.fence(thread, owner)?;
        match change {
            ThreadChange::Labels(labels) if self.is(LabelsMerged) => {
                let known = self.info(thread).await?.unwrap_or_default();
                let mut merged = known.labels;
                merged.extend(labels.clone());
                self.store
                    .describe(thread, ThreadChange::Labels(&merged), None)
                    .await
            }
            _ if self.is(DescriptionMakesThread) => {
                let empty = StoredCheckpoint::default();
                let address = Address::root(thread);
                // There may be one already.
                let _ = self.store.append(address, &empty, None, 0..0, None).await;
                self.store.describe(thread, change, None).await
            }
            _ => self.store.describe(thread, change, None).await,
        }
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let address = self.address(address);
        self.fence(address.thread, owner)?;
        let removed = self.writes.writes(address, 0..writes).await?;
        let seq = if self.is(PruneIncludesNumber) && seq > 0 {
            seq.saturating_add(1)
        } else {
            seq
        };
        self.store.prune(address, seq, writes, None).await?;
        if self.is(PruneLeavesWrites) {
            for (seq, write) in removed {
                self.writes.write(address, seq, &[write], None).await?;
            }
        }
        Ok(())
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let thread = self.id(thread);
        self.fence(thread, owner)?;
        match self.defect {
            DeleteByPrefix => {
                let query = ThreadQuery {
                    prefix: thread,
                    ..ThreadQuery::default()
                };
                for info in self.store.threads(query).await? {
                    self.store.delete(&info.id, None).await?;
                }
                return Ok(());
            }
            DeleteEndsClaim => {
                let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
                claims.remove(thread);
            }
            DeleteLeavesLabels => {
                let known = self.info(thread).await?.unwrap_or_default();
                self.store.delete(thread, None).await?;
                let labels = ThreadChange::Labels(&known.labels);
                return self.store.describe(thread, labels, None).await;
            }
            DeleteLeavesNamespaces => {
                return self
                    .store
                    .prune(Address::root(thread), u64::MAX, u64::MAX, None)
                    .await;
            }
            _ => {}
        }
        self.store.delete(thread, None).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let most = if self.is(DeletesFirstOnly) {
            1
        } else {
            usize::MAX
        };
        let mut lost = Ok(());
        for thread in threads.iter().take(most) {
            match self.delete(thread, owner).await {
                Err(error @ StoreError::ClaimLost { .. }) => lost = Err(error),
                deleted => deleted?,
            }
        }
        lost
    }

    async fn reclaim(&self) -> Result<(), StoreError> {
        if self.is(ReclaimPrunes) {
            for info in self.store.threads(ThreadQuery::default()).await? {
                let address = Address::root(&info.id);
                let newest = self.newest(address).await?.unwrap_or_default();
                self.store.prune(address, newest, newest, None).await?;
            }
        }
        self.store.reclaim().await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        self.store.incarnation(thread).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        if self.fence(thread, Some(owner)).is_err() {
            return Ok(false);
        }
        Ok(self.claim(thread, owner).await? == Claim::Granted)
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        let key = self.key(thread);
        if self.is(ClaimChecksThenActs) {
            let found = self.owner(&self.lock_claims(), &key);
            if let Some(owner) = found.filter(|found| found != owner) {
                return Ok(Claim::Busy { owner });
            }
            pause().await;
        }
        let mut claims = self.lock_claims();
        let found = self.owner(&claims, &key);
        match found {
            Some(owner_found) if owner_found != owner && !self.is(ClaimChecksThenActs) => {
                return Ok(Claim::Busy { owner: owner_found });
            }
            Some(_) if self.is(RenewalNotExtended) => {}
            _ => {
                let ends = Instant::now() + CLAIM_LASTS;
                claims.insert(key, (owner.into(), ends));
            }
        }
        Ok(Claim::Granted)
    }

    fn release(&self, thread: &str, owner: &str) {
        let key = self.key(thread);
        let mut claims = self.lock_claims();
        let is_owner = claims.get(&key).is_some_and(|(found, _)| found == owner);
        if is_owner || self.is(ReleaseByAnyone) {
            claims.remove(&key);
        }
    }

    fn claim_lasts(&self) -> Option<Duration> {
        [IntactWithRenewal, ClaimNeverExpires, RenewalNotExtended]
            .contains(&self.defect)
            .then_some(CLAIM_LASTS)
    }
}
