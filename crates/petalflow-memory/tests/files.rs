//! What is a file's own: other handles, other processes, what cannot be read.

use std::path::Path;
use std::process::Command;

use petalflow::checkpoint::{Store, ThreadQuery};
use petalflow_memory::{Filter, Memory, MemoryError, SqliteMemory};
use petalflow_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

const FILE: &str = "PETALFLOW_TEST_MEMORY_FILE";
const WRITER: &str = "PETALFLOW_TEST_MEMORY_WRITER";
const EACH: usize = 40;

async fn open(path: &Path) -> Memory {
    Memory::new(SqliteMemory::open(path).await.expect("it opens"))
}

#[tokio::test]
async fn entries_survive_a_restart() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("memory.db");
    let ann = open(&path).await.within(["users", "ann"]);
    ann.put("likes", ["tulips"]).await.expect("it is written");
    drop(ann);
    let ann = open(&path).await.within(["users", "ann"]);
    let likes = ann.get_as::<Vec<String>>("likes").await.expect("it reads");
    assert_eq!(likes.expect("it is there"), ["tulips"]);
}

#[tokio::test]
async fn threads_and_memories_share_a_file() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("assistant.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let memory = Memory::new(SqliteMemory::beside(&store));
    memory.put("likes", "tulips").await.expect("it is written");
    let threads = store.threads(ThreadQuery::default()).await;
    assert!(threads.expect("it reads").is_empty());
    drop((store, memory));
    assert_eq!(open(&path).await.list().await.expect("it reads").len(), 1);
}

/// Not a test of its own: the other process.
#[test]
fn the_child() {
    let (Some(file), Ok(writer)) = (std::env::var_os(FILE), std::env::var(WRITER)) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let memory = open(Path::new(&file)).await;
        let own = memory.within(["writers", &writer]);
        for number in 0..EACH {
            own.put(&number.to_string(), number).await.expect("written");
            memory.put("last", &writer).await.expect("written");
        }
    });
}

#[tokio::test]
async fn several_processes_write_to_one_file() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("memory.db");
    let children: Vec<_> = ["one", "two", "three"]
        .into_iter()
        .map(|writer| {
            Command::new(std::env::current_exe().expect("it is known"))
                .args(["--exact", "files::the_child"])
                .env(FILE, &path)
                .env(WRITER, writer)
                .spawn()
                .expect("it starts")
        })
        .collect();
    let memory = open(&path).await;
    for mut child in children {
        // Reading meanwhile disturbs nobody.
        memory.list().await.expect("it reads");
        assert!(child.wait().expect("it ends").success());
    }
    for writer in ["one", "two", "three"] {
        let own = memory.within(["writers", writer]);
        assert_eq!(own.list().await.expect("it reads").len(), EACH);
    }
    let last = memory.get_as::<String>("last").await.expect("it reads");
    assert!(last.is_some());
}

#[tokio::test]
async fn entries_that_people_edited_in_the_file_are_read_or_reported() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("memory.db");
    let memory = open(&path).await;
    memory.put("good", 1).await.expect("it is written");
    memory.put("bad", 2).await.expect("it is written");
    let connection = Connection::open(&path).expect("it opens");
    // Values are JSON in plain sight.
    let value: String = connection
        .query_row("SELECT value FROM memories WHERE key = 'good'", (), |row| {
            row.get(0)
        })
        .expect("it is there");
    assert_eq!(value, "1");
    let damage = "UPDATE memories SET value = '{\"half' WHERE key = 'bad'";
    connection.execute(damage, ()).expect("it is written");

    let good = memory.get_as::<u32>("good").await.expect("it reads");
    assert_eq!(good, Some(1));
    let error = memory.get("bad").await.expect_err("it is not JSON");
    assert!(matches!(error, MemoryError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("`bad`"), "{error}");
    let error = memory.find(Filter::eq("", 1)).await.expect_err("a list");
    assert!(matches!(error, MemoryError::Damaged { .. }), "{error}");
    memory.put("bad", 3).await.expect("it can be put anew");
    assert_eq!(memory.list().await.expect("it reads").len(), 2);
}

#[tokio::test]
async fn a_file_of_another_program_is_refused() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("other.db");
    Connection::open(&path)
        .and_then(|connection| connection.execute_batch("CREATE TABLE notes (id INTEGER)"))
        .expect("it is made");
    let error = SqliteMemory::open(&path).await.expect_err("it is not ours");
    let MemoryError::Other(why) = error else {
        panic!("{error}");
    };
    assert!(why.to_string().contains("another program"), "{why}");
}

#[tokio::test]
async fn a_file_from_before_there_were_memories_gets_them() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("old.db");
    drop(SqliteStore::open(&path).await.expect("it is made"));
    // As layout 1 was.
    let back = "DROP TABLE memories; DROP TABLE labels; DROP TABLE threads; DROP TABLE counts; DROP TABLE attributes;
        ALTER TABLE records RENAME TO writes; ALTER TABLE log RENAME COLUMN reach TO span; PRAGMA user_version = 1;";
    let undo = Connection::open(&path).and_then(|connection| connection.execute_batch(back));
    undo.expect("it is as before");
    let memory = open(&path).await;
    memory.put("likes", "tulips").await.expect("it is written");
    assert_eq!(memory.list().await.expect("it reads").len(), 1);
}
