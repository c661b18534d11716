//! A server process that is killed after it has responded and before the run ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use petalflow::checkpoint::{Store, ThreadQuery, ThreadStatus};
use petalflow_documents::Changes;
use petalflow_documents::Services;
use petalflow_documents::kinds::FuncNode;
use petalflow_server::Server;
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::kit::{HOOK, graph};

const FILE: &str = "PETALFLOW_SERVER_TEST_FILE";
const STEPS: usize = 20;

/// Each node writes a line into a file.
async fn server(folder: &Path) -> Server {
    let store = SqliteStore::open(folder.join("a.db"))
        .await
        .expect("it opens");
    let mut services = Services::new();
    let names: Vec<String> = (0..STEPS).map(|step| format!("step{step}")).collect();
    for name in names.iter().cloned() {
        let node = FuncNode::new({
            let name = name.clone();
            move |_| {
                let name = name.clone();
                async move {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                    Ok(Changes::new().var(name, true))
                }
            }
        });
        services = services.function(name, node);
    }
    let nodes: Vec<Value> = names
        .iter()
        .map(|name| json!({ "id": name, "type": "func" }))
        .collect();
    let server = Server::builder(&store).document(graph(json!({}), &nodes), &services);
    server.build().expect("right")
}

/// Not a test: the process that is killed.
#[test]
fn child() {
    let Ok(folder) = std::env::var(FILE) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let server = server(Path::new(&folder)).await;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        println!("address={}", listener.local_addr().expect("it has one"));
        server
            .serve(listener, std::future::pending())
            .await
            .expect("it serves");
    });
}

fn start(folder: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", "killed::child", "--nocapture"])
        .env(FILE, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut lines = output.lines().map(|line| line.expect("text"));
    let address = lines.find_map(|line| Some(line.split_once("address=")?.1.to_owned()));
    (child, address.expect("it listens"))
}

/// Sends a delivery and returns its thread, or nothing if the server does not answer.
fn deliver(address: &str, key: usize) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!("POST {HOOK} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: {key}\r\n");
    write!(
        stream,
        "{head}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 202 "), "{response}");
    let body: Value = serde_json::from_str(body).ok()?;
    Some(body["thread"].as_str()?.to_owned())
}

#[test]
fn every_delivery_with_a_202_ends_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut threads = Vec::new();
    for round in 0..8 {
        let (mut child, address) = start(folder.path());
        for key in 0..3 {
            threads.extend(deliver(&address, 3 * round + key));
        }
        std::thread::sleep(std::time::Duration::from_millis(20 * round as u64));
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
    }
    assert_eq!(threads.len(), 24);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let server = server(folder.path()).await;
        server.recover().await.expect("it lists");
        let store = SqliteStore::open(folder.path().join("a.db"))
            .await
            .expect("it opens");
        let found = loop {
            let found = store
                .threads(ThreadQuery::default())
                .await
                .expect("it lists");
            if found
                .iter()
                .all(|info| info.status != ThreadStatus::Running)
            {
                break found;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        let finished = found
            .iter()
            .filter(|info| info.status == ThreadStatus::Finished);
        let mut finished: Vec<_> = finished.map(|info| info.id.clone()).collect();
        finished.sort();
        threads.sort();
        assert_eq!(finished, threads);
    });
}
