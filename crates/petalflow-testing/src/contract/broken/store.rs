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

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
        let all = self.store.threads(ThreadQuery::default()).await?;
        Ok(all.into_iter().find(|info| info.id == thread))
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
        self.store.describe(&info.id, change).await
    }

    async fn newest(&self, address: Address<'_>) -> Result<Option<u64>, StoreError> {
        let history = self.store.history(address, None, 1).await?;
        Ok(history.first().map(|checkpoint| checkpoint.seq))
    }

    fn damage_checkpoint(&self, checkpoint: &StoredCheckpoint) -> StoredCheckpoint {
        let mut checkpoint = checkpoint.clone();
        if self.is(BytesEndAtNul) {
            let end = checkpoint.bytes.iter().position(|byte| *byte == 0);
            checkpoint.bytes.truncate(end.unwrap_or(usize::MAX));
        }
        if self.is(TimesAreFloats) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "this is the defect"
            )]
            let time = checkpoint.created_ms as f64 as u64;
            checkpoint.created_ms = time;
        }
        checkpoint
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
    ) -> Result<(), StoreError> {
        let address = self.address(address);
        let checkpoint = self.damage_checkpoint(checkpoint);
        match self.defect {
            AppendChecksThenActs => {
                let newest = self.newest(address).await?;
                if newest == after {
                    pause().await;
                    let newest = self.newest(address).await?;
                    return self
                        .store
                        .append(address, &checkpoint, newest, settled)
                        .await;
                }
            }
            AppendWithoutAfterNeverConflicts if after.is_none() => {
                let newest = self.newest(address).await?;
                return self
                    .store
                    .append(address, &checkpoint, newest, settled)
                    .await;
            }
            SettlesInSecondStep => {
                self.store.append(address, &checkpoint, after, 0..0).await?;
                pause().await;
                return self
                    .writes
                    .append(address, &checkpoint, after, settled)
                    .await;
            }
            SettlesOneMore if !settled.is_empty() => {
                let settled = settled.start..settled.end.saturating_add(1);
                return self
                    .store
                    .append(address, &checkpoint, after, settled)
                    .await;
            }
            _ => {}
        }
        let listed = self.info(address.thread).await?;
        let result = self
            .store
            .append(address, &checkpoint, after, settled)
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
    ) -> Result<(), StoreError> {
        let address = self.address(address);
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
                self.writes.write(address, seq, &all).await
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
                    self.writes.write(address, seq, one).await?;
                }
                Ok(())
            }
            _ if writes.is_empty() => Ok(()),
            _ => self.writes.write(address, seq, writes).await,
        }
    }

    async fn apply(&self, thread: &str, changes: &[StoreChange]) -> Result<(), StoreError> {
        self.store.apply(self.id(thread), changes).await
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

    async fn describe(&self, thread: &str, change: ThreadChange<'_>) -> Result<(), StoreError> {
        match change {
            ThreadChange::Labels(labels) if self.is(LabelsMerged) => {
                let known = self.info(thread).await?.unwrap_or_default();
                let mut merged = known.labels;
                merged.extend(labels.clone());
                self.store
                    .describe(thread, ThreadChange::Labels(&merged))
                    .await
            }
            _ if self.is(DescriptionMakesThread) => {
                let empty = StoredCheckpoint::default();
                let address = Address::root(thread);
                // There may be one already.
                let _ = self.store.append(address, &empty, None, 0..0).await;
                self.store.describe(thread, change).await
            }
            _ => self.store.describe(thread, change).await,
        }
    }

    async fn prune(&self, address: Address<'_>, seq: u64) -> Result<(), StoreError> {
        let address = self.address(address);
        let writes = self.writes.writes(address, 0..seq).await?;
        let seq = if self.is(PruneIncludesNumber) && seq > 0 {
            seq.saturating_add(1)
        } else {
            seq
        };
        self.store.prune(address, seq).await?;
        if self.is(PruneLeavesWrites) {
            for (seq, write) in writes {
                self.writes.write(address, seq, &[write]).await?;
            }
        }
        Ok(())
    }

    async fn delete(&self, thread: &str) -> Result<(), StoreError> {
        let thread = self.id(thread);
        match self.defect {
            DeleteByPrefix => {
                let query = ThreadQuery {
                    prefix: thread,
                    ..ThreadQuery::default()
                };
                for info in self.store.threads(query).await? {
                    self.store.delete(&info.id).await?;
                }
                return Ok(());
            }
            DeleteEndsClaim => {
                let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
                claims.remove(thread);
            }
            DeleteLeavesLabels => {
                let known = self.info(thread).await?.unwrap_or_default();
                self.store.delete(thread).await?;
                let labels = ThreadChange::Labels(&known.labels);
                return self.store.describe(thread, labels).await;
            }
            DeleteLeavesNamespaces => {
                return self.store.prune(Address::root(thread), u64::MAX).await;
            }
            _ => {}
        }
        self.store.delete(thread).await
    }

    async fn delete_many(&self, threads: &[&str]) -> Result<(), StoreError> {
        let most = if self.is(DeletesFirstOnly) {
            1
        } else {
            usize::MAX
        };
        for thread in threads.iter().take(most) {
            self.delete(thread).await?;
        }
        Ok(())
    }

    async fn reclaim(&self) -> Result<(), StoreError> {
        if self.is(ReclaimPrunes) {
            for info in self.store.threads(ThreadQuery::default()).await? {
                let address = Address::root(&info.id);
                let newest = self.newest(address).await?.unwrap_or_default();
                self.store.prune(address, newest).await?;
            }
        }
        self.store.reclaim().await
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
