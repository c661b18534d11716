//! AG-UI.

use serde_json::{Value, json};

use super::guide::{Guide, Http, Tools};

async fn run(http: &Http, input: Value) -> Vec<Value> {
    http.events("/ag-ui/guide", input).await
}

fn says(run: &str, messages: &[(&str, &str)]) -> Value {
    let messages = messages
        .iter()
        .map(|(id, text)| json!({ "id": id, "role": "user", "content": text }));
    let messages: Vec<Value> = messages.collect();
    json!({ "threadId": "t", "runId": run, "messages": messages, "state": {} })
}

fn text(events: &[Value]) -> String {
    let pieces = events
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    pieces.filter_map(|event| event["delta"].as_str()).collect()
}

fn outcome(events: &[Value]) -> &Value {
    let last = events.last().expect("there is an event");
    assert_eq!(last["type"], "RUN_FINISHED", "{last}");
    &last["outcome"]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_streamed_repeated_and_resumed() {
    let Some(guide) = Guide::start(Tools::Placed).await else {
        return;
    };
    let http = &guide.http;
    let first = run(http, says("r1", &[("m1", "look")])).await;
    assert_eq!(text(&first), "I got a river.");
    assert_eq!(outcome(&first)["type"], "success");
    // Another process reads the run again, from its log.
    let other = Http::start(&guide.restate, &guide.flow).await;
    let again = run(&other, says("r1", &[("m1", "look")])).await;
    assert_eq!(text(&again), "I got a river.");
    assert_eq!(outcome(&again), outcome(&first));

    let asked = run(http, says("r2", &[("m1", "look"), ("m2", "order")])).await;
    let interrupt = &outcome(&asked)["interrupts"][0];
    assert_eq!(
        interrupt["responseSchema"]["required"],
        json!(["answer"]),
        "{interrupt}"
    );
    let entry = json!({ "interruptId": interrupt["id"], "status": "resolved", "payload": { "answer": true } });
    let resumed = json!({ "threadId": "t", "runId": "r3", "messages": [], "resume": [entry] });
    let done = run(&other, resumed).await;
    assert_eq!(text(&done), "I got true.");
    assert_eq!(outcome(&done)["type"], "success");
}
