//! The event log of a thread: records in a namespace of its own, which are read in pages, pruned and deleted.

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::event::{EventName, LoggedEvent};
use petalflow::prelude::*;
use petalflow::thread::{HistoryQuery, Thread};

use super::samples::THREAD;
use super::{CaseResult, Stores};

#[state]
struct Countdown {
    #[key(input)]
    left: u32,
}

#[node(Countdown)]
async fn count(left: &u32, cx: Context) -> (CountdownLeft, bool) {
    cx.emit(format!("{left} \0 left"));
    (CountdownLeft(left - 1), *left > 1)
}

flow!(Count(Countdown) { count -> match { true => count, false => END } });

fn thread(store: &Arc<dyn Store>, events: u64) -> Thread<Count> {
    let threads = Count::new().limit(1_000).store(store);
    threads.event_log(events).thread(THREAD)
}

fn numbers(events: &[LoggedEvent]) -> Vec<u64> {
    events.iter().map(|event| event.number).collect()
}

/// Events come back in their order, from any number on, and through any handle, also if they are more records than a page has.
pub async fn logged_events_are_read_from_any_number(stores: &Stores) -> CaseResult {
    thread(&stores.store, u64::MAX)
        .run(120)
        .await?
        .into_finished()?;
    let other = thread(&stores.other, u64::MAX);
    let all = other.events_since(0).await?;
    let last = all.len() as u64;
    assert_eq!(
        numbers(&all),
        (1..=last).collect::<Vec<_>>(),
        "the events of a thread have the numbers from 1 on, in their order"
    );
    let emitted = all
        .iter()
        .filter(|event| event.name() == Some(EventName::Custom))
        .count();
    assert_eq!(emitted, 120, "no event is lost");
    for known in [1, 57, last - 1, last, u64::MAX] {
        let later = other.events_since(known).await?;
        let expected = all.iter().filter(|event| event.number > known);
        assert!(
            later.iter().eq(expected),
            "the events since {known} are those with larger numbers"
        );
    }
    // A run of another handle continues the numbers.
    other.run(1).await?.into_finished()?;
    let later = thread(&stores.store, 1).events_since(last).await?;
    assert_eq!(
        later.first().map(|event| event.number),
        Some(last + 1),
        "a run continues the numbers of the run before"
    );
    Ok(())
}

/// A log with a limit removes its oldest events, and no checkpoint.
pub async fn old_events_are_removed(stores: &Stores) -> CaseResult {
    let thread = thread(&stores.store, 10);
    thread.run(30).await?.into_finished()?;
    let events = numbers(&thread.events_since(0).await?);
    assert!(
        events.len() >= 10 && events[0] > 1,
        "of a log of 10 events the newest 10 remain and old ones do not: {events:?}"
    );
    assert!(
        events.is_sorted_by(|a, b| a + 1 == *b),
        "the events that remain follow each other: {events:?}"
    );
    let history = thread.history(HistoryQuery::all()).await?;
    assert_eq!(
        history.len(),
        31,
        "pruning the log removes no checkpoint of the thread"
    );
    Ok(())
}

/// A deleted thread has no events, and a new one with its name begins at 1.
pub async fn events_are_deleted_with_their_thread(stores: &Stores) -> CaseResult {
    let thread = thread(&stores.store, 100);
    thread.run(2).await?.into_finished()?;
    thread.delete().await?;
    assert!(
        thread.events_since(0).await?.is_empty(),
        "`delete` removes the events of the thread"
    );
    thread.run(1).await?.into_finished()?;
    let events = numbers(&thread.events_since(0).await?);
    assert_eq!(
        events.first(),
        Some(&1),
        "the events of a new thread begin at 1"
    );
    Ok(())
}
