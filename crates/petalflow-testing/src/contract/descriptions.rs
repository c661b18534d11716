//! Cases about the description of threads: status, labels and times, and queries for them.

use std::collections::BTreeMap;

use petalflow::BoxError;
use petalflow::checkpoint::{
    Address, Store, StoredCheckpoint, ThreadChange, ThreadInfo, ThreadOrder, ThreadQuery,
    ThreadStatus,
};

use super::samples::{THREAD, append, append_all, checkpoint, write};
use super::{CaseResult, Stores};

pub(super) const ALL: ThreadQuery<'_> = ThreadQuery {
    prefix: "",
    after: None,
    after_ms: 0,
    order: ThreadOrder::Id,
    limit: None,
    status: None,
    flow: None,
    label: None,
    filter: None,
    created_from_ms: None,
    created_before_ms: None,
    updated_from_ms: None,
    updated_before_ms: None,
    due_by_ms: None,
};

pub(super) fn status(flow: &str, status: ThreadStatus, due_ms: Option<u64>) -> ThreadChange<'_> {
    ThreadChange::Status {
        flow,
        status,
        due_ms,
    }
}

pub(super) fn labels<const N: usize>(labels: [(&str, &str); N]) -> BTreeMap<String, String> {
    let labels = labels.map(|(name, value)| (name.to_string(), value.to_string()));
    labels.into_iter().collect()
}

/// What is listed of [`THREAD`].
pub(super) async fn info(store: &dyn Store) -> Result<ThreadInfo, BoxError> {
    let listed = store.threads(ALL).await?;
    let found = listed.into_iter().find(|info| info.id == THREAD);
    found.ok_or_else(|| "a thread with a checkpoint is not listed".into())
}

pub(super) async fn ids(
    store: &dyn Store,
    query: ThreadQuery<'_>,
) -> Result<Vec<String>, BoxError> {
    let threads = store.threads(query).await?;
    Ok(threads.into_iter().map(|thread| thread.id).collect())
}

/// A status holds until the next checkpoint of the thread's own flow.
pub async fn a_status_holds_until_the_next_checkpoint(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let listed = async || -> Result<_, BoxError> {
        let ThreadInfo {
            flow,
            status,
            due_ms,
            ..
        } = info(&*stores.other).await?;
        Ok((flow, status, due_ms))
    };
    append_all(store, address, &[1]).await?;
    assert_eq!(
        listed().await?,
        (String::new(), ThreadStatus::Running, None),
        "a thread is running until a status is set"
    );
    let waits = status("Talk's \"flow\"", ThreadStatus::Waiting, Some(500));
    store.describe(THREAD, waits, None).await?;
    let nested = Address {
        namespace: "review",
        ..address
    };
    append(store, nested, 7, None).await?;
    store
        .write(address, 1, &[write(1, "ask", "a")], None)
        .await?;
    let flow = "Talk's \"flow\"".to_string();
    assert_eq!(
        listed().await?,
        (flow.clone(), ThreadStatus::Waiting, Some(500)),
        "a status holds while the thread's own flow gets no checkpoint"
    );
    append(store, address, 2, Some(1)).await?;
    assert_eq!(
        listed().await?,
        (flow, ThreadStatus::Running, None),
        "the next checkpoint of the thread's own flow ends a status, and the flow remains"
    );
    for ended in [
        ThreadStatus::Running,
        ThreadStatus::Sleeping,
        ThreadStatus::Waiting,
        ThreadStatus::Stopped,
        ThreadStatus::Failed,
        ThreadStatus::Finished,
        ThreadStatus::Held,
    ] {
        store
            .describe(THREAD, status("Talk", ended, None), None)
            .await?;
        assert_eq!(
            listed().await?,
            ("Talk".into(), ended, None),
            "a status takes the place of the one before"
        );
    }
    Ok(())
}

/// A thread without a checkpoint is not listed, even if it has a description.
pub async fn a_description_makes_no_thread(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let (finished, ann) = (
        status("Talk", ThreadStatus::Finished, None),
        labels([("user", "ann")]),
    );
    store.describe(THREAD, finished, None).await?;
    store
        .describe(THREAD, ThreadChange::Labels(&ann), None)
        .await?;
    assert_eq!(
        (store.threads(ALL).await?, store.namespaces(THREAD).await?),
        (vec![], vec![]),
        "a thread without checkpoints is not listed and has no namespaces"
    );
    append_all(store, Address::root(THREAD), &[1]).await?;
    let found = info(store).await?;
    assert_eq!(
        (found.status, found.labels),
        (ThreadStatus::Running, ann),
        "what was set before the first checkpoint is listed with it, except for the status, which it ends"
    );
    Ok(())
}

/// Labels are any text, and are replaced as a whole.
pub async fn labels_are_any_text(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1]).await?;
    let long = "é".repeat(127);
    let odd = labels([
        ("", ""),
        ("a", "b"),
        ("A", "{}"),
        ("it's", "\"quoted\""),
        ("back\\slash", "new\nline\t"),
        ("%", "_"),
        ("🌸", &long),
        ("a,b", "[\"a\", null]"),
    ]);
    store
        .describe(THREAD, ThreadChange::Labels(&odd), None)
        .await?;
    let finished = status("Talk", ThreadStatus::Finished, None);
    store.describe(THREAD, finished, None).await?;
    append(store, address, 2, Some(1)).await?;
    assert_eq!(
        info(&*stores.other).await?.labels,
        odd,
        "labels are listed as they were set, and other changes leave them"
    );
    for (name, value) in &odd {
        let label = Some((&**name, &**value));
        let found = ids(store, ThreadQuery { label, ..ALL }).await?;
        assert_eq!(found, [THREAD], "a thread is found by its label {label:?}");
    }
    for label in [
        ("a", "B"),
        ("a", ""),
        ("b", "a"),
        ("%", "%"),
        ("🌸", "é"),
        ("A", "b"),
    ] {
        let query = ThreadQuery {
            label: Some(label),
            ..ALL
        };
        let found = ids(store, query).await?;
        assert!(
            found.is_empty(),
            "no thread has the label {label:?}: names and values are compared by bytes"
        );
    }
    for fewer in [labels([("a", "c")]), labels([])] {
        store
            .describe(THREAD, ThreadChange::Labels(&fewer), None)
            .await?;
        assert_eq!(
            info(store).await?.labels,
            fewer,
            "labels take the place of all others"
        );
    }
    Ok(())
}

/// Each condition of a query, alone, together with others, and page by page.
pub async fn threads_are_listed_by_what_is_known_of_them(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append_described_threads(store).await?;
    let all = store.threads(ALL).await?;
    assert_eq!(all.len(), 60, "every thread is listed");
    for query in queries() {
        let covered = |info: &&ThreadInfo| query.covers(info);
        let expected: Vec<String> = all.iter().filter(covered).map(|it| it.id.clone()).collect();
        assert_eq!(
            ids(store, query).await?,
            expected,
            "{query:?} lists the threads that meet all conditions"
        );
        let found = ids_by_page(&*stores.other, query).await?;
        assert_eq!(
            found, expected,
            "the pages of {query:?} have each thread that meets all conditions once"
        );
    }
    Ok(())
}

/// Appends 60 threads, with each status, two flows and two users.
async fn append_described_threads(store: &dyn Store) -> CaseResult {
    for index in 0..60_u64 {
        let id = format!("thread-{index:02}");
        let first = StoredCheckpoint {
            created_ms: 1_000 + index,
            ..checkpoint(1)
        };
        store
            .append(Address::root(&id), &first, None, 0..0, None)
            .await?;
        let (ended, due_ms) = match index % 4 {
            0 => (ThreadStatus::Waiting, Some(5_000 + index)),
            1 => (ThreadStatus::Finished, None),
            2 => (ThreadStatus::Waiting, None),
            _ => (ThreadStatus::Running, None),
        };
        let flow = if index < 30 { "Talk" } else { "Write" };
        if ended != ThreadStatus::Running {
            store
                .describe(&id, status(flow, ended, due_ms), None)
                .await?;
        }
        let user = if index % 3 == 0 { "ann" } else { "bob" };
        let set = labels([("user", user), ("kind", "essay")]);
        store
            .describe(&id, ThreadChange::Labels(&set), None)
            .await?;
    }
    Ok(())
}

fn queries() -> [ThreadQuery<'static>; 16] {
    let of = |status| ThreadQuery {
        status: Some(status),
        ..ALL
    };
    let waiting = of(ThreadStatus::Waiting);
    [
        waiting,
        of(ThreadStatus::Finished),
        of(ThreadStatus::Running),
        of(ThreadStatus::Failed),
        ThreadQuery {
            flow: Some("Write"),
            ..ALL
        },
        ThreadQuery {
            flow: Some(""),
            ..ALL
        },
        ThreadQuery {
            label: Some(("user", "ann")),
            ..ALL
        },
        ThreadQuery {
            updated_before_ms: Some(1_007),
            ..ALL
        },
        ThreadQuery {
            updated_before_ms: Some(u64::MAX),
            ..ALL
        },
        ThreadQuery {
            updated_before_ms: Some(0),
            ..ALL
        },
        ThreadQuery {
            due_by_ms: Some(5_020),
            ..ALL
        },
        ThreadQuery {
            due_by_ms: Some(u64::MAX),
            ..ALL
        },
        ThreadQuery {
            due_by_ms: Some(4_999),
            ..ALL
        },
        ThreadQuery {
            flow: Some("Talk"),
            label: Some(("user", "bob")),
            updated_before_ms: Some(1_020),
            ..waiting
        },
        ThreadQuery {
            prefix: "thread-1",
            after: Some("thread-12"),
            ..waiting
        },
        ThreadQuery {
            label: Some(("kind", "essay")),
            due_by_ms: Some(5_055),
            flow: Some("Write"),
            ..waiting
        },
    ]
}

/// The ids that a query lists, four at a time.
async fn ids_by_page(store: &dyn Store, query: ThreadQuery<'_>) -> Result<Vec<String>, BoxError> {
    let (mut found, mut after) = (Vec::new(), query.after.map(String::from));
    loop {
        let page = ThreadQuery {
            after: after.as_deref(),
            limit: Some(4),
            ..query
        };
        let page = ids(store, page).await?;
        let Some(last) = page.last() else { break };
        assert!(
            page.len() <= 4,
            "a page has at most the given number of threads"
        );
        after = Some(last.clone());
        found.extend(page);
    }
    Ok(found)
}

/// A due time is that of the last status: it can be later, sooner, and none.
pub async fn a_due_time_changes_and_goes(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1]).await?;
    let (waits, sleeps) = (ThreadStatus::Waiting, ThreadStatus::Sleeping);
    for (status_now, due_ms) in [
        (waits, Some(500)),
        (sleeps, Some(900)),
        (sleeps, Some(100)),
        (waits, None),
        (sleeps, Some(700)),
        (sleeps, None),
    ] {
        let waits = status("Talk", status_now, due_ms);
        store.describe(THREAD, waits, None).await?;
        assert_eq!(
            info(&*stores.other).await?.due_ms,
            due_ms,
            "a due time takes the place of the one before, and none does so too"
        );
        for time in [99, 100, 499, 500, 699, 700, 899, 900, u64::MAX] {
            let query = ThreadQuery {
                due_by_ms: Some(time),
                ..ALL
            };
            let found = ids(store, query).await?.len();
            let expected = usize::from(due_ms.is_some_and(|due| due <= time));
            assert_eq!(found, expected, "due at {due_ms:?}, asked for {time}");
        }
    }
    Ok(())
}

/// Nothing that was set for a deleted thread is listed of a new one with its id.
pub async fn deletion_forgets_what_was_listed(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let ann = labels([("user", "ann")]);
    for several in [false, true] {
        append_all(store, address, &[1, 2]).await?;
        store.prune(address, 2, 2, None).await?;
        let waits = status("Talk", ThreadStatus::Waiting, Some(500));
        store.describe(THREAD, waits, None).await?;
        store
            .describe(THREAD, ThreadChange::Labels(&ann), None)
            .await?;
        if several {
            store.delete_many(&[THREAD], None).await?;
        } else {
            store.delete(THREAD, None).await?;
        }
        append(store, address, 2, None).await?;
        let new = ThreadInfo {
            id: THREAD.into(),
            checkpoints: 1,
            bytes: checkpoint(2).bytes.len() as u64,
            created_ms: checkpoint(2).created_ms,
            updated_ms: checkpoint(2).created_ms,
            ..ThreadInfo::default()
        };
        assert_eq!(
            info(&*stores.other).await?,
            new,
            "nothing is listed of a new thread that was set for a deleted one"
        );
        store.delete(THREAD, None).await?;
    }
    Ok(())
}

/// Several threads are deleted at once, with all that belongs to them, and no others.
pub async fn many_threads_are_deleted(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let id = |index| format!("thread-{index}");
    for index in 0..40 {
        let id = id(index);
        for namespace in ["", "review"] {
            let address = Address {
                thread: &id,
                namespace,
            };
            append_all(store, address, &[1, 2]).await?;
            store
                .write(address, 2, &[write(1, "result", "a")], None)
                .await?;
        }
    }
    let deleted: Vec<String> = (0..30).map(id).chain(["unknown".into(), id(3)]).collect();
    let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
    store.delete_many(&deleted, None).await?;
    store.delete_many(&[], None).await?;
    let mut left: Vec<String> = (30..40).map(id).collect();
    left.sort_unstable();
    assert_eq!(
        ids(&*stores.other, ALL).await?,
        left,
        "`delete_many` removes each of the threads, and no other; one that is unknown or named twice is not an error"
    );
    for index in 0..40 {
        let id = id(index);
        let address = Address {
            namespace: "review",
            ..Address::root(&id)
        };
        let writes = store.writes(address, 0..u64::MAX).await?.len();
        let namespaces = store.namespaces(&id).await?.len();
        let expected = if index < 30 { (0, 0) } else { (1, 2) };
        assert_eq!(
            (writes, namespaces),
            expected,
            "`delete_many` removes threads with their namespaces and writes"
        );
    }
    Ok(())
}

/// Giving space back changes no contents, and the store works as before.
pub async fn reclaiming_space_changes_nothing(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let kept = Address::root(THREAD);
    for thread in ["other", THREAD] {
        let mut after = None;
        for seq in 1..=40 {
            let large = StoredCheckpoint {
                bytes: vec![7; 20_000],
                ..checkpoint(seq)
            };
            let address = Address::root(thread);
            store.append(address, &large, after, 0..0, None).await?;
            after = Some(seq);
        }
        store
            .write(Address::root(thread), 40, &[write(1, "result", "a")], None)
            .await?;
    }
    store.delete("other", None).await?;
    store.prune(kept, 20, 20, None).await?;
    let (history, stored) = (
        store.history(kept, None, usize::MAX).await?,
        store.read(kept, None).await?,
    );
    store.reclaim().await?;
    store.reclaim().await?;
    for handle in [&stores.store, &stores.other] {
        assert_eq!(
            (
                handle.history(kept, None, usize::MAX).await?,
                handle.read(kept, None).await?
            ),
            (history.clone(), stored.clone()),
            "`reclaim` changes no contents"
        );
    }
    append(&*stores.other, kept, 41, Some(40)).await?;
    assert_eq!(
        store.threads(ALL).await?.len(),
        1,
        "`reclaim` leaves the list of threads"
    );
    Ok(())
}
