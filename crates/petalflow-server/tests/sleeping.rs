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
