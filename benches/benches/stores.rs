//! Stores and the driver below them, `rusqlite`, in one process and in alternating order: `cargo bench --bench stores`.
//!
//! By hand is the least that keeps the same bytes: one prepared `INSERT` for each checkpoint, which is its own transaction, with
//! the same settings of the database, on the thread of the caller, without claims, conflicts or checks.
//!
//! A unit is one checkpoint in its own transaction. Disks differ more than machines, so compare the ratios. The
//! files are in the folder for temporary files. Set `TMPDIR` to measure another disk.

#![allow(clippy::cast_precision_loss)]

use std::path::Path;
use std::time::{Duration, Instant};

use petalflow::checkpoint::{Address, Store, StoredCheckpoint};
use petalflow_benches::chat::{Message, Talk};
use petalflow_benches::counter::Count;
use petalflow_benches::table::is_selected;
use petalflow_sqlite::{SqliteStore, Synchronous};
use rusqlite::{Connection, params};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const THREAD: &str = "0198f6a2-7c1d-7f00-9d6e-2f1f5a1c77aa";

fn main() {
    println!(
        "{:<52} {:>12} {:>12} {:>8}",
        "work (checkpoint)", "by hand", "petalflow", "ratio"
    );
    let one = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    let many = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime can be built");
    // The number of checkpoints per round. A sync takes a hundred times as long as a write to the page cache.
    for (name, synchronous, rounds, each) in [
        ("normal", Synchronous::Normal, 30, 2_000),
        ("full", Synchronous::Full, 30, 20),
    ] {
        if is_selected(name) {
            for size in [200, 4_096] {
                one_by_one(&one, name, synchronous, rounds, (each, size));
            }
            supersteps(&one, name, synchronous, rounds, each);
            at_once(&many, name, synchronous, rounds.min(10), each);
        }
    }
    if is_selected("disk") {
        on_disk(&one);
    }
}

/// A database by hand: a simple table, one prepared statement, one transaction per checkpoint.
struct ByHand {
    connection: Connection,
    next: u64,
}

impl ByHand {
    fn open(path: &Path, synchronous: Synchronous) -> Self {
        let connection = Connection::open(path).expect("the file can be made");
        let synchronous = if synchronous == Synchronous::Full {
            "FULL"
        } else {
            "NORMAL"
        };
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .and_then(|()| connection.pragma_update(None, "synchronous", synchronous))
            .and_then(|()| {
                connection.execute_batch(
                    "CREATE TABLE checkpoints (thread TEXT NOT NULL, namespace TEXT NOT NULL, seq INTEGER NOT NULL, base INTEGER NOT NULL,
                    created_ms INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (thread, namespace, seq)) WITHOUT ROWID",
                )
            })
            .expect("the table can be made");
        ByHand {
            connection,
            next: 1,
        }
    }

    fn append(&mut self, checkpoints: u64, size: usize) {
        let given: Vec<_> = (0..checkpoints).map(|seq| checkpoint(seq, size)).collect();
        self.append_all(&given);
    }

    /// Appends these checkpoints with new numbers.
    fn append_all(&mut self, checkpoints: &[StoredCheckpoint]) {
        let sql = "INSERT INTO checkpoints VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut insert = self.connection.prepare(sql).expect("it is SQL");
        for (seq, given) in (self.next..).zip(checkpoints) {
            let seq = i64::try_from(seq).expect("small");
            let row = params![THREAD, "", seq, seq, 1_750_000_000_000_i64, given.bytes];
            insert.execute(row).expect("it is written");
        }
        self.next += checkpoints.len() as u64;
    }
}

fn checkpoint(seq: u64, size: usize) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms: 1_750_000_000_000,
        bytes: vec![7; size],
    }
}

async fn append(store: &SqliteStore, thread: &str, next: u64, (checkpoints, size): (u64, usize)) {
    for seq in next..next + checkpoints {
        let given = checkpoint(seq, size);
        let after = seq.checked_sub(1).filter(|after| *after > 0);
        store
            .append(Address::root(thread), &given, after, 0..0, None)
            .await
            .expect("it is written");
    }
}

/// One run appends checkpoints one after another.
fn one_by_one(
    runtime: &Runtime,
    name: &str,
    synchronous: Synchronous,
    rounds: usize,
    (each, size): (u64, usize),
) {
    let folder = TempDir::new().expect("a folder can be made");
    let mut hand = ByHand::open(&folder.path().join("hand.db"), synchronous);
    let options = SqliteStore::options(folder.path().join("store.db")).synchronous(synchronous);
    let store = runtime
        .block_on(options.open())
        .expect("the store can be opened");
    let mut next = 1;
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for round in 0..rounds + 2 {
        let by_hand = time(each, || hand.append(each, size));
        let by_store = time(each, || {
            runtime.block_on(append(&store, THREAD, next, (each, size)));
        });
        next += each;
        // The first rounds warm the caches.
        if round >= 2 {
            pairs.push((by_hand, by_store));
        }
    }
    print(
        &format!("SQLite, {name}: {size} bytes, one after another"),
        &mut pairs,
    );
}

/// A run with stored supersteps, and the loop that writes the same bytes and runs nothing.
fn supersteps(runtime: &Runtime, name: &str, synchronous: Synchronous, rounds: usize, each: u64) {
    let folder = TempDir::new().expect("a folder can be made");
    let mut hand = ByHand::open(&folder.path().join("hand.db"), synchronous);
    let options = SqliteStore::options(folder.path().join("store.db")).synchronous(synchronous);
    let store = runtime
        .block_on(options.open())
        .expect("the store can be opened");
    // It counts to ten thousand.
    let from = 10_000 - each;
    let count = |thread: String| {
        let thread = Count::new().limit(u64::MAX).store(&store).thread(thread);
        let _ = runtime.block_on(thread.run(from)).expect("it counts");
    };
    count("first".into());
    let written = runtime.block_on(store.history(Address::root("first"), None, usize::MAX));
    let mut written = written.expect("the store lives");
    written.reverse();
    let units = written.len() as u64;
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for round in 0..rounds + 2 {
        let by_hand = time(units, || hand.append_all(&written));
        let by_run = time(units, || count(format!("{THREAD}{round}")));
        if round >= 2 {
            pairs.push((by_hand, by_run));
        }
    }
    print(
        &format!("SQLite, {name}: the supersteps of a run"),
        &mut pairs,
    );
}

/// Sixteen concurrent runs. The store groups their appends, and the loop makes them one after another.
fn at_once(runtime: &Runtime, name: &str, synchronous: Synchronous, rounds: usize, each: u64) {
    const RUNS: u64 = 16;
    let folder = TempDir::new().expect("a folder can be made");
    let mut hand = ByHand::open(&folder.path().join("hand.db"), synchronous);
    let options = SqliteStore::options(folder.path().join("store.db")).synchronous(synchronous);
    let store = runtime
        .block_on(options.open())
        .expect("the store can be opened");
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    let each = each / 4;
    for round in 0..rounds {
        let by_hand = time(each * RUNS, || hand.append(each * RUNS, 200));
        let by_store = time(each * RUNS, || {
            runtime.block_on(async {
                let runs: Vec<_> = (0..RUNS)
                    .map(|run| {
                        let (store, thread) = (store.clone(), format!("{round}-{run}"));
                        tokio::spawn(async move { append(&store, &thread, 1, (each, 200)).await })
                    })
                    .collect();
                for run in runs {
                    run.await.expect("no task panics");
                }
            });
        });
        pairs.push((by_hand, by_store));
    }
    print(&format!("SQLite, {name}: 16 runs at once"), &mut pairs);
}

/// The size of a chat on disk, and the time to resume a long thread.
fn on_disk(runtime: &Runtime) {
    let folder = TempDir::new().expect("a folder can be made");
    let path = folder.path().join("chat.db");
    let store = runtime.block_on(
        SqliteStore::options(&path)
            .synchronous(Synchronous::Normal)
            .open(),
    );
    let store = store.expect("the store can be opened");
    let chat = Talk::new().limit(10_000).store(&store).thread(THREAD);
    let talked = runtime.block_on(chat.run(1_000_usize)).expect("it ends");
    let messages = talked.into_finished().expect("it ends").messages;
    let size = |extension: &str| {
        let file = path.with_extension(extension).metadata();
        file.map_or(0, |file| file.len())
    };
    let open = size("db") + size("db-wal") + size("db-shm");
    drop((chat, store));
    // The last connection moves the log into the file.
    while path.with_extension("db-wal").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let own = messages.iter().map(Message::bytes).sum::<usize>() as f64;
    for (state, bytes, limit) in [("closed", size("db"), "1.25x"), ("open", open, "")] {
        println!(
            "{:<52} {:>9.3} MB {:>9.3} MB {:>7.2}x {limit}",
            format!("SQLite: a chat of 1,000 messages, {state}"),
            own / 1e6,
            bytes as f64 / 1e6,
            bytes as f64 / own,
        );
    }
    let store = runtime.block_on(
        SqliteStore::options(&path)
            .synchronous(Synchronous::Normal)
            .open(),
    );
    let store = store.expect("the store can be opened");
    let count = Count::new().limit(u64::MAX).store(&store).thread("long");
    let _ = runtime.block_on(count.run(0_u64)).expect("it counts");
    let took = (0..5).map(|_| {
        time(1, || {
            let _ = runtime.block_on(count.resume(())).expect("it has ended");
        })
    });
    println!(
        "{:<52} {:>12} {:>9.2} ms {:>8}",
        "SQLite: going on with a thread of 10,000 supersteps",
        "",
        took.fold(f64::INFINITY, f64::min) / 1e3,
        "50 ms"
    );
}

/// Microseconds per unit.
fn time(units: u64, work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1e6 / units as f64
}

fn print(name: &str, pairs: &mut [(f64, f64)]) {
    let by_hand = median(pairs, |pair| pair.0);
    let by_store = median(pairs, |pair| pair.1);
    let ratio = median(pairs, |pair| pair.1 / pair.0);
    println!("{name:<52} {by_hand:>9.1} µs {by_store:>9.1} µs {ratio:>7.2}x");
}

fn median<T>(samples: &mut [T], of: impl Fn(&T) -> f64) -> f64 {
    samples.sort_by(|a, b| of(a).total_cmp(&of(b)));
    of(&samples[samples.len() / 2])
}
