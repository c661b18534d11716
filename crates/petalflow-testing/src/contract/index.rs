//! Cases about the index of threads: orders by time, combined conditions, counts, and pages while threads change.

use std::collections::BTreeSet;

use petalflow::BoxError;
use petalflow::checkpoint::{
    Address, Store, StoreChange, StoredCheckpoint, ThreadChange, ThreadCount, ThreadFilter,
    ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus,
};

use super::descriptions::{ALL, labels, status};
use super::samples::checkpoint;
use super::{CaseResult, Stores};

const ORDERS: [ThreadOrder; 5] = [
    ThreadOrder::Id,
    ThreadOrder::CreatedNewest,
    ThreadOrder::CreatedOldest,
    ThreadOrder::UpdatedNewest,
    ThreadOrder::UpdatedOldest,
];

pub(super) fn at(seq: u64, created_ms: u64) -> StoredCheckpoint {
    StoredCheckpoint {
        created_ms,
        ..checkpoint(seq)
    }
}

pub(super) async fn append(
    store: &dyn Store,
    (thread, namespace): (&str, &str),
    seq: u64,
    created_ms: u64,
) -> CaseResult {
    let address = Address { thread, namespace };
    let after = seq.checked_sub(1).filter(|after| *after > 0);
    let checkpoint = at(seq, created_ms);
    Ok(store
        .append(address, &checkpoint, after, 0..0, None)
        .await?)
}

/// All pages of a query, with as many threads each.
async fn pages(
    store: &dyn Store,
    query: ThreadQuery<'_>,
    limit: usize,
) -> Result<Vec<ThreadInfo>, BoxError> {
    let mut found: Vec<ThreadInfo> = Vec::new();
    loop {
        let page = match found.last() {
            Some(last) => query.after_thread(last),
            None => query,
        };
        let limit = Some(limit);
        let page = store.threads(ThreadQuery { limit, ..page }).await?;
        if page.is_empty() {
            return Ok(found);
        }
        found.extend(page);
    }
}

fn ids(infos: &[ThreadInfo]) -> Vec<&str> {
    infos.iter().map(|info| &*info.id).collect()
}

/// Compares what each order lists and what is counted with a list of all threads.
pub(super) async fn check_index(
    stores: &Stores,
    query: ThreadQuery<'_>,
    moment: &str,
) -> CaseResult {
    let store = &*stores.other;
    let all = store.threads(ALL).await?;
    for order in ORDERS {
        let query = ThreadQuery { order, ..query };
        let expected = query.page(all.clone());
        let found = store.threads(query).await?;
        assert_eq!(
            ids(&found),
            ids(&expected),
            "{moment}: {query:?} lists what it covers in its order"
        );
        assert_eq!(found, expected, "{moment}: an order changes no thread");
        let found = pages(store, query, 4).await?;
        assert_eq!(
            ids(&found),
            ids(&expected),
            "{moment}: the pages of {query:?} have each thread once, in its order"
        );
    }
    let covered: Vec<_> = all.into_iter().filter(|it| query.covers(it)).collect();
    assert_eq!(
        store.thread_counts(query).await?,
        ThreadCount::of(&covered),
        "{moment}: the counts of {query:?} are those of the threads that it covers"
    );
    Ok(())
}

/// Appends 40 threads. Some are created in the same millisecond, and the order of changes is another than that of creation.
async fn append_threads(store: &dyn Store) -> CaseResult {
    for index in 0..40_u64 {
        let id = format!("thread-{index:02}");
        append(store, (&id, ""), 1, 1_000 + index * 7 % 13).await?;
        match index % 5 {
            0 => append(store, (&id, ""), 2, 2_000 + index * 11 % 17).await?,
            1 => append(store, (&id, "review"), 1, 1_500 + index).await?,
            _ => {}
        }
        let (flow, ended) = match index % 4 {
            0 => ("Talk", ThreadStatus::Finished),
            1 => ("Talk", ThreadStatus::Failed),
            2 => ("Write", ThreadStatus::Waiting),
            _ => ("", ThreadStatus::Running),
        };
        if ended != ThreadStatus::Running {
            store.describe(&id, status(flow, ended, None), None).await?;
        }
        if index % 10 == 4 {
            // It runs again.
            append(store, (&id, ""), 2, 3_000 - index).await?;
        }
        let user = match index % 3 {
            0 => "ann",
            1 => "bob",
            _ => "cleo",
        };
        let team = if index % 2 == 0 { "day" } else { "night" };
        let set = labels([("user", user), ("team", team)]);
        if index % 7 != 0 {
            store
                .describe(&id, ThreadChange::Labels(&set), None)
                .await?;
        }
    }
    Ok(())
}

/// Threads are listed by the time of their creation and of their last change, from both ends.
pub async fn threads_are_ordered_by_time(stores: &Stores) -> CaseResult {
    append_threads(&*stores.store).await?;
    check_index(stores, ALL, "unfiltered").await?;
    for limit in [0, 1, 7] {
        let limit = Some(limit);
        check_page(stores, ThreadQuery { limit, ..ALL }).await?;
    }
    let prefix = "thread-1";
    check_index(stores, ThreadQuery { prefix, ..ALL }, "with a prefix").await?;
    let newest = ThreadQuery {
        order: ThreadOrder::CreatedNewest,
        after: Some("thread-2"),
        after_ms: 1_005,
        ..ALL
    };
    check_page(stores, newest).await?;
    let order = ThreadOrder::UpdatedOldest;
    check_page(stores, ThreadQuery { order, ..newest }).await
}

async fn check_page(stores: &Stores, query: ThreadQuery<'_>) -> CaseResult {
    let expected = query.page(stores.store.threads(ALL).await?);
    assert_eq!(
        stores.other.threads(query).await?,
        expected,
        "{query:?} lists the threads after a place, which no thread need have, at most as many"
    );
    Ok(())
}

/// Conditions on statuses, flows and labels are combined with and, or and not, and with ranges of time.
pub async fn conditions_are_combined(stores: &Stores) -> CaseResult {
    use ThreadFilter::{All, Any, Flow, Label, Not, Prefix, Status};
    append_threads(&*stores.store).await?;
    let filters = [
        Status(ThreadStatus::Failed),
        Status(ThreadStatus::Running),
        Any(&[Status(ThreadStatus::Failed), Status(ThreadStatus::Waiting)]),
        Any(&[Flow("Talk"), Flow("")]),
        Not(&Flow("Talk")),
        Any(&[Prefix("thread-1"), Prefix("thread-30")]),
        Not(&Prefix("\u{10ffff}")),
        Label("user", "ann"),
        Label("user", "day"),
        All(&[Label("user", "ann"), Label("team", "day")]),
        Any(&[Label("user", "ann"), Label("team", "night")]),
        Not(&Label("team", "night")),
        All(&[
            Any(&[Label("user", "ann"), Label("user", "bob")]),
            Not(&Label("team", "day")),
            Not(&Status(ThreadStatus::Running)),
        ]),
        All(&[]),
        Any(&[]),
        Not(&All(&[])),
    ];
    for filter in filters {
        let filter = Some(filter);
        check_index(stores, ThreadQuery { filter, ..ALL }, "a condition").await?;
    }
    let of_ann = ThreadQuery {
        filter: Some(Not(&Flow("Write"))),
        label: Some(("user", "ann")),
        ..ALL
    };
    let ranges = [
        ThreadQuery {
            created_from_ms: Some(1_004),
            created_before_ms: Some(1_010),
            ..of_ann
        },
        ThreadQuery {
            updated_from_ms: Some(1_505),
            updated_before_ms: Some(2_007),
            ..of_ann
        },
        ThreadQuery {
            updated_from_ms: Some(2_999),
            status: Some(ThreadStatus::Running),
            ..ALL
        },
        ThreadQuery {
            created_from_ms: Some(u64::MAX),
            ..ALL
        },
        ThreadQuery {
            updated_from_ms: Some(0),
            created_before_ms: Some(u64::MAX),
            flow: Some("Talk"),
            ..ALL
        },
    ];
    for query in ranges {
        check_index(stores, query, "a range of time").await?;
    }
    Ok(())
}

/// After each change, what is listed and counted is that of the thread.
pub async fn the_index_follows_each_change(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append_threads(store).await?;
    let (thread, nested) = ("thread-05", "review/dig[2]");
    let check = async |moment: &str, updated_ms: u64, expected: ThreadStatus| -> CaseResult {
        let newest = ThreadQuery {
            order: ThreadOrder::UpdatedNewest,
            updated_from_ms: Some(updated_ms),
            status: Some(expected),
            ..ALL
        };
        let found = stores.other.threads(newest).await?;
        let first = found.first().map(|info| (&*info.id, info.updated_ms));
        assert_eq!(
            first,
            Some((thread, updated_ms)),
            "{moment}: it is `{expected}`, and the one that changed last"
        );
        check_index(stores, ALL, moment).await?;
        check_index(stores, newest, moment).await
    };
    let held = || status("Talk", ThreadStatus::Held, Some(9));
    append(store, (thread, ""), 3, 5_000).await?;
    check("after a checkpoint", 5_000, ThreadStatus::Running).await?;
    append(store, (thread, nested), 1, 5_001).await?;
    check("after one of a sub-flow", 5_001, ThreadStatus::Running).await?;
    store.describe(thread, held(), None).await?;
    check("after a status", 5_001, ThreadStatus::Held).await?;
    append(store, (thread, nested), 2, 5_002).await?;
    check("a sub-flow leaves the status", 5_002, ThreadStatus::Held).await?;
    append(store, (thread, nested), 3, 4_000).await?;
    check("the clock went back", 5_000, ThreadStatus::Held).await?;
    append(store, (thread, nested), 4, 5_002).await?;
    check("the clock is right again", 5_002, ThreadStatus::Held).await?;
    append(store, (thread, ""), 4, 5_003).await?;
    check("a checkpoint ends it", 5_003, ThreadStatus::Running).await?;
    append(store, (thread, ""), 5, 5_004).await?;
    check("the run goes on", 5_004, ThreadStatus::Running).await?;
    let changes = [
        StoreChange::Append {
            namespace: String::new(),
            checkpoint: at(6, 5_005),
            after: Some(5),
            settled: 0..0,
        },
        StoreChange::Status {
            flow: "Write".into(),
            status: ThreadStatus::Finished,
            due_ms: None,
        },
    ];
    store.apply(thread, &changes, None).await?;
    check("after a batch", 5_005, ThreadStatus::Finished).await?;
    append(store, (thread, nested), 5, 6_000).await?;
    store
        .prune(
            Address {
                thread,
                namespace: nested,
            },
            6,
            6,
            None,
        )
        .await?;
    check("the newest was pruned", 5_005, ThreadStatus::Finished).await?;
    store.prune(Address::root(thread), 6, 6, None).await?;
    check("older ones were pruned", 5_005, ThreadStatus::Finished).await?;
    store.delete(thread, None).await?;
    check_index(stores, ALL, "after the deletion").await?;
    store.describe(thread, held(), None).await?;
    append(store, (thread, "review"), 1, 7_000).await?;
    check_index(stores, ALL, "a sub-flow is first").await?;
    append(store, (thread, ""), 1, 7_001).await?;
    check("it begins anew", 7_001, ThreadStatus::Running).await
}

/// A thread changed last when its newest checkpoint was created, also if the clock went back since an older one.
pub async fn the_newest_checkpoint_has_the_time_of_the_change(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append_threads(store).await?;
    let thread = "back";
    let check = async |moment: &str, created_ms: u64, updated_ms: u64| -> CaseResult {
        let prefix = thread;
        let found = stores.other.threads(ThreadQuery { prefix, ..ALL }).await?;
        let times = found.first().map(|info| (info.created_ms, info.updated_ms));
        assert_eq!(
            times,
            Some((created_ms, updated_ms)),
            "{moment}: the times of the first and of the newest checkpoint"
        );
        check_index(stores, ALL, moment).await
    };
    append(store, (thread, ""), 1, 9_000).await?;
    append(store, (thread, ""), 2, 8_000).await?;
    check("while it runs", 9_000, 8_000).await?;
    append(store, (thread, ""), 3, 8_500).await?;
    check("later than the one before", 9_000, 8_500).await?;
    append(store, (thread, ""), 4, 7_000).await?;
    append(store, (thread, "review"), 1, 6_000).await?;
    check("one of a sub-flow is older", 6_000, 7_000).await?;
    let ended = status("Talk", ThreadStatus::Finished, None);
    store.describe(thread, ended, None).await?;
    check("while it rests", 6_000, 7_000).await?;
    append(store, (thread, "review"), 2, 7_500).await?;
    append(store, (thread, "review"), 3, 6_500).await?;
    check("a sub-flow goes back while it rests", 6_000, 7_000).await?;
    store.prune(Address::root(thread), 4, 4, None).await?;
    check("without the older ones", 6_000, 7_000).await?;
    let changes = [5_000, 4_000].map(|created_ms| StoreChange::Append {
        namespace: String::new(),
        checkpoint: at(10 - created_ms / 1_000, created_ms),
        after: Some(9 - created_ms / 1_000),
        settled: 0..0,
    });
    store.apply(thread, &changes, None).await?;
    check("two at once", 6_000, 6_500).await?;
    let whole = Address {
        thread,
        namespace: "review",
    };
    store.prune(whole, 4, 4, None).await?;
    check("without the sub-flow", 6_000, 4_000).await
}

/// Pages in an order by creation have each thread once that is there all the time, while others come, change and go.
pub async fn pages_stay_right_while_threads_change(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for order in &ORDERS[1..] {
        for index in 0..30_u64 {
            let id = format!("thread-{index:02}");
            append(store, (&id, ""), 1, 1_000 + index / 2).await?;
            store
                .describe(&id, status("Talk", ThreadStatus::Waiting, None), None)
                .await?;
        }
        let query = ThreadQuery {
            order: *order,
            limit: Some(5),
            ..ALL
        };
        let (mut found, mut changed, mut gone) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut last: Option<ThreadInfo> = None;
        for round in 1.. {
            let page = last.as_ref().map_or(query, |last| query.after_thread(last));
            let page = store.threads(page).await?;
            let Some(end) = page.last().cloned() else {
                break;
            };
            found.extend(page.into_iter().map(|info| info.id));
            if round < 5 {
                // The thread at which the page ends is gone, one on each side of it changes, and a new one comes on each side.
                store.delete(&end.id, None).await?;
                gone.insert(end.id.clone());
                for other in [round, 30 - round] {
                    let id = format!("thread-{other:02}");
                    if !gone.contains(&id) && changed.insert(id.clone()) {
                        append(store, (&id, ""), 2, 3_000 + round).await?;
                    }
                    let id = format!("new-{round}-{other}");
                    append(store, (&id, ""), 1, [10, 5_000][usize::from(other > 15)]).await?;
                }
            }
            last = Some(end);
        }
        let mut seen = BTreeSet::new();
        let twice: Vec<&String> = found.iter().filter(|id| !seen.insert(*id)).collect();
        let by_creation = matches!(
            order,
            ThreadOrder::CreatedNewest | ThreadOrder::CreatedOldest
        );
        if *order != ThreadOrder::UpdatedOldest {
            assert!(twice.is_empty(), "{order:?}: {twice:?} are on two pages");
        }
        for index in 0..30 {
            let id = format!("thread-{index:02}");
            let may_move = *order == ThreadOrder::UpdatedNewest && changed.contains(&id);
            assert!(
                seen.contains(&id) || gone.contains(&id) || may_move,
                "{order:?}: `{id}` is on no page"
            );
        }
        assert!(
            by_creation || twice.iter().all(|id| changed.contains(*id)),
            "{order:?}: only a thread that changed comes again, and {twice:?} did"
        );
        let all = store.threads(ALL).await?;
        let all: Vec<&str> = ids(&all);
        store.delete_many(&all, None).await?;
    }
    Ok(())
}
