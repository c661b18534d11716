//! The input of the test cases.

use std::any::Any;
use std::sync::Arc;

use petalflow::BoxError;
use petalflow_testing::contract::{self, CaseResult, Handles, UnderTest};

use crate::MemoryBackend;

/// The handles that a case receives: a backend, and a second handle to the same data.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow_memory::InMemory;
/// use petalflow_memory::testing::{Memories, MemoryUnderTest, run};
///
/// /// A case of your own: both handles see an entry.
/// async fn is_shared(memories: &Memories) -> Result<(), BoxError> {
///     memories.store.put(&"users".into(), "ann", 41.into(), None).await?;
///     assert!(memories.other.get(&"users".into(), "ann").await?.is_some());
///     Ok(())
/// }
///
/// run(async || Ok(MemoryUnderTest::new(InMemory::new())), is_shared);
/// ```
pub type Memories = Handles<dyn MemoryBackend>;

/// A fresh, empty backend for one test of [`memory_contract!`](crate::testing::memory_contract).
///
/// ```
/// use petalflow_memory::InMemory;
/// use petalflow_memory::testing::MemoryUnderTest;
///
/// let memory = InMemory::new();
/// let _shared = MemoryUnderTest::new(memory.clone()).with_other(memory);
/// let _absent = MemoryUnderTest::skipped("no server: set `SOME_URL`");
/// ```
#[derive(Debug)]
pub struct MemoryUnderTest(UnderTest<dyn MemoryBackend>);

impl MemoryUnderTest {
    /// Tests this backend, which must be empty.
    pub fn new(backend: impl MemoryBackend) -> Self {
        MemoryUnderTest(UnderTest::from_arc(Arc::new(backend)))
    }

    /// Sets a second, independent handle to the same data, opened as another process would open it. Without it the
    /// cases use the first handle twice.
    #[must_use]
    pub fn with_other(self, other: impl MemoryBackend) -> Self {
        MemoryUnderTest(self.0.with_other_arc(Arc::new(other)))
    }

    /// Keeps a value, such as a temporary folder, until the test ends. It is dropped after the backends.
    ///
    /// ```
    /// use petalflow_memory::SqliteMemory;
    /// use petalflow_memory::testing::{MemoryUnderTest, cases, run};
    ///
    /// let setup = async || {
    ///     let folder = tempfile::tempdir()?;
    ///     let memory = SqliteMemory::open(folder.path().join("memory.db")).await?;
    ///     Ok(MemoryUnderTest::new(memory).with_guard(folder))
    /// };
    /// run(setup, cases::a_missing_entry_is_none);
    /// ```
    #[must_use]
    pub fn with_guard(self, guard: impl Any) -> Self {
        MemoryUnderTest(self.0.with_guard(guard))
    }

    /// Skips the test and prints the reason: state what is missing and how to get it.
    pub fn skipped(why: impl Into<String>) -> Self {
        MemoryUnderTest(UnderTest::skipped(why))
    }
}

/// Runs one case on its own runtime.
///
/// ```
/// use petalflow_memory::InMemory;
/// use petalflow_memory::testing::{MemoryUnderTest, cases, run};
///
/// run(async || Ok(MemoryUnderTest::new(InMemory::new())), cases::a_missing_entry_is_none);
/// ```
///
/// # Panics
///
/// Panics if the contract is broken, if the backend fails, or if `setup` returns an error.
pub fn run(
    setup: impl AsyncFnOnce() -> Result<MemoryUnderTest, BoxError>,
    case: impl AsyncFnOnce(&Memories) -> CaseResult,
) {
    contract::run(async || Ok(setup().await?.0), case);
}
