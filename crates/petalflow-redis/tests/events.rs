//! Events of threads in a Redis server.

use std::time::Duration;

use futures_util::StreamExt as _;
use petalflow::engine::{EventSink as _, EventSource as _, StoredEvents, StreamedEvent};
use petalflow_redis::{RedisEvents, RedisOptions};
use petalflow_test_servers::{Redis, found_or_skip, fresh_name};

use crate::{command, shared_server};

async fn open(url: &str, prefix: &str) -> RedisEvents {
    let events = RedisEvents::connect(RedisOptions::new(url).prefix(prefix)).await;
    events.expect("the server runs")
}

/// Events that can be told apart. Their other fields are for readers.
fn events(thread: &str, sequences: std::ops::Range<u64>) -> Vec<StreamedEvent> {
    let made = sequences.map(|sequence| {
        let mut event = StreamedEvent::deleted(thread);
        event.kind = "custom".into();
        event.sequence = sequence;
        event
    });
    made.collect()
}

async fn take(from: &mut StoredEvents, count: usize) -> Vec<(u64, StreamedEvent)> {
    let taken = from.take(count).map(|event| event.expect("it can be read"));
    let taken = tokio::time::timeout(Duration::from_secs(20), taken.collect());
    taken.await.expect("they arrive")
}

#[tokio::test]
async fn readers_get_what_remains_and_what_follows() {
    let Some(server) = shared_server() else {
        return;
    };
    let published = open(&server.url, &fresh_name("events")).await;
    let both = [
        events("ann", 0..3),
        events("bob", 0..1),
        events("ann", 3..5),
    ]
    .concat();
    published.publish(&both).await.unwrap();
    let mut reader = published.events("ann");
    let mut read = take(&mut reader, 5).await;

    let waiting = tokio::spawn(async move { take(&mut reader, 1).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    published.publish(&events("ann", 5..6)).await.unwrap();
    read.extend(waiting.await.unwrap());

    let numbers: Vec<u64> = read.iter().map(|(number, _)| *number).collect();
    let expected: Vec<u64> = (numbers[0]..numbers[0] + 6).collect();
    assert_eq!(numbers, expected);
    // Numbers in JSON are exact up to this one.
    assert!(numbers[5] < 1 << 53, "{numbers:?}");
    let read: Vec<StreamedEvent> = read.into_iter().map(|(_, event)| event).collect();
    let sequences: Vec<u64> = read.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, [0, 1, 2, 3, 4, 5]);
    assert!(read.iter().all(|event| event.thread == "ann"));
}

#[tokio::test]
async fn old_events_are_removed() {
    let Some(server) = shared_server() else {
        return;
    };
    let published = open(&server.url, &fresh_name("events")).await;
    let published = published.retain(100, Duration::from_millis(300));
    published.publish(&events("ann", 0..1_000)).await.unwrap();
    let mut reader = published.events("ann");
    let (number, oldest) = take(&mut reader, 1).await.remove(0);
    // Redis removes whole nodes of 100 events.
    assert!((800..=900).contains(&oldest.sequence), "{oldest:?}");

    tokio::time::sleep(Duration::from_millis(600)).await;
    published.publish(&events("ann", 0..1)).await.unwrap();
    let mut reader = published.events("ann");
    let (later, oldest) = take(&mut reader, 1).await.remove(0);
    assert_eq!(oldest.sequence, 0);
    assert!(later > number + 200, "numbers increase after an expiry");
}

#[tokio::test]
async fn a_deleted_thread_has_one_event() {
    let Some(server) = shared_server() else {
        return;
    };
    let published = open(&server.url, &fresh_name("events")).await;
    published.publish(&events("ann", 0..10)).await.unwrap();
    let mut reader = published.events("ann");
    let before = take(&mut reader, 10).await;
    published.forget("ann").await.unwrap();
    let after = take(&mut reader, 1).await;
    assert_eq!(after[0].1.kind, "deleted");
    assert_eq!(after[0].0, before[9].0 + 1);
    assert_eq!(take(&mut published.events("ann"), 1).await, after);
}

#[tokio::test]
async fn a_damaged_key_loses_only_the_events_of_its_thread() {
    let Some(server) = shared_server() else {
        return;
    };
    let prefix = fresh_name("events");
    let published = open(&server.url, &prefix).await;
    let damaged = format!("{prefix}events:ann");
    command(&server.url, &["SET", &damaged, "no stream"]).await;
    let both = [events("ann", 0..1), events("bob", 0..2)].concat();
    let error = published.publish(&both).await.unwrap_err();
    assert!(error.to_string().contains("`ann`"), "{error}");
    let read = take(&mut published.events("bob"), 2).await;
    let read: Vec<StreamedEvent> = read.into_iter().map(|(_, event)| event).collect();
    assert_eq!(read, both[1..]);
}

#[tokio::test]
async fn a_reader_connects_again() {
    let Some(server) = found_or_skip(Redis::start_own(&[])) else {
        return;
    };
    let published = open(&server.url, "events:").await;
    let mut reader = published.events("ann");
    published.publish(&events("ann", 0..1)).await.unwrap();
    take(&mut reader, 1).await;
    command(&server.url, &["CLIENT", "KILL", "TYPE", "normal"]).await;
    published.publish(&events("ann", 1..2)).await.unwrap();
    assert_eq!(take(&mut reader, 1).await[0].1.sequence, 1);

    drop(server);
    let end = tokio::time::timeout(Duration::from_secs(20), reader.next()).await;
    assert!(matches!(end, Ok(Some(Err(_)))));
    assert!(reader.next().await.is_none());
    assert!(matches!(published.events("ann").next().await, Some(Err(_))));
}

#[tokio::test]
async fn an_entry_that_is_no_event_is_named() {
    let Some(server) = shared_server() else {
        return;
    };
    let prefix = fresh_name("events");
    let key = format!("{prefix}events:ann");
    command(&server.url, &["XADD", &key, "7-0", "a", "b"]).await;
    let published = open(&server.url, &prefix).await;
    let error = published.events("ann").next().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
}
