//! The stored events of a thread.

use std::time::{SystemTime, UNIX_EPOCH};

use petalflow::checkpoint::{Address, InMemoryStore, Store as _};
use petalflow::event::LoggedEvent;
use petalflow::prelude::*;
use petalflow::thread::{Durability, Retention, Thread};
use serde_json::Value;

use super::{DoWork, launch};

#[state]
struct Chapter {
    text: String,
}

#[node(Chapter)]
async fn write(cx: Context) -> ChapterText {
    cx.emit("half a page");
    ChapterText("a page".into())
}

#[node(Chapter)]
async fn read(text: &str) {
    assert_eq!(text, "a page");
}

flow!(WriteChapter(Chapter) { write -> read });

#[state]
struct Book {
    #[key(append)]
    pages: Vec<String>,
}

flow!(WriteBook(Book) {
    chapter;
    node chapter: WriteChapter { in: || (), out: |chapter: Chapter| BookPages(vec![chapter.text]) };
});

/// Emits a value, and waits until the clock is ahead of it, three times.
#[node(Chapter)]
async fn tick(cx: Context) -> ChapterText {
    for _ in 0..3 {
        let begin = now_ms();
        cx.emit(begin);
        while now_ms() <= begin {
            tokio::task::yield_now().await;
        }
    }
    ChapterText("ticked".into())
}

flow!(Tick(Chapter) { tick });

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

#[tokio::test]
async fn f43_an_event_has_the_time_at_which_it_happened() {
    let store = InMemoryStore::new();
    let thread = Tick::new().store(&store).event_log(100).thread("t");
    thread.run(()).await.unwrap().into_finished().unwrap();
    let events = thread.events_since(0).await.unwrap();
    let ticks = events.iter().filter(|event| event.kind == "custom");
    let ticks: Vec<_> = ticks
        .map(|event| (json(event)["value"].as_u64().unwrap(), event.recorded_ms))
        .collect();
    assert_eq!(ticks.len(), 3);
    for (index, (emitted, recorded)) in ticks.iter().enumerate() {
        assert!(emitted <= recorded, "{ticks:?}");
        if let Some((next, _)) = ticks.get(index + 1) {
            assert!(recorded <= next && emitted < next, "{ticks:?}");
        }
    }
    let times: Vec<_> = events.iter().map(|event| event.recorded_ms).collect();
    assert!(times.is_sorted(), "{times:?}");
}

fn logged(store: &InMemoryStore, events: u64) -> Thread<DoWork> {
    launch().store(store).event_log(events).thread("t")
}

fn kinds(events: &[LoggedEvent]) -> Vec<&str> {
    events.iter().map(|event| &*event.kind).collect()
}

fn json(event: &LoggedEvent) -> Value {
    serde_json::to_value(&event.value).unwrap()
}

#[tokio::test]
async fn the_log_has_what_a_listener_has_received() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let store = InMemoryStore::new();
        let threads = launch().store(&store).event_log(100).durability(durability);
        let mut live = Vec::new();
        let mut events = threads.thread("t").run("2".to_string()).events();
        while let Some(event) = events.next().await {
            live.push((event.kind.name().to_string(), event.superstep));
        }
        // Any handle to the store reads it.
        let stored = launch()
            .store(&store)
            .thread("t")
            .events_since(0)
            .await
            .unwrap();
        let superstep = |event: &LoggedEvent| json(event)["superstep"].as_u64().unwrap();
        let log: Vec<_> = stored
            .iter()
            .map(|event| (event.kind.clone(), superstep(event)))
            .collect();
        assert_eq!(log, live, "{durability:?}");
        let [.., before, end] = &*live else {
            panic!("no events")
        };
        assert_eq!((end.1, &*end.0), (before.1, "finished"));
        assert!(end.1 > 0);
        let numbers: Vec<u64> = stored.iter().map(|event| event.number).collect();
        assert_eq!(numbers, (1..=stored.len() as u64).collect::<Vec<_>>());
        let node = stored
            .iter()
            .find(|event| event.kind == "node_finished")
            .unwrap();
        assert_eq!(json(node)["task"]["node"], "work");
        assert_eq!(json(node)["keys"], serde_json::json!(["count", "answer"]));
        assert!(json(stored.last().unwrap()).get("state").is_none());
    }
}

#[tokio::test]
async fn a_late_client_reads_from_the_event_that_it_knows() {
    let store = InMemoryStore::new();
    let thread = logged(&store, 1_000);
    let _ = thread.run("ask".to_string()).await.unwrap();
    let first = thread.events_since(0).await.unwrap();
    let asked = json(first.last().unwrap());
    assert_eq!(
        (
            asked["kind"].as_str(),
            asked["interrupts"][0]["node"].as_str()
        ),
        (Some("interrupted"), Some("work"))
    );

    let _ = thread.answer::<super::Hour>("yes".into()).await.unwrap();
    let known = first.last().unwrap().number;
    let later = thread.events_since(known).await.unwrap();
    assert_eq!(later[0].number, known + 1);
    assert_eq!(
        (later[0].kind.as_str(), later.last().unwrap().kind.as_str()),
        ("run_started", "finished")
    );
    let middle = thread.events_since(known - 1).await.unwrap();
    assert_eq!((&middle[0], &middle[1..]), (first.last().unwrap(), &*later));
    assert_eq!(thread.events_since(u64::MAX).await.unwrap(), []);
}

#[tokio::test]
async fn a_failure_and_a_cancellation_are_in_the_log() {
    let store = InMemoryStore::new();
    let thread = logged(&store, 1_000);
    thread.run("fail".to_string()).await.unwrap_err();
    let stored = thread.events_since(0).await.unwrap();
    assert!(kinds(&stored).contains(&"node_failed"));
    let error = json(stored.last().unwrap())["error"].to_string();
    assert!(error.contains("broken"), "{error}");

    let token = petalflow::run::CancelToken::new();
    let threads = launch().cancel_with(&token).store(&store).event_log(1_000);
    let run = threads
        .thread("t")
        .run("hang".to_string())
        .begin()
        .await
        .unwrap();
    token.cancel();
    run.await.unwrap_err();
    assert_eq!(
        thread.events_since(0).await.unwrap().last().unwrap().kind,
        "failed"
    );
}

#[tokio::test]
async fn events_of_sub_flows_are_in_the_log() {
    let threads = WriteBook::new().store(&InMemoryStore::new()).event_log(100);
    let thread = threads.thread("b");
    let _ = thread.run(()).await.unwrap();
    let stored = thread.events_since(0).await.unwrap();
    let custom = json(stored.iter().find(|event| event.kind == "custom").unwrap());
    assert_eq!(
        (custom["namespace"].as_str(), custom["value"].as_str()),
        (Some("chapter"), Some("half a page"))
    );
    // The sub-flow has two supersteps, and its parent one.
    assert_eq!(json(stored.last().unwrap())["superstep"], 1);
    // A fork finds its sub-flows, and not the log.
    let fork = thread.fork(1).await.unwrap();
    let _ = thread.resume(()).await.unwrap();
    assert!(fork > 1 && thread.events_since(0).await.unwrap().len() > stored.len());
    let copy = thread.copy_to("copy").await.unwrap();
    assert_eq!(copy.events_since(0).await.unwrap(), []);
}

#[tokio::test]
async fn the_log_is_bounded() {
    let store = InMemoryStore::new();
    let thread = launch()
        .store(&store)
        .event_log(50)
        .retention(Retention::max_checkpoints(3))
        .thread("t");
    let _ = thread.run("300".to_string()).await.unwrap();
    let stored = thread.events_since(0).await.unwrap();
    assert!((50..=110).contains(&stored.len()), "{}", stored.len());
    let newest = stored.last().unwrap();
    assert!(
        newest.number > 1_500 && newest.kind == "finished",
        "{newest:?}"
    );
    assert!(
        stored
            .windows(2)
            .all(|pair| pair[0].number + 1 == pair[1].number)
    );
    thread.prune(Retention::max_checkpoints(1)).await.unwrap();
    assert_eq!(thread.events_since(0).await.unwrap(), stored);
    thread.delete().await.unwrap();
    assert_eq!(thread.events_since(0).await.unwrap(), []);
}

#[tokio::test]
async fn a_thread_without_a_log_stores_no_events() {
    let store = InMemoryStore::new();
    let thread = launch().store(&store).thread("t");
    let _ = thread.run("2".to_string()).await.unwrap();
    assert_eq!(store.namespaces("t").await.unwrap(), [""]);
    assert_eq!(thread.events_since(0).await.unwrap(), []);
}

#[tokio::test]
async fn a_lost_record_of_the_log_is_damage() {
    let store = InMemoryStore::new();
    let thread = logged(&store, 1_000);
    let _ = thread.run("5".to_string()).await.unwrap();
    let address = Address {
        thread: thread.id(),
        namespace: "/events",
    };
    let mut records = store.history(address, None, 1_000).await.unwrap();
    records.reverse();
    assert!(records.len() > 3, "one for each superstep");
    for lost in 1..records.len() - 1 {
        let damaged = InMemoryStore::new();
        let mut after = None;
        for (index, record) in records.iter().enumerate() {
            if index != lost {
                let appended = damaged.append(address, record, after, 0..0, None);
                appended.await.unwrap();
                after = Some(record.seq);
            }
        }
        let events = logged(&damaged, 1_000).events_since(0).await;
        let message = events.unwrap_err().to_string();
        let expected = format!("event {} of its log", records[lost - 1].seq);
        assert!(
            message.contains(thread.id()) && message.contains(&expected),
            "{message}"
        );
    }
}

/// The numbers of the events that are followed from a number on, to the end.
async fn followed<F: Flow>(thread: &Thread<F>, number: u64) -> Vec<LoggedEvent> {
    let (mut events, mut all) = (thread.follow(number), Vec::new());
    while let Some(event) = events.next().await {
        all.push(event.unwrap());
    }
    assert!(events.next().await.is_none(), "it has ended");
    all
}

#[tokio::test]
async fn a_client_that_reconnects_at_any_event_loses_and_repeats_none() {
    let store = InMemoryStore::new();
    let thread = logged(&store, 1_000);
    let live = tokio::spawn({
        let thread = thread.clone();
        async move {
            let run = thread.run("20".to_string()).begin().await.unwrap();
            let run = tokio::spawn(run);
            let events = followed(&thread, 0).await;
            run.await.unwrap().unwrap().into_finished().unwrap();
            events
        }
    });
    let all = live.await.unwrap();
    assert_eq!(all, thread.events_since(0).await.unwrap());
    assert_eq!(all.last().unwrap().kind, "finished");
    for known in 0..=all.len() {
        let rest = followed(&thread, known as u64).await;
        assert_eq!(rest, all[known..], "after event {known}");
    }
}

#[tokio::test]
async fn a_client_that_reconnects_after_each_event_of_a_run_loses_and_repeats_none() {
    let store = InMemoryStore::new();
    let thread = logged(&store, 1_000);
    let run = thread.run("20".to_string()).begin().await.unwrap();
    let run = tokio::spawn(run);
    let (mut known, mut received) = (0, Vec::new());
    while let Some(event) = thread.follow(known).next().await {
        let event = event.unwrap();
        known = event.number;
        received.push(event);
    }
    run.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!(received, thread.events_since(0).await.unwrap());
}

#[tokio::test]
async fn a_client_follows_a_thread_that_another_handle_runs() {
    // As another process: the two share only what is stored. The time is paused when nothing else can happen.
    let store = InMemoryStore::new();
    let run = logged(&store, 1_000)
        .run("20".to_string())
        .begin()
        .await
        .unwrap();
    let other = logged(&store, 1_000);
    let following = tokio::spawn({
        let other = other.clone();
        async move { followed(&other, 0).await }
    });
    tokio::task::yield_now().await;
    run.await.unwrap().into_finished().unwrap();
    tokio::time::pause();
    let events = following.await.unwrap();
    assert_eq!(events, other.events_since(0).await.unwrap());
    assert_eq!(events.last().unwrap().kind, "finished");
}

#[tokio::test]
async fn what_is_followed_ends_with_a_pause_and_a_failure() {
    let store = InMemoryStore::new();
    for (task, last) in [("ask", "interrupted"), ("fail", "failed")] {
        let thread = launch().store(&store).event_log(100).thread(task);
        let run = tokio::spawn(thread.run(task.to_string()).begin().await.unwrap());
        let events = followed(&thread, 0).await;
        assert_eq!(events.last().unwrap().kind, last);
        drop(run.await.unwrap());
    }
    assert_eq!(
        followed(&launch().store(&store).thread("unknown"), 0).await,
        []
    );
}

#[tokio::test]
async fn what_is_followed_ends_with_the_error_of_the_store() {
    let thread = launch().store(&InMemoryStore::new()).thread("");
    let mut events = thread.follow(0);
    let error = events.next().await.expect("an item").unwrap_err();
    assert!(error.to_string().contains("cannot be the id"), "{error}");
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_filter_leaves_events_of_sub_flows_out() {
    let threads = WriteBook::new()
        .store(&InMemoryStore::new())
        .event_log_filter(|namespace, kind| namespace.as_str().is_empty() || kind == "custom")
        .event_log(100);
    let thread = threads.thread("b");
    let _ = thread.run(()).await.unwrap();
    let stored = thread.events_since(0).await.unwrap();
    let inside: Vec<&str> = stored
        .iter()
        .filter(|event| json(event)["namespace"] == "chapter")
        .map(|event| &*event.kind)
        .collect();
    assert_eq!(inside, ["custom"]);
    let supersteps = kinds(&stored);
    let supersteps = supersteps
        .iter()
        .filter(|kind| **kind == "superstep_started");
    assert_eq!(supersteps.count(), 1, "that of the flow itself");
    let numbers: Vec<u64> = stored.iter().map(|event| event.number).collect();
    assert_eq!(
        numbers,
        (1..=stored.len() as u64).collect::<Vec<_>>(),
        "without gaps"
    );
}
