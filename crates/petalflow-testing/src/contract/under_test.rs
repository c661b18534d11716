//! The stores that the cases test.

use std::any::{Any, type_name_of_val};
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use petalflow::BoxError;
use petalflow::checkpoint::Store;
use petalflow::error::message_with_sources;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// The result of a case: an error if the store fails where the contract requires success.
pub type CaseResult = Result<(), BoxError>;

/// A fresh, empty store for one test of [`store_contract!`](crate::store_contract).
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_testing::StoreUnderTest;
///
/// let store = InMemoryStore::new();
/// let _shared = StoreUnderTest::new(store.clone()).with_other(store);
/// let _absent = StoreUnderTest::skipped("no server: set `SOME_URL`");
/// ```
pub type StoreUnderTest = UnderTest<dyn Store>;

/// Something fresh and empty for one test of a contract: a [`StoreUnderTest`], for example.
pub struct UnderTest<T: ?Sized> {
    stores: Result<Handles<T>, String>,
    guard: Option<Box<dyn Any>>,
}

impl<T: ?Sized> fmt::Debug for UnderTest<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnderTest")
            .field("skipped", &self.stores.as_ref().err())
            .finish_non_exhaustive()
    }
}

impl UnderTest<dyn Store> {
    /// Tests this store, which must be empty.
    pub fn new(store: impl Store) -> Self {
        Self::from_arc(Arc::new(store))
    }

    /// Adds a second, independent handle to the same data, opened as another process would. Without one the cases use the first
    /// handle twice.
    #[must_use]
    pub fn with_other(self, other: impl Store) -> Self {
        self.with_other_arc(Arc::new(other))
    }
}

impl<T: ?Sized> UnderTest<T> {
    /// Tests this store, which must be empty: for contracts of other traits than [`Store`].
    pub fn from_arc(store: Arc<T>) -> Self {
        let other = Arc::clone(&store);
        UnderTest {
            stores: Ok(Handles { store, other }),
            guard: None,
        }
    }

    /// Adds a second, independent handle to the same data.
    #[must_use]
    pub fn with_other_arc(mut self, other: Arc<T>) -> Self {
        if let Ok(stores) = &mut self.stores {
            stores.other = other;
        }
        self
    }

    /// Holds a value until the test is over, such as a temporary folder. It is dropped after the stores.
    #[must_use]
    pub fn with_guard(mut self, guard: impl Any) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// Tests nothing, and writes `why` to the standard error output, past the test harness: what is missing, and how to install
    /// it.
    pub fn skipped(why: impl Into<String>) -> Self {
        UnderTest {
            stores: Err(why.into()),
            guard: None,
        }
    }
}

/// The argument of a case: a store, and a second handle to the same data.
pub type Stores = Handles<dyn Store>;

/// The argument of a case: a store, and a second handle to the same data.
pub struct Handles<T: ?Sized> {
    /// The store, empty when the case begins.
    pub store: Arc<T>,
    /// The same data by another handle.
    pub other: Arc<T>,
}

impl<T: ?Sized> Handles<T> {
    /// The handle for one of several workers at the same time: the two in turn.
    pub(super) fn for_worker(&self, index: usize) -> Arc<T> {
        let handle = if index.is_multiple_of(2) {
            &self.store
        } else {
            &self.other
        };
        Arc::clone(handle)
    }
}

impl<T: ?Sized> Clone for Handles<T> {
    fn clone(&self) -> Self {
        Handles {
            store: Arc::clone(&self.store),
            other: Arc::clone(&self.other),
        }
    }
}

impl<T: ?Sized> fmt::Debug for Handles<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles").finish_non_exhaustive()
    }
}

/// The time limit of a case. The slowest cases take seconds on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// Runs one case, on a runtime of its own.
///
/// # Panics
///
/// If the store violates the contract, fails, or does not finish the case within a minute, or if `setup` fails.
pub fn run<T: ?Sized>(
    setup: impl AsyncFnOnce() -> Result<UnderTest<T>, BoxError>,
    case: impl AsyncFnOnce(&Handles<T>) -> CaseResult,
) {
    run_within(TIME_LIMIT, setup, case);
}

/// [`run`] with another time limit.
///
/// # Panics
///
/// As [`run`].
pub fn run_within<T: ?Sized>(
    limit: Duration,
    setup: impl AsyncFnOnce() -> Result<UnderTest<T>, BoxError>,
    case: impl AsyncFnOnce(&Handles<T>) -> CaseResult,
) {
    let name = type_name_of_val(&case);
    let runtime = CaseRuntime::new();
    runtime.block_on(async {
        let UnderTest { stores, guard } = setup().await.unwrap_or_else(|error| {
            panic!(
                "the store to test cannot be set up: {}",
                message_with_sources(&*error)
            )
        });
        match stores {
            Ok(stores) => {
                let Ok(result) = timeout(limit, case(&stores)).await else {
                    panic!(
                        "`{name}` did not finish within {limit:?}: a call of the store hangs, or takes too long"
                    )
                };
                if let Err(error) = result {
                    panic!(
                        "the store failed where the contract requires success: {}",
                        message_with_sources(&*error)
                    );
                }
            }
            Err(why) => report_skip(&why),
        }
        drop(guard);
    });
}

/// Reports that the current test is skipped. `eprintln!` would be captured.
pub(super) fn report_skip(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("skipped: {test}: {why}\n");
    // There is nobody else to report to.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The runtime of a case. It does not wait for threads of the case that never end.
struct CaseRuntime(Option<Runtime>);

impl CaseRuntime {
    fn new() -> Self {
        // A store behind a socket needs the network, which `enable_all` includes if the program's features of tokio do.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap_or_else(|error| panic!("no runtime can be built: {error}"));
        CaseRuntime(Some(runtime))
    }

    fn block_on(&self, case: impl Future<Output = ()>) {
        if let Some(runtime) = &self.0 {
            runtime.block_on(case);
        }
    }
}

impl Drop for CaseRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
