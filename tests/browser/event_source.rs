//! A browser's own `EventSource`, whose connection breaks while a run is in progress.

use std::time::Duration;

use petalflow_documents::kinds::TriggerAuth;
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::page::{Page, with_browser};
use crate::proxy::Proxy;
use crate::served::{Served, builder_with};

/// Collects the numbers of all events, and how often the connection was opened. Without a token, because an `EventSource` sends
/// no header of its own.
const LISTEN: &str = "
    window.numbers = []; window.opened = 0;
    window.source = new EventSource('/threads/' + arguments[0] + '/events');
    source.onopen = () => opened++;
    for (const kind of ['run_started', 'superstep_started', 'node_started', 'node_finished', 'node_restored',
        'superstep_finished', 'checkpoint', 'finished', 'failed', 'interrupted', 'custom', 'values', 'retry'])
        source.addEventListener(kind, (event) => numbers.push(Number(event.lastEventId)));";

/// Opens the page behind the proxy, and listens to a thread.
async fn listen(page: &Page, proxy: &Proxy, thread: &str) {
    let address = format!("http://{}/studio/", proxy.address);
    page.client.goto(&address).await.expect("the page opens");
    let listening = page.client.execute(LISTEN, vec![json!(thread)]).await;
    listening.expect("it listens");
    page.wait_for("numbers.length > 5").await;
}

/// Waits until the server has said that no event follows, and compares what has come with the log.
async fn check(page: &Page, served: &Served, thread: &str) {
    page.wait_for("source.readyState === EventSource.CLOSED")
        .await;
    let (_, log) = served
        .call("GET", &format!("/threads/{thread}/events"), Value::Null)
        .await;
    let expected = log
        .lines()
        .filter_map(|line| line.strip_prefix("id: ")?.parse().ok());
    let expected: Vec<u64> = expected.collect();
    assert!(expected.len() > 100, "{log}");
    assert_eq!(
        page.eval("numbers").await,
        json!(expected),
        "each event came once, in order"
    );
    // What the broken connections leave in the console is expected.
    page.console_errors().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_lose_no_event() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("a.db"))
        .await
        .expect("it opens");
    with_browser(builder_with(&store, TriggerAuth::None), async |page| {
        let served = &page.served;
        let proxy = Proxy::start(served.address).await;
        let thread = served
            .thread("steps", json!({ "input": { "total": 400 } }))
            .await;
        listen(page, &proxy, &thread).await;
        for cut in 2..=3 {
            proxy.cut();
            page.wait_for(&format!("opened >= {cut}")).await;
            let seen = page.eval("numbers.length").await;
            page.wait_for(&format!(
                "numbers.length > {seen} || source.readyState === 2"
            ))
            .await;
        }
        served.settled(&thread).await;
        check(page, served, &thread).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_and_starts_again_loses_no_event() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("a.db"))
        .await
        .expect("it opens");
    let builder = || builder_with(&store, TriggerAuth::None);
    with_browser(builder(), async |page| {
        let first = Served::start(builder()).await;
        let proxy = Proxy::start(first.address).await;
        let thread = first
            .thread("steps", json!({ "input": { "total": 400 } }))
            .await;
        listen(page, &proxy, &thread).await;
        // It stops the run at a barrier.
        proxy.redirect(None);
        first.stop().await;
        tokio::time::sleep(Duration::from_millis(500)).await;

        let second = Served::start(builder()).await;
        proxy.redirect(Some(second.address));
        page.wait_for("opened >= 2").await;
        let done = second.settled(&thread).await;
        assert_eq!(done["state"]["done"], 400, "{done}");
        check(page, &second, &thread).await;
        second.stop().await;
    })
    .await;
}
