//! The stores, held to their contract, and to what each of them promises beyond it.

mod other_process;
mod postgres;
mod redis;
mod servers;

use petalflow::checkpoint::MemoryStore;
use petalflow::testing::{StoreUnderTest, store_contract};

store_contract! {
    memory, async || {
        let store = MemoryStore::new();
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}
