//! The handle of nodes and tools to a memory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use petalflow::middleware::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Entry, Filter, MemoryBackend, MemoryError, Namespace, Page, Query, SearchHit};

/// A handle to a namespace of a memory. Nodes and tools receive it as `Managed<Memory>`. Clones share the backend.
///
/// All methods are cancel safe: if a future is dropped, its call has taken full effect or none.
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
    /// Creates a handle to all entries of this backend.
    pub fn new(backend: impl MemoryBackend) -> Self {
        Memory {
            backend: Arc::new(backend),
            namespace: Namespace::ROOT,
        }
    }

    /// Returns a handle to a namespace under this one.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let users = Memory::new(InMemory::new()).within("users");
    /// users.within("ann").put("city", "Oslo").await?;
    /// assert!(users.get("city").await?.is_none(), "`get` reads this namespace only");
    /// assert_eq!(users.list().await?[0].namespace.names(), ["users", "ann"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn within(&self, namespace: impl Into<Namespace>) -> Self {
        Memory {
            backend: Arc::clone(&self.backend),
            namespace: self.namespace.join(&namespace.into()),
        }
    }

    /// Returns the namespace of this handle.
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

    /// Returns the backend.
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

    /// Returns the entry with this key.
    ///
    /// # Errors
    ///
    /// Fails if the backend fails.
    pub async fn get(&self, key: &str) -> Result<Option<Entry>, MemoryError> {
        self.backend.get(&self.namespace, key).await
    }

    /// Returns the value with this key, converted to a Rust type.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("visits", 3).await?;
    /// assert_eq!(memory.get_as::<u32>("visits").await?, Some(3));
    /// assert_eq!(memory.get_as::<u32>("orders").await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MemoryError::Type`] if the value is of another type. Also fails if the backend fails.
    pub fn get_as<'a, T: DeserializeOwned>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<T>, MemoryError>> {
        // Boxed, so that a type that cannot be read is reported once, and not again by `.await`.
        Box::pin(async move {
            let entry = self.get(key).await?;
            entry.map(|entry| entry.value_as()).transpose()
        })
    }

    /// Stores a value and replaces the previous one.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("city", "Oslo").await?;
    /// memory.put("city", "Rome").await?;
    /// assert_eq!(memory.get("city").await?.unwrap().value, "Rome");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MemoryError::Refused`] if the value is not JSON, such as a map whose keys are not texts; or a backend error.
    pub fn put<'a>(
        &'a self,
        key: &'a str,
        value: impl Serialize,
    ) -> BoxFuture<'a, Result<(), MemoryError>> {
        self.put_until(key, json(key, value), None)
    }

    /// Stores a value that expires after this time.
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
    /// Same as [`put`](Self::put).
    pub fn put_for<'a>(
        &'a self,
        key: &'a str,
        value: impl Serialize,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), MemoryError>> {
        self.put_until(key, json(key, value), Some(ttl))
    }

    // Boxed, so that a value that cannot be stored is reported once, and not again by `.await`.
    fn put_until<'a>(
        &'a self,
        key: &'a str,
        value: Result<Value, MemoryError>,
        ttl: Option<Duration>,
    ) -> BoxFuture<'a, Result<(), MemoryError>> {
        Box::pin(async move { self.backend.put(&self.namespace, key, value?, ttl).await })
    }

    /// Deletes an entry. Returns whether it existed.
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
    /// Fails if the backend fails.
    pub async fn delete(&self, key: &str) -> Result<bool, MemoryError> {
        self.backend.delete(&self.namespace, key).await
    }

    /// Returns all entries in this namespace and under it, in the order of namespace and key.
    ///
    /// # Errors
    ///
    /// Fails if the backend fails.
    pub async fn list(&self) -> Result<Vec<Entry>, MemoryError> {
        Ok(self.query(Query::new()).await?.entries)
    }

    /// Returns the entries in this namespace and under it that match a filter, in the order of namespace and key.
    ///
    /// ```
    /// use petalflow_memory::{Filter, InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let users = Memory::new(InMemory::new()).within("users");
    /// for (name, age) in [("ann", 41), ("bo", 17)] {
    ///     users.within(name).put("age", age).await?;
    /// }
    /// // The empty path is the value itself.
    /// assert_eq!(users.find(Filter::ge("", 18)).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the backend fails.
    pub async fn find(&self, filter: Filter) -> Result<Vec<Entry>, MemoryError> {
        Ok(self.query(Query::new().filter(filter)).await?.entries)
    }

    /// Returns a page of the entries in this namespace and under it. [`Query::under`] is relative to this namespace.
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
    /// Fails if the backend fails.
    pub async fn query(&self, query: Query) -> Result<Page, MemoryError> {
        self.backend.query(self.here(query)).await
    }

    /// Returns the entries in this namespace and under it that are most similar in meaning to a text, the best first.
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
    /// [`MemoryError::NoVectors`] if the backend has no vector search. Also fails if the search fails.
    /// [`VectorIndex`](super::VectorIndex) adds vector search.
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
