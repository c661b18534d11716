//! Listeners in other processes receive the events of a thread, over a real Redis server.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{EventSink, EventSource, FollowedEvent, StoredEvents, StreamedEvent};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::{BoxError, async_trait};
use petalflow_redis::{RedisEvents, RedisOptions};
use petalflow_restate::{Client, Endpoint, RestateError, RestateFlow};
use petalflow_test_servers::{Redis, found_or_skip, fresh_name};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::support::{PATIENCE, Process, Server, free_ports, until};

/// What a process of this test does: `host` or `listener`.
const ROLE: &str = "PETALFLOW_RESTATE_TEST_STREAM_ROLE";
/// The address of the host, or the ingress of the listener.
const ADDRESS: &str = "PETALFLOW_RESTATE_TEST_STREAM_ADDRESS";
const REDIS: &str = "PETALFLOW_RESTATE_TEST_STREAM_REDIS";
const PREFIX: &str = "PETALFLOW_RESTATE_TEST_STREAM_PREFIX";
/// The file to which the listener appends what it receives.
const RECEIVED: &str = "PETALFLOW_RESTATE_TEST_STREAM_RECEIVED";
/// While this file is beside the other one, a host says four pieces and no more.
const HOLD: &str = "hold";

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
struct MayPrint {}

#[node(Essay)]
async fn plan(cx: Context) -> EssayNotes {
    cx.emit("planned");
    EssayNotes(vec!["planned".into()])
}

/// Says its draft in ten pieces.
#[node(Essay)]
async fn write(topic: &str, cx: Context) -> EssayDraft {
    let mut draft = String::new();
    for number in 0..10 {
        let piece = format!("{topic}{number} ");
        draft.push_str(&piece);
        cx.emit(piece);
        if number == 3 {
            hold().await;
        }
    }
    EssayDraft(draft)
}

/// Waits in a host while the test says so.
async fn hold() {
    let Ok(received) = std::env::var(RECEIVED) else {
        return;
    };
    let hold = Path::new(&received).with_file_name(HOLD);
    while hold.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[node(Essay)]
async fn print(cx: Context) -> petalflow::Result<EssayNotes> {
    let may = cx.ask(MayPrint {}).await?;
    Ok(EssayNotes(vec![format!("may print: {may}")]))
}

flow!(Writing(Essay) { plan -> write -> print });

async fn flow(redis: &str, prefix: &str) -> RestateFlow<Writing> {
    let events = RedisEvents::connect(RedisOptions::new(redis).prefix(prefix)).await;
    let flow = RestateFlow::new(Writing::new()).events(events.expect("the server runs"));
    flow.place("write", "writers").expect("it has the node")
}

/// Runs as another process of the test. Does nothing in a usual run of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_of_the_streaming_test() {
    let variable = |name| std::env::var(name).ok();
    let (Some(role), Some(address), Some(redis), Some(prefix)) = (
        variable(ROLE),
        variable(ADDRESS),
        variable(REDIS),
        variable(PREFIX),
    ) else {
        return;
    };
    let flow = flow(&redis, &prefix).await;
    if role == "host" {
        let host = Endpoint::new()
            .nodes(&flow, "writers")
            .expect("its name is good");
        let host = host.bind(&address).await.expect("the port is free");
        return host.serve().await;
    }
    let thread = Client::new(&flow, address).thread("ann");
    let mut events = thread.follow(0);
    while let Some(event) = events.next().await {
        record(&event.expect("events can be read"));
    }
}

fn record(event: &FollowedEvent) {
    use std::io::Write as _;
    let path = std::env::var(RECEIVED).expect("the test sets it");
    let file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path);
    writeln!(file.expect("it opens"), "{}", line(event)).expect("it is written");
}

fn line(event: &FollowedEvent) -> Value {
    serde_json::json!({
        "number": event.event.number,
        "kind": event.event.kind,
        "task": event.task.map(|task| task.to_string()),
        "restarts": event.restarts,
        "missed": event.missed,
        "value": event.event.value,
    })
}

/// Whether the event is a piece of the draft.
fn is_piece(value: &Value) -> bool {
    value["value"]
        .as_str()
        .is_some_and(|text| text.ends_with(' '))
}

/// What the listener has received.
fn received(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect()
}

/// What a listener shows of a turn. Events of two processes may arrive in either order if the machine is busy.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    /// The kinds of the events of the driver.
    driver: Vec<String>,
    /// The kinds of the events of the host.
    host: Vec<String>,
    text: String,
}

/// The events that count. What a lost process said is discarded.
fn shown(events: &[Value]) -> Shown {
    let mut counts: Vec<&Value> = Vec::new();
    for event in events {
        if event["restarts"] == true {
            counts.retain(|earlier| earlier["task"] != event["task"]);
        }
        counts.push(event);
    }
    let is_piece = |event: &&Value| is_piece(&event["value"]);
    let host = counts
        .iter()
        .copied()
        .find(is_piece)
        .map(|event| &event["task"]);
    let mut shown = Shown::default();
    for event in counts {
        let kind = event["kind"].as_str().expect("it has a kind").to_string();
        if host == Some(&event["task"]) {
            shown.host.push(kind);
            shown.text += event["value"]["value"].as_str().unwrap_or_default();
        } else {
            shown.driver.push(kind);
        }
    }
    shown
}

/// The servers and the driver of a test.
struct Setup {
    server: Server,
    redis: &'static str,
    prefix: String,
    flow: RestateFlow<Writing>,
    folder: tempfile::TempDir,
    host_port: u16,
}

impl Setup {
    /// `None` if a server is not installed.
    async fn new() -> Option<Self> {
        let redis = &*found_or_skip(Redis::shared())?.url;
        let server = Server::start().await?;
        let prefix = fresh_name("stream");
        let flow = flow(redis, &prefix).await;
        let driver = Endpoint::new().threads(&flow).expect("its name is good");
        let driver = driver.bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", driver.address());
        tokio::spawn(driver.serve());
        server.admin().register(&url).await.expect("it answers");
        let [host_port] = free_ports();
        Some(Setup {
            server,
            redis,
            prefix,
            flow,
            folder: tempfile::tempdir().expect("a folder"),
            host_port,
        })
    }

    fn received(&self) -> PathBuf {
        self.folder.path().join("received")
    }

    fn host(&self) -> Process {
        let address = format!("127.0.0.1:{}", self.host_port);
        self.process("host", &address)
    }

    async fn registered_host(&self) -> Process {
        let host = self.host();
        self.server.register([self.host_port]).await;
        host
    }

    fn listener(&self) -> Process {
        self.process("listener", &self.server.ingress())
    }

    fn process(&self, role: &str, address: &str) -> Process {
        let received = self.received();
        let variables: [(&str, &OsStr); 5] = [
            (ROLE, role.as_ref()),
            (ADDRESS, address.as_ref()),
            (REDIS, self.redis.as_ref()),
            (PREFIX, self.prefix.as_ref()),
            (RECEIVED, received.as_ref()),
        ];
        Process::of_test("streaming::process_of_the_streaming_test", &variables)
    }
}

/// The events of the driver in the first turn, until the question.
const DRIVER: [&str; 13] = [
    "run_started",
    "superstep_started",
    "node_started",
    "custom",
    "node_finished",
    "checkpoint",
    "superstep_finished",
    "superstep_started",
    "checkpoint",
    "superstep_finished",
    "superstep_started",
    "node_started",
    "interrupted",
];

/// What a listener shows of the first turn with this topic.
fn first_turn(topic: &str) -> Shown {
    let pieces = (0..10).map(|number| format!("{topic}{number} "));
    let host = ["node_started"]
        .into_iter()
        .chain(["custom"; 10])
        .chain(["node_finished"]);
    Shown {
        driver: DRIVER.map(String::from).into(),
        host: host.map(String::from).collect(),
        text: pieces.collect(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_elsewhere_sees_the_text_once_although_the_host_is_killed() {
    let Some(setup) = Setup::new().await else {
        return;
    };
    let path = setup.received();
    let hold = path.with_file_name(HOLD);
    std::fs::write(&hold, "").unwrap();
    let host = setup.registered_host().await;
    let thread = Client::new(&setup.flow, setup.server.ingress()).thread("ann");
    thread.begin("p".to_string()).await.unwrap();
    let listener = std::sync::Mutex::new(setup.listener());
    until("the listener gets pieces", async || {
        shown(&received(&path)).text == "p0 p1 p2 p3 "
    })
    .await;
    drop(host);
    std::fs::remove_file(&hold).unwrap();
    let _host = setup.host();
    until("the listener ends", async || {
        listener.lock().unwrap().has_ended()
    })
    .await;

    let events = received(&path);
    let restarts = events.iter().filter(|event| event["restarts"] == true);
    assert_eq!(restarts.count(), 1, "{events:#?}");
    let said = events.iter().filter(|event| event["kind"] == "custom");
    assert!(said.count() >= 15, "four pieces were said twice");
    assert_eq!(shown(&events), first_turn("p"));
    assert!(events.iter().all(|event| event["missed"] == 0));
    assert_eq!(setup.flow.dropped_events(), 0);

    // A listener that connects again gets what it does not have.
    let middle = events[events.len() - 4]["number"].as_u64().unwrap();
    let mut again = thread.follow(middle);
    for event in &events[events.len() - 3..] {
        let found = again.next().await.unwrap().unwrap();
        assert_eq!(Some(found.event.number), event["number"].as_u64());
    }
    assert!(again.next().await.is_none());

    // The answer begins a run, whose events follow.
    let last = events.last().unwrap()["number"].as_u64().unwrap();
    thread.answer::<MayPrint>(true).await.unwrap();
    let mut events = thread.follow(last);
    let mut kinds = Vec::new();
    while let Some(event) = events.next().await {
        kinds.push(event.unwrap().event.kind);
    }
    assert_eq!(
        kinds,
        [
            "run_started",
            "superstep_started",
            "node_started",
            "node_finished",
            "checkpoint",
            "superstep_finished",
            "finished"
        ]
    );
}

/// Publishes events when the test says so.
#[derive(Clone)]
struct Late {
    events: RedisEvents,
    /// What was not published yet. `None`: events are published at once.
    held: Arc<Mutex<Option<Vec<StreamedEvent>>>>,
}

impl Late {
    async fn hold(&self) {
        *self.held.lock().await = Some(Vec::new());
    }

    async fn release(&self) {
        let mut held = self.held.lock().await;
        let events = held.take().expect("they were held");
        self.events.publish(&events).await.unwrap();
    }
}

#[async_trait]
impl EventSink for Late {
    async fn publish(&self, events: &[StreamedEvent]) -> Result<(), BoxError> {
        let mut held = self.held.lock().await;
        match &mut *held {
            Some(held) => held.extend_from_slice(events),
            None => self.events.publish(events).await?,
        }
        Ok(())
    }

    async fn forget(&self, thread: &str) -> Result<(), BoxError> {
        self.events.forget(thread).await
    }
}

#[async_trait]
impl EventSource for Late {
    fn events(&self, thread: &str) -> StoredEvents {
        self.events.events(thread)
    }

    async fn newest(&self, thread: &str) -> Result<u64, BoxError> {
        self.events.newest(thread).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_has_ended_before_its_events_arrive_is_followed_to_its_end() {
    let Some(redis) = found_or_skip(Redis::shared()) else {
        return;
    };
    let Some(server) = Server::start().await else {
        return;
    };
    let options = RedisOptions::new(&*redis.url).prefix(fresh_name("late"));
    let events = Late {
        events: RedisEvents::connect(options).await.unwrap(),
        held: Arc::default(),
    };
    events.hold().await;
    let flow = RestateFlow::new(Writing::new()).events(events.clone());
    let driver = Endpoint::new().threads(&flow).unwrap();
    let driver = driver.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", driver.address());
    tokio::spawn(driver.serve());
    server.admin().register(&url).await.unwrap();
    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin("p".to_string()).await.unwrap();
    thread.wait().await.unwrap();
    let kinds = async |after| {
        let (mut kinds, mut last) = (Vec::new(), after);
        let mut events = thread.follow(after);
        while let Some(event) = events.next().await {
            let event = event.unwrap().event;
            last = event.number;
            kinds.push(event.kind);
        }
        (kinds, last)
    };
    let ((first, last), ()) = tokio::join!(kinds(0), events.release());
    assert_eq!(first.last().unwrap(), "interrupted");
    assert_eq!(last, events.newest("ann").await.unwrap());
    events.hold().await;
    thread.answer::<MayPrint>(true).await.unwrap();
    thread.wait().await.unwrap();
    let ((second, _), ()) = tokio::join!(kinds(last), events.release());
    assert_eq!(second.first().unwrap(), "run_started");
    assert_eq!(second.last().unwrap(), "finished");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_thread_has_no_events() {
    let Some(setup) = Setup::new().await else {
        return;
    };
    let _host = setup.registered_host().await;
    let thread = Client::new(&setup.flow, setup.server.ingress()).thread("ann");
    thread.begin("p".to_string()).await.unwrap();
    thread.wait().await.unwrap();
    thread.delete().await.unwrap();
    assert!(thread.follow(0).next().await.is_none());

    thread.begin("q".to_string()).await.unwrap();
    let mut received = Vec::new();
    let mut events = thread.follow(0);
    while let Some(event) = events.next().await {
        received.push(line(&event.unwrap()));
    }
    assert_eq!(shown(&received), first_turn("q"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_does_not_need_the_events() {
    let Some(server) = Server::start().await else {
        return;
    };
    let Some(redis) = found_or_skip(Redis::start_own(&[])) else {
        return;
    };
    let options = RedisOptions::new(&*redis.url).response_timeout(Duration::from_millis(500));
    let events = RedisEvents::connect(options).await.unwrap();
    let flow = RestateFlow::new(Writing::new()).events(events);
    let driver = Endpoint::new().threads(&flow).unwrap();
    let driver = driver.bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", driver.address());
    tokio::spawn(driver.serve());
    server.admin().register(&url).await.unwrap();
    drop(redis);

    let thread = Client::new(&flow, server.ingress()).thread("ann");
    thread.begin("p".to_string()).await.unwrap();
    let rest = tokio::time::timeout(PATIENCE, thread.wait()).await;
    let rest = rest.expect("it does not wait for its events").unwrap();
    assert_eq!(rest.status, ThreadStatus::Waiting);
    // The last ones may still wait for the sink.
    until("events are counted", async || flow.dropped_events() >= 15).await;
    assert!(matches!(
        thread.follow(0).next().await,
        Some(Err(RestateError::Events { .. }))
    ));
    let plain = RestateFlow::new(Writing::new());
    let plain = Client::new(&plain, server.ingress()).thread("ann");
    assert!(matches!(
        plain.follow(0).next().await,
        Some(Err(RestateError::NoEvents))
    ));
}
