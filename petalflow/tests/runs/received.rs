//! Nodes that wait until the listener has received their events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::StreamExt as _;
use petalflow::event::EventKind;
use petalflow::prelude::*;

#[state]
#[derive(Clone, Debug)]
struct Log {
    #[key(append)]
    lines: Vec<String>,
}

#[node(Log)]
async fn announce(cx: Context, done: Managed<AtomicU32>) -> LogLines {
    cx.emit("first");
    cx.emit("second");
    cx.events_received().await;
    done.fetch_add(1, Ordering::SeqCst);
    cx.events_received().await;
    LogLines(vec!["done".into()])
}

/// Waits on a task of the runtime.
#[node(Log, spawn)]
async fn announce_elsewhere(cx: Context, done: Managed<AtomicU32>) -> LogLines {
    cx.emit("first");
    cx.events_received().await;
    done.fetch_add(1, Ordering::SeqCst);
    LogLines(vec!["done".into()])
}

flow!(Announce(Log) { announce });
flow!(Elsewhere(Log) { announce_elsewhere });
flow!(Outer(Log) { inner; node inner: Announce { in: || (), out: |log: Log| LogLines(log.lines) } });
flow!(Fork(Log) { START -> announce & announce_elsewhere });

fn done() -> Arc<AtomicU32> {
    Arc::default()
}

#[tokio::test]
async fn without_a_listener_nothing_waits() {
    let log = Announce::new().manage_with(done()).run(()).await.unwrap();
    assert_eq!(log.lines, ["done"]);
}

#[tokio::test]
async fn a_listener_can_stop_the_run_before_the_node_continues() {
    let done = done();
    let launch = Announce::new().manage_with(done.clone());
    let mut events = launch.clone().run(()).events().custom();
    for expected in ["first", "second"] {
        let event = events.next().await.unwrap();
        assert!(
            matches!(&event.kind, EventKind::Custom(event) if event.to_string().contains(expected))
        );
        // However often other tasks run in between.
        tokio::task::yield_now().await;
        assert_eq!(done.load(Ordering::SeqCst), 0);
    }
    drop(events);
    assert_eq!(done.load(Ordering::SeqCst), 0);

    let events: Vec<_> = launch.run(()).events().collect().await;
    assert_eq!(events.last().unwrap().kind.name(), "finished");
    assert_eq!(done.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_node_of_a_sub_flow_waits_for_the_outermost_listener() {
    let done = done();
    let mut events = Outer::new()
        .manage_with(done.clone())
        .run(())
        .events()
        .custom();
    events.next().await.unwrap();
    events.next().await.unwrap();
    assert_eq!(done.load(Ordering::SeqCst), 0);
    assert!(events.next().await.is_none());
    assert_eq!(done.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_on_several_threads_wait_without_polling() {
    for _ in 0..50 {
        let done = done();
        let mut events = Fork::new().manage_with(done.clone()).run(()).events();
        let mut last = "";
        while let Some(event) = events.next().await {
            last = event.kind.name();
            tokio::task::yield_now().await;
        }
        assert_eq!(last, "finished");
        assert_eq!(done.load(Ordering::SeqCst), 2);
    }
    let events = Elsewhere::new().manage_with(done()).run(()).events();
    assert_eq!(
        events.collect::<Vec<_>>().await.last().unwrap().kind.name(),
        "finished"
    );
}
