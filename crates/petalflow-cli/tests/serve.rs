//! `petalflow serve`.

#![cfg(all(unix, feature = "serve"))]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{document, file, folder, path, petalflow, program};

/// A server that ends with the test.
struct Server {
    child: Child,
    /// What it listens on, and the path of its trigger.
    address: String,
    path: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = program()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("PETALFLOW_TOKEN", "secret")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        lines.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").expect("an address");
        let (address, path) = address.split_once('/').expect("a path");
        Server {
            address: address.into(),
            path: format!("/{path}"),
            child,
        }
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it answers");
        response
    }

    fn stop(&mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("`kill` starts").success());
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn p209_a_request_to_a_webhook_starts_a_stored_run() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let orders = document("orders.graph.yaml");
    let mut server = Server::start(&[&orders, "--store", &store, "--threads"]);
    assert_eq!(server.path, "/workflows/orders/webhooks/incoming");
    let response = server.request("POST", &server.path, "", r#"{"order": 7}"#);
    assert!(response.starts_with("HTTP/1.1 202"), "{response}");
    let body = response.split("\r\n\r\n").nth(1).expect("a body");
    let thread: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let thread = thread["thread"].as_str().expect("a thread").to_owned();

    let denied = server.request("GET", &format!("/threads/{thread}"), "", "");
    assert!(denied.starts_with("HTTP/1.1 401"), "{denied}");
    let start = Instant::now();
    loop {
        let shown = server.request(
            "GET",
            &format!("/threads/{thread}"),
            "X-PetalFlow-Token: secret\r\n",
            "",
        );
        if shown.contains("Order 7.") {
            break;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "{shown}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.stop("-INT"), Some(0));
    let ran = petalflow!("threads show {thread} orders.graph.yaml --store {store} --json").code(0);
    assert_eq!(ran.json()["envelope"]["vars"]["output"], "Order 7.");
}

#[test]
fn p209_a_server_says_why_it_cannot_start() {
    let ran = petalflow!("serve greeting.graph.json --listen 127.0.0.1:0").code(5);
    assert!(
        ran.err.contains("greeting") && ran.err.contains("trigger"),
        "{}",
        ran.err
    );
    let ran = petalflow!("serve orders.graph.yaml --listen nowhere").code(64);
    assert!(ran.err.contains("`nowhere`"), "{}", ran.err);
    let ran = petalflow!("serve orders.graph.yaml --threads --listen 127.0.0.1:0").code(64);
    assert!(ran.err.contains("PETALFLOW_TOKEN"), "{}", ran.err);
    petalflow!("serve wrong.graph.json").code(1);
}

#[test]
fn p209_a_server_ends_when_it_is_terminated() {
    let mut server = Server::start(&[&document("orders.graph.yaml")]);
    assert_eq!(server.stop("-TERM"), Some(0));
}

#[test]
fn a_document_without_a_trigger_is_started_and_seen_with_the_studio() {
    let folder = folder();
    let text = r#"{ "id": "letters", "version": "1", "kind": "graph", "edges": [], "nodes": [
        { "id": "greet", "type": "transform",
          "config": { "transform": "template", "template": "Dear {{.name}}", "output_var": "text" } }] }"#;
    let letters = file(&folder, "letters.graph.json", text);
    let refused = petalflow!("serve {letters}").code(5);
    assert!(
        refused.err.contains("has no webhook trigger"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("`--threads` or `--studio`"),
        "{}",
        refused.err
    );

    let server = Server::start(&[&letters, "--studio"]);
    assert_eq!(server.path, "/studio/#token=secret");
    let page = server.request("GET", "/studio/", "", "");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(
        page.contains("content-security-policy: default-src 'none'"),
        "{page}"
    );
    let other = server.request("GET", "/studio/", "Origin: https://evil.example\r\n", "");
    assert!(other.starts_with("HTTP/1.1 403"), "{other}");
    let body = r#"{"id": "ann", "input": {"vars": {"name": "Ann"}}}"#;
    let refused = server.request("POST", "/flows/letters/threads", "", body);
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let token = "X-PetalFlow-Token: secret\r\n";
    let started = server.request("POST", "/flows/letters/threads", token, body);
    assert!(started.starts_with("HTTP/1.1 202"), "{started}");
    // The stream ends with the run.
    server.request("GET", "/threads/letters:ann/events", token, "");
    let shown = server.request("GET", "/threads/letters:ann", token, "");
    assert!(shown.contains(r#""text":"Dear Ann""#), "{shown}");
}
