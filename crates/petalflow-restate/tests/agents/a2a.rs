//! A2A.

use serde_json::{Value, json};

use super::guide::{Guide, Http, Tools};

fn call(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

async fn rpc(http: &Http, method: &str, params: Value) -> Value {
    let response = http.post("/a2a/guide", call(method, &params)).await;
    assert!(response["result"].is_object(), "{response}");
    response["result"].clone()
}

fn says(id: &str, text: &str) -> Value {
    json!({ "message": { "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] } })
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

fn answer(task: &Value) -> String {
    let artifacts = task["artifacts"].as_array().into_iter().flatten();
    let parts = artifacts.flat_map(|it| it["parts"].as_array().into_iter().flatten());
    parts.filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_sent_streamed_answered_listed_and_cancelled() {
    let Some(guide) = Guide::start(Tools::Placed).await else {
        return;
    };
    let http = &guide.http;
    let sent = rpc(http, "SendMessage", says("m1", "look")).await;
    let task = &sent["task"];
    assert_eq!(
        (state(task), &*answer(task)),
        ("TASK_STATE_COMPLETED", "I got a river.")
    );
    // A repeated message begins nothing, in another process too.
    let other = Http::start(&guide.restate, &guide.flow).await;
    assert_eq!(
        rpc(&other, "SendMessage", says("m1", "look")).await["task"],
        *task
    );
    assert_eq!(
        rpc(&other, "GetTask", json!({ "id": task["id"] })).await,
        *task
    );

    let streamed = call("SendStreamingMessage", &says("m2", "slow"));
    let events = http.events("/a2a/guide", streamed).await;
    let updates = events.iter().map(|event| &event["result"]);
    let parts = updates
        .filter_map(|update| update["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str());
    let parts: Vec<&str> = parts.filter(|text| !text.is_empty()).collect();
    assert_eq!(parts.concat(), "a b c d e ");
    assert!(parts.len() >= 4, "it arrives in pieces: {parts:?}");

    let asked = rpc(http, "SendMessage", says("m3", "order")).await;
    let asked = &asked["task"];
    assert_eq!(state(asked), "TASK_STATE_INPUT_REQUIRED");
    let reply = json!({ "message": { "messageId": "m4", "role": "ROLE_USER", "taskId": asked["id"],
        "parts": [{ "data": { "answer": true } }] } });
    let done = rpc(&other, "SendMessage", reply).await;
    let done = &done["task"];
    assert_eq!(
        (state(done), &*answer(done)),
        ("TASK_STATE_COMPLETED", "I got true.")
    );
    assert_eq!(done["id"], asked["id"]);

    let mut digs = says("m5", "dig");
    digs["configuration"] = json!({ "returnImmediately": true });
    let begun = rpc(http, "SendMessage", digs).await;
    assert_eq!(state(&begun["task"]), "TASK_STATE_WORKING");
    let cancelled = rpc(&other, "CancelTask", json!({ "id": begun["task"]["id"] })).await;
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED");

    let listed = rpc(http, "ListTasks", json!({})).await;
    assert_eq!(listed["totalSize"], 4, "{listed}");
}
