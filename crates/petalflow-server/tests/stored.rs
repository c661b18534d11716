//! The threads of other programs in a store: they are shown, and cannot be changed.

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Access, Server};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{call, get};

#[derive(Serialize, Deserialize, Ask)]
#[ask(answer = bool)]
struct MaySend {
    to: String,
}

#[state]
struct Letter {
    #[key(input)]
    to: String,
    text: String,
}

#[node(Letter)]
async fn write(to: &str) -> LetterText {
    LetterText(format!("Dear {to},"))
}

#[node(Letter)]
async fn send(to: &str, cx: Context) -> petalflow::Result<()> {
    cx.ask(MaySend { to: to.into() }).await?;
    Ok(())
}

flow!(Letters(Letter) { write -> send });

#[state]
struct Note {
    #[key(input)]
    text: String,
    length: usize,
}

#[node(Note)]
async fn measure(text: &str) -> NoteLength {
    NoteLength(text.len())
}

flow!(Notes(Note) { measure });

/// A store with a thread that waits, of a program that has ended, and a server that has another flow.
async fn router() -> Router {
    let store = InMemoryStore::new();
    let letters = Letters::new().store(&store).event_log(100);
    let paused = letters.thread("to-ann").run("Ann".to_string()).await;
    assert_eq!(paused.expect("it waits").interrupts().len(), 1);
    let server = Server::builder(&store)
        .flow(Notes::new())
        .stored_threads()
        .threads(TriggerAuth::None);
    server.build().expect("it is right").router()
}

#[tokio::test]
async fn threads_of_another_program_are_listed_and_shown() {
    let router = router().await;
    let flows = get(&router, "/flows").await.json();
    let flows = flows["flows"].as_array().expect("flows");
    let flows: Vec<_> = flows.iter().map(|it| (&it["name"], &it["kind"])).collect();
    let expected = [
        (json!("Notes"), json!("flow")),
        (json!("Letters"), json!("stored")),
    ];
    assert_eq!(flows, expected.each_ref().map(|(name, kind)| (name, kind)));
    let flow = get(&router, "/flows/Letters").await.json();
    assert_eq!(flow["graph"], json!({ "nodes": [], "edges": [] }));
    let drawing = get(&router, "/flows/Letters/graph.svg").await;
    assert_eq!(drawing.status, StatusCode::NOT_FOUND);
    assert_eq!(
        drawing.error(),
        "the graph of `Letters` is not known: its program is not here"
    );

    for path in [
        "/threads",
        "/threads?flow=Letters",
        "/threads?status=waiting",
    ] {
        let list = get(&router, path).await.json();
        let thread = &list["threads"][0];
        assert_eq!(
            (&thread["id"], &thread["flow"]),
            (&json!("to-ann"), &json!("Letters"))
        );
    }
    let thread = get(&router, "/threads/to-ann").await.json();
    assert_eq!(thread["state"], json!({ "to": "Ann", "text": "Dear Ann," }));
    assert_eq!(thread["questions"][0]["node"], "send");
    assert_eq!(thread["next"], json!(["send"]));
    let exported = get(&router, "/threads/to-ann/export").await;
    assert_eq!(exported.status, StatusCode::FORBIDDEN);
    assert!(
        exported.error().contains("which of its keys are secret"),
        "{exported:?}"
    );
    let history = get(&router, "/threads/to-ann/history").await.json();
    let history = history["checkpoints"].as_array().expect("checkpoints");
    assert!(history.len() >= 2, "{history:?}");
    let first = history.last().expect("one")["checkpoint"].clone();
    let first = get(&router, &format!("/threads/to-ann/checkpoints/{first}")).await;
    assert_eq!(first.json()["state"], json!({ "to": "Ann" }));
    let events = get(&router, "/threads/to-ann/events").await;
    assert!(
        events.text.contains("event: run_started"),
        "{}",
        events.text
    );
}

#[tokio::test]
async fn threads_of_another_program_cannot_be_changed() {
    let router = router().await;
    let before = get(&router, "/threads/to-ann").await.json();
    let question = before["questions"][0]["id"].as_str().expect("an id");
    let changes = [
        (
            "POST",
            "turns".to_string(),
            json!({ "input": { "to": "Ben" } }),
        ),
        (
            "POST",
            format!("answers/{question}"),
            json!({ "answer": true }),
        ),
        ("POST", "resume".into(), json!({})),
        ("POST", "cancel".into(), json!({})),
        ("POST", "edit".into(), json!({ "keys": { "to": "Ben" } })),
        ("POST", "fork".into(), json!({ "checkpoint": 1 })),
        ("POST", "copy".into(), json!({ "id": "c" })),
        ("PUT", "labels".into(), json!({ "a": "b" })),
    ];
    let refused = async |method: &str, path: &str, body: Value| {
        let refused = call(&router, method, path, body).await;
        assert_eq!(
            refused.status,
            StatusCode::FORBIDDEN,
            "{method} {path} {refused:?}"
        );
        assert_eq!(
            refused.error(),
            "the threads of `Letters` can only be read: the program with the types of the flow is not here"
        );
    };
    for (method, address, body) in changes {
        refused(method, &format!("/threads/to-ann/{address}"), body).await;
    }
    refused("DELETE", "/threads/to-ann", json!({})).await;
    let start = call(&router, "POST", "/flows/Letters/threads", json!({})).await;
    assert_eq!(start.status, StatusCode::NOT_FOUND);
    assert_eq!(get(&router, "/threads/to-ann").await.json(), before);
}

#[tokio::test]
async fn without_the_setting_and_without_access_they_are_not_shown() {
    let store = InMemoryStore::new();
    let letters = Letters::new().store(&store);
    let paused = letters.thread("to-ann").run("Ann".to_string()).await;
    assert_eq!(paused.expect("it waits").interrupts().len(), 1);
    let builder = || {
        Server::builder(&store)
            .flow(Notes::new())
            .threads(TriggerAuth::None)
    };
    let hidden = builder().build().expect("it is right").router();
    let of_ben = builder()
        .stored_threads()
        .access(|_| Access::label("user", "ben"));
    let of_ben = of_ben.build().expect("it is right").router();
    for router in [hidden, of_ben] {
        assert_eq!(get(&router, "/threads").await.json()["threads"], json!([]));
        let shown = get(&router, "/threads/to-ann").await;
        assert_eq!(shown.status, StatusCode::NOT_FOUND);
    }
}
