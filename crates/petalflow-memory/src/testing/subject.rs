//! What the cases run against.

use std::any::Any;
use std::sync::Arc;

use petalflow::BoxError;
use petalflow_testing::contract::{self, Handles, Outcome, UnderTest};

use crate::MemoryBackend;

/// What a case gets: a backend, and a second handle to the same data.
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
    /// Tests this backend, which holds nothing yet.
    pub fn new(backend: impl MemoryBackend) -> Self {
        MemoryUnderTest(UnderTest::from_arc(Arc::new(backend)))
    }

    /// Gives the cases a second, independent handle to the same data, opened as another process would. Without one they use
    /// the first in its place.
    #[must_use]
    pub fn with_other(self, other: impl MemoryBackend) -> Self {
        MemoryUnderTest(self.0.with_other_arc(Arc::new(other)))
    }

    /// Retains something until the test is over, such as a temporary folder; it is dropped after the backends.
    #[must_use]
    pub fn with_guard(self, guard: impl Any) -> Self {
        MemoryUnderTest(self.0.with_guard(guard))
    }

    /// Tests nothing, and prints why: say what is missing and how to get it.
    pub fn skipped(why: impl Into<String>) -> Self {
        MemoryUnderTest(UnderTest::skipped(why))
    }
}

/// Runs one case, on a runtime of its own.
///
/// # Panics
///
/// If the contract is broken, the backend fails, or there is no backend to test (`setup` gives an error).
pub fn run(
    setup: impl AsyncFnOnce() -> Result<MemoryUnderTest, BoxError>,
    case: impl AsyncFnOnce(&Memories) -> Outcome,
) {
    contract::run(async || Ok(setup().await?.0), case);
}
