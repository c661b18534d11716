//! What a thread promises of its store. (What a store promises has a suite of its own.)

use petalflow::Flow;
use petalflow::checkpoint::{Address, Cause, InMemoryStore, Store, StoredWrite, ThreadQuery};
use petalflow::event::TaskId;
use petalflow::prelude::*;
use petalflow::thread::{HistoryQuery, OnBusy, Retention, Thread, ThreadError};
use petalflow_test_support::assert_contains;

use crate::support::{Log, LogXs, appending, expect_finished, flow_and_graph, list, run_both};

appending! { a b }

flow_and_graph!(Chain(Log) { a -> b } nodes: a, b);

flow_and_graph! {
    Nest(Log) {
        node inner: Chain { in: |xs: &[String]| xs.to_vec(), out: |log: Log| LogXs(log.xs) };
        a -> inner;
    }
    nodes: a, inner = |b| b.subflow("inner", Chain, |log: &Log| log.xs.clone().into(), |log: Log| LogXs(log.xs))
}

async fn numbers<F: Flow>(thread: &Thread<F>) -> Vec<u64> {
    let history = thread.history(HistoryQuery::all()).await.unwrap();
    history.iter().map(|info| info.checkpoint).collect()
}

#[tokio::test]
async fn c88_a_checkpoint_can_be_read_by_its_number() {
    run_both!(Chain, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list(["i"]))).await;
        for (number, xs, next, cause) in [
            (0, list(["i"]), vec!["a"], Cause::Input),
            (1, list(["i", "a"]), vec!["b"], Cause::Superstep),
            (2, list(["i", "a", "b"]), vec![], Cause::Superstep),
        ] {
            let snapshot = thread.snapshot_at(number).await.unwrap();
            assert_eq!(snapshot.state.xs, xs);
            let info = &snapshot.info;
            assert_eq!(
                (info.checkpoint, info.parent),
                (number, number.checked_sub(1))
            );
            assert_eq!(info.next, next);
            assert_eq!((info.cause, info.turn), (cause, 1));
        }
        numbers(&thread).await
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Two {
    #[key(input)]
    a: String,
    #[key(default)]
    b: String,
    #[key(turn, default)]
    gone: String,
}

#[node(Two)]
async fn writes_b() -> (TwoB, TwoGone) {
    (TwoB("v1".into()), TwoGone("here".into()))
}

#[node(Two)]
async fn writes_a(a: &str) -> TwoA {
    TwoA(format!("{a}+"))
}

flow_and_graph!(Increments(Two) { writes_b -> writes_a } nodes: writes_b, writes_a);

#[tokio::test]
async fn c89_a_checkpoint_stores_changes_and_is_read_as_a_whole() {
    run_both!(Increments, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run("v1".to_string())).await;
        let old = thread.snapshot_at(1).await.unwrap().state;
        assert_eq!((&*old.a, &*old.b), ("v1", "v1"));
        let new = thread.snapshot_at(2).await.unwrap().state;
        assert_eq!((&*new.a, &*new.b, &*new.gone), ("v1+", "v1", "here"));
        // What is taken away is absent.
        expect_finished(thread.run("v2".to_string())).await;
        let turn = thread.snapshot_at(3).await.unwrap().state;
        assert_eq!((&*turn.a, &*turn.b, &*turn.gone), ("v2", "v1", ""));
        new
    });
}

#[tokio::test]
async fn c90_a_task_record_is_stored_once_until_its_superstep_commits() {
    let (store, task) = (InMemoryStore::new(), TaskId::from_bytes([1; 16]));
    let write = |task, name: &str, byte| StoredWrite {
        task,
        name: name.into(),
        bytes: vec![byte],
    };
    let at = Address::root("t");
    let other = TaskId::from_bytes([2; 16]);
    for byte in [1, 2] {
        store
            .write(at, 0, &[write(task, "done", byte)], None)
            .await
            .unwrap();
    }
    store
        .write(at, 0, &[write(other, "error", 3)], None)
        .await
        .unwrap();
    let inner = Address {
        thread: "t",
        namespace: "inner",
    };
    store
        .write(inner, 0, &[write(task, "done", 4)], None)
        .await
        .unwrap();
    assert_eq!(
        store.writes(at, 0..1).await.unwrap(),
        [(0, write(task, "done", 2)), (0, write(other, "error", 3))]
    );
    assert_eq!(
        store.writes(inner, 0..1).await.unwrap(),
        [(0, write(task, "done", 4))]
    );
}

#[tokio::test]
async fn c92_an_unknown_thread_is_none_and_the_default_is_the_newest_checkpoint() {
    run_both!(Chain, |launch| {
        let threads = launch.store(&InMemoryStore::new());
        let thread = threads.thread("t");
        assert!(thread.snapshot().await.unwrap().is_none());
        let error = thread.resume(()).await.unwrap_err();
        assert!(
            matches!(error.thread_error(), Some(ThreadError::Unknown { .. })),
            "{error}"
        );
        expect_finished(thread.run(list([]))).await;
        assert_eq!(thread.snapshot().await.unwrap().unwrap().info.checkpoint, 2);
        let error = thread.snapshot_at(9).await.unwrap_err();
        assert!(
            matches!(error, ThreadError::UnknownCheckpoint { checkpoint: 9, .. }),
            "{error}"
        );
        assert!(threads.thread("other").snapshot().await.unwrap().is_none());
        error.to_string()
    });
}

#[tokio::test]
async fn c93_a_thread_is_deleted_with_its_subflows_and_no_other_thread() {
    run_both!(Nest, |launch| {
        let store = InMemoryStore::new();
        let threads = launch.store(&store);
        for id in ["one", "two"] {
            expect_finished(threads.thread(id).run(list([]))).await;
            assert_eq!(store.namespaces(id).await.unwrap(), ["", "inner"]);
        }
        threads.thread("one").delete().await.unwrap();
        threads.thread("never").delete().await.unwrap();
        assert!(store.namespaces("one").await.unwrap().is_empty());
        assert_eq!(store.namespaces("two").await.unwrap(), ["", "inner"]);
        let left = threads.list(ThreadQuery::default()).await.unwrap();
        let left: Vec<_> = left.into_iter().map(|info| info.id).collect();
        assert_eq!(left, ["two"]);
        left
    });
}

#[tokio::test]
async fn c94_pruning_keeps_the_newest_of_each_flow_and_a_copy_has_all() {
    run_both!(Nest, |launch| {
        let store = InMemoryStore::new();
        let thread = launch.store(&store).thread("t");
        for _ in 0..12 {
            expect_finished(thread.run(list([]))).await;
        }
        let copy = thread.copy_to("copy").await.unwrap();
        assert_eq!(numbers(&copy).await, numbers(&thread).await);
        let inside = |id: &'static str| {
            let address = Address {
                thread: id,
                namespace: "inner",
            };
            store.history(address, None, usize::MAX)
        };
        assert_eq!(
            inside("copy").await.unwrap().len(),
            inside("t").await.unwrap().len()
        );
        let state = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(copy.snapshot().await.unwrap().unwrap().state, state.state);
        thread.prune(Retention::max_checkpoints(1)).await.unwrap();
        assert_eq!(numbers(&copy).await.len(), 36, "the copy is another thread");
        // What is needed to read the newest stays with it.
        let again = thread.snapshot().await.unwrap().unwrap();
        assert_eq!((again.state, again.info), (state.state.clone(), state.info));
        expect_finished(thread.run(list([]))).await;
        state.state
    });
}

#[tokio::test]
async fn c94_a_copy_of_no_thread_or_onto_itself_is_refused() {
    let store = InMemoryStore::new();
    let threads = Nest::new().store(&store).on_busy(OnBusy::Queue);
    let thread = threads.thread("t");
    let unknown = thread.copy_to("copy").await.unwrap_err();
    assert!(matches!(unknown, ThreadError::Unknown { .. }), "{unknown}");
    expect_finished(thread.run(list([]))).await;
    // It does not wait for itself.
    let itself = thread.copy_to("t").await.unwrap_err();
    assert_contains(&itself, "there is a thread `t` already");
    assert_eq!(threads.list(ThreadQuery::default()).await.unwrap().len(), 1);
}
