//! The HTTP server under load: `cargo bench --bench server`.
//!
//! * `listeners`: 1,000 clients receive the events of 100 runs, 10 each. The server is another process, so that the memory is
//!   that of the server alone. Then the same with 100 clients more that never read.
//! * `pages`: a page of 100 of 100,000 threads in SQLite, over the routes of the server, without a connection.
//!
//! A run without optimization on two busy cores: 42 MiB with 1,000 listeners, 43 MiB with 100 more that never read. A page takes
//! 2 to 3 ms with any filter.
//!
//! Linux only: the memory is read from `/proc`.

#![allow(clippy::cast_precision_loss)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_benches::table::{head, is_selected, row};
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Limits, Server};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tower::ServiceExt;

const RUNS: usize = 100;
const LISTENERS: usize = 1_000;
/// Clients that never read.
const SLOW: usize = 100;
const SUPERSTEPS: u64 = 100;
const THREADS: usize = 100_000;
const PAGE: usize = 100;
/// Set in the process that is the server.
const CHILD: &str = "PETALFLOW_BENCH_SERVER";

#[state]
struct Work {
    #[key(input)]
    total: u64,
    #[key(sum)]
    done: u64,
    /// What each superstep writes, so that events have a size.
    #[key(append)]
    lines: Vec<String>,
}

#[node(Work)]
async fn work(total: &u64, done: &u64) -> (WorkDone, WorkLines, bool) {
    if *total > 1 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let line = format!("step {done} {}", "x".repeat(200));
    (WorkDone(1), WorkLines(vec![line]), done + 1 < *total)
}

#[node(Work)]
async fn end() {}

flow! {
    Works(Work) {
        START -> work;
        work -> match { true => work, false => end };
    }
}

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    if std::env::var_os(CHILD).is_some() {
        return runtime.block_on(serve());
    }
    head();
    if is_selected("listeners") {
        runtime.block_on(listeners());
    }
    if is_selected("pages") {
        runtime.block_on(pages());
    }
}

/// The process that is the server.
async fn serve() {
    let limits = Limits {
        max_streams: LISTENERS + SLOW,
        max_connections: 2 * (LISTENERS + SLOW),
        ..Limits::default()
    };
    let builder = Server::builder(&InMemoryStore::new()).flow(Works::new().limit(10_000));
    let server = builder.threads(TriggerAuth::None).limits(limits).build();
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port is free");
    println!("{}", listener.local_addr().expect("it has an address"));
    let server = server.expect("the settings are right");
    let served = server.serve(listener, std::future::pending()).await;
    served.expect("it serves");
}

/// The server process.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().expect("it is known"))
            .env(CHILD, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let address = lines.next().expect("it prints its address").expect("text");
        Process { child, address }
    }

    /// The largest memory that it has had, in MiB.
    fn peak(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let mut lines = status.lines();
        let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
        let kib: f64 = peak.and_then(|kib| kib.parse().ok()).unwrap_or(f64::NAN);
        kib / 1_024.0
    }

    async fn connect(&self, request: String) -> TcpStream {
        let socket = TcpSocket::new_v4().expect("a socket");
        // A large buffer of the client would hide that it does not read.
        let small = socket.set_recv_buffer_size(8 << 10);
        small.expect("it is settable");
        let address = self.address.parse().expect("an address");
        let stream = socket.connect(address).await;
        let mut stream = stream.expect("the server accepts");
        let written = stream.write_all(request.as_bytes()).await;
        written.expect("the server reads");
        stream
    }

    async fn start_run(&self, id: usize) {
        let body = json!({ "id": id.to_string(), "input": { "total": SUPERSTEPS } }).to_string();
        let head = "POST /flows/Works/threads HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json";
        let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let mut response = String::new();
        let mut stream = self.connect(request).await;
        let read = stream.read_to_string(&mut response).await;
        read.expect("it responds");
        assert!(response.starts_with("HTTP/1.1 202"), "{response}");
    }

    async fn listen(&self, id: usize) -> TcpStream {
        let head = format!("GET /threads/Works:{id}/events HTTP/1.1\r\nHost: a");
        self.connect(format!("{head}\r\nConnection: close\r\n\r\n"))
            .await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn listeners() {
    let (alone, _) = run_with(0, 0).await;
    let (time, peak) = run_with(LISTENERS, 0).await;
    row(
        "100 runs, 1,000 listeners: memory of the server, peak",
        &format!("{peak:.0} MiB"),
        "300 MiB",
    );
    row(
        "100 runs of 100 supersteps of 50 ms, nobody listens",
        &seconds(alone),
        "",
    );
    row("the same, 1,000 listeners", &seconds(time), "");
    let (time, peak) = run_with(LISTENERS, SLOW).await;
    row(
        "the same, and 100 clients that never read",
        &seconds(time),
        "",
    );
    row(
        "memory of the server with them, peak",
        &format!("{peak:.0} MiB"),
        "300 MiB",
    );
}

/// The time from the start of the first run to the end of the last one, and the peak of memory.
async fn run_with(listeners: usize, slow: usize) -> (Duration, f64) {
    let process = Process::start();
    let begin = Instant::now();
    for id in 0..RUNS {
        process.start_run(id).await;
    }
    let mut never_read = Vec::new();
    for number in 0..slow {
        never_read.push(process.listen(number % RUNS).await);
    }
    let mut reading = JoinSet::new();
    // One per run also where nobody listens: it tells when the run has ended.
    for number in 0..listeners.max(RUNS) {
        let mut stream = process.listen(number % RUNS).await;
        reading.spawn(async move {
            let mut response = String::new();
            let read = stream.read_to_string(&mut response).await;
            read.expect("the stream ends with the run");
            let finished = response.matches("event: node_finished").count() as u64;
            assert_eq!(finished, SUPERSTEPS + 1, "{}", &response[..300]);
        });
    }
    while let Some(read) = reading.join_next().await {
        read.expect("each listener gets all events");
    }
    let time = begin.elapsed();
    drop(never_read);
    (time, process.peak())
}

async fn pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("a.db")).await;
    let store = store.expect("it opens");
    fill(&store).await;
    let builder = Server::builder(&store).flow(Works::new());
    let server = builder.threads(TriggerAuth::None).build();
    let router = server.expect("the settings are right").router();
    for (what, query) in [
        ("first", ""),
        ("in the middle", "&after=Works:050000"),
        ("filter by flow", "&flow=Works&after=Works:050000"),
        ("by a status that all have", "&status=finished"),
        ("by a status that none has", "&status=failed"),
        ("by a label that 1% have", "&label=customer:7"),
        ("by a label that none has", "&label=customer:none"),
        (
            "by flow, status and label",
            "&flow=Works&status=finished&label=customer:7",
        ),
    ] {
        let time = fastest(&router, &format!("/threads?limit={PAGE}{query}")).await;
        let what = format!("100 of 100,000 threads, {what}");
        row(
            &what,
            &format!("{:.1} ms", time.as_secs_f64() * 1e3),
            "50 ms",
        );
    }
}

/// Stores threads that have finished. Each hundredth one has a label.
async fn fill(store: &SqliteStore) {
    let threads = Works::new().store(store);
    let mut running = JoinSet::new();
    for number in 0..THREADS {
        let threads = threads.clone();
        running.spawn(async move {
            let thread = threads.thread(format!("Works:{number:06}"));
            let outcome = thread.run(WorkInput { total: 1 }).await.expect("it runs");
            outcome.into_finished().expect("it finishes");
            if number % 100 == 0 {
                let labelled = thread.set_labels([("customer", "7")]).await;
                labelled.expect("it is stored");
            }
        });
        if running.len() >= 64 {
            running.join_next().await;
        }
    }
    while running.join_next().await.is_some() {}
}

/// The fastest of some requests.
async fn fastest(router: &Router, path: &str) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let begin = Instant::now();
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let response = router.clone().oneshot(request).await.expect("no error");
        let body = to_bytes(response.into_body(), usize::MAX).await;
        let body = body.expect("a body");
        fastest = fastest.min(begin.elapsed());
        let page: Value = serde_json::from_slice(&body).expect("JSON");
        assert!(page["threads"].is_array(), "{path}: {page}");
    }
    fastest
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
