//! The trait that those who keep memories implement.

use async_trait::async_trait;
use std::time::Duration;

use serde_json::Value;

use super::{Entry, MemoryError, Namespace, Page, Query, VectorMemory};

/// Keeps entries. Petalflow brings [`InMemory`](super::InMemory) and, with the feature `sqlite`, `SqliteMemory`; implement it
/// for another, and hold it to the same contract with `petalflow_memory::testing::memory_contract!` (feature `testing`).
///
/// # The contract
///
/// * **Atomic**: each call happens wholly or not at all.
/// * **Ordered**: a call sees the effects of all calls that had returned before it began, from whatever process.
/// * **Cancel safe**: dropping a future leaves everything as before the call or as after it.
/// * **Exact**: names and keys are any text, compared by bytes; values come back as they were given, numbers to the last
///   digit. A value may be refused if it is nested more than a hundred levels deep.
/// * **Forgetful**: an entry whose time is over is not there, whether or not it still takes up room.
/// * Failures are errors; a backend neither panics nor retries for ever.
///
/// ```
/// use petalflow_memory::{MemoryBackend, InMemory, Namespace, Query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let backend: Box<dyn MemoryBackend> = Box::new(InMemory::new());
/// let users = Namespace::from("users");
/// backend.put(&users, "ann", "a gardener".into(), None).await?;
/// assert_eq!(backend.get(&users, "ann").await?.unwrap().value, "a gardener");
/// assert_eq!(backend.query(Query::new()).await?.entries.len(), 1);
/// assert!(backend.delete(&users, "ann").await?);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait MemoryBackend: Send + Sync + 'static {
    /// The entry of this key.
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError>;

    /// Puts a value there, in the place of the one before, and forgets it after so long. An entry that is replaced keeps the
    /// time when it was created; its time to live is the new one's.
    async fn put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Value,
        ttl: Option<Duration>,
    ) -> Result<(), MemoryError>;

    /// Forgets an entry. Whether there was one.
    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError>;

    /// The entries that a query asks for, in the order of namespace and key, each by its bytes.
    async fn query(&self, query: Query) -> Result<Page, MemoryError>;

    /// The same with search by meaning, if it has that.
    fn vectors(&self) -> Option<&dyn VectorMemory> {
        None
    }
}
