//! The stores that the cases test.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use petalflow::BoxError;
use petalflow::checkpoint::Store;
use petalflow::error::message_with_sources;

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

    /// Tests nothing, and prints `why`: what is missing, and how to install it.
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

/// Runs one case, on a runtime of its own.
///
/// # Panics
///
/// If the store violates the contract or fails, or if `setup` fails.
pub fn run<T: ?Sized>(
    setup: impl AsyncFnOnce() -> Result<UnderTest<T>, BoxError>,
    case: impl AsyncFnOnce(&Handles<T>) -> CaseResult,
) {
    // A store behind a socket needs the network, which `enable_all` includes if the program's features of tokio do.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap_or_else(|error| panic!("no runtime can be built: {error}"));
    runtime.block_on(async {
        let UnderTest { stores, guard } = setup().await.unwrap_or_else(|error| {
            panic!(
                "the store to test cannot be set up: {}",
                message_with_sources(&*error)
            )
        });
        match stores {
            Ok(stores) => {
                if let Err(error) = case(&stores).await {
                    panic!(
                        "the store failed where the contract requires success: {}",
                        message_with_sources(&*error)
                    );
                }
                drop(stores);
            }
            Err(why) => eprintln!("skipped: {why}"),
        }
        drop(guard);
    });
}
