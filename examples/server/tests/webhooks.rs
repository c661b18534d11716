//! The example `webhooks` as a process: orders in, a clerk, a restart.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

struct Process {
    child: Child,
    address: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(folder: &Path) -> Process {
    let mut child = Command::new(env!("CARGO_BIN_EXE_webhooks"))
        .args(["orders.db", "127.0.0.1:0"])
        .current_dir(folder)
        .envs([("ORDERS_TOKEN", "shop"), ("CLERK_TOKEN", "clerk")])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut lines = output.lines().map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("listening on "));
    // The process must be able to print more.
    std::thread::spawn(move || lines.for_each(drop));
    let line = line.expect("it listens");
    let address = line.split('/').nth(2).expect("an address").to_owned();
    Process { child, address }
}

fn send(process: &Process, method: &str, path: &str, headers: &str, body: &Value) -> (u16, Value) {
    let mut stream = TcpStream::connect(&process.address).expect("it listens");
    let body = body.to_string();
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}");
    let head = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    stream
        .write_all((head + &body).as_bytes())
        .expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it answers");
    let (head, body) = response.split_once("\r\n\r\n").expect("a response");
    let status = head.get(9..12).and_then(|status| status.parse().ok());
    (
        status.expect("a status"),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

fn order(process: &Process, number: u64, euros: u64) -> String {
    let headers = format!("X-PetalFlow-Webhook-Token: shop\r\nIdempotency-Key: {number}\r\n");
    let body = json!({ "order": number, "euros": euros });
    let (status, body) = send(
        process,
        "POST",
        "/workflows/orders/webhooks/incoming",
        &headers,
        &body,
    );
    assert_eq!(status, 202, "{body}");
    body["thread"].as_str().expect("a thread").to_owned()
}

const CLERK: &str = "X-Clerk-Token: clerk\r\n";

/// The thread when its run has stopped.
fn wait_until_settled(process: &Process, thread: &str) -> Value {
    let path = format!("/threads/{thread}");
    // The stream of events ends with the run.
    send(
        process,
        "GET",
        &format!("{path}/events"),
        CLERK,
        &Value::Null,
    );
    let (status, found) = send(process, "GET", &path, CLERK, &Value::Null);
    assert_eq!(status, 200, "{found}");
    found
}

#[test]
fn a_clerk_approves_large_orders_although_the_server_was_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let process = start(folder.path());
    let small = order(&process, 1, 20);
    let found = wait_until_settled(&process, &small);
    assert_eq!(found["status"], "finished", "{found}");
    assert_eq!(found["state"]["vars"]["text"], "Thank you for order 1.");
    let large = order(&process, 2, 1200);
    let found = wait_until_settled(&process, &large);
    assert_eq!(found["status"], "waiting", "{found}");
    let (status, _) = send(
        &process,
        "GET",
        &format!("/threads/{large}"),
        "",
        &Value::Null,
    );
    assert_eq!(status, 401, "the shop may not see it");
    drop(process);

    let process = start(folder.path());
    assert_eq!(order(&process, 2, 1200), large, "the same delivery");
    let waiting = wait_until_settled(&process, &large);
    let question = &waiting["questions"][0];
    assert_eq!(
        question["question"]["prompt"],
        "Accept order 2 of 1200 euros?"
    );
    let id = question["id"].as_str().expect("an id");
    let path = format!("/threads/{large}/answers/{id}");
    let (status, body) = send(&process, "POST", &path, CLERK, &json!({ "approved": true }));
    assert_eq!(status, 202, "{body}");
    let found = wait_until_settled(&process, &large);
    assert_eq!(
        found["state"]["vars"]["text"], "Thank you for order 2.",
        "{found}"
    );
}
