//! The entries of a memory.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MemoryError, Namespace};

/// Deeper values are refused. JSON readers stop at 128 levels, and every stored value must be readable.
const MOST_LEVELS: usize = 100;

/// An entry of a memory: a value with a namespace and a key.
///
/// ```
/// use petalflow_memory::{InMemory, Memory};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let memory = Memory::new(InMemory::new()).within(["users", "ann"]);
/// memory.put("likes", ["tulips"]).await?;
///
/// let entry = memory.get("likes").await?.unwrap();
/// assert_eq!((entry.namespace.to_string().as_str(), entry.key.as_str()), ("users/ann", "likes"));
/// assert_eq!(entry.value_as::<Vec<String>>()?, ["tulips"]);
/// assert!(entry.created_ms <= entry.updated_ms && entry.expires_ms.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The namespace of the entry.
    pub namespace: Namespace,
    /// The key in the namespace. Any text.
    pub key: String,
    /// The stored value.
    pub value: Value,
    /// The time of the first put, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// The time of the last put, in milliseconds since 1970 (UTC).
    pub updated_ms: u64,
    /// The time when the entry expires, in milliseconds since 1970 (UTC). `None` if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

impl Entry {
    /// Converts the value to a Rust type.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("code", 4711).await?;
    /// let entry = memory.get("code").await?.unwrap();
    /// assert_eq!(entry.value_as::<u32>()?, 4711);
    /// assert!(entry.value_as::<bool>().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MemoryError::Type`] if the value is not of that type.
    pub fn value_as<T: DeserializeOwned>(&self) -> Result<T, MemoryError> {
        T::deserialize(&self.value).map_err(|error| MemoryError::Type {
            namespace: self.namespace.clone(),
            key: self.key.clone(),
            problem: error.to_string(),
        })
    }

    /// Returns the cursor of this entry. The next page starts after it.
    ///
    /// ```
    /// use petalflow_memory::{InMemory, Memory, Query};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let memory = Memory::new(InMemory::new());
    /// memory.put("a", 1).await?;
    /// memory.put("b", 2).await?;
    /// let first = memory.list().await?.remove(0);
    /// let rest = memory.query(Query::new().after(first.cursor())).await?;
    /// assert_eq!(rest.entries[0].key, "b");
    /// # Ok(())
    /// # }
    /// ```
    pub fn cursor(&self) -> Cursor {
        Cursor {
            namespace: self.namespace.clone(),
            key: self.key.clone(),
        }
    }
}

/// A position in the order of entries. The next page starts after it. The entry may have been deleted.
///
/// ```
/// use petalflow_memory::{Cursor, Namespace, Query};
///
/// let after = Cursor { namespace: Namespace::ROOT, key: "m".into() };
/// let query = Query::new().after(after);
/// # let _ = query;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cursor {
    /// The namespace of the last entry.
    pub namespace: Namespace,
    /// The key of the last entry.
    pub key: String,
}

/// Refuses a value that could not be read back.
pub(super) fn check(value: &Value) -> Result<(), MemoryError> {
    if exceeds(value, MOST_LEVELS) {
        return Err(MemoryError::Refused(format!(
            "the value is nested more than {MOST_LEVELS} levels deep: keep its parts under keys of their own"
        )));
    }
    Ok(())
}

/// Whether a value has more levels than this. It reads no deeper.
fn exceeds(value: &Value, levels: usize) -> bool {
    let inside = |value| levels == 0 || exceeds(value, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(inside),
        Value::Object(fields) => fields.values().any(inside),
        _ => false,
    }
}

/// The expiry time of an entry with this time to live that is put now.
pub(super) fn expiry(now_ms: u64, ttl: Option<Duration>) -> Option<u64> {
    // A time that no store can represent means never.
    let at = now_ms.checked_add(u64::try_from(ttl?.as_millis()).unwrap_or(u64::MAX))?;
    i64::try_from(at).is_ok().then_some(at)
}

/// Returns the current time in milliseconds since 1970 (UTC).
pub(crate) fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
