//! The stores, held to their contract.

mod sqlite;

use petalflow::checkpoint::MemoryStore;
use petalflow::testing::{StoreUnderTest, store_contract};

store_contract! {
    memory, async || {
        let store = MemoryStore::new();
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}
