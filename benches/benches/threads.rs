//! Queries for 100,000 threads, in SQLite and in PostgreSQL, each beside a query by hand: `cargo bench --bench threads`.
//!
//! By hand is the least that answers the same: one table of threads and one of labels, with the indices that an expert makes for the
//! query, read by one prepared statement. It checks nothing, and has no checkpoints beside it.
//!
//! Without a PostgreSQL server, only SQLite is measured. See `petalflow_test_servers` for where the server is searched.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use petalflow::checkpoint::{
    Store, StoreChange, StoredCheckpoint, ThreadChange, ThreadFilter, ThreadOrder, ThreadQuery,
    ThreadStatus,
};
use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_sqlite::{SqliteStore, Synchronous};
use petalflow_test_servers::Postgres;
use rusqlite::{Connection, params};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

const THREADS: u64 = 100_000;
const PAGE: usize = 100;
const ROUNDS: usize = 20;
/// How many threads are stored at the same time.
const WRITERS: u64 = 8;

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

async fn fill(store: &Arc<dyn Store>) {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(store);
        writers.spawn(async move {
            for number in (0..THREADS).filter(|number| number % WRITERS == writer) {
                add(&*store, sample(number)).await;
            }
        });
    }
    while let Some(writer) = writers.join_next().await {
        writer.expect("it does not panic");
    }
}

async fn add(store: &dyn Store, it: Sample) {
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

/// The same threads by hand.
enum ByHand {
    Sqlite(Connection),
    Postgres(Client),
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

async fn fill_postgres_by_hand(client: &Client) {
    let tables = "CREATE SCHEMA by_hand; SET search_path = by_hand;
        CREATE TABLE threads (id text COLLATE \"C\" PRIMARY KEY, flow text COLLATE \"C\", status text COLLATE \"C\",
            created_ms bigint, updated_ms bigint);
        CREATE TABLE labels (name text COLLATE \"C\", value text COLLATE \"C\", id text COLLATE \"C\", PRIMARY KEY (name, value, id));
        CREATE INDEX by_creation ON threads (created_ms, id); CREATE INDEX by_change ON threads (updated_ms, id);
        CREATE INDEX by_state ON threads (flow, status, created_ms)";
    client
        .batch_execute(tables)
        .await
        .expect("they are created");
    let (mut ids, mut flows, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    let (mut created, mut updated) = (Vec::new(), Vec::new());
    let (mut names, mut values, mut of) = (Vec::new(), Vec::new(), Vec::new());
    for it in (0..THREADS).map(sample) {
        for (name, value) in it.labels {
            names.push(name);
            values.push(value);
            of.push(it.id.clone());
        }
        ids.push(it.id);
        flows.push(it.flow);
        statuses.push(it.status.as_str());
        created.push(it.created_ms.cast_signed());
        updated.push(it.updated_ms.cast_signed());
    }
    let threads = "INSERT INTO threads SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])";
    client
        .execute(threads, &[&ids, &flows, &statuses, &created, &updated])
        .await
        .expect("they are stored");
    let labels = "INSERT INTO labels SELECT * FROM unnest($1::text[], $2::text[], $3::text[])";
    client
        .execute(labels, &[&names, &values, &of])
        .await
        .expect("they are stored");
}

fn by_hand(runtime: &Runtime, hand: &ByHand, sql: &str) -> (Duration, usize) {
    let prepared = match hand {
        ByHand::Sqlite(_) => None,
        ByHand::Postgres(client) => Some(runtime.block_on(client.prepare(sql))),
    };
    let prepared = prepared.map(|prepared| prepared.expect("it is right"));
    let mut found = 0;
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        found = match hand {
            ByHand::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql).expect("it is right");
                let mut rows = statement.query(()).expect("it runs");
                let mut found = 0;
                while rows.next().expect("it reads").is_some() {
                    found += 1;
                }
                found
            }
            ByHand::Postgres(client) => {
                let statement = prepared.as_ref().expect("it was prepared");
                let rows = runtime.block_on(client.query(statement, &[]));
                rows.expect("it runs").len()
            }
        };
        begun.elapsed()
    });
    (median(times.collect()), found)
}

fn listed(runtime: &Runtime, store: &dyn Store, query: ThreadQuery<'_>) -> (Duration, usize) {
    let mut found = 0;
    let times = (0..ROUNDS).map(|_| {
        let begun = Instant::now();
        let threads = runtime.block_on(store.threads(query));
        found = threads.expect("they are listed").len();
        begun.elapsed()
    });
    (median(times.collect()), found)
}

fn counted(runtime: &Runtime, store: &dyn Store, query: ThreadQuery<'_>) -> (Duration, usize) {
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
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let store: Arc<dyn Store> = Arc::new(runtime.block_on(open(&folder.path().join("threads.db"))));
    runtime.block_on(fill(&store));
    let path = folder.path().join("by_hand.db");
    let mut connection = Connection::open(path).expect("a file can be made");
    fill_by_hand(&mut connection);
    measure("SQLite", &runtime, &*store, &ByHand::Sqlite(connection));
    match Postgres::shared() {
        Ok(server) => {
            let (store, client) = runtime.block_on(open_postgres(&server.url));
            measure("PostgreSQL", &runtime, &*store, &ByHand::Postgres(client));
        }
        Err(why) => println!("PostgreSQL is not measured: {why}"),
    }
}

/// Both, filled. The server has counted the rows, as its autovacuum does from time to time.
async fn open_postgres(url: &str) -> (Arc<dyn Store>, Client) {
    let schema = format!("threads_{}", std::process::id());
    let options = PostgresOptions::new(url).schema(&schema);
    let store = PostgresStore::connect_with(options).await;
    let store: Arc<dyn Store> = Arc::new(store.expect("it opens"));
    fill(&store).await;
    let (client, driver) = tokio_postgres::connect(url, NoTls)
        .await
        .expect("it connects");
    tokio::spawn(driver);
    fill_postgres_by_hand(&client).await;
    client
        .batch_execute("VACUUM ANALYZE")
        .await
        .expect("it runs");
    (store, client)
}

fn measure(name: &str, runtime: &Runtime, store: &dyn Store, hand: &ByHand) {
    println!(
        "{:<44} {:>12} {:>12} {:>7}",
        format!("{name}, 100,000 threads, pages of 100"),
        "by hand",
        "petalflow",
        "found"
    );
    measure_lists(runtime, store, hand);
    measure_counts(runtime, store, hand);
}

#[expect(clippy::too_many_lines, reason = "a table of queries")]
fn measure_lists(runtime: &Runtime, store: &dyn Store, hand: &ByHand) {
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
            "t WHERE (created_ms, id) < (1050000, 'Flow5') ORDER BY created_ms DESC, id DESC",
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
        let by = by_hand(
            runtime,
            hand,
            &format!("SELECT * FROM threads {sql} LIMIT {PAGE}"),
        );
        print(name, by, listed(runtime, store, query));
    }
}

fn measure_counts(runtime: &Runtime, store: &dyn Store, hand: &ByHand) {
    // Threads in the middle of their first run have no flow yet.
    let all = "SELECT CASE WHEN status = 'running' THEN '' ELSE flow END, status, count(*) FROM threads GROUP BY 1, 2";
    print(
        "counts by flow and status",
        by_hand(runtime, hand, all),
        counted(runtime, store, ThreadQuery::default()),
    );
    let of_user = "SELECT CASE WHEN status = 'running' THEN '' ELSE flow END, status, count(*) FROM threads t WHERE EXISTS (
        SELECT 1 FROM labels l WHERE name = 'user' AND value = 'user-5' AND l.id = t.id) GROUP BY 1, 2";
    print(
        "counts of one user",
        by_hand(runtime, hand, of_user),
        counted(
            runtime,
            store,
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
