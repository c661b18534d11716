//! `SqliteStore`: the contract, and what is a file's own.

use petalflow::checkpoint::{SqliteStore, Synchronous};
use petalflow::testing::{StoreUnderTest, store_contract};
use tempfile::TempDir;

store_contract! {
    full, async || in_a_file(Synchronous::Full).await
}

store_contract! {
    normal, async || in_a_file(Synchronous::Normal).await
}

store_contract! {
    memory, async || {
        let store = SqliteStore::in_memory()?;
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}

/// A store in a new file, and another on the same file.
async fn in_a_file(synchronous: Synchronous) -> Result<StoreUnderTest, petalflow::BoxError> {
    let folder = TempDir::new()?;
    let path = folder.path().join("essays.db");
    let open = || SqliteStore::options(&path).synchronous(synchronous).open();
    Ok(StoreUnderTest::new(open().await?)
        .with_other(open().await?)
        .with_guard(folder))
}
