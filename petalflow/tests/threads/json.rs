//! Threads as JSON for a web page.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Decision, InterruptId, Resume};
use petalflow::prelude::*;
use petalflow::thread::HistoryQuery;
use serde_json::{Value, json, to_value};

#[state]
#[derive(serde::Serialize)]
struct Post {
    #[key(input)]
    text: String,
    #[key(append)]
    log: Vec<String>,
}

#[node(Post)]
async fn check(text: &str, cx: Context) -> petalflow::Result<PostLog> {
    cx.emit(json!({"length": text.len()}));
    let page: String = cx.ask(super::Hour { page: 3 }).await?;
    Ok(PostLog(vec![page]))
}

#[node(Post)]
async fn publish() -> PostLog {
    PostLog(vec!["published".into()])
}

flow!(Publish(Post) { check -> publish; interrupt before publish; });

#[tokio::test]
async fn threads_and_questions_are_objects_with_text_ids() {
    let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
    thread.set_labels([("user", "ann")]).await.unwrap();
    let paused = thread.run("hello".to_string()).await.unwrap();
    let interrupt = to_value(&paused.interrupts()[0]).unwrap();
    let id: InterruptId = serde_json::from_value(interrupt["id"].clone()).unwrap();
    assert_eq!(id, paused.interrupts()[0].id);
    let asked = interrupt["asked_ms"].as_u64().unwrap();
    assert_eq!(
        interrupt,
        json!({
            "id": id.to_string(),
            "node": "check",
            "namespace": "",
            "index": null,
            "kind": "ask",
            "name": "Hour",
            "question": {"page": 3},
            "text": "node `check` waits for Hour",
            "asked_ms": asked,
            "expires_ms": asked + 3_600_000,
        })
    );
    let snapshot = to_value(thread.snapshot().await.unwrap().unwrap()).unwrap();
    assert_eq!(snapshot["state"], json!({"text": "hello", "log": []}));
    assert_eq!(
        snapshot["tasks"],
        json!([{"node": "check", "index": null, "finished": false, "error": null, "receives": []}])
    );
    assert_eq!(snapshot["interrupts"], json!([interrupt]));
    assert_eq!(snapshot["info"]["cause"], "input");
    let info = to_value(thread.info().await.unwrap().unwrap()).unwrap();
    assert_eq!(
        (
            &info["id"],
            &info["status"],
            &info["labels"],
            &info["due_ms"]
        ),
        (
            &json!("post"),
            &json!("waiting"),
            &json!({"user": "ann"}),
            &json!(asked + 3_600_000)
        )
    );
    assert!(serde_json::from_value::<InterruptId>(json!("7")).is_err());

    let paused = thread.answer::<super::Hour>("fine".into()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let waiting = thread.snapshot().await.unwrap().unwrap().interrupts;
    let gate = to_value(&waiting[0]).unwrap();
    assert_eq!(
        (&gate["kind"], &gate["expires_ms"]),
        (&json!("before"), &Value::Null)
    );
    let id: InterruptId = gate["id"].as_str().unwrap().parse().unwrap();
    let approval = Resume::new().decide(id, Decision::approve().by("Ann"));
    thread
        .resume(approval)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let history = thread.history(HistoryQuery::all()).await.unwrap();
    let noted = history.iter().find(|info| !info.notes.is_empty()).unwrap();
    let noted = to_value(noted).unwrap();
    assert_eq!(noted["cause"], "update");
    let note = &noted["notes"][0];
    assert_eq!(
        (
            &note["node"],
            &note["decision"],
            &note["by"],
            &note["reason"]
        ),
        (
            &json!("publish"),
            &json!("approved"),
            &json!("Ann"),
            &Value::Null
        )
    );
}

#[tokio::test]
async fn events_are_objects() {
    let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
    let mut events = thread.run("hello".to_string()).events();
    let mut kinds = Vec::new();
    while let Some(event) = events.next().await {
        let json = to_value(&event).unwrap();
        kinds.push(json["kind"].as_str().unwrap().to_string());
        match kinds.last().unwrap().as_str() {
            "superstep_started" => assert_eq!(json["nodes"], json!(["check"])),
            "node_started" => assert_eq!(
                (
                    &json["task"]["node"],
                    &json["task"]["attempt"],
                    json["task"]["id"].as_str().unwrap().len()
                ),
                (&json!("check"), &json!(1), 32)
            ),
            "custom" => assert_eq!(json["value"], json!({"length": 5})),
            "checkpoint" => assert!(json["checkpoint"].is_u64()),
            "interrupted" => {
                assert_eq!(json["interrupts"][0]["name"], "Hour");
                assert_eq!(json["state"]["text"], "hello");
            }
            _ => {}
        }
    }
    for kind in [
        "run_started",
        "superstep_started",
        "node_started",
        "custom",
        "checkpoint",
        "interrupted",
    ] {
        assert!(
            kinds.iter().any(|found| found == kind),
            "{kind} is missing: {kinds:?}"
        );
    }
    assert_eq!(
        thread
            .answer::<super::Hour>("fine".into())
            .await
            .unwrap()
            .interrupts()
            .len(),
        1
    );
    let mut events = thread.resume(Decision::approve()).events();
    let mut last = Value::Null;
    while let Some(event) = events.next().await {
        last = to_value(&event).unwrap();
        if last["kind"] == "node_finished" {
            assert_eq!(
                (&last["keys"], &last["cached"]),
                (&json!(["log"]), &json!(false))
            );
        }
    }
    assert_eq!(
        (&last["kind"], &last["state"]["log"]),
        (&json!("finished"), &json!(["fine", "published"]))
    );
}

#[tokio::test]
async fn failures_are_objects() {
    let mut events = super::DoWork::run("fail".to_string()).events();
    let mut failed = Vec::new();
    while let Some(event) = events.next().await {
        failed.push(event);
    }
    assert_eq!(failed.last().unwrap().kind.name(), "failed");
}
