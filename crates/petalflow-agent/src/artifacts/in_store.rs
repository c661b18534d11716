//! Artifacts in a store of checkpoints, such as a database.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use petalflow::async_trait;
use petalflow::checkpoint::{Address, Store, StoreError, StoredCheckpoint, ThreadQuery};

use super::name::{decoded, encoded};
use super::{ArtifactError, ArtifactStore, Owner, Place};

/// Stores artifacts in a [`Store`] of petalflow: in SQLite, PostgreSQL, Redis or memory.
///
/// Each artifact is a thread of the store, and each version a checkpoint. Give the artifacts a store of their own, such as
/// a file or a schema: lists of the threads of a program would contain them.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_agent::artifacts::{Artifacts, InStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // Or `SqliteStore::open("artifacts.db")?`.
/// let files = Artifacts::new(InStore::new(InMemoryStore::new())).thread("ann")?;
/// assert_eq!(files.write("note", "text/plain", b"hello").await?, 1);
/// # Ok(())
/// # }
/// ```
pub struct InStore(Arc<dyn Store>);

impl InStore {
    /// The artifacts in this store.
    pub fn new(store: impl Store) -> Self {
        InStore(Arc::new(store))
    }
}

/// The begin of the ids of threads with the artifacts of this owner.
fn prefix(owner: &Owner) -> String {
    format!("artifact/{}/", owner.key())
}

fn thread(place: &Place) -> String {
    format!("{}{}", prefix(&place.owner), encoded(&place.name))
}

fn failed(place: &Place, what: &str, error: StoreError) -> ArtifactError {
    ArtifactError::store(format!("artifact `{}` cannot be {what}", place.name), error)
}

#[async_trait]
impl ArtifactStore for InStore {
    async fn add(
        &self,
        place: &Place,
        version: u32,
        bytes: Vec<u8>,
    ) -> Result<bool, ArtifactError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let created = since.map_or(0, |since| since.as_millis());
        let seq = u64::from(version);
        let checkpoint = StoredCheckpoint {
            seq,
            base: seq,
            created_ms: u64::try_from(created).unwrap_or(0),
            bytes,
        };
        let thread = thread(place);
        let after = (version > 1).then(|| seq - 1);
        match self
            .0
            .append(Address::root(&thread), &checkpoint, after, 0..0, None)
            .await
        {
            Ok(()) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(failed(place, "written", error)),
        }
    }

    async fn newest(&self, place: &Place) -> Result<Option<u32>, ArtifactError> {
        let thread = thread(place);
        let newest = self.0.history(Address::root(&thread), None, 1).await;
        let newest = newest.map_err(|error| failed(place, "read", error))?;
        Ok(newest
            .first()
            .and_then(|newest| u32::try_from(newest.seq).ok()))
    }

    async fn get(
        &self,
        place: &Place,
        version: u32,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, ArtifactError> {
        let thread = thread(place);
        let stored = self
            .0
            .read(Address::root(&thread), Some(version.into()))
            .await;
        let stored = stored.map_err(|error| failed(place, "read", error))?;
        let bytes = stored
            .and_then(|mut stored| stored.chain.pop())
            .map(|last| last.bytes);
        if let Some(bytes) = bytes.as_ref().map(|bytes| bytes.len() as u64)
            && bytes > limit
        {
            return Err(ArtifactError::TooLarge {
                name: place.name.clone(),
                bytes,
                limit,
            });
        }
        Ok(bytes)
    }

    async fn names(&self, owner: &Owner) -> Result<Vec<String>, ArtifactError> {
        let prefix = prefix(owner);
        let query = ThreadQuery {
            prefix: &prefix,
            ..ThreadQuery::default()
        };
        let listed = self.0.threads(query).await;
        let listed = listed
            .map_err(|error| ArtifactError::store("the artifacts cannot be listed", error))?;
        let names = listed
            .iter()
            .filter_map(|info| decoded(info.id.strip_prefix(&prefix)?));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    async fn delete(&self, place: &Place) -> Result<bool, ArtifactError> {
        let existed = self.newest(place).await?.is_some();
        let deleted = self.0.delete(&thread(place), None).await;
        deleted.map_err(|error| failed(place, "deleted", error))?;
        Ok(existed)
    }
}

impl fmt::Debug for InStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InStore").finish_non_exhaustive()
    }
}
