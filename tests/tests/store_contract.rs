//! The store of petalflow itself, held to its contract. Those of other crates are tested there.

use petalflow::checkpoint::InMemoryStore;
use petalflow_testing::{StoreUnderTest, store_contract};

store_contract! {
    memory, async || {
        let store = InMemoryStore::new();
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}
