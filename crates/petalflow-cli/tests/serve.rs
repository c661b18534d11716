//! `petalflow serve`.

#![cfg(all(unix, feature = "serve"))]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{document, file, folder, path, petalflow, program};

const LETTERS: &str = r#"{ "id": "letters", "version": "1", "kind": "graph", "edges": [], "nodes": [
    { "id": "greet", "type": "transform",
      "config": { "transform": "template", "template": "Dear {{.name}}", "output_var": "text" } }] }"#;

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    /// What it listens on, and the path of its trigger.
    pub(crate) address: String,
    path: String,
}

impl Server {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_command("serve", arguments)
    }

    fn start_command(command: &str, arguments: &[&str]) -> Self {
        let mut child = program()
            .args([command, "--listen", "127.0.0.1:0"])
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
        let response = self.try_request(method, path, headers, body);
        response.expect("it answers")
    }

    /// A server that stops closes connections on which it has not read a request yet.
    fn try_request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes())?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    }

    /// A request with the token, and the body of the response.
    pub(crate) fn json(&self, method: &str, path: &str, body: &str) -> serde_json::Value {
        let response = self.request(method, path, "X-PetalFlow-Token: secret\r\n", body);
        let body = response.split("\r\n\r\n").nth(1).expect("a body");
        serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {response}"))
    }

    /// Starts a thread of the letters, and returns its text when its run has ended.
    fn letter(&self, id: &str) -> String {
        let body = format!(r#"{{"id": "{id}", "input": {{"vars": {{"name": "Ann"}}}}}}"#);
        self.json("POST", "/flows/letters/threads", &body);
        let token = "X-PetalFlow-Token: secret\r\n";
        // The stream ends with the run.
        self.request("GET", &format!("/threads/letters:{id}/events"), token, "");
        let shown = self.json("GET", &format!("/threads/letters:{id}"), "");
        let text = shown["state"]["vars"]["text"].as_str();
        text.unwrap_or_else(|| panic!("{shown}")).to_owned()
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
    let letters = file(&folder, "letters.graph.json", LETTERS);
    let refused = petalflow!("serve {letters}").code(5);
    assert!(
        refused.err.contains("has no webhook trigger"),
        "{}",
        refused.err
    );
    assert!(
        refused
            .err
            .contains("`--threads`, `--studio`, `--mcp` or `--schedule`"),
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

#[test]
fn f43_documents_are_tools_of_mcp() {
    let folder = folder();
    let letters = file(&folder, "letters.graph.json", LETTERS);
    let refused = petalflow!("serve {letters} --mcp --listen 127.0.0.1:0").code(64);
    assert!(
        refused.err.contains("`--mcp` needs a token"),
        "{}",
        refused.err
    );

    let server = Server::start(&[&letters, "--mcp"]);
    let accepts = "Accept: application/json, text/event-stream\r\n";
    let body = r#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }}"#;
    let refused = server.request("POST", "/mcp", accepts, body);
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let headers = format!("{accepts}Authorization: Bearer secret\r\n");
    let begun = server.request("POST", "/mcp", &headers, body);
    assert!(begun.starts_with("HTTP/1.1 200"), "{begun}");
    assert!(begun.contains("serverInfo"), "{begun}");
    let none = Server::start(&[&letters, "--studio"]);
    let missing = none.request("POST", "/mcp", &headers, body);
    assert!(missing.starts_with("HTTP/1.1 404"), "{missing}");
}

/// Waits until this is so, for at most a minute.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn dev_loads_a_document_again_when_it_is_saved_and_keeps_the_last_one_without_errors() {
    let folder = folder();
    let letters = file(&folder, "letters.graph.json", LETTERS);
    let mut server = Server::start_command("dev", &[&letters]);
    assert_eq!(server.path, "/studio/#token=secret");
    assert_eq!(server.letter("before"), "Dear Ann");

    let save = |text: &str| std::fs::write(&letters, text).expect("it is written");
    let drawn = || {
        let token = "X-PetalFlow-Token: secret\r\n";
        let drawn = server.try_request("GET", "/flows/letters", token, "");
        drawn.unwrap_or_default()
    };
    let (mut attempts, wrong) = (0, LETTERS.replace("transform\",", "transfrom\","));
    assert_ne!(wrong, LETTERS);
    save(&wrong);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.letter("meanwhile"), "Dear Ann");
    save(
        &LETTERS
            .replace("Dear", "Hello")
            .replace("\"greet\"", "\"welcome\""),
    );
    wait_until("the new document is served", || drawn().contains("welcome"));
    while server.letter(&format!("after-{attempts}")) != "Hello Ann" {
        attempts += 1;
        assert!(attempts < 10);
    }
    let kept = server.json("GET", "/threads/letters:before", "");
    assert_eq!(kept["status"], "finished", "{kept}");
    assert_eq!(server.stop("-INT"), Some(0));
    let mut printed = String::new();
    let errors = server.child.stderr.as_mut().expect("a pipe");
    errors.read_to_string(&mut printed).expect("text");
    assert!(printed.contains("letters.graph.json:2:"), "{printed}");
    assert!(printed.contains("`transfrom`"), "{printed}");
    assert!(printed.trim_end().ends_with("loaded again"), "{printed}");
}

#[test]
fn studio_opens_a_store_without_its_documents_to_read_and_with_them_to_change() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let letters = file(&folder, "letters.graph.json", LETTERS);
    let mut server = Server::start(&[&letters, "--studio", "--store", &store]);
    assert_eq!(server.letter("ann"), "Dear Ann");
    assert_eq!(server.stop("-INT"), Some(0));

    let server = Server::start_command("studio", &[&store]);
    assert_eq!(server.path, "/studio/#token=secret");
    let flows = server.json("GET", "/flows", "");
    assert_eq!(flows["flows"][0]["kind"], "stored");
    let shown = server.json("GET", "/threads/letters:ann", "");
    assert_eq!(shown["state"]["vars"]["text"], "Dear Ann");
    let refused = server.json("POST", "/threads/letters:ann/turns", "{}");
    let text = "the threads of `letters` can only be read";
    assert!(refused.to_string().contains(text), "{refused}");
    drop(server);

    let server = Server::start_command("studio", &[&store, &letters]);
    let flows = server.json("GET", "/flows", "");
    assert_eq!(flows["flows"][0]["kind"], "document");
    let input = r#"{"input": {"vars": {"name": "Ben"}}}"#;
    let begun = server.json("POST", "/threads/letters:ann/turns", input);
    assert_eq!(begun["thread"], "letters:ann", "{begun}");
    drop(server);
    let ran = petalflow!("studio {store}-none --listen 127.0.0.1:0").code(8);
    assert!(ran.err.contains("there is no store"), "{}", ran.err);
}

#[test]
fn a_schedule_begins_runs_of_a_document() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let letters = file(&folder, "letters.graph.json", LETTERS);
    let input = r#"letters={"vars": {"name": "Bo"}}"#;
    let arguments = [
        &*letters,
        "--store",
        &store,
        "--schedule",
        "letters=* * * * * *",
    ];
    let arguments = [&arguments[..], &["--schedule-input", input, "--studio"]].concat();
    let mut server = Server::start(&arguments);
    let list = || server.json("GET", "/threads?label=petalflow.schedule:letters", "");
    wait_until("a thread has begun", || {
        let list = list();
        list["threads"]
            .as_array()
            .is_some_and(|threads| !threads.is_empty())
    });
    let schedules = server.json("GET", "/schedules", "");
    assert_eq!(
        schedules["schedules"][0]["text"], "Every second.",
        "{schedules}"
    );
    assert_eq!(server.stop("-INT"), Some(0));
    let threads = petalflow!("threads list --store {store}").code(0);
    assert!(
        threads.out.contains("letters:letters@20"),
        "{}",
        threads.out
    );

    for (schedule, problem) in [
        ("letters=0 9 * *", "`0 9 * *` is not a cron line"),
        ("letters", "`--schedule letters` names no graph"),
        ("notes=@daily", "there is no flow `notes`"),
    ] {
        let ran =
            petalflow!("serve {letters} --studio --listen 127.0.0.1:0 --schedule '{schedule}'");
        assert!(ran.code != 0 && ran.err.contains(problem), "{}", ran.err);
    }
    let ran =
        petalflow!("serve {letters} --studio --schedule letters=@daily --schedule-input letters=x");
    let ran = ran.code(4);
    assert!(ran.err.contains("is not JSON"), "{}", ran.err);
}
