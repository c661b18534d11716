//! A process that is killed again and again, at random: its threads come to the same ends as if it had lived.
//!
//! The killed process is this test binary again, controlled by environment variables.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use petalflow::BoxError;
use petalflow::checkpoint::{InMemoryStore, Store, ThreadStatus};
use petalflow::event::TaskId;
use petalflow::prelude::*;
use petalflow::thread::{Durability, OnBusy, Outcome, Thread, ThreadError, Threads};
#[cfg(unix)]
use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_redis::{RedisOptions, RedisStore};
use petalflow_sqlite::SqliteStore;
use petalflow_test_support::{Need, kill_until_all_end, skip};

#[cfg(unix)]
use petalflow_test_servers::{Postgres, Redis, fresh_name};

use crate::support::expect_finished;

const FOLDER: &str = "PETALFLOW_TEST_KILLED_FOLDER";
const PLACE: &str = "PETALFLOW_TEST_KILLED_PLACE";
const THREAD: &str = "PETALFLOW_TEST_KILLED_THREAD";

/// How often the process is killed, unless `PETALFLOW_KILLS` is set. `.ci/nightly` kills more often.
const KILLS: u64 = 20;

/// How long that may take on a machine that is busy with other things; then fewer have to do.
const PATIENCE: Duration = Duration::from_secs(50);
const PATIENCE_PER_KILL: Duration = Duration::from_millis(250);

/// How long a process lives before it is killed, in microseconds. The time to start and connect is within, so on a busy machine
/// it may not get far: each time that so many processes of one thread were killed, the next live that much longer.
const LIFE: Range<u64> = 5_000..65_000;
const LONGER_AFTER: u64 = 15;

/// How soon Redis frees the threads of a process that was killed. It may be shorter than a run that is not scheduled for a
/// while can do with: whoever loses its claim here has nobody who would take it.
const CLAIM_LASTS: Duration = Duration::from_millis(30);

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Shop {
    #[key(input)]
    orders: u64,
    #[key(sum)]
    round: u64,
    #[key(append)]
    receipts: Vec<String>,
    #[key(append)]
    log: Vec<String>,
}

/// The bytes of a line. A page of a file has a whole number of lines.
const LINE: usize = 64;

/// What happens outside: a line in a file for each effect, and one when its record was made.
struct World(PathBuf);

impl World {
    fn record(&self, what: &str, task: TaskId, name: &str) {
        let text = format!("{what} {task}/{name}");
        let line = format!("{text:<width$}\n", width = LINE - 1);
        assert_eq!(line.len(), LINE);
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.0);
        // One write within a page of the file, so that it is there wholly or not at all: the system may stop between two pages.
        let wrote = file.and_then(|mut file| file.write_all(line.as_bytes()));
        wrote.expect("the log can be written to");
    }

    async fn once(
        &self,
        cx: &Context,
        name: &str,
        value: impl FnOnce() -> u64 + Send,
    ) -> Result<u64, BoxError> {
        let task = cx.task_id();
        let effect = async {
            self.record("effect", task, name);
            Ok::<_, BoxError>(value())
        };
        let result = cx.once(name, effect).await?;
        self.record("recorded", task, name);
        Ok(result)
    }
}

#[node(Shop)]
async fn open_shop(round: &u64) -> (ShopRound, ShopLog, Each<u64>) {
    (
        ShopRound(1),
        ShopLog(vec![format!("round {round}")]),
        Each((0..round % 4).collect()),
    )
}

#[node(Shop)]
async fn sell(
    #[item] order: &u64,
    round: &u64,
    world: Managed<World>,
    cx: Context,
) -> petalflow::Result<ShopReceipts> {
    let charged = world.once(&cx, "charge", || 6).await?;
    tokio::task::yield_now().await;
    let thanked = world.once(&cx, "thank", || 5).await?;
    Ok(ShopReceipts(vec![format!(
        "{round}.{order} {charged} {thanked}"
    )]))
}

#[node(Shop)]
async fn beside(log: &[String]) -> ShopLog {
    ShopLog(vec![format!("beside {}", log.len())])
}

#[node(Shop)]
async fn close_shop(round: &u64, orders: &u64, receipts: &[String]) -> (ShopLog, bool) {
    (
        ShopLog(vec![format!("{} receipts", receipts.len())]),
        round < orders,
    )
}

flow!(Trade(Shop) {
    START -> open_shop;
    open_shop -> each sell & beside;
    sell & beside -> close_shop;
    close_shop -> match { true => open_shop, false => END };
});

/// The threads of one of many, by number: each durability has its turn.
fn threads(store: &(impl Store + Clone), number: usize, log: PathBuf) -> Threads<Trade> {
    Trade::new()
        .limit(100_000)
        .manage(World(log))
        .store(store)
        .durability(durability(number))
}

fn durability(number: usize) -> Durability {
    [
        Durability::Sync,
        Durability::Async,
        Durability::Interval(5.try_into().unwrap()),
        Durability::Exit,
    ][number % 4]
}

const ORDERS: u64 = 60;

/// What the process does: begins or resumes the thread, until it has ended.
async fn work(store: impl Store + Clone, on_busy: OnBusy, folder: &Path, number: usize) {
    let thread = threads(&store, number, folder.join(format!("log-{number}")))
        .on_busy(on_busy)
        .thread(format!("shop-{number}"));
    let begun = thread.snapshot().await.expect("what is stored can be read");
    let run = match begun {
        None => thread.run(ORDERS),
        Some(_) => thread.resume(()),
    };
    match run.await {
        Ok(Outcome::Finished(_)) => {}
        other => panic!("{other:?}"),
    }
}

/// How long a process lives, by chance, if others of its thread were killed so often before.
fn random_lifetime(killed: u64) -> Duration {
    let Range { start, end } = LIFE;
    let span = end * (1 + killed / LONGER_AFTER) - start;
    Duration::from_micros(start + RandomState::new().hash_one(0) % span)
}

/// Kills the process that runs `child` until it was killed often enough, and looks at what it leaves at the place.
fn kill<St: Store + Clone, M: Future<Output = St>>(
    child: &str,
    folder: &Path,
    place: &str,
    open: impl Fn(String) -> M,
) {
    let mut kills = Kills::begin();
    let (mut number, mut killed) = (0, 0);
    while number < 4 || !kills.are_enough() {
        let mut process = start(child, folder, place, number);
        std::thread::sleep(random_lifetime(killed));
        process.kill().expect("it can be killed, or has ended");
        let output = process.wait_with_output().expect("it ends");
        match output.status.code() {
            None => {
                kills.count += 1;
                killed += 1;
            }
            Some(0) => {
                let log = folder.join(format!("log-{number}"));
                let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
                runtime.block_on(async {
                    let store = open(place.to_string()).await;
                    check(&store, number, &log).await;
                });
                number += 1;
                killed = 0;
            }
            Some(_) => panic!(
                "thread {number}, after {} kills: {}",
                kills.count,
                String::from_utf8_lossy(&output.stderr)
            ),
        }
    }
    kills.check();
}

/// Starts this binary again, with the test `child`.
fn start(child: &str, folder: &Path, place: &str, number: usize) -> Child {
    Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", child, "--nocapture"])
        .env(FOLDER, folder)
        .env(PLACE, place)
        .env(THREAD, number.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// How many processes were killed, and how many there are to be.
struct Kills {
    count: u64,
    enough: u64,
    begun: Instant,
    patience: Duration,
}

impl Kills {
    fn begin() -> Self {
        let enough = std::env::var("PETALFLOW_KILLS").map_or(KILLS, |kills| {
            kills.parse().expect("PETALFLOW_KILLS is a number")
        });
        let patience = PATIENCE_PER_KILL * u32::try_from(enough).expect("a small number");
        Kills {
            count: 0,
            enough,
            begun: Instant::now(),
            patience: PATIENCE.max(patience),
        }
    }

    fn are_enough(&self) -> bool {
        self.count >= self.enough || self.begun.elapsed() >= self.patience
    }

    fn check(&self) {
        let (count, time) = (self.count, self.begun.elapsed());
        assert!(
            count >= self.enough || time >= self.patience && count >= self.enough / 4,
            "only {count} kills in {time:?}"
        );
        println!("{count} kills, {time:?}");
    }
}

/// What must hold of a thread that has ended, however often its process was killed.
async fn check(store: &(impl Store + Clone), number: usize, log: &Path) {
    let name = format!("shop-{number}");
    let thread = threads(store, number, log.into()).thread(name.clone());
    let stored = thread.snapshot().await.unwrap().unwrap();
    assert!(stored.is_finished());
    let unbroken = threads(&InMemoryStore::new(), 0, log.with_extension("unbroken")).thread(name);
    let unbroken = expect_finished(unbroken.run(ORDERS)).await;
    assert_eq!(stored.state, unbroken, "thread {number}");
    check_effects(log, 2 * unbroken.receipts.len());
}

/// An effect is repeated only if its process died before the record was made: so never once `once` has returned.
fn check_effects(log: &Path, count: usize) {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let mut recorded: HashMap<&str, bool> = HashMap::new();
    for line in text.lines() {
        let line = line.trim_end();
        let (what, effect) = line.split_once(' ').expect("two words");
        let known = recorded.entry(effect).or_default();
        match what {
            "effect" => assert!(!*known, "{effect} was done again:\n{text}"),
            _ => *known = true,
        }
    }
    let mut unrecorded: Vec<_> = recorded
        .iter()
        .filter(|(_, recorded)| !**recorded)
        .collect();
    unrecorded.sort_unstable();
    assert!(
        unrecorded.is_empty() && recorded.len() == count,
        "the tasks' ids have changed; without a record: {unrecorded:?}\n{text}"
    );
}

/// The test of one store: the names of the test and of the store; what to do while a dead process still has the thread; where it is, for a folder, or why
/// it is nowhere; and how it is opened there.
macro_rules! killed {
    ($test:ident, $name:ident, $on_busy:expr, $place:expr, $open:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn $test() {
                let path = module_path!();
                let (_, path) = path
                    .split_once("::")
                    .expect("the binary's name comes first");
                let folder = tempfile::tempdir().expect("a folder can be made");
                let place: fn(&Path) -> Result<String, String> = $place;
                match place(folder.path()) {
                    Ok(place) => kill(&format!("{path}::the_child"), folder.path(), &place, $open),
                    Err(why) => skip(Need::Installed, why),
                }
            }

            /// Not a test of its own: the process that is killed.
            #[test]
            fn the_child() {
                let told = (
                    std::env::var_os(FOLDER),
                    std::env::var(PLACE),
                    std::env::var(THREAD),
                );
                let (Some(folder), Ok(place), Ok(number)) = told else {
                    return;
                };
                let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
                runtime.block_on(async {
                    let store = $open(place).await;
                    let number = number.parse().expect("a number");
                    work(store, $on_busy, Path::new(&folder), number).await;
                });
            }
        }
    };
}

/// The test with this name, of each store.
macro_rules! for_each_store {
    ($test:ident) => {
        // A lock of the operating system is free as soon as its process is dead, so there is no wait.
        killed!(
            $test,
            sqlite,
            OnBusy::Refuse,
            |folder| Ok(folder.join("shop.sqlite").display().to_string()),
            |path: String| async move { SqliteStore::open(path).await.expect("it opens") }
        );

        #[cfg(unix)]
        killed!(
            $test,
            postgres,
            OnBusy::Queue,
            |_| Ok(format!(
                "{} {}",
                Postgres::shared()?.url,
                fresh_name("killed")
            )),
            |place: String| async move {
                let (url, schema) = place.split_once(' ').expect("two words");
                let options = PostgresOptions::new(url).schema(schema).pool_size(2);
                let store = PostgresStore::connect_with(options).await;
                store.expect("the server lets us in")
            }
        );

        #[cfg(unix)]
        killed!(
            $test,
            redis,
            OnBusy::Queue,
            |_| Ok(format!("{} {}", Redis::shared()?.url, fresh_name("killed"))),
            |place: String| async move {
                let (url, prefix) = place.split_once(' ').expect("two words");
                let options = RedisOptions::new(url)
                    .prefix(prefix)
                    .claim_lasts(CLAIM_LASTS);
                let store = RedisStore::connect_with(options).await;
                store.expect("the server lets us in")
            }
        );
    };
}

mod messages;
mod receives;
mod rollbacks;
mod sleeps;

for_each_store!(a_process_killed_repeatedly_loses_and_repeats_nothing);
