//! Long-term memory: the contract, in memory and in files, and what nodes do with it.

mod differential;
mod files;
mod managed;
#[cfg(unix)]
mod postgres;
mod vectors;

use petalflow_memory::testing::{MemoryUnderTest, memory_contract};
use petalflow_memory::{InMemory, SqliteMemory, VectorIndex};
use petalflow_sqlite::{SqliteStore, Synchronous};
use tempfile::TempDir;

memory_contract! {
    in_memory, async || {
        let memory = InMemory::new();
        Ok(MemoryUnderTest::new(memory.clone()).with_other(memory))
    }
}

memory_contract! {
    embedded, async || {
        Ok(MemoryUnderTest::new(VectorIndex::new(InMemory::new(), vectors::embed_letters)))
    }
}

memory_contract! {
    full, async || open_in_file(Synchronous::Full).await
}

memory_contract! {
    normal, async || open_in_file(Synchronous::Normal).await
}

memory_contract! {
    sqlite_in_memory, async || {
        let memory = SqliteMemory::beside(&SqliteStore::in_memory()?);
        Ok(MemoryUnderTest::new(memory.clone()).with_other(memory))
    }
}

/// A memory in a new file, and another on the same file.
async fn open_in_file(synchronous: Synchronous) -> Result<MemoryUnderTest, petalflow::BoxError> {
    let folder = TempDir::new()?;
    let path = folder.path().join("memory.db");
    let open = async || {
        let options = SqliteStore::options(&path).synchronous(synchronous);
        Ok::<_, petalflow::BoxError>(SqliteMemory::beside(&options.open().await?))
    };
    Ok(MemoryUnderTest::new(open().await?)
        .with_other(open().await?)
        .with_guard(folder))
}
