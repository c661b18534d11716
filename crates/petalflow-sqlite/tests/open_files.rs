//! A process that has no file descriptor left.

use std::fs::File;
use std::process::Command;

use petalflow::checkpoint::{Claim, Store, StoreError};
use petalflow_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::append;

/// The environment variable that names the folder to the other process.
const FOLDER: &str = "PETALFLOW_TEST_OPEN_FILES";

/// The limit applies to a process, so this test runs a second time in another one.
#[test]
fn an_error_says_that_no_file_descriptor_is_left() {
    let folder = TempDir::new().expect("a folder can be made");
    let program = std::env::current_exe().expect("the test program is a file");
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 100 && exec \"$@\"", "sh"])
        .arg(program)
        .args([
            "open_files::without_file_descriptors",
            "--exact",
            "--nocapture",
        ])
        .env(FOLDER, folder.path())
        .output()
        .expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{problem}");
    for call in ["claim", "read", "open"] {
        let line = said
            .lines()
            .find_map(|line| line.split_once(&format!("{call}: ")));
        let Some((_, error)) = line else {
            panic!("`{call}` did not fail: {said}")
        };
        assert!(
            error.contains("raise the limit of the process (`ulimit -n`)"),
            "{call}: {error}"
        );
        assert!(
            !error.contains("access") && !error.contains("folder"),
            "{call}: {error}"
        );
    }
}

/// The other process of [`an_error_says_that_no_file_descriptor_is_left`].
#[tokio::test]
async fn without_file_descriptors() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let path = std::path::Path::new(&folder).join("essays.db");
    let known = SqliteStore::open(&path).await.expect("it opens");
    append(&known, "essay", 1, 10).await.expect("it is written");
    // It has not claimed anything and not read anything, and needs files for that.
    let store = SqliteStore::open(&path).await.expect("it opens");
    let mut files: Vec<File> = Vec::new();
    while let Ok(file) = File::open(&folder) {
        files.push(file);
    }
    let report = |call: &str, result: Result<(), StoreError>| match result {
        Ok(()) => println!("{call} works"),
        Err(error) => println!("\n{call}: {error}"),
    };
    report("claim", store.claim("essay", "one").await.map(drop));
    report(
        "read",
        store
            .threads(petalflow::checkpoint::ThreadQuery::default())
            .await
            .map(drop),
    );
    report("open", SqliteStore::open(&path).await.map(drop));
    append(&known, "essay", 2, 10)
        .await
        .expect("its files are open");
    drop(files);
    assert_eq!(
        store.claim("essay", "one").await.expect("there are files"),
        Claim::Granted
    );
}
