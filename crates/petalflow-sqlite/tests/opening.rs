//! Files that are opened, and files that are refused without a change.

use std::path::Path;

use futures_util::future::join_all;
use petalflow::checkpoint::{Store, StoreError, ThreadQuery};
use petalflow::error::message_with_sources;
use petalflow_sqlite::SqliteStore;
use petalflow_test_support::{Need, skip};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{append, newest, unavailable, wait_until_closed};

const THREAD: &str = "essay-42";

/// Creates a database with these statements.
fn fixture(path: &Path, sql: &str) {
    let connection = Connection::open(path).expect("it opens");
    connection.execute_batch(sql).expect("it is SQL");
}

/// Checks that opening fails with an error that contains this text, and does not change the file.
async fn assert_refused(path: &Path, says: &str) {
    let before = std::fs::read(path).expect("it is there");
    let error = SqliteStore::open(path).await.expect_err("it is refused");
    let words = message_with_sources(&error);
    assert!(
        words.contains(says) && words.contains(&path.display().to_string()),
        "the error names the file and contains {says:?}: {words}"
    );
    assert_eq!(
        std::fs::read(path).expect("it is there"),
        before,
        "a refused file is not changed"
    );
}

#[tokio::test]
async fn checkpoints_are_read_after_reopening() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    for round in 0..5 {
        let store = SqliteStore::open(&path).await.expect("it opens");
        let before = newest(&store, THREAD).await.unwrap_or(0);
        assert_eq!(before, round * 3);
        for seq in before + 1..=before + 3 {
            append(&store, THREAD, seq, 100)
                .await
                .expect("it is written");
        }
        drop(store);
        wait_until_closed(&path);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("it can be read")
        .map(|entry| entry.expect("it can be read").file_name())
        .collect();
    assert_eq!(left, ["essays.db"], "closing leaves one file");
}

#[tokio::test]
async fn many_stores_can_open_a_new_file_at_the_same_time() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let stores = join_all((0..8).map(|_| SqliteStore::open(&path))).await;
    for (index, store) in stores.into_iter().enumerate() {
        let store = store.expect("it opens");
        append(&store, &format!("essay-{index}"), 1, 10)
            .await
            .expect("it is written");
        let threads = store.threads(ThreadQuery::default()).await;
        assert_eq!(threads.expect("it can be read").len(), index + 1);
    }
}

#[tokio::test]
async fn an_older_layout_is_migrated() {
    // Layout 0 is an empty file.
    let older = [
        "PRAGMA user_version = 0;",
        "PRAGMA application_id = 0x50464c47; PRAGMA user_version = 0;",
        "PRAGMA journal_mode = WAL; PRAGMA application_id = 0x50464c47;",
    ];
    for sql in older {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        fixture(&path, sql);
        let store = SqliteStore::open(&path).await.expect("it opens");
        append(&store, THREAD, 1, 10).await.expect("it is written");
        let version: i64 = Connection::open(&path)
            .expect("it opens")
            .query_row("PRAGMA user_version", (), |row| row.get(0))
            .expect("every database has one");
        assert_eq!(version, 7);
    }
}

#[tokio::test]
async fn a_newer_layout_is_refused() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    fixture(
        &path,
        "PRAGMA application_id = 0x50464c47; PRAGMA user_version = 1000; CREATE TABLE runs (id INTEGER);",
    );
    let error = SqliteStore::open(&path).await.expect_err("it is refused");
    assert!(
        matches!(
            error,
            StoreError::NewerLayout {
                found: 1000,
                known: 7
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_layout_that_was_never_released_is_refused() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    fixture(
        &path,
        "PRAGMA application_id = 0x50464350; PRAGMA user_version = 2; CREATE TABLE checkpoints (id INTEGER);",
    );
    assert_refused(&path, "never released").await;
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    for sql in [
        "CREATE TABLE notes (id INTEGER);",
        "PRAGMA application_id = 42;",
        "PRAGMA application_id = 42; PRAGMA user_version = 1; CREATE TABLE checkpoints (id INTEGER);",
        "PRAGMA user_version = 3;",
    ] {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("notes.db");
        fixture(&path, sql);
        assert_refused(&path, "another program").await;
    }
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_refused() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essay.txt");
    std::fs::write(&path, "petals, and why they fall. ".repeat(100)).expect("it can be written");
    assert_refused(&path, "not a SQLite database").await;
}

#[tokio::test]
async fn a_path_without_a_folder_is_an_error() {
    let folder = TempDir::new().expect("a folder can be made");
    let missing = folder.path().join("missing").join("essays.db");
    unavailable(
        SqliteStore::open(&missing).await,
        &missing,
        "its folder must exist",
    );
    unavailable(
        SqliteStore::open(folder.path()).await,
        folder.path(),
        "cannot be opened",
    );
    assert!(SqliteStore::open("").await.is_err());
    std::fs::create_dir(folder.path().join("missing")).expect("it can be made");
    SqliteStore::open(&missing)
        .await
        .expect("the cause is gone");
}

#[tokio::test]
async fn every_path_is_the_path_of_a_file() {
    // SQLite itself would take the first as memory and the second as a URI.
    for name in [":memory:", "file:essays.db?mode=memory", "essays 🌸%20'.db"] {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join(name);
        let store = SqliteStore::open(&path).await.expect("it opens");
        append(&store, THREAD, 1, 10).await.expect("it is written");
        assert!(path.exists(), "{} is a file", path.display());
    }
}

/// Root can write everywhere, so as root a child process does this as the user `nobody`.
#[cfg(unix)]
#[test]
fn a_file_without_write_access_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    const FOLDER: &str = "PETALFLOW_TEST_READ_ONLY";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let folder = Path::new(&folder);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
        runtime.block_on(async {
            let file = folder.join("essays.db");
            unavailable(SqliteStore::open(&file).await, &file, "write access");
            let new = folder.join("new.db");
            unavailable(
                SqliteStore::open(&new).await,
                &new,
                "allowed to write there",
            );
        });
        return;
    }
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(&path).await.expect("it opens");
        append(&store, THREAD, 1, 10).await.expect("it is written");
    });
    wait_until_closed(&path);
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    let mut child = Command::new(std::env::current_exe().expect("it is known"));
    child
        .args([
            "--exact",
            "opening::a_file_without_write_access_is_an_error",
        ])
        .env(FOLDER, folder.path())
        .current_dir(folder.path());
    if std::fs::write(folder.path().join("probe"), "").is_ok() {
        child.uid(65_534).gid(65_534);
    }
    match child.output() {
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        ),
        Err(error) => skip(
            Need::Optional,
            format_args!(
                "this user may write everywhere, and `nobody` cannot run this test: {error}"
            ),
        ),
    }
    mode(folder.path(), 0o755);
    mode(&path, 0o644);
    runtime.block_on(async {
        let store = SqliteStore::open(&path).await.expect("the cause is gone");
        assert_eq!(newest(&store, THREAD).await, Some(1), "nothing is lost");
    });
}
