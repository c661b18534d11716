//! The store itself: the [`Store`] contract as scripts.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, PendingReleases, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadOrder, ThreadQuery,
};
use redis::{Script, ScriptInvocation};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::arguments::{add_changes, fence};
use crate::connection::Connection;
use crate::keys::{Keys, SHARDS, claim_key, digits, layout_key, list_keys, shard_of};
use crate::options::RedisOptions;
use crate::values::{Pairs, UNKNOWN};
use crate::{eviction, scripts, values, verify};

/// The version of the layout of keys.
const LAYOUT: u32 = 3;

/// How many threads of a shard are read at once where only some of them are listed.
const FILTERED_PAGE: i64 = 256;

/// Stores checkpoints in a Redis server, version 6 or newer, or in a compatible one (Valkey). Clones share their connection.
///
/// ```no_run
/// use petalflow::checkpoint::{Address, Store};
/// use petalflow_redis::RedisStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = RedisStore::connect("redis://localhost").await?;
/// assert_eq!(store.read(Address::root("essay-42"), None).await?, None);
/// # Ok(())
/// # }
/// ```
///
/// **Durability** is that of the server's configuration. The effect of a call that has returned is
///
/// * on disk with `appendonly yes` and `appendfsync always`;
/// * lost if the machine crashes within about a second, with `appendfsync everysec`;
/// * lost if the server crashes before its next snapshot, without `appendonly`. That is the default of Redis.
///
/// Replication is asynchronous, so a failover can lose the last writes. Redis holds all data in memory: set `maxmemory-policy
/// noeviction`, or it removes keys when its memory is full. If a key with something of a thread is missing, the thread is reported as
/// [`Damaged`](StoreError::Damaged), so that no effect is repeated and no status or label is forgotten, and [`connect`](Self::connect) says that it can happen: see
/// [`RedisOptions::on_notice`].
/// Use PostgreSQL where threads must not be lost.
///
/// **Claims** last for [`RedisOptions::claim_lasts`] and are renewed by claiming again. The threads of a killed process are free
/// after that time: unlike SQLite and PostgreSQL, Redis has nothing that ends with the process. A run releases its thread in the
/// background. A program that ends right after a run calls [`flush_releases`](RedisStore::flush_releases) first.
///
/// **Space** of removed threads is free in the server's memory at once. [`reclaim`](Store::reclaim) does nothing. The server makes
/// its append-only file smaller as `auto-aof-rewrite-percentage` says, or with the command `BGREWRITEAOF`.
///
/// **While the server cannot be reached** calls fail with [`Unavailable`](StoreError::Unavailable). They work again as soon as it
/// can. A call whose connection breaks is sent once more; an append that succeeded the first time is recognized.
///
/// **Encryption** needs the feature `tls` and a URL that begins with `rediss://`. The server's certificate is checked against those
/// that the system trusts, or `RedisOptions::root_certificates`. Client certificates are not supported.
///
/// **Keys** begin with [`RedisOptions::prefix`] and are spread over 16 hash tags. All keys of a thread have the same one, so a
/// cluster can hold them. The store itself connects to one server: a cluster of several needs a proxy.
#[derive(Clone)]
pub struct RedisStore(Arc<Inner>);

struct Inner {
    connection: Connection,
    releases: PendingReleases,
    /// Releases claims: `release` may be called outside of a runtime.
    runtime: Handle,
    options: RedisOptions,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedisStore").field(&self.0.options).finish()
    }
}

impl RedisStore {
    /// Connects with the default [options](RedisOptions).
    ///
    /// Must be called within a tokio runtime, which has to last as long as the store is used.
    ///
    /// # Errors
    ///
    /// * [`Unavailable`](StoreError::Unavailable) if the server cannot be reached.
    /// * [`NewerLayout`](StoreError::NewerLayout) if a newer version of petalflow uses the prefix.
    /// * [`Other`](StoreError::Other) if the URL is not valid or the server rejects the credentials.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves at most the key that holds the version of the layout.
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::connect_with(RedisOptions::new(url)).await
    }

    /// Connects with these options. See [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Self::connect).
    ///
    /// # Cancel safety
    ///
    /// As [`connect`](Self::connect).
    pub async fn connect_with(options: RedisOptions) -> Result<Self, StoreError> {
        let connection = Connection::open(&options).await?;
        if let Some(notice) = eviction::notice(&connection.memory().await) {
            options.notify(&notice);
        }
        let mut script = scripts::LAYOUT.key(layout_key(&options.prefix));
        let found: Vec<u8> = connection.invoke(UNKNOWN, script.arg(LAYOUT)).await?;
        let found = values::layout(&found)?;
        if found > LAYOUT {
            return Err(StoreError::NewerLayout {
                found,
                known: LAYOUT,
            });
        }
        Ok(RedisStore(Arc::new(Inner {
            connection,
            releases: PendingReleases::default(),
            runtime: Handle::current(),
            options,
        })))
    }

    /// Waits until the server has released the threads of all runs that have ended.
    ///
    /// Otherwise a process that ends right after a run leaves its thread busy until the claim expires.
    ///
    /// # Errors
    ///
    /// [`Unavailable`](StoreError::Unavailable) if the server cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// A release that has not happened is repeated before the next claim of this store.
    ///
    /// ```no_run
    /// use petalflow_redis::RedisStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = RedisStore::connect("redis://localhost").await?;
    /// // Runs of threads.
    /// store.flush_releases().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn flush_releases(&self) -> Result<(), StoreError> {
        self.0.release_pending().await
    }

    fn keys(&self, thread: &str) -> Keys {
        Keys::new(&self.0.options.prefix, thread)
    }
}

impl Inner {
    fn claim_script<'a>(
        &self,
        script: &'a Script,
        thread: &str,
        owner: &str,
    ) -> ScriptInvocation<'a> {
        let mut script = script.key(claim_key(&self.options.prefix, thread));
        script.arg(owner);
        script
    }

    fn claim_lasts_ms(&self) -> u64 {
        u64::try_from(self.options.claim_lasts.as_millis()).unwrap_or(u64::MAX)
    }

    /// Releases the claims that are pending.
    async fn release_pending(&self) -> Result<(), StoreError> {
        self.releases
            .release_with(async |thread, owner| {
                let script = self.claim_script(&scripts::RELEASE, &thread, &owner);
                self.connection.invoke(&thread, &script).await
            })
            .await
    }
}

/// A script with its keys.
fn with_keys<'a>(script: &'a Script, keys: &[&str]) -> ScriptInvocation<'a> {
    let mut script = script.prepare_invoke();
    for key in keys {
        script.key(*key);
    }
    script
}

#[async_trait]
impl Store for RedisStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let keys = self.keys(address.thread);
        let mut script = with_keys(&scripts::APPEND, &keys.all());
        script
            .arg(address.thread)
            .arg(fence(owner))
            .arg(address.namespace)
            .arg(digits(checkpoint.seq))
            .arg(digits(checkpoint.base))
            .arg(digits(checkpoint.created_ms))
            .arg(checkpoint.bytes.as_slice())
            .arg(after.map(digits).unwrap_or_default())
            .arg(digits(settled.start))
            .arg(digits(settled.end));
        let connection = &self.0.connection;
        let answer: Vec<u8> = connection
            .invoke_not_idempotent(address.thread, &mut script)
            .await?;
        if answer == b"done" {
            return Ok(());
        }
        Err(StoreError::Conflict {
            thread: address.thread.into(),
            expected: after,
            found: values::newest(address.thread, &answer)?,
        })
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let keys = self.keys(address.thread);
        let mut script = with_keys(&scripts::WRITE, &keys.all());
        script
            .arg(address.thread)
            .arg(fence(owner))
            .arg(address.namespace)
            .arg(digits(seq));
        for write in writes {
            script
                .arg(write.task.to_bytes().as_slice())
                .arg(&write.name)
                .arg(write.bytes.as_slice());
        }
        self.0.connection.invoke(address.thread, &script).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let keys = self.keys(thread);
        let mut script = with_keys(&scripts::APPLY, &keys.all());
        script.arg(thread).arg(fence(owner));
        add_changes(&mut script, changes);
        let connection = &self.0.connection;
        let answer: Vec<Vec<u8>> = connection
            .invoke_not_idempotent(thread, &mut script)
            .await?;
        let [index, newest] = &answer[..] else {
            return Ok(());
        };
        let index = std::str::from_utf8(index)
            .ok()
            .and_then(|index| index.parse().ok());
        let mut expected = changes.iter().filter_map(|change| match change {
            StoreChange::Append { after, .. } => Some(*after),
            _ => None,
        });
        Err(StoreError::Conflict {
            thread: thread.into(),
            expected: index
                .and_then(|index: usize| expected.nth(index.checked_sub(1)?))
                .flatten(),
            found: values::newest(thread, newest)?,
        })
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let keys = self.keys(address.thread);
        let mut script = with_keys(&scripts::READ, &keys.all());
        script
            .arg(address.thread)
            .arg(address.namespace)
            .arg(seq.map(digits).unwrap_or_default());
        let connection = &self.0.connection;
        let found: Option<(Pairs, Pairs)> = connection.invoke(address.thread, &script).await?;
        let Some((chain, writes)) = found else {
            return Ok(None);
        };
        let writes = values::writes(address.thread, writes)?;
        Ok(Some(Stored {
            chain: values::checkpoints(address.thread, chain)?,
            writes: writes.into_iter().map(|(_, write)| write).collect(),
        }))
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let keys = self.keys(address.thread);
        let mut script = with_keys(&scripts::WRITES, &keys.all());
        script
            .arg(address.thread)
            .arg(address.namespace)
            .arg(digits(seqs.start))
            .arg(digits(seqs.end));
        let found = self.0.connection.invoke(address.thread, &script).await?;
        values::writes(address.thread, found)
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let keys = self.keys(address.thread);
        let mut script = with_keys(&scripts::HISTORY, &keys.all());
        script
            .arg(address.thread)
            .arg(address.namespace)
            .arg(before.map(digits).unwrap_or_default())
            .arg(i64::try_from(limit).unwrap_or(i64::MAX));
        let found = self.0.connection.invoke(address.thread, &script).await?;
        values::checkpoints(address.thread, found)
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let keys = self.keys(thread);
        let mut script = with_keys(&scripts::NAMESPACES, &keys.all());
        script.arg(thread);
        let found: Vec<Vec<u8>> = self.0.connection.invoke(thread, &script).await?;
        found.into_iter().map(values::text).collect()
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let (from, end) = id_bounds(&query);
        // Ids are the only order that the lists have.
        let by_id = query.order == ThreadOrder::Id;
        let limit = query.limit.filter(|_| by_id).unwrap_or(usize::MAX);
        let most = page_size(&query);
        let mut open: Vec<(u64, String)> = (0..SHARDS).map(|shard| (shard, from.clone())).collect();
        let mut all = Vec::new();
        while !open.is_empty() {
            let mut shards = JoinSet::new();
            for (shard, from) in open.drain(..) {
                let keys = list_keys(&self.0.options.prefix, shard);
                let mut script = with_keys(&scripts::THREADS, &keys.each_ref().map(String::as_str));
                script.arg(from).arg(end.as_slice()).arg(most);
                script.arg(query.prefix);
                let connection = self.0.connection.clone();
                shards.spawn(async move {
                    Ok((
                        shard,
                        values::infos(connection.invoke(UNKNOWN, &script).await?)?,
                    ))
                });
            }
            while let Some(found) = shards.join_next().await {
                let found: Result<(u64, Vec<ThreadInfo>), StoreError> =
                    found.map_err(|error| StoreError::Other(error.into()))?;
                let (shard, infos) = found?;
                let is_full = most == FILTERED_PAGE
                    && i64::try_from(infos.len()).is_ok_and(|found| found >= most);
                let last = infos.last().filter(|_| is_full).map(|last| last.id.clone());
                let mut infos: Vec<_> = infos.into_iter().filter(|it| query.covers(it)).collect();
                let enough = infos.len() >= limit;
                all.append(&mut infos);
                open.extend(
                    last.filter(|_| !enough)
                        .map(|last| (shard, format!("({last}"))),
                );
            }
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        // A damaged thread may be found with several pages.
        all.dedup_by(|a, b| a.id == b.id);
        Ok(query.page(all))
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let keys = self.keys(thread);
        let (script, value) = match change {
            ThreadChange::Status {
                flow,
                status,
                due_ms,
            } => (&scripts::SET_STATUS, values::state(status, due_ms, flow)),
            ThreadChange::Labels(labels) => (&scripts::SET_LABELS, values::labels(labels)),
        };
        let mut script = with_keys(script, &keys.all());
        script.arg(thread).arg(value).arg(fence(owner));
        self.0.connection.invoke(thread, &script).await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let keys = self.keys(address.thread);
        let mut script = with_keys(&scripts::PRUNE, &keys.all());
        script
            .arg(address.thread)
            .arg(fence(owner))
            .arg(address.namespace)
            .arg(digits(seq))
            .arg(digits(writes));
        self.0.connection.invoke(address.thread, &script).await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.delete_many(&[thread], owner).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let mut shards: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for thread in threads {
            shards.entry(shard_of(thread)).or_default().push(thread);
        }
        let mut lost = None;
        for (shard, threads) in shards {
            let prefix = &self.0.options.prefix;
            let lists = list_keys(prefix, shard);
            let mut script = with_keys(&scripts::DELETE, &lists.each_ref().map(String::as_str));
            script.arg(fence(owner));
            for thread in &threads {
                for key in self.keys(thread).of_thread() {
                    script.key(key);
                }
                script.arg(*thread);
            }
            let first = threads.first().copied().unwrap_or(UNKNOWN);
            let left: Option<Vec<u8>> = self.0.connection.invoke(first, &script).await?;
            lost = left.or(lost);
        }
        match lost {
            Some(thread) => Err(StoreError::ClaimLost {
                thread: values::text(thread)?,
            }),
            None => Ok(()),
        }
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        let lists = list_keys(&self.0.options.prefix, shard_of(thread));
        let script = with_keys(&scripts::COUNT, &lists.each_ref().map(String::as_str));
        self.0.connection.invoke(thread, &script).await
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        verify::verify(&self.0.connection, &self.0.options.prefix).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.0.release_pending().await?;
        let mut script = self.0.claim_script(&scripts::CLAIM, thread, owner);
        script.arg(self.0.claim_lasts_ms());
        let other: Option<Vec<u8>> = self.0.connection.invoke(thread, &script).await?;
        Ok(other.map_or(Claim::Granted, |owner| Claim::Busy {
            owner: String::from_utf8_lossy(&owner).into_owned(),
        }))
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        let mut script = self.0.claim_script(&scripts::CONFIRM, thread, owner);
        script.arg(self.0.claim_lasts_ms());
        self.0.connection.invoke(thread, &script).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.0.releases.push(thread, owner);
        let inner = self.0.clone();
        self.0.runtime.spawn(async move {
            // A claim that cannot be released now is released before the next claim, or expires.
            let _ = inner.release_pending().await;
        });
    }

    fn claim_lasts(&self) -> Option<Duration> {
        Some(self.0.options.claim_lasts)
    }

    async fn now_ms(&self) -> Result<u64, StoreError> {
        let connection = &self.0.connection;
        connection.invoke("", &scripts::NOW.prepare_invoke()).await
    }
}

/// The ids between which the threads of a query are, as bounds of a range of a sorted set.
fn id_bounds(query: &ThreadQuery<'_>) -> (String, Vec<u8>) {
    let from = match query.after.filter(|_| query.order == ThreadOrder::Id) {
        Some(after) if after >= query.prefix => format!("({after}"),
        _ => format!("[{}", query.prefix),
    };
    let mut end = b"+".to_vec();
    if !query.prefix.is_empty() {
        // No text contains this byte, so the bound is greater than every id with the prefix.
        end = [b"(", query.prefix.as_bytes(), b"\xff"].concat();
    }
    (from, end)
}

/// How many threads are read at once from each list. -1 means all.
fn page_size(query: &ThreadQuery<'_>) -> i64 {
    let page = ThreadQuery {
        limit: None,
        prefix: query.prefix,
        after: query.after,
        ..ThreadQuery::default()
    };
    // With further conditions, the number of threads to read is not known.
    if (ThreadQuery {
        limit: None,
        ..*query
    }) == page
    {
        query
            .limit
            .map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
    } else {
        FILTERED_PAGE
    }
}
