//! Messages to an agent while it works.

use petalflow_llm::ChatMessage;
use serde_json::{Value, json};

use super::Process;

const MESSAGES: u64 = 6;

fn texts_of_user(view: &Value) -> Vec<String> {
    let events = view["state"]["events"].as_array().expect("events").iter();
    let of_user = events.filter(|event| event["author"] == "user");
    let messages = of_user.map(|event| {
        let message = serde_json::from_value::<ChatMessage>(event["message"].clone());
        message.expect("a message").text()
    });
    messages.filter(|text| !text.is_empty()).collect()
}

/// Each message is there once. An agent reads a message in the running turn before those that wait for its end; those of one kind are
/// in their order.
fn check(said: &[String], expected: &[String]) {
    let (waiting, read) = expected.split_at(1 + usize::try_from(MESSAGES / 2).expect("few"));
    let of = |kind: &[String]| {
        let of_kind = said.iter().filter(|text| kind.contains(text));
        of_kind.cloned().collect::<Vec<_>>()
    };
    assert_eq!(of(waiting), waiting, "{said:?}");
    assert_eq!(of(read), read, "{said:?}");
    assert_eq!(said.len(), expected.len(), "{said:?}");
}

#[test]
fn f43_messages_begin_their_turns_once_and_in_order_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Process::start(folder.path());
    let body = json!({ "id": "a", "input": "file them" });
    server.call("POST", "/flows/clerk/threads", &body);
    let mut expected = vec!["file them".to_string()];
    for number in 0..MESSAGES {
        let text = format!("message {number}");
        let strategy = if number < MESSAGES / 2 {
            "enqueue"
        } else {
            "steer"
        };
        let body = json!({ "input": text, "multitask_strategy": strategy }).to_string();
        let header = format!("Idempotency-Key: mail-{number}");
        let send = |server: &Process| {
            let sent = server.request("POST", "/threads/clerk:a/turns", &header, &body);
            let (status, response) = sent.expect("it answers");
            // Another request of the killed process may have the claim for a moment.
            assert!(status == 202 || status == 409, "{status} {response}");
            status == 202
        };
        while !send(&server) {}
        expected.push(text);
        std::thread::sleep(std::time::Duration::from_millis(40 * (number % 3)));
        drop(server);
        server = Process::start(folder.path());
        // The sender does not know that it was stored.
        while !send(&server) {}
    }
    for _ in 0..3_000 {
        let view = server.call("GET", "/threads/clerk:a", &Value::Null);
        if view["status"] == "finished" && texts_of_user(&view).len() >= expected.len() {
            check(&texts_of_user(&view), &expected);
            let last = view["state"]["events"]
                .as_array()
                .and_then(|events| events.last());
            assert_ne!(last.expect("events")["author"], "user", "all have answers");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let view = server.call("GET", "/threads/clerk:a", &Value::Null);
    panic!("not all messages have arrived: {view}");
}
