//! A killed process loses no acknowledged write, leaves no partial write, and its claims end.
//!
//! The process that is killed is another run of this test binary. An environment variable states what it does.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use petalflow::checkpoint::{Address, Claim, Store, StoredWrite};
use petalflow::event::TaskId;
use petalflow_sqlite::{SqliteStore, Synchronous};
use tempfile::TempDir;

use crate::{BOTH, checkpoint, newest};

const DATABASE: &str = "PETALFLOW_TEST_CRASH_DATABASE";
const WORK: &str = "PETALFLOW_TEST_CRASH_WORK";
const RUNS: usize = 6;

/// Starts this binary again, with the test `child_process`.
fn child(database: &Path, work: &str) -> Child {
    Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", "crash::child_process", "--nocapture"])
        .env(DATABASE, database)
        .env(WORK, work)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// The lines that the child prints, without those of its test harness.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let output = child.stdout.take().expect("it is piped");
    BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| Some(line.split_once("says ")?.1.to_string()))
}

fn say(words: &str) {
    let mut output = std::io::stdout().lock();
    // One write per line, so that no line is incomplete.
    let _ = output.write_all(format!("says {words}\n").as_bytes());
    let _ = output.flush();
}

/// The process that is killed. It is a test only to be called by name.
#[test]
fn child_process() {
    let (Some(database), Ok(work)) = (std::env::var_os(DATABASE), std::env::var(WORK)) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        if work == "claim" {
            let store = SqliteStore::open(&database).await.expect("it opens");
            for thread in ["essay-1", "essay-2"] {
                let claim = store.claim(thread, "the child").await;
                assert_eq!(claim.expect("it is free"), Claim::Granted);
            }
            say("claimed");
            std::future::pending::<()>().await;
        }
        let synchronous = if work == "Full" {
            Synchronous::Full
        } else {
            Synchronous::Normal
        };
        let options = SqliteStore::options(&database).synchronous(synchronous);
        let store = options.open().await.expect("it opens");
        for run in 0..RUNS {
            tokio::spawn(append_without_end(store.clone(), run));
        }
        std::future::pending::<()>().await;
    });
}

/// Writes and appends without end, and prints each number that is stored.
async fn append_without_end(store: SqliteStore, run: usize) {
    let thread = format!("essay-{run}");
    let address = Address::root(&thread);
    for seq in 1_u64.. {
        let after = seq.checked_sub(1).filter(|after| *after > 0);
        let settled = after.map_or(0..0, |after| after..seq);
        let given = checkpoint(seq, 300);
        let appended = store.append(address, &given, after, settled, None).await;
        appended.expect("it is written");
        say(&format!("{run} {seq}"));
        let write = |task| StoredWrite {
            task: TaskId::from_bytes([task; 16]),
            name: "result".into(),
            bytes: vec![task; 200],
        };
        let written = store.write(address, seq, &[write(1), write(2)], None).await;
        written.expect("it is written");
    }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    for synchronous in BOTH {
        let folder = TempDir::new().expect("a folder can be made");
        let path = folder.path().join("essays.db");
        let mut acknowledged: HashMap<usize, u64> = HashMap::new();
        let mut writer = child(&path, &format!("{synchronous:?}"));
        let mut count = 0;
        for line in lines(&mut writer) {
            let (run, seq) = line.split_once(' ').expect("two numbers");
            let seq = seq.parse().expect("a number");
            acknowledged.insert(run.parse().expect("a number"), seq);
            count += 1;
            if count == 400 {
                // SIGKILL. The lines that it printed before are still read.
                writer.kill().expect("it is ours");
            }
        }
        writer.wait().expect("it is ours");
        assert!(
            count >= 400,
            "the process was killed before it wrote enough: {count}"
        );
        let store = SqliteStore::open(&path).await.expect("it opens");
        for run in 0..RUNS {
            let thread = format!("essay-{run}");
            let address = Address::root(&thread);
            let safe = acknowledged.get(&run).copied().unwrap_or(0);
            let history = store.history(address, None, usize::MAX).await;
            let mut history = history.expect("it can be read");
            history.reverse();
            let last = history.len() as u64;
            assert!(
                (safe..=safe + 1).contains(&last),
                "{safe} appends of run {run} were acknowledged, {last} are there"
            );
            let expected: Vec<_> = (1..=last).map(|seq| checkpoint(seq, 300)).collect();
            assert!(
                history == expected,
                "each checkpoint is read as it was appended"
            );
            let writes = store.writes(address, 0..u64::MAX).await;
            let writes = writes.expect("they can be read");
            assert!(
                [0, 2].contains(&writes.len()) && writes.iter().all(|(seq, _)| *seq == last),
                "writes are stored in pairs, and those before the last checkpoint are settled: {writes:?}"
            );
            let next = checkpoint(last + 1, 10);
            let after = Some(last).filter(|after| *after > 0);
            store
                .append(address, &next, after, 0..0, None)
                .await
                .expect("it goes on");
        }
    }
}

#[tokio::test]
async fn the_claims_of_a_killed_process_end() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let mut claimant = child(&path, "claim");
    let line = lines(&mut claimant).next();
    assert_eq!(line.as_deref(), Some("claimed"));
    for _ in 0..3 {
        let claim = store.claim("essay-1", "the parent").await;
        assert_eq!(
            claim.expect("it can be asked"),
            Claim::Busy {
                owner: "the child".into()
            },
            "the child is alive"
        );
    }
    claimant.kill().expect("it is ours");
    claimant.wait().expect("it is ours");
    // Several stores claim at the same time, as different processes would. One of them gets the claim.
    let mut stores = Vec::new();
    for _ in 0..6 {
        stores.push(SqliteStore::open(&path).await.expect("it opens"));
    }
    let barrier = std::sync::Barrier::new(stores.len());
    let granted = std::thread::scope(|scope| {
        let (stores, barrier) = (&stores, &barrier);
        let claims: Vec<_> = (0..stores.len())
            .map(|index| {
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build();
                    let runtime = runtime.expect("a runtime can be built");
                    barrier.wait();
                    let owner = format!("parent {index}");
                    let claim = runtime.block_on(stores[index].claim("essay-1", &owner));
                    claim.expect("it can be asked")
                })
            })
            .collect();
        let claims = claims
            .into_iter()
            .map(|claim| claim.join().expect("it does not panic"));
        claims.filter(|claim| *claim == Claim::Granted).count()
    });
    assert_eq!(
        granted, 1,
        "the claim of a dead process is granted to one other"
    );
    let claim = store.claim("essay-2", "the parent").await;
    assert_eq!(
        claim.expect("it can be asked"),
        Claim::Granted,
        "all claims of the process have ended"
    );
    assert_eq!(newest(&store, "essay-1").await, None);
    drop((store, stores));
    for _ in 0..1_000 {
        if !locks(folder.path()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("lock files of dropped stores or of a dead process are left");
}

fn locks(folder: &Path) -> bool {
    let mut files = std::fs::read_dir(folder).expect("it can be read");
    files.any(|file| {
        let name = file.expect("it can be read").file_name();
        name.to_string_lossy().contains("-lock-")
    })
}

/// A killed process leaves a lock file, and the next process that claims removes it.
#[tokio::test]
async fn leftover_lock_files_are_removed() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let leftover = folder.path().join("essays.db-lock-00c0ffee00c0ffee");
    let foreign = folder.path().join("essays.db-lock-of-the-door");
    for file in [&leftover, &foreign] {
        std::fs::write(file, "").expect("it can be written");
    }
    let store = SqliteStore::open(&path).await.expect("it opens");
    assert!(leftover.exists(), "opening alone needs no lock file");
    let claim = store
        .claim("essay-42", "one")
        .await
        .expect("it can be asked");
    assert_eq!(claim, Claim::Granted);
    assert!(
        !leftover.exists(),
        "the lock file of a dead process is removed"
    );
    assert!(
        foreign.exists(),
        "a file with a similar name is not removed"
    );
}

/// A store that is dropped releases its claims.
#[tokio::test]
async fn dropping_a_store_releases_its_claims() {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let store = SqliteStore::open(&path).await.expect("it opens");
    let other = SqliteStore::open(&path).await.expect("it opens");
    let clone = store.clone();
    assert_eq!(
        store.claim("essay-42", "one").await.expect("it is free"),
        Claim::Granted
    );
    drop(store);
    let claim = other.claim("essay-42", "two").await;
    assert_eq!(
        claim.expect("it can be asked"),
        Claim::Busy {
            owner: "one".into()
        },
        "a clone is left"
    );
    drop(clone);
    for _ in 0..1_000 {
        if other
            .claim("essay-42", "two")
            .await
            .expect("it can be asked")
            == Claim::Granted
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the claim of a dropped store has not ended");
}
