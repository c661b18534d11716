//! What nodes and tools hold.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Entry, Filter, MemoryBackend, MemoryError, Namespace, Page, Query, SearchHit};

/// A namespace of a memory: what nodes and tools take as `Managed<Memory>`. A clone is a handle to the same.
///
/// To drop a future of its methods leaves the memory as before the call or as after it.
///
/// ```
/// use petalflow_memory::{Filter, InMemory, Memory};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Fact {
///     about: String,
///     text: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = Memory::new(InMemory::new());
/// let facts = memory.within(["users", "ann", "facts"]);
/// facts.put("1", Fact { about: "flowers".into(), text: "likes tulips".into() }).await?;
/// facts.put("2", Fact { about: "work".into(), text: "is a gardener".into() }).await?;
///
/// let flowers = facts.find(Filter::eq("about", "flowers")).await?;
/// assert_eq!(flowers[0].value_as::<Fact>()?.text, "likes tulips");
/// assert_eq!(memory.within("users").list().await?.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Memory {
    backend: Arc<dyn MemoryBackend>,
    namespace: Namespace,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// All that this backend keeps.
    pub fn new(backend: impl MemoryBackend) -> Self {
        Memory {
            backend: Arc::new(backend),
            namespace: Namespace::ROOT,
        }
    }

    /// The part of it in a namespace under this one.
    #[must_use]
    pub fn within(&self, namespace: impl Into<Namespace>) -> Self {
        Memory {
            backend: Arc::clone(&self.backend),
            namespace: self.namespace.join(&namespace.into()),
        }
    }

    /// Where this handle is.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// let ann = Memory::new(InMemory::new()).within(["users", "ann"]);
    /// assert_eq!(ann.namespace().to_string(), "users/ann");
    /// ```
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// Where it is kept.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// // What only the backend can do: here, to look into another namespace.
    /// assert!(memory.backend().get(&"users".into(), "ann").await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn backend(&self) -> &dyn MemoryBackend {
        &*self.backend
    }

    /// The entry of this key.
    ///
    /// # Errors
    ///
    /// When the backend fails.
    pub async fn get(&self, key: &str) -> Result<Option<Entry>, MemoryError> {
        self.backend.get(&self.namespace, key).await
    }

    /// The value of this key, as a type of yours.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Type`] if it is of another type; and when the backend fails.
    pub async fn get_as<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, MemoryError> {
        let entry = self.get(key).await?;
        entry.map(|entry| entry.value_as()).transpose()
    }

    /// Remembers a value, in the place of the one before.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Refused`] if it is not JSON (such as a map whose keys are not texts); and when the backend fails.
    pub async fn put(&self, key: &str, value: impl Serialize) -> Result<(), MemoryError> {
        let value = json(key, value)?;
        self.backend.put(&self.namespace, key, value, None).await
    }

    /// Remembers a value for so long.
    ///
    /// ```
    /// # use petalflow_memory::{InMemory, Memory};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put_for("code", 4711, Duration::from_secs(300)).await?;
    /// assert!(memory.get("code").await?.unwrap().expires_ms.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put).
    pub async fn put_for(
        &self,
        key: &str,
        value: impl Serialize,
        ttl: Duration,
    ) -> Result<(), MemoryError> {
        let value = json(key, value)?;
        let ttl = Some(ttl);
        self.backend.put(&self.namespace, key, value, ttl).await
    }

    /// Forgets an entry. Whether there was one.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("code", 4711).await?;
    /// assert!(memory.delete("code").await?);
    /// assert!(!memory.delete("code").await?, "it is gone");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the backend fails.
    pub async fn delete(&self, key: &str) -> Result<bool, MemoryError> {
        self.backend.delete(&self.namespace, key).await
    }

    /// All entries here and under it, in the order of namespace and key.
    ///
    /// # Errors
    ///
    /// When the backend fails.
    pub async fn list(&self) -> Result<Vec<Entry>, MemoryError> {
        Ok(self.query(Query::new()).await?.entries)
    }

    /// The entries here and under it whose value is like this, in the order of namespace and key.
    ///
    /// # Errors
    ///
    /// When the backend fails.
    pub async fn find(&self, filter: Filter) -> Result<Vec<Entry>, MemoryError> {
        Ok(self.query(Query::new().filter(filter)).await?.entries)
    }

    /// A page of the entries here and under it. What the query says is [under](Query::under) is so within this namespace.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory, Query};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("a", 1).await?;
    /// memory.put("b", 2).await?;
    /// let first = memory.query(Query::new().limit(1)).await?;
    /// let second = memory.query(Query::new().limit(1).after(first.next)).await?;
    /// assert_eq!(second.entries[0].key, "b");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the backend fails.
    pub async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        self.backend.query(self.here(query)).await
    }

    /// The entries here and under it whose meaning is nearest to a text, the nearest first.
    ///
    /// ```
    /// use petalflow::BoxError;
    /// use petalflow_memory::{VectorIndex, InMemory, Memory};
    ///
    /// /// One number per subject, in place of an embedding model.
    /// async fn embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, BoxError> {
    ///     let vector = |text: &String| ["tulip", "river"].map(|word| text.matches(word).count() as f32).to_vec();
    ///     Ok(texts.iter().map(vector).collect())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(VectorIndex::new(InMemory::new(), embed));
    /// memory.put("a", "the river is high").await?;
    /// assert_eq!(memory.search("a river", 1).await?[0].entry.key, "a");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MemoryError::NoVectors`] if its backend is not [`VectorIndex`](super::VectorIndex) or the like; and when that fails.
    pub async fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, MemoryError> {
        let vectors = self.backend.vectors().ok_or(MemoryError::NoVectors)?;
        let query = self.here(Query::new().limit(limit));
        vectors.search(text, query).await
    }

    fn here(&self, mut query: Query) -> Query {
        query.prefix = self.namespace.join(&query.prefix);
        query
    }
}

fn json(key: &str, value: impl Serialize) -> Result<Value, MemoryError> {
    serde_json::to_value(value).map_err(|error| {
        MemoryError::Refused(format!(
            "the value for `{key}` is not JSON ({error}): put something that serializes as JSON"
        ))
    })
}
