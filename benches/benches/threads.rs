//! Queries for 100,000 threads beside a query of SQLite by hand: `cargo bench --bench threads`.
//!
//! By hand is the least that answers the same: one table of threads and one of labels, with the indices that an expert makes for the
//! query, read by one prepared statement on the thread of the caller. It checks nothing, and has no checkpoints beside it.

use std::path::Path;
use std::time::{Duration, Instant};

use petalflow::checkpoint::{
    Store, StoreChange, StoredCheckpoint, ThreadChange, ThreadFilter, ThreadOrder, ThreadQuery,
    ThreadStatus,
};
use petalflow_sqlite::{SqliteStore, Synchronous};
use rusqlite::{Connection, params};
use tokio::runtime::{Builder, Runtime};

const THREADS: u64 = 100_000;
const PAGE: usize = 100;
const ROUNDS: usize = 20;

/// The properties of a thread: 10 flows, 6 statuses, 100 users, a label that 10 threads have.
struct Sample {
    id: String,
    flow: String,
    status: ThreadStatus,
    created_ms: u64,
    updated_ms: u64,
    labels: Vec<(&'static str, String)>,
}

fn sample(number: u64) -> Sample {
    let scattered = number.wrapping_mul(7_919) % THREADS;
    let flow = format!("Flow{}", scattered % 10);
    let status = match scattered / 10 % 100 {
        0 => ThreadStatus::Waiting,
        1 => ThreadStatus::Failed,
        2 => ThreadStatus::Held,
        // In the middle of a run.
        3 => ThreadStatus::Running,
        _ => ThreadStatus::Finished,
    };
    let mut labels = vec![("user", format!("user-{}", scattered % 97))];
    if scattered.is_multiple_of(10_000) {
        labels.push(("kind", "rare".into()));
    }
    Sample {
        id: format!("{flow}:{scattered:08x}"),
        flow,
        status,
        created_ms: 1_000_000 + number,
        updated_ms: 2_000_000 + scattered * 3,
        labels,
    }
}

async fn fill(store: &SqliteStore) {
    for number in 0..THREADS {
        let it = sample(number);
        let append = |seq: u64, created_ms| StoreChange::Append {
            namespace: String::new(),
            checkpoint: StoredCheckpoint {
                seq,
                base: seq,
                created_ms,
                bytes: vec![7; 200],
            },
            after: (seq > 1).then(|| seq - 1),
            settled: 0..0,
        };
        let mut changes = vec![append(1, it.created_ms), append(2, it.updated_ms)];
        if it.status != ThreadStatus::Running {
            changes.push(StoreChange::Status {
                flow: it.flow,
                status: it.status,
                due_ms: None,
            });
        }
        let applied = store.apply(&it.id, &changes, None).await;
        applied.expect("it is stored");
        let labels = it.labels.into_iter();
        let labels = labels.map(|(name, value)| (name.into(), value)).collect();
        let labels = ThreadChange::Labels(&labels);
        let described = store.describe(&it.id, labels, None).await;
        described.expect("it is stored");
    }
}

fn fill_by_hand(connection: &mut Connection) {
    let tables = "CREATE TABLE threads (id TEXT PRIMARY KEY, flow TEXT, status TEXT, created_ms INTEGER, updated_ms INTEGER) WITHOUT ROWID;
        CREATE TABLE labels (name TEXT, value TEXT, id TEXT, PRIMARY KEY (name, value, id)) WITHOUT ROWID;
        CREATE INDEX by_creation ON threads (created_ms); CREATE INDEX by_change ON threads (updated_ms);
        CREATE INDEX by_state ON threads (flow, status, created_ms);";
    connection.execute_batch(tables).expect("they are created");
    let all = connection.transaction().expect("it begins");
    for number in 0..THREADS {
        let it = sample(number);
        let row = params![
            it.id,
            it.flow,
            it.status.as_str(),
            it.created_ms.cast_signed(),
            it.updated_ms.cast_signed()
        ];
        let insert = "INSERT INTO threads VALUES (?1, ?2, ?3, ?4, ?5)";
        all.prepare_cached(insert)
            .and_then(|mut insert| insert.execute(row))
            .expect("it is stored");
        for (name, value) in it.labels {
            all.prepare_cached("INSERT INTO labels VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![name, value, it.id]))
                .expect("it is stored");
        }
    }
    all.commit().expect("it is stored");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn by_hand(connection: &Connection, sql: &str) -> (Duration, usize) {
    let mut found = 0;
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        let mut statement = connection.prepare_cached(sql).expect("it is right");
        let mut rows = statement.query(()).expect("it runs");
        found = 0;
        while rows.next().expect("it reads").is_some() {
            found += 1;
        }
        begun.elapsed()
    });
    (median(times.collect()), found)
}

fn listed(runtime: &Runtime, store: &SqliteStore, query: ThreadQuery<'_>) -> (Duration, usize) {
    let mut found = 0;
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        let threads = runtime.block_on(store.threads(query));
        found = threads.expect("they are listed").len();
        begun.elapsed()
    });
    (median(times.collect()), found)
}

fn counted(runtime: &Runtime, store: &SqliteStore, query: ThreadQuery<'_>) -> (Duration, usize) {
    let mut found = 0;
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        let counts = runtime.block_on(store.thread_counts(query));
        found = counts.expect("they are counted").len();
        begun.elapsed()
    });
    (median(times.collect()), found)
}

fn print(name: &str, hand: (Duration, usize), own: (Duration, usize)) {
    assert_eq!(hand.1, own.1, "{name}: both find as many");
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "{name:<44} {:>9.2} ms {:>9.2} ms {:>7}",
        ms(hand.0),
        ms(own.0),
        own.1
    );
}

fn main() {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store = runtime.block_on(open(&folder.path().join("threads.db")));
    runtime.block_on(fill(&store));
    let path = folder.path().join("by_hand.db");
    let mut connection = Connection::open(path).expect("a file can be made");
    fill_by_hand(&mut connection);
    println!(
        "{:<44} {:>12} {:>12} {:>7}",
        "100,000 threads, pages of 100", "by hand", "petalflow", "found"
    );
    let page = ThreadQuery {
        limit: Some(PAGE),
        ..ThreadQuery::default()
    };
    let newest = ThreadQuery {
        order: ThreadOrder::CreatedNewest,
        ..page
    };
    let changed = ThreadQuery {
        order: ThreadOrder::UpdatedNewest,
        ..page
    };
    let (failed, held) = (
        ThreadFilter::Status(ThreadStatus::Failed),
        ThreadFilter::Status(ThreadStatus::Held),
    );
    let several = [failed, held];
    let flow = |filter| ThreadQuery {
        filter: Some(filter),
        ..newest
    };
    let rare = ThreadFilter::Label("kind", "rare");
    let not = [
        ThreadFilter::Label("user", "user-5"),
        ThreadFilter::Not(&ThreadFilter::Flow("Flow3")),
    ];
    let lists = [
        ("by id", page, "ORDER BY id"),
        ("created, newest", newest, "ORDER BY created_ms DESC, id DESC"),
        (
            "created, newest, page in the middle",
            ThreadQuery {
                after: Some("Flow5"),
                after_ms: 1_050_000,
                ..newest
            },
            "WHERE (created_ms, id) < (1050000, 'Flow5') ORDER BY created_ms DESC, id DESC",
        ),
        (
            "one flow, by id",
            ThreadQuery {
                flow: Some("Flow7"),
                ..page
            },
            "WHERE flow = 'Flow7' ORDER BY id",
        ),
        (
            "one flow, newest",
            ThreadQuery {
                flow: Some("Flow7"),
                ..newest
            },
            "WHERE flow = 'Flow7' ORDER BY created_ms DESC, id DESC",
        ),
        (
            "two statuses, newest",
            flow(ThreadFilter::Any(&several)),
            "WHERE status IN ('failed', 'held') ORDER BY created_ms DESC, id DESC",
        ),
        (
            "no such flow, newest",
            ThreadQuery {
                flow: Some("None"),
                ..newest
            },
            "WHERE flow = 'None' ORDER BY created_ms DESC, id DESC",
        ),
        (
            "a label of 10 threads, newest",
            flow(rare),
            "t WHERE id IN (SELECT id FROM labels WHERE name = 'kind' AND value = 'rare') ORDER BY created_ms DESC, id DESC",
        ),
        (
            "a label of 1,000 and not a flow, newest",
            flow(ThreadFilter::All(&not)),
            "t WHERE flow <> 'Flow3' AND EXISTS (SELECT 1 FROM labels l WHERE name = 'user' AND value = 'user-5' AND l.id = t.id)
                ORDER BY created_ms DESC, id DESC",
        ),
        (
            "changed in a range, newest change",
            ThreadQuery {
                updated_from_ms: Some(2_100_000),
                updated_before_ms: Some(2_100_900),
                ..changed
            },
            "WHERE updated_ms >= 2100000 AND updated_ms < 2100900 ORDER BY updated_ms DESC, id DESC",
        ),
        (
            "changed last",
            changed,
            "ORDER BY updated_ms DESC, id DESC",
        ),
    ];
    for (name, query, sql) in lists {
        let hand = format!("SELECT * FROM threads {sql} LIMIT {PAGE}");
        print(
            name,
            by_hand(&connection, &hand),
            listed(&runtime, &store, query),
        );
    }
    // Threads in the middle of their first run have no flow yet.
    let hand = "SELECT iif(status = 'running', '', flow) AS of, status, count(*) FROM threads GROUP BY of, status";
    print(
        "counts by flow and status",
        by_hand(&connection, hand),
        counted(&runtime, &store, ThreadQuery::default()),
    );
    let of_user = "SELECT iif(status = 'running', '', flow) AS of, status, count(*) FROM threads t WHERE EXISTS (
        SELECT 1 FROM labels l WHERE name = 'user' AND value = 'user-5' AND l.id = t.id) GROUP BY of, status";
    print(
        "counts of one user",
        by_hand(&connection, of_user),
        counted(
            &runtime,
            &store,
            ThreadQuery {
                label: Some(("user", "user-5")),
                ..ThreadQuery::default()
            },
        ),
    );
}

async fn open(path: &Path) -> SqliteStore {
    let options = SqliteStore::options(path).synchronous(Synchronous::Normal);
    options.open().await.expect("it opens")
}
