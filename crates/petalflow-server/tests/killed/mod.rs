//! Server processes that are killed after they have responded and before the runs end.

mod agent;
mod asking;
mod bulk;
mod commands;
mod flows;
#[cfg(all(feature = "a2a", feature = "ag-ui", feature = "openai"))]
mod protocols;
mod queue;
#[cfg(all(feature = "a2a", feature = "ag-ui", feature = "openai"))]
mod queued;
mod webhooks;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use petalflow::checkpoint::Store;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::Server;
use petalflow_sqlite::SqliteStore;
use serde_json::Value;

const FOLDER: &str = "PETALFLOW_SERVER_TEST_FOLDER";

/// A document, flows and an agent over this store.
fn server(store: &(impl Store + Clone)) -> Server {
    let (graph, services) = webhooks::document();
    let server = Server::builder(store)
        .document(graph, &services)
        .serve_flow(flows::steps())
        .serve_flow(flows::asking())
        .serve_flow(asking::early())
        .serve_flow(commands::clock())
        .agent("clerk", &agent::clerk())
        .threads(TriggerAuth::None);
    #[cfg(all(feature = "a2a", feature = "ag-ui", feature = "openai"))]
    let server = server
        .agent("patient", &queued::patient())
        .a2a(petalflow_server::A2a::new("https://example.com"))
        .ag_ui()
        .openai();
    server.build().expect("the settings are right")
}

async fn open(folder: &Path) -> SqliteStore {
    let store = SqliteStore::open(folder.join("a.db")).await;
    store.expect("it opens")
}

/// Not a test: the process that is killed.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let server = server(&open(Path::new(&folder)).await);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        println!("address={}", listener.local_addr().expect("it has one"));
        let served = server.serve(listener, std::future::pending()).await;
        served.expect("it serves");
    });
}

/// A server process. Dropping it kills it.
struct Process {
    child: Child,
    address: String,
}

impl Process {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("it is known"))
            .args(["--exact", "killed::child", "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut lines = output.lines().map(|line| line.expect("text"));
        let address = lines.find_map(|line| Some(line.split_once("address=")?.1.to_owned()));
        let address = address.expect("it listens");
        Process { child, address }
    }

    /// Sends a request. Nothing if the server does not answer.
    fn request(&self, method: &str, path: &str, header: &str, body: &str) -> Option<(u16, Value)> {
        let response = exchange(&self.address, method, path, header, body)?;
        let (head, body) = response.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).ok()?))
    }

    /// Sends JSON, and returns the response of a server that runs.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let response = self.request(method, path, "Accept: */*", &body.to_string());
        let (status, response) = response.unwrap_or_else(|| panic!("no response: {path}"));
        assert!((200..300).contains(&status), "{path}: {status} {response}");
        response
    }

    /// The thread as soon as it has this status.
    fn wait_for(&self, thread: &str, status: &str) -> Value {
        for _ in 0..6_000 {
            let view = self.call("GET", &format!("/threads/{thread}"), &Value::Null);
            if view["status"] == status {
                return view;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{thread} is never {status}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The child may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request, and returns the whole response. Nothing if the server does not answer to the end.
fn exchange(address: &str, method: &str, path: &str, header: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: a\r\n{header}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    Some(response)
}
