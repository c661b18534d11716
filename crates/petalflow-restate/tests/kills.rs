//! The driver, a node host and the server are killed at random, while threads with effects run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::local::LocalFileSystem;
use petalflow::checkpoint::ThreadStatus;
use petalflow::event::LoggedEvent;
use petalflow::prelude::*;
use petalflow_restate::{Bodies, Client, Endpoint, RestateError, RestateFlow};

use crate::support::{PROGRAM, Server, free_ports};

/// What a process of this test serves: `driver` or `host`, and its address.
const ROLE: &str = "PETALFLOW_RESTATE_TEST_ROLE";
const ADDRESS: &str = "PETALFLOW_RESTATE_TEST_ADDRESS";
/// The file to which effects are appended.
const EFFECTS: &str = "PETALFLOW_RESTATE_TEST_EFFECTS";

#[state]
#[derive(Debug)]
pub(super) struct Shop {
    #[key(input)]
    orders: u32,
    #[key(sum)]
    round: u32,
    #[key(append)]
    pub(super) paid: Vec<String>,
    #[key(append)]
    pub(super) booked: Vec<String>,
}

/// While this file is beside that of the effects, no effect ends.
pub(super) const HOLD: &str = "hold";

/// Happens once for each record of it. A kill between the effect and its record repeats the effect.
async fn effect(name: String) -> petalflow::Result<String> {
    use std::io::Write as _;
    if let Ok(path) = std::env::var(EFFECTS) {
        let file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(&path);
        writeln!(file?, "{name}")?;
        let hold = Path::new(&path).with_file_name(HOLD);
        while hold.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(name)
}

#[node(Shop)]
async fn open() -> ShopRound {
    ShopRound(1)
}

#[node(Shop)]
async fn list(orders: &u32) -> Each<u32> {
    (0..*orders).collect()
}

#[node(Shop)]
async fn pay(#[item] order: &u32, round: &u32, cx: Context) -> petalflow::Result<ShopPaid> {
    let first = cx
        .once("charge", effect(format!("charge {round}/{order}")))
        .await?;
    tokio::time::sleep(Duration::from_millis(15)).await;
    let second = cx
        .once("receipt", effect(format!("receipt {round}/{order}")))
        .await?;
    Ok(ShopPaid(vec![first, second]))
}

#[node(Shop)]
async fn book(round: &u32, paid: &[String], cx: Context) -> petalflow::Result<ShopBooked> {
    let booked = cx
        .once("book", effect(format!("book {round} with {}", paid.len())))
        .await?;
    Ok(ShopBooked(vec![booked]))
}

#[node(Shop)]
async fn next(round: &u32) -> bool {
    *round < 5
}

flow! {
    pub(super) SellAll(Shop) {
        START -> open -> list -> each pay -> book;
        book -> next -> match { true => open, false => END };
        defer book;
    }
}

/// About half of its bodies are objects, beside the file of the effects.
pub(super) fn flow(effects: &Path) -> RestateFlow<SellAll> {
    let objects = effects.with_file_name("objects");
    std::fs::create_dir_all(&objects).expect("a folder");
    let objects = LocalFileSystem::new_with_prefix(objects).expect("a folder");
    RestateFlow::new(SellAll::new())
        .event_log(1_000)
        .place("pay", "tills")
        .expect("it has the node")
        .bodies(Bodies::new(Arc::new(objects)).above(900))
}

/// Serves as another process of the test. Does nothing in a usual run of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_of_the_kill_test() {
    let (Ok(role), Ok(address)) = (std::env::var(ROLE), std::env::var(ADDRESS)) else {
        return;
    };
    let flow = flow(Path::new(&std::env::var(EFFECTS).expect("a file")));
    let endpoint = match &*role {
        "driver" => Endpoint::new().threads(&flow),
        _ => Endpoint::new().nodes(&flow, "tills"),
    };
    let bound = endpoint
        .expect("its name is good")
        .concurrency(4)
        .bind(&address)
        .await;
    bound.expect("the port is free").serve().await;
}

/// A process that serves.
pub(super) struct Process {
    role: &'static str,
    address: String,
    effects: PathBuf,
    child: Child,
}

impl Process {
    pub(super) fn start(role: &'static str, port: u16, effects: &Path) -> Self {
        let address = format!("127.0.0.1:{port}");
        let child = Self::spawn(role, &address, effects);
        Process {
            role,
            address,
            effects: effects.into(),
            child,
        }
    }

    fn spawn(role: &str, address: &str, effects: &Path) -> Child {
        Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "kills::process_of_the_kill_test", "--nocapture"])
            .env(ROLE, role)
            .env(ADDRESS, address)
            .env(EFFECTS, effects)
            .env_remove(PROGRAM)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts")
    }

    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was killed");
        self.child = Self::spawn(self.role, &self.address, &self.effects);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a thread to its end, whatever is killed.
pub(super) async fn run(client: &Client<SellAll>, id: &str) -> Shop {
    let thread = client.thread(id);
    let deadline = Instant::now() + Duration::from_mins(5);
    loop {
        assert!(Instant::now() < deadline, "thread `{id}` does not end");
        match thread.rest().await {
            Ok(rest) if rest.status == ThreadStatus::Finished => break,
            Ok(rest) => {
                assert_eq!(rest.status, ThreadStatus::Running, "{:?}", rest.failure);
                // The connection may be lost.
                let _ = tokio::time::timeout(Duration::from_secs(5), thread.wait()).await;
            }
            Err(RestateError::Unknown(_)) => drop(thread.begin(4).await),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    loop {
        let read =
            thread.edit(async |thread| (thread.snapshot().await, thread.events_since(0).await));
        if let Ok((snapshot, events)) = read.await {
            check_log(&events.expect("the log is whole"), id);
            return snapshot.expect("it can be read").expect("it exists").state;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The log has the turn from its beginning, and the end of each task once. A task that was lost has begun more than once.
fn check_log(events: &[LoggedEvent], id: &str) {
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!(events[0].kind, "run_started", "{id}");
    assert_eq!(events[0].number, 1, "{id}");
    assert_eq!(events.last().map(|last| &*last.kind), Some("finished"));
    assert_eq!((count("run_started"), count("finished")), (1, 1), "{id}");
    // Five rounds of four nodes and four tasks of `pay`.
    assert_eq!(count("node_finished"), 40, "{id}");
    assert!(count("node_started") >= 40, "{id}");
}

/// A small generator of random numbers, with a seed that a failure prints.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn g085_killed_processes_lose_nothing_and_record_each_effect_once() {
    let Some(mut server) = Server::start().await else {
        return;
    };
    let kills = std::env::var("PETALFLOW_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let kills: u64 = kills.unwrap_or(8);
    let seed = std::process::id().into();
    eprintln!("{kills} kills with seed {seed}");
    let mut random = Random(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let effects = folder.path().join("effects");
    let [one, two] = free_ports();
    let mut driver = Process::start("driver", one, &effects);
    let mut host = Process::start("host", two, &effects);
    server.register([one, two]).await;
    let client = Client::new(&flow(&effects), server.ingress());
    // This process appends no effects.
    let expected = SellAll::run(4).await.expect("it ends");
    let mut begun = 0;
    let mut next = || {
        begun += 1;
        let (client, id) = (client.clone(), format!("thread-{begun}"));
        tokio::spawn(async move { (run(&client, &id).await, id) })
    };
    let mut running = next();
    let mut finished = 0;
    for kill in 0..kills {
        tokio::time::sleep(Duration::from_millis(100 + random.below(500))).await;
        match random.below(5) {
            0 => driver.kill(),
            1 => host.kill(),
            2 => server.kill().await,
            3 => {
                driver.kill();
                host.kill();
            }
            _ => {
                host.kill();
                server.kill().await;
            }
        }
        if running.is_finished() {
            let (found, id) = running.await.expect("it ends");
            check(&found, &expected, &id);
            finished += 1;
            running = next();
        }
        if kill % 20 == 19 {
            eprintln!("{} kills, {finished} threads", kill + 1);
        }
    }
    let (found, id) = running.await.expect("it ends");
    check(&found, &expected, &id);
    finished += 1;
    let happened = std::fs::read_to_string(&effects)
        .expect("effects")
        .lines()
        .count();
    let recorded = (expected.paid.len() + expected.booked.len()) * finished;
    eprintln!(
        "{kills} kills, {finished} threads, {recorded} effects recorded, {happened} happened"
    );
    let objects = folder.path().join("objects/petalflow_Threads_SellAll");
    assert_eq!(
        std::fs::read_dir(objects).expect("objects").count() as usize,
        finished
    );
    assert!(
        happened >= recorded,
        "an effect is recorded that has not happened"
    );
}

pub(super) fn check(found: &Shop, expected: &Shop, id: &str) {
    assert_eq!(found.paid, expected.paid, "{id}");
    assert_eq!(found.booked, expected.booked, "{id}");
    assert_eq!(found.round, expected.round, "{id}");
}
