//! A thread that asks while another node of it works.

use std::path::{Path, PathBuf};
use std::time::Duration;

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_server::ServedFlow;
use serde_json::{Value, json};

use super::{FOLDER, Process};

#[derive(serde::Serialize, Ask)]
#[ask(answer = String)]
struct Which;

#[state]
pub(super) struct Log {
    #[key(append)]
    lines: Vec<String>,
}

/// The file with which the test lets the long node end.
fn gate(folder: &Path) -> PathBuf {
    folder.join("heavy")
}

#[node(Log)]
async fn heavy() -> LogLines {
    let folder = std::env::var(FOLDER).unwrap_or_default();
    while !gate(Path::new(&folder)).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    LogLines(vec!["heavy".into()])
}

#[node(Log)]
async fn asks(cx: Context) -> petalflow::Result<LogLines> {
    Ok(LogLines(vec![cx.ask(Which).await?]))
}

flow!(pub(super) RunEarly(Log) { START -> heavy & asks });

pub(super) fn early() -> ServedFlow<RunEarly> {
    let served = ServedFlow::new(RunEarly::new()).named("early");
    served.question::<Which>()
}

/// The inbox when it has so many items.
fn inbox_of(process: &Process, items: usize) -> Value {
    let mut inbox = Value::Null;
    for _ in 0..6_000 {
        inbox = process.call("GET", "/inbox", &Value::Null);
        if inbox["items"].as_array().map(Vec::len) == Some(items) {
            return inbox;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never has {items} items: {inbox}");
}

#[test]
fn f43_the_inbox_has_a_question_of_a_thread_that_works_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Process::start(folder.path());
    let body = json!({ "id": "a", "input": {} });
    first.call("POST", "/flows/early/threads", &body);
    let asked = inbox_of(&first, 1)["items"][0].clone();
    drop(first);
    let second = Process::start(folder.path());
    let open = inbox_of(&second, 1)["items"][0].clone();
    assert_eq!(open["id"], asked["id"]);
    // An answer needs the run of the thread, which is recovered.
    second.wait_for("early:a", "running");
    let path = format!(
        "/threads/early:a/answers/{}",
        open["id"].as_str().expect("an id")
    );
    let answer = json!({ "answer": "blue" }).to_string();
    let mut status = 0;
    for _ in 0..6_000 {
        let answered = second.request("POST", &path, "Accept: */*", &answer);
        status = answered.expect("it answers").0;
        if status == 202 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(status, 202);
    inbox_of(&second, 0);
    std::fs::write(gate(folder.path()), "").expect("it is written");
    let view = second.wait_for("early:a", "finished");
    assert_eq!(view["state"]["lines"], json!(["heavy", "blue"]));
    // The label that the inbox looks for goes with the run, or a moment later.
    let has_label = || {
        let view = second.call("GET", "/threads/early:a", &Value::Null);
        view["labels"] != json!({})
    };
    for _ in 0..6_000 {
        if !has_label() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the label stays");
}
