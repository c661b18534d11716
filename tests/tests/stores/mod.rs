//! The stores, held to their contract, and to what each of them promises beyond it.

#[cfg(unix)]
mod encrypted;
#[cfg(unix)]
mod other_process;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod redis;
// Servers are started and stopped by a shell.
#[cfg(unix)]
pub(crate) mod servers;
#[cfg(unix)]
mod shared;

pub(crate) mod sqlite;

use petalflow::checkpoint::InMemoryStore;
use petalflow_testing::{StoreUnderTest, store_contract};

store_contract! {
    memory, async || {
        let store = InMemoryStore::new();
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}
