//! Queries on a memory.

use serde::{Deserialize, Serialize};

use super::{Cursor, Entry, Filter, Namespace};

/// A query for the entries under a namespace, in the order of namespace and key.
///
/// ```
/// use petalflow_memory::{Filter, InMemory, Memory, Query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = Memory::new(InMemory::new());
/// for (name, age) in [("ann", 41), ("bo", 17), ("cy", 30)] {
///     memory.within(["users", name]).put("age", age).await?;
/// }
///
/// let grown = Query::new().under("users").filter(Filter::ge("", 18)).limit(1);
/// let page = memory.query(grown.clone()).await?;
/// assert_eq!(page.entries[0].namespace.names(), ["users", "ann"]);
/// let page = memory.query(grown.after(page.next)).await?;
/// assert_eq!(page.entries[0].namespace.names(), ["users", "cy"]);
/// assert!(page.next.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// Selects entries in this namespace and under it.
    pub prefix: Namespace,
    /// Selects entries whose value matches.
    pub filter: Option<Filter>,
    /// Selects entries after this cursor.
    pub after: Option<Cursor>,
    /// The maximum number of entries. `None` means no limit.
    pub limit: Option<usize>,
}

impl Query {
    /// Creates a query for all entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects entries in this namespace and under it.
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Namespace>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Selects entries whose value matches this filter.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Selects entries after this cursor: [`Page::next`] of the previous page.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<Option<Cursor>>) -> Self {
        self.after = cursor.into();
        self
    }

    /// Sets the maximum number of entries. 0 counts as 1.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit.max(1));
        self
    }

    /// Whether an entry matches the filter.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory, Query};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("a", 1).await?;
    /// let entry = memory.get("a").await?.unwrap();
    /// assert!(Query::new().matches(&entry));
    /// # Ok(())
    /// # }
    /// ```
    pub fn matches(&self, entry: &Entry) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.matches(&entry.value))
    }
}

/// One page of the result of a query.
///
/// ```
/// use petalflow_memory::{MemoryBackend as _, InMemory, Namespace, Query};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = InMemory::new();
/// for key in ["a", "b", "c"] {
///     memory.put(&Namespace::ROOT, key, key.into(), None).await?;
/// }
/// let first = memory.query(Query::new().limit(2)).await?;
/// assert_eq!(first.entries.len(), 2);
/// let rest = memory.query(Query::new().after(first.next)).await?;
/// assert!(rest.entries[0].key == "c" && rest.next.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// The entries, in the order of namespace and key.
    pub entries: Vec<Entry>,
    /// The cursor for the next page. `None` on the last page.
    pub next: Option<Cursor>,
}

impl Page {
    /// Collects a page of matching entries from sorted entries of the namespace, all of them after the cursor.
    ///
    /// For backends that read their entries one by one.
    ///
    /// ```
    /// use petalflow_memory::{MemoryError, Page, Query};
    ///
    /// let page = Page::collect::<MemoryError>(&Query::new(), [])?;
    /// assert!(page.entries.is_empty());
    /// # Ok::<(), MemoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first error among the entries.
    pub fn collect<E>(
        query: &Query,
        entries: impl IntoIterator<Item = Result<Entry, E>>,
    ) -> Result<Self, E> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut page = Page::default();
        for entry in entries {
            let entry = entry?;
            if !query.matches(&entry) {
                continue;
            }
            if page.entries.len() >= limit {
                page.next = page.entries.last().map(Entry::cursor);
                break;
            }
            page.entries.push(entry);
        }
        Ok(page)
    }
}
