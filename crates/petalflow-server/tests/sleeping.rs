//! Threads that sleep, over HTTP.

use std::time::Duration;

use axum::http::StatusCode;
use petalflow::checkpoint::{InMemoryStore, Store as _};
use petalflow::prelude::*;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{ServedFlow, Server};
use serde_json::json;

use crate::kit::{call, get, wait_until_settled};

const DAY: Duration = Duration::from_hours(24);

#[state]
struct Invoice {
    #[key(input)]
    number: u64,
    #[key(append)]
    letters: Vec<String>,
}

#[node(Invoice)]
async fn remind(number: &u64, cx: Context) -> petalflow::Result<InvoiceLetters> {
    cx.sleep(3 * DAY).await?;
    Ok(InvoiceLetters(vec![format!("please pay {number}")]))
}

flow!(Dun(Invoice) { remind });

#[tokio::test(start_paused = true)]
async fn f43_a_thread_that_sleeps_is_listed_and_the_server_wakes_it() {
    let store = InMemoryStore::new();
    let server = Server::builder(&store)
        .serve_flow(ServedFlow::new(Dun::new()))
        .threads(TriggerAuth::None)
        .build()
        .expect("the settings are right");
    let router = server.router();
    let input = json!({ "input": { "number": 7 } });
    let begun = call(&router, "POST", "/flows/Dun/threads", input.clone()).await;
    let thread = begun.thread();
    let shown = wait_until_settled(&router, &thread).await;
    assert_eq!(shown["status"], "sleeping", "{shown}");
    assert_eq!(shown["questions"], json!([]), "it waits for no person");
    let listed = get(&router, "/threads?status=sleeping").await.json();
    let due_ms = listed["threads"][0]["due_ms"].as_u64().expect("it is due");
    let sleeps = due_ms - store.now_ms().await.expect("it has a clock");
    assert!(sleeps.abs_diff(3 * 86_400_000) < 60_000, "{sleeps}");
    let waiting = get(&router, "/threads?status=waiting").await.json();
    assert_eq!(waiting["threads"], json!([]));

    let turn = call(&router, "POST", &format!("/threads/{thread}/turns"), input).await;
    assert_eq!(turn.status, StatusCode::CONFLICT, "{turn:?}");
    assert!(turn.error().contains("sleeps until 20"), "{turn:?}");

    assert_eq!(
        server.recover().await.expect("it lists"),
        0,
        "its time has not come"
    );
    tokio::time::sleep(3 * DAY).await;
    assert_eq!(server.recover().await.expect("it lists"), 1);
    let shown = wait_until_settled(&router, &thread).await;
    assert_eq!(shown["status"], "finished", "{shown}");
    assert_eq!(shown["state"]["letters"], json!(["please pay 7"]));
}

#[state]
struct Letter {
    #[key(input)]
    text: String,
    #[key(append)]
    sent: Vec<String>,
}

#[node(Letter)]
async fn send(text: &str) -> LetterSent {
    LetterSent(vec![text.to_string()])
}

flow!(SendLetter(Letter) { send });

fn replica(store: &InMemoryStore) -> Server {
    Server::builder(store)
        .serve_flow(ServedFlow::new(SendLetter::new()))
        .threads(TriggerAuth::None)
        .build()
        .expect("the settings are right")
}

#[tokio::test(start_paused = true)]
async fn f43_a_start_with_a_delay_sleeps_and_any_replica_begins_it() {
    let store = InMemoryStore::new();
    let (one, other) = (replica(&store), replica(&store));
    let path = "/flows/SendLetter/threads";
    let start = json!({ "input": { "text": "hello" }, "delay": "3d", "id": "a", "labels": { "to": "ann" } });
    let thread = call(&one.router(), "POST", path, start.clone())
        .await
        .thread();
    let shown = get(&other.router(), &format!("/threads/{thread}"))
        .await
        .json();
    assert_eq!(shown["status"], "sleeping", "{shown}");
    assert_eq!(shown["state"], json!({ "text": "hello", "sent": [] }));
    assert_eq!(shown["labels"], json!({ "to": "ann" }));
    let now = store.now_ms().await.expect("it has a clock");
    let due_ms = shown["due_ms"].as_u64().expect("it is due");
    assert!((due_ms - now).abs_diff(3 * 86_400_000) < 60_000, "{shown}");
    let listed = get(&other.router(), "/threads?status=sleeping")
        .await
        .json();
    assert_eq!(listed["threads"][0]["due_ms"], shown["due_ms"]);

    let again = call(&other.router(), "POST", path, start).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "{again:?}");
    let turns = format!("/threads/{thread}/turns");
    let turn = json!({ "input": { "text": "in between" } });
    let turn = call(&other.router(), "POST", &turns, turn).await;
    assert_eq!(turn.status, StatusCode::CONFLICT, "{turn:?}");
    assert!(turn.error().contains("sleeps until 20"), "{turn:?}");

    assert_eq!(other.recover().await.expect("it lists"), 0, "not yet");
    tokio::time::sleep(3 * DAY).await;
    assert_eq!(other.recover().await.expect("it lists"), 1);
    let shown = wait_until_settled(&other.router(), &thread).await;
    assert_eq!(shown["status"], "finished", "{shown}");
    assert_eq!(shown["state"]["sent"], json!(["hello"]));
    assert_eq!(shown["due_ms"], json!(null));
    assert_eq!(one.recover().await.expect("it lists"), 0, "once");
}

#[tokio::test(start_paused = true)]
async fn f43_a_thread_that_begins_later_is_held_or_begun_earlier_by_a_person() {
    let store = InMemoryStore::new();
    let server = replica(&store);
    let router = server.router();
    let path = "/flows/SendLetter/threads";
    let start = |at: &str| json!({ "input": { "text": "hello" }, "at": at });
    let thread = call(&router, "POST", path, start("2999-01-01T00:00:00Z"))
        .await
        .thread();
    let held = call(
        &router,
        "POST",
        &format!("/threads/{thread}/cancel"),
        json!({}),
    )
    .await;
    assert_eq!(held.json()["status"], "held", "{held:?}");
    tokio::time::sleep(400_000 * DAY).await;
    assert_eq!(server.recover().await.expect("it lists"), 0, "it is held");
    let resume = format!("/threads/{thread}/resume");
    assert_eq!(
        call(&router, "POST", &resume, json!({})).await.thread(),
        thread
    );
    let shown = wait_until_settled(&router, &thread).await;
    assert_eq!(shown["state"]["sent"], json!(["hello"]), "{shown}");

    let past = call(&router, "POST", path, start("2001-01-01T00:00:00Z"))
        .await
        .thread();
    assert_eq!(
        server.recover().await.expect("it lists"),
        1,
        "it is due at once"
    );
    let shown = wait_until_settled(&router, &past).await;
    assert_eq!(shown["status"], "finished", "{shown}");

    let earlier = json!({ "input": { "text": "hello" }, "delay": "P1W" });
    let thread = call(&router, "POST", path, earlier).await.thread();
    call(
        &router,
        "POST",
        &format!("/threads/{thread}/resume"),
        json!({}),
    )
    .await;
    let shown = wait_until_settled(&router, &thread).await;
    assert_eq!(shown["status"], "finished", "{shown}");

    let wrong = json!({ "input": { "text": "hello" }, "delay": "soon" });
    let refused = call(&router, "POST", path, wrong).await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{refused:?}"
    );
    assert!(refused.error().contains("`delay` is `soon`"), "{refused:?}");
    let unfit = json!({ "input": { "text": 7 }, "delay": "1h" });
    let refused = call(&router, "POST", path, unfit).await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{refused:?}"
    );
}
