//! The traits of memory backends.

use std::time::Duration;

use serde_json::Value;

use super::{Entry, MemoryError, Namespace, Page, Query};
use petalflow::async_trait;

/// A store for entries. Implementations are [`InMemory`](super::InMemory), `SqliteMemory` (feature `sqlite`) and
/// `PostgresMemory` (feature `postgres`). Test your own with `petalflow_memory::testing::memory_contract!` (feature `testing`).
///
/// # The contract
///
/// * **Atomic**: a call takes full effect or none.
/// * **Ordered**: a call sees the effects of all calls that returned before it started, in any process.
/// * **Cancel safe**: if a future is dropped, its call has taken full effect or none.
/// * **Exact**: names and keys are any text, compared by bytes. Values are returned exactly as they were stored,
///   including every digit of a number. A backend may refuse a value that is nested more than 100 levels deep.
/// * **Expiring**: an expired entry is not returned, even if it still takes up space.
/// * **Failures are errors**: a backend does not panic and does not retry forever.
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
    /// Returns the entry with this key.
    async fn get(&self, namespace: &Namespace, key: &str) -> Result<Option<Entry>, MemoryError>;

    /// Stores a value and replaces the previous one. With a `ttl` the entry expires after that time. A replaced entry
    /// keeps its creation time and takes the new time to live.
    async fn put(
        &self,
        namespace: &Namespace,
        key: &str,
        value: Value,
        ttl: Option<Duration>,
    ) -> Result<(), MemoryError>;

    /// Deletes an entry. Returns whether it existed.
    async fn delete(&self, namespace: &Namespace, key: &str) -> Result<bool, MemoryError>;

    /// Returns the entries of a query, in the order of namespace and key, each by its bytes.
    async fn query(&self, query: Query) -> Result<Page, MemoryError>;

    /// Returns the vector search of this backend, if it has one.
    ///
    /// ```
    /// use petalflow::BoxError;
    /// use petalflow_memory::{InMemory, MemoryBackend, VectorIndex};
    ///
    /// async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
    ///     // Ask an embedding model here.
    ///     Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
    /// }
    ///
    /// assert!(InMemory::new().vectors().is_none());
    /// assert!(VectorIndex::new(InMemory::new(), embed).vectors().is_some());
    /// ```
    fn vectors(&self) -> Option<&dyn VectorMemory> {
        None
    }
}

/// A [`MemoryBackend`] with vector search.
///
/// ```
/// use petalflow_memory::{MemoryError, SearchHit, Query, VectorMemory};
///
/// async fn three(memory: &dyn VectorMemory, about: &str) -> Result<Vec<SearchHit>, MemoryError> {
///     memory.search(about, Query::new().limit(3)).await
/// }
/// # let _ = three;
/// ```
#[async_trait]
pub trait VectorMemory: MemoryBackend {
    /// Returns the entries of a query that are most similar in meaning to a text, the best first. The default limit
    /// is ten.
    async fn search(&self, text: &str, query: Query) -> Result<Vec<SearchHit>, MemoryError>;
}

/// An entry that a vector search found.
///
/// ```
/// use petalflow_memory::SearchHit;
///
/// fn best(found: &[SearchHit]) -> Option<&str> {
///     found.first().filter(|near| near.score > 0.5).map(|near| near.entry.key.as_str())
/// }
/// assert_eq!(best(&[]), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The entry.
    pub entry: Entry,
    /// The cosine similarity of the two vectors, from -1 to 1.
    pub score: f32,
}
