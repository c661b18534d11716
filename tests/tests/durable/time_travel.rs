//! Going back, going elsewhere, changing what is.

use petalflow::checkpoint::MemoryStore;
use petalflow::thread::{Edit, HistoryQuery, Keep};

use crate::support::{Log, LogXs, appending, both, list, twin};

appending! { a b c }

twin!(Chain(Log) { a -> b -> c } nodes: a, b, c);

#[tokio::test]
async fn c76_a_fork_of_the_last_checkpoint_has_nothing_to_do_and_one_of_an_older_runs_on() {
    both!(Chain, |launch| {
        let thread = launch.store(&MemoryStore::new()).thread("t");
        thread.run(list(["i"])).await.unwrap().finished().unwrap();
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        let numbers: Vec<u64> = history.iter().map(|info| info.checkpoint).collect();
        assert_eq!(numbers, [3, 2, 1, 0]);
        assert_eq!(thread.fork(3).await.unwrap(), 4);
        assert_eq!(
            thread.resume(()).await.unwrap().finished().unwrap().xs,
            ["i", "a", "b", "c"]
        );
        assert_eq!(thread.at(1).await.unwrap().state.xs, ["i", "a"]);
        assert_eq!(thread.fork(1).await.unwrap(), 5);
        thread
            .update(Edit::new(LogXs(list(["edited"]))))
            .await
            .unwrap();
        let log = thread.resume(()).await.unwrap().finished().unwrap();
        assert_eq!(log.xs, ["i", "a", "edited", "b", "c"]);
        assert_eq!(thread.at(3).await.unwrap().state.xs, ["i", "a", "b", "c"]);
        let copy = thread.copy_to("copy").await.unwrap();
        assert_eq!(copy.at(2).await.unwrap().state.xs, ["i", "a", "b"]);
        let other = thread.fork_to(1, "other").await.unwrap();
        let log = other.resume(()).await.unwrap().finished().unwrap();
        assert_eq!(log.xs, ["i", "a", "b", "c"]);
        thread.prune(Keep::last(2)).await.unwrap();
        assert!(thread.at(1).await.is_err());
        assert_eq!(thread.state().await.unwrap().unwrap().state.xs.len(), 5);
        log
    });
}

#[tokio::test]
async fn c78_bulk_updates() {
    both!(Chain, |launch| {
        let thread = launch.store(&MemoryStore::new()).thread("t");
        thread.run(list([])).await.unwrap().finished().unwrap();
        let edit = |text| Edit::new(LogXs(list([text])));
        let numbers = thread
            .update_all(vec![vec![edit("x").by("a")], vec![edit("y").by("b")]])
            .await
            .unwrap();
        assert_eq!(numbers, [4, 5]);
        let snapshot = thread.state().await.unwrap().unwrap();
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
        thread.resume(()).await.unwrap().finished().unwrap().xs
    });
}
