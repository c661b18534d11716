//! Which events count, and what a sink cannot do to a run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use async_trait::async_trait;

use super::{EventSink, Publisher, StreamReader, StreamedEvent};
use crate::error::BoxError;
use crate::ids::TaskId;

fn event(checkpoint: u64, attempt: u64, sequence: u64, kind: &str) -> StreamedEvent {
    StreamedEvent {
        checkpoint,
        attempt,
        sequence,
        kind: kind.into(),
        ..StreamedEvent::deleted("ann")
    }
}

fn of_task(checkpoint: u64, attempt: u64, sequence: u64, kind: &str) -> StreamedEvent {
    StreamedEvent {
        task: Some(TaskId::from_bytes([1; 16])),
        ..event(checkpoint, attempt, sequence, kind)
    }
}

/// The events that count: their numbers, whether they restart their task, and how many are missing before them.
fn read(events: Vec<StreamedEvent>) -> Vec<(u64, bool, u64)> {
    let mut reader = StreamReader::default();
    let read = (1..)
        .zip(events)
        .filter_map(|(number, event)| reader.read(number, event));
    read.map(|read| (read.event.number, read.restarts, read.missed))
        .collect()
}

#[test]
fn a_lost_attempt_does_not_count_once_another_has_begun() {
    let events = vec![
        of_task(1, 7, 0, "node_started"),
        of_task(1, 7, 1, "custom"),
        of_task(1, 8, 0, "node_started"),
        of_task(1, 7, 2, "custom"),
        of_task(1, 8, 1, "custom"),
        of_task(1, 7, 3, "node_finished"),
        of_task(1, 8, 2, "node_finished"),
    ];
    let expected = [
        (1, false, 0),
        (2, false, 0),
        (3, true, 0),
        (5, false, 0),
        (7, false, 0),
    ];
    assert_eq!(read(events), expected);
}

#[test]
fn a_result_that_is_restored_is_not_said_again() {
    let events = vec![
        of_task(1, 7, 0, "node_started"),
        of_task(1, 7, 1, "node_finished"),
        of_task(1, 8, 0, "node_restored"),
    ];
    assert_eq!(read(events), [(1, false, 0), (2, false, 0)]);

    // The process was lost after it had recorded the result, and before it said so.
    let events = vec![
        of_task(1, 7, 0, "node_started"),
        of_task(1, 8, 0, "node_restored"),
    ];
    assert_eq!(read(events), [(1, false, 0), (2, false, 0)]);
}

#[test]
fn a_committed_superstep_is_over() {
    let events = vec![
        event(1, 7, 0, "superstep_started"),
        of_task(1, 7, 1, "node_started"),
        event(1, 7, 2, "superstep_finished"),
        of_task(1, 9, 0, "node_started"),
        event(1, 9, 1, "superstep_started"),
        event(2, 10, 0, "superstep_started"),
        of_task(1, 9, 2, "custom"),
    ];
    let expected = [(1, false, 0), (2, false, 0), (3, false, 0), (6, false, 0)];
    assert_eq!(read(events), expected);
}

#[test]
fn a_later_superstep_ends_one_whose_end_was_dropped() {
    let events = vec![
        of_task(1, 7, 0, "custom"),
        of_task(2, 8, 0, "custom"),
        of_task(1, 7, 1, "custom"),
    ];
    assert_eq!(read(events), [(1, false, 0), (2, false, 0)]);
}

#[test]
fn what_came_twice_counts_once_and_gaps_are_counted() {
    let events = vec![
        of_task(1, 7, 0, "custom"),
        of_task(1, 7, 0, "custom"),
        of_task(1, 7, 4, "custom"),
        of_task(1, 7, 3, "custom"),
        event(1, 3, 0, "interrupted"),
        event(1, 3, 0, "interrupted"),
    ];
    assert_eq!(read(events), [(1, false, 0), (3, false, 3), (5, false, 0)]);
}

#[test]
fn a_thread_goes_on_in_the_superstep_in_which_it_paused() {
    let events = vec![
        event(1, 7, 0, "superstep_started"),
        of_task(1, 7, 1, "node_started"),
        event(1, 3, 0, "interrupted"),
        event(1, 8, 0, "superstep_started"),
        of_task(1, 8, 1, "node_started"),
        event(2, 4, 0, "finished"),
    ];
    let restarts: Vec<bool> = read(events).iter().map(|read| read.1).collect();
    assert_eq!(restarts, [false, false, false, false, true, false]);
}

#[test]
fn a_deleted_thread_begins_again() {
    let events = vec![
        event(9, 7, 0, "superstep_finished"),
        StreamedEvent::deleted("ann"),
        event(1, 8, 0, "superstep_started"),
    ];
    assert_eq!(read(events), [(1, false, 0), (3, false, 0)]);
}

/// Each call takes this long, and fails if it says so.
#[derive(Clone, Default)]
struct Slow {
    takes: Duration,
    fails: bool,
    published: Arc<Mutex<Vec<u64>>>,
    calls: Arc<AtomicU64>,
}

#[async_trait]
impl EventSink for Slow {
    async fn publish(&self, events: &[StreamedEvent]) -> Result<(), BoxError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(self.takes).await;
        if self.fails {
            return Err("the sink fails".into());
        }
        let mut published = self.published.lock().expect("no panic");
        published.extend(events.iter().map(|event| event.sequence));
        Ok(())
    }

    async fn forget(&self, _: &str) -> Result<(), BoxError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_is_slow_delays_a_pass_by_a_tenth_of_a_second() {
    let sink = Slow {
        takes: Duration::from_secs(1),
        ..Slow::default()
    };
    let publisher = Publisher::new(Arc::new(sink.clone()));
    let begun = tokio::time::Instant::now();
    publisher.publish(event(1, 1, 0, "custom"));
    publisher.flush().await;
    assert_eq!(begun.elapsed(), Duration::from_millis(100));
    // The sink has taken the first one, and 4,096 wait.
    for sequence in 1..=5_000 {
        publisher.publish(event(1, 1, sequence, "custom"));
    }
    assert_eq!(publisher.dropped(), 904);
    assert_eq!(begun.elapsed(), Duration::from_millis(100));
    tokio::time::sleep(Duration::from_mins(1)).await;
    let expected: Vec<u64> = (0..=4_096).collect();
    assert_eq!(*sink.published.lock().unwrap(), expected);
}

#[tokio::test]
async fn no_event_overtakes_another_of_its_attempt() {
    const THREADS: usize = 8;
    const EACH: usize = 500;
    for _ in 0..20 {
        let sink = Slow::default();
        let publisher = Publisher::new(Arc::new(sink.clone()));
        let sequence = Mutex::new(0);
        publisher.publish_next(&sequence, event(1, 1, 0, "custom"));
        let begin = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    begin.wait();
                    for _ in 0..EACH {
                        publisher.publish_next(&sequence, event(1, 1, 0, "custom"));
                    }
                });
            }
        });
        let expected: Vec<u64> = (0..).take(1 + THREADS * EACH).collect();
        let all = async {
            while sink.published.lock().unwrap().len() < expected.len() {
                tokio::task::yield_now().await;
            }
        };
        let all = tokio::time::timeout(Duration::from_secs(30), all).await;
        all.expect("all are published");
        assert_eq!(publisher.dropped(), 0);
        // A whole list in a message would be thousands of numbers.
        let published = sink.published.lock().unwrap();
        let pairs = published.iter().zip(&expected);
        let moved = pairs.filter(|(found, expected)| found != expected).count();
        assert_eq!(moved, 0, "events are not in the order of their numbers");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_fails_is_not_waited_for() {
    let sink = Slow {
        takes: Duration::from_mins(1),
        ..Slow::default()
    };
    let publisher = Publisher::new(Arc::new(sink.clone()));
    publisher.publish(event(1, 1, 0, "custom"));
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(publisher.dropped(), 1, "the call has taken too long");
    let begun = tokio::time::Instant::now();
    publisher.publish(event(1, 1, 1, "custom"));
    publisher.flush().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);

    let sink = Slow {
        fails: true,
        ..Slow::default()
    };
    let publisher = Publisher::new(Arc::new(sink.clone()));
    publisher.publish(event(1, 1, 0, "custom"));
    publisher.flush().await;
    publisher.publish(event(1, 1, 1, "custom"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(publisher.dropped(), 2);
    assert_eq!(sink.calls.load(Ordering::Relaxed), 2, "it is tried again");
}
