//! The process dies at each call to the store of an operation on a thread, in memory and in a file.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow_sqlite::SqliteStore;
use petalflow_test_servers::operation_tests;
use petalflow_test_servers::operations::{Open, Opened};

const IN_MEMORY: Open = || {
    Box::pin(async {
        Some(Opened {
            store: Arc::new(InMemoryStore::new()),
            guard: Box::new(()),
        })
    })
};

const IN_FILE: Open = || {
    Box::pin(async {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SqliteStore::open(folder.path().join("threads.db")).await;
        Some(Opened {
            store: Arc::new(store.expect("it opens")),
            guard: Box::new(folder),
        })
    })
};

operation_tests!(in_memory, IN_MEMORY);
operation_tests!(in_file, IN_FILE);
