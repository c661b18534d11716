//! Going back, going elsewhere, changing what is.

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::thread::{Edit, HistoryQuery, Retention, ThreadError};
use petalflow_test_support::assert_contains;

use crate::support::{
    Log, LogXs, Trace, appending, expect_finished, flow_and_graph, list, run_both,
};

appending! { a b c }

flow_and_graph!(Chain(Log) { a -> b -> c } nodes: a, b, c);

#[tokio::test]
async fn c76_a_fork_of_the_last_checkpoint_has_no_task_and_a_fork_of_an_older_one_continues() {
    run_both!(Chain, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list(["i"]))).await;
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        let numbers: Vec<u64> = history.iter().map(|info| info.checkpoint).collect();
        assert_eq!(numbers, [3, 2, 1, 0]);
        assert_eq!(thread.fork(3).await.unwrap(), 4);
        assert_eq!(
            expect_finished(thread.resume(())).await.xs,
            ["i", "a", "b", "c"]
        );
        assert_eq!(thread.snapshot_at(1).await.unwrap().state.xs, ["i", "a"]);
        assert_eq!(thread.fork(1).await.unwrap(), 5);
        thread
            .update(Edit::new(LogXs(list(["edited"]))))
            .await
            .unwrap();
        let log = expect_finished(thread.resume(())).await;
        assert_eq!(log.xs, ["i", "a", "edited", "b", "c"]);
        assert_eq!(
            thread.snapshot_at(3).await.unwrap().state.xs,
            ["i", "a", "b", "c"]
        );
        let copy = thread.copy_to("copy").await.unwrap();
        assert_eq!(copy.snapshot_at(2).await.unwrap().state.xs, ["i", "a", "b"]);
        let other = thread.fork_to(1, "other").await.unwrap();
        let log = expect_finished(other.resume(())).await;
        assert_eq!(log.xs, ["i", "a", "b", "c"]);
        thread.prune(Retention::max_checkpoints(2)).await.unwrap();
        assert!(matches!(
            thread.snapshot_at(1).await,
            Err(ThreadError::UnknownCheckpoint { checkpoint: 1, .. })
        ));
        assert_eq!(thread.snapshot().await.unwrap().unwrap().state.xs.len(), 5);
        log
    });
}

#[tokio::test]
async fn c78_bulk_updates() {
    run_both!(Chain, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list([]))).await;
        let edit = |text| Edit::new(LogXs(list([text])));
        let numbers = thread
            .update_all(vec![vec![edit("x").by("a")], vec![edit("y").by("b")]])
            .await
            .unwrap();
        assert_eq!(numbers, [4, 5]);
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.xs, ["a", "b", "c", "x", "y"]);
        assert_eq!(snapshot.info.next, ["c"]);
        for (wrong, words) in [
            (vec![], "no supersteps"),
            (vec![vec![], vec![]], "no updates"),
            (
                vec![vec![edit("x"), edit("y")]],
                "must each say by which node",
            ),
            (
                vec![vec![edit("x").by("aa")]],
                "there is no node `aa`; did you mean `a`?",
            ),
        ] {
            let error = thread.update_all(wrong).await.unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        expect_finished(thread.resume(())).await.xs
    });
}

#[node(Log)]
async fn seen(trace: Managed<Trace>) -> LogXs {
    trace.record("seen");
    LogXs(list(["a"]))
}

flow_and_graph!(One(Log) { seen } nodes: seen);

#[tokio::test]
async fn c76_a_resume_from_the_last_checkpoint_runs_nothing() {
    run_both!(One, |launch| {
        let trace = Trace::default();
        let thread = launch
            .manage(trace.clone())
            .store(&InMemoryStore::new())
            .thread("t");
        expect_finished(thread.run(list([]))).await;
        let last = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
        thread.fork(last).await.unwrap();
        let log = expect_finished(thread.resume(())).await;
        assert_eq!((&log.xs[..], trace.count("seen")), (&list(["a"])[..], 1));
        log
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Pair {
    #[key(default)]
    foo: String,
    #[key(default)]
    baz: String,
}

#[node(Pair)]
async fn x() -> PairFoo {
    PairFoo("x".into())
}

#[node(Pair)]
async fn y() -> PairBaz {
    PairBaz("y".into())
}

flow_and_graph!(Edited(Pair) { x -> y } nodes: x, y);

#[tokio::test]
async fn c78_two_supersteps_in_one_call_are_two_checkpoints() {
    run_both!(Edited, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(())).await;
        let edits = vec![
            vec![Edit::new(PairFoo("updated".into())).by("x")],
            vec![Edit::new(PairBaz("new".into())).by("y")],
        ];
        let checkpoints = thread.update_all(edits).await.unwrap();
        assert_eq!(checkpoints.len(), 2);
        let between = thread.snapshot_at(checkpoints[0]).await.unwrap();
        assert_eq!((&*between.state.foo, &*between.state.baz), ("updated", "y"));
        assert_eq!(between.info.next, ["y"]);
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(
            (&*snapshot.state.foo, &*snapshot.state.baz),
            ("updated", "new")
        );
        assert!(
            snapshot.is_finished(),
            "the last node has run, as far as anybody can tell"
        );
        snapshot.state
    });
}

#[tokio::test]
async fn c79_g059_a_finished_thread_starts_a_new_turn_or_nothing() {
    // agentmesh runs finished nodes again when a run is resumed with an update, from the entry.
    run_both!(Chain, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list(["hi"]))).await;
        let update = || petalflow::interrupt::Resume::new().update(LogXs(list(["new message"])));
        let log = expect_finished(thread.resume(update())).await;
        assert_eq!(
            log.xs,
            ["hi", "a", "b", "c", "new message"],
            "nothing to do is nothing done"
        );
        let log = expect_finished(thread.run(list(["more"]))).await;
        assert_eq!(log.xs[5..], ["more", "a", "b", "c"]);
        // Somewhere in particular, on request.
        let log = expect_finished(thread.resume(update().goto("c"))).await;
        assert_eq!(log.xs[9..], ["new message", "c"]);
        log
    });
}

#[tokio::test]
async fn an_unknown_node_to_resume_at_is_an_error_and_changes_nothing() {
    run_both!(Chain, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(list([]))).await;
        let goto = petalflow::interrupt::Resume::new()
            .update(LogXs(list(["x"])))
            .goto("d");
        let error = thread.resume(goto).await.unwrap_err();
        assert_contains(&error, "there is no node `d`");
        thread.snapshot().await.unwrap().unwrap().state.xs
    });
}
