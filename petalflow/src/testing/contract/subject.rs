//! What the cases run against.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::BoxError;
use crate::checkpoint::Store;

/// What a case returns: an error if the store failed where the contract asks it to work.
pub type Outcome = Result<(), BoxError>;

/// A fresh, empty store for one test of [`store_contract!`](crate::testing::store_contract).
///
/// ```
/// use petalflow::checkpoint::MemoryStore;
/// use petalflow::testing::StoreUnderTest;
///
/// let store = MemoryStore::new();
/// let _shared = StoreUnderTest::new(store.clone()).with_other(store);
/// let _absent = StoreUnderTest::skipped("no server: set `SOME_URL`");
/// ```
pub struct StoreUnderTest {
    stores: Result<Stores, String>,
    guard: Option<Box<dyn Any>>,
}

impl fmt::Debug for StoreUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreUnderTest")
            .field("skipped", &self.stores.as_ref().err())
            .finish_non_exhaustive()
    }
}

impl StoreUnderTest {
    /// Tests this store, which holds nothing yet.
    pub fn new(store: impl Store) -> Self {
        let store: Arc<dyn Store> = Arc::new(store);
        let stores = Stores {
            other: Arc::clone(&store),
            store,
        };
        StoreUnderTest {
            stores: Ok(stores),
            guard: None,
        }
    }

    /// Gives the cases a second, independent handle to the same data, opened as another process would. Without one they use
    /// the first in its place.
    #[must_use]
    pub fn with_other(mut self, other: impl Store) -> Self {
        if let Ok(stores) = &mut self.stores {
            stores.other = Arc::new(other);
        }
        self
    }

    /// Keeps something until the test is over, such as a temporary folder; it is dropped after the stores.
    #[must_use]
    pub fn with_guard(mut self, guard: impl Any) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// Tests nothing, and prints why: say what is missing and how to get it.
    pub fn skipped(why: impl Into<String>) -> Self {
        StoreUnderTest {
            stores: Err(why.into()),
            guard: None,
        }
    }
}

/// What a case gets: a store, and a second handle to the same data.
#[derive(Clone)]
pub struct Stores {
    /// The store, empty when the case begins.
    pub store: Arc<dyn Store>,
    /// The same data by another handle.
    pub other: Arc<dyn Store>,
}

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stores").finish_non_exhaustive()
    }
}

/// Runs one case, on a runtime of its own.
///
/// # Panics
///
/// If the contract is broken, the store fails, or there is no store to test (`setup` gives an error).
pub fn run(
    setup: impl AsyncFnOnce() -> Result<StoreUnderTest, BoxError>,
    case: impl AsyncFnOnce(&Stores) -> Outcome,
) {
    // `enable_all` is what this program's features allow: for a store behind a socket that includes the network.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap_or_else(|error| panic!("no runtime can be built: {error}"));
    runtime.block_on(async {
        let StoreUnderTest { stores, guard } = setup().await.unwrap_or_else(|error| {
            panic!("the store to test cannot be set up: {}", words(&*error))
        });
        match stores {
            Ok(stores) => {
                if let Err(error) = case(&stores).await {
                    panic!(
                        "the store failed where the contract asks it to work: {}",
                        words(&*error)
                    );
                }
                drop(stores);
            }
            Err(why) => eprintln!("skipped: {why}"),
        }
        drop(guard);
    });
}

/// An error with all its causes.
fn words(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
