//! Checkpoints of all sizes and numbers, appended, pruned and read in any order, beside the store in memory.

use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, ThreadQuery};
use petalflow_sqlite::SqliteStore;

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// The newest number at an address, and the oldest that a checkpoint there may build on.
#[derive(Clone, Copy, Default)]
struct Position {
    newest: Option<u64>,
    base: u64,
}

struct Both {
    sqlite: SqliteStore,
    memory: InMemoryStore,
}

impl Both {
    async fn append(&self, address: Address<'_>, given: &StoredCheckpoint, after: Option<u64>) {
        for store in [&self.sqlite as &dyn Store, &self.memory] {
            let appended = store.append(address, given, after, 0..0, None).await;
            appended.expect("it follows the newest");
        }
    }

    async fn prune(&self, address: Address<'_>, seq: u64) {
        for store in [&self.sqlite as &dyn Store, &self.memory] {
            store
                .prune(address, seq, seq, None)
                .await
                .expect("it can be written");
        }
    }

    /// Compares what both contain.
    async fn compare(&self, address: Address<'_>, random: &mut Random) {
        let (sqlite, memory) = (&self.sqlite, &self.memory);
        let all = memory.history(address, None, usize::MAX).await;
        let all = all.expect("it can be read");
        let found = sqlite.history(address, None, usize::MAX).await;
        assert_eq!(found.expect("it can be read"), all);
        let pick = |random: &mut Random| {
            let index = random.below(all.len().max(1) as u64);
            let index = usize::try_from(index).expect("small");
            all.get(index).map_or(3, |found| found.seq)
        };
        for _ in 0..3 {
            let seq = pick(random) + random.below(2);
            assert_eq!(
                sqlite
                    .read(address, Some(seq))
                    .await
                    .expect("it can be read"),
                memory
                    .read(address, Some(seq))
                    .await
                    .expect("it can be read"),
            );
            let (before, limit) = (Some(pick(random)), 1 + random.below(70));
            let limit = usize::try_from(limit).expect("small");
            assert_eq!(
                sqlite
                    .history(address, before, limit)
                    .await
                    .expect("it can be read"),
                memory
                    .history(address, before, limit)
                    .await
                    .expect("it can be read"),
            );
        }
        assert_eq!(
            sqlite.read(address, None).await.expect("it can be read"),
            memory.read(address, None).await.expect("it can be read"),
        );
        let query = ThreadQuery::default();
        let [listed, expected] = [sqlite as &dyn Store, memory].map(|store| store.threads(query));
        let mut listed = listed.await.expect("it can be read");
        let expected = expected.await.expect("it can be read");
        for (listed, expected) in listed.iter_mut().zip(&expected) {
            // The clock goes back here, and stores differ in which checkpoint they take for the first.
            listed.created_ms = expected.created_ms;
        }
        assert_eq!(listed, expected);
        assert_eq!(
            sqlite
                .namespaces(address.thread)
                .await
                .expect("it can be read"),
            memory
                .namespaces(address.thread)
                .await
                .expect("it can be read"),
        );
    }
}

#[tokio::test]
async fn it_contains_what_the_store_in_memory_contains() {
    for seed in 0..12 {
        let both = Both {
            sqlite: SqliteStore::in_memory().expect("there is memory"),
            memory: InMemoryStore::new(),
        };
        let random = &mut Random(seed);
        let addresses = [("ann", ""), ("ann", "review"), ("bob", "")];
        let mut positions = [Position::default(); 3];
        for step in 0..300 {
            let which = usize::try_from(random.below(3)).expect("small");
            let (thread, namespace) = addresses[which];
            let address = Address { thread, namespace };
            let position = &mut positions[which];
            let gap = [0, 0, 0, 1, 40, 1 << 33][usize::try_from(random.below(6)).expect("small")];
            let seq = position.newest.map_or(gap, |newest| newest + 1 + gap);
            let size = match random.below(4) {
                0 => random.below(8),
                1 => random.below(5_000),
                _ => 150 + random.below(300),
            };
            if position.newest.is_none() || random.below(5) == 0 {
                position.base = seq;
            }
            let given = StoredCheckpoint {
                seq,
                base: position.base,
                created_ms: 1_000 + random.below(1 << 20),
                bytes: (0..size)
                    .map(|_| random.below(256).to_le_bytes()[0])
                    .collect(),
            };
            both.append(address, &given, position.newest).await;
            position.newest = Some(seq);
            if random.below(20) == 0 {
                // Up to the base, so that what is left can be read, or all of it.
                let all = random.below(4) == 0;
                let to = if all { seq + 1 } else { position.base };
                both.prune(address, to).await;
                if all {
                    *position = Position::default();
                }
            }
            if random.below(60) == 0 {
                both.sqlite
                    .delete("ann", None)
                    .await
                    .expect("it can be written");
                both.memory
                    .delete("ann", None)
                    .await
                    .expect("it can be written");
                positions[..2].fill(Position::default());
            }
            if step % 10 == 0 {
                both.compare(address, random).await;
            }
        }
    }
}

/// Two processes append in turn, without a claim. Neither misses what the other has appended.
#[tokio::test]
async fn an_append_after_that_of_another_process_is_a_conflict() {
    let folder = tempfile::TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let (one, two) = (
        SqliteStore::open(&path).await,
        SqliteStore::open(&path).await,
    );
    let (one, two) = (one.expect("it opens"), two.expect("it opens"));
    let address = Address::root("essay-42");
    let mut newest = None;
    for (seq, size) in (1..60).zip([0, 10, 300, 900, 2_000].into_iter().cycle()) {
        let given = crate::checkpoint(seq, size);
        let (first, second) = if seq % 3 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        let appended = first.append(address, &given, newest, 0..0, None).await;
        appended.expect("it follows the newest");
        let late = second.append(address, &given, newest, 0..0, None).await;
        assert!(
            matches!(late, Err(petalflow::checkpoint::StoreError::Conflict { found: Some(found), .. }) if found == seq),
            "{late:?}"
        );
        newest = Some(seq);
    }
    assert_eq!(crate::newest(&one, "essay-42").await, newest);
    let history = two.history(address, None, usize::MAX).await;
    assert_eq!(history.expect("it can be read").len(), 59);
}

/// What is read while another store of the file appends, prunes and describes is of one snapshot: it is never damaged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_see_one_snapshot_while_another_store_writes() {
    use petalflow::checkpoint::{ThreadChange, ThreadStatus};

    let folder = tempfile::TempDir::new().expect("a folder can be made");
    let path = folder.path().join("essays.db");
    let writer = SqliteStore::open(&path).await.expect("it opens");
    let reader = SqliteStore::open(&path).await.expect("it opens");
    let address = Address::root("essay-42");
    let writes = tokio::spawn(async move {
        for seq in 1..=400 {
            let appended = crate::append(&writer, "essay-42", seq, 400).await;
            appended.expect("it is written");
            let status = ThreadChange::Status {
                flow: "Write",
                status: ThreadStatus::Finished,
                due_ms: None,
            };
            let described = writer.describe("essay-42", status, None).await;
            described.expect("it is written");
            if seq % 10 == 0 {
                let pruned = writer
                    .prune(Address::root("essay-42"), seq - 8, seq - 8, None)
                    .await;
                pruned.expect("it is written");
            }
        }
    });
    while !writes.is_finished() {
        let history = reader.history(address, None, usize::MAX).await;
        let history = history.expect("no part of it is newer than another");
        assert!(history.is_sorted_by(|a, b| a.seq == b.seq + 1));
        reader.read(address, None).await.expect("it can be read");
        let listed = reader.threads(ThreadQuery::default()).await;
        listed.expect("it can be listed");
        let namespaces = reader.namespaces("essay-42").await;
        namespaces.expect("it can be read");
    }
    writes.await.expect("it writes");
}
