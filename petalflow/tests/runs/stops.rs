//! The contents of the error of a stopped run.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};

#[state]
#[derive(Clone, Debug)]
struct Count {
    #[key(sum)]
    n: u64,
}

#[node(Count, retry = 5)]
async fn connect(cx: Context) -> petalflow::Result<()> {
    Err(format!("connection {} refused", cx.attempt()).into())
}

#[node(Count)]
async fn quick() -> CountN {
    CountN(1)
}

#[node(Count)]
async fn slow() -> CountN {
    tokio::time::sleep(Duration::from_mins(15)).await;
    CountN(1)
}

#[node(Count, retry = 5)]
async fn recovers(cx: Context) -> petalflow::Result<()> {
    if cx.attempt() == 1 {
        Err("at first".into())
    } else {
        Ok(())
    }
}

flow!(Connect(Count) { START -> quick & connect });
flow!(Outer(Count) { START -> inner; node inner: Connect { in: || (), out: |_count: Count| () }; });
flow!(Recover(Count) { START -> recovers & slow });

const SHORT: Duration = Duration::from_millis(10);

async fn cancelled<T>(run: impl Future<Output = T>, token: &CancelToken) -> T {
    let stop = async {
        tokio::time::sleep(SHORT).await;
        token.cancel();
    };
    tokio::join!(run, stop).0
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_a_retry_wait_tells_why_the_attempt_failed() {
    let token = CancelToken::new();
    let launch = Connect::new().cancel_with(&token);
    let error = cancelled(launch.run(()), &token).await.unwrap_err();
    assert_eq!(*error.kind(), RunErrorKind::Cancelled);
    let retried = error.retried();
    assert_eq!(
        (retried[0].node.as_str(), retried[0].message.as_str()),
        ("connect", "connection 1 refused")
    );
    let text = error.to_string();
    assert!(
        text.ends_with(
            "; node `connect` was to be tried again after it had failed: connection 1 refused"
        ),
        "{text}"
    );

    let error = Connect::new().timeout(SHORT).run(()).await.unwrap_err();
    assert_eq!(error.retried().len(), 1, "{error}");
    let error = Connect::new()
        .superstep_timeout(SHORT)
        .run(())
        .await
        .unwrap_err();
    assert_eq!(error.retried().len(), 1, "{error}");
    let error = Outer::new().timeout(SHORT).run(()).await.unwrap_err();
    assert_eq!(error.retried()[0].namespace, "inner");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_has_recovered_is_not_named() {
    let error = Recover::new()
        .timeout(Duration::from_mins(10))
        .run(())
        .await
        .unwrap_err();
    assert!(matches!(error.kind(), RunErrorKind::Timeout { .. }));
    assert!(error.retried().is_empty(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_thread_keeps_why_the_attempt_failed() {
    let token = CancelToken::new();
    let launch = Connect::new().cancel_with(&token);
    let thread = launch.store(&InMemoryStore::new()).thread("connect");
    let error = cancelled(thread.run(()), &token).await.unwrap_err();
    assert_eq!(error.retried().len(), 1);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let task = snapshot
        .tasks
        .iter()
        .find(|task| task.node == "connect")
        .unwrap();
    assert_eq!(task.error.as_ref().unwrap().message, "connection 1 refused");
    assert!(!task.finished);
}

#[node(Count)]
async fn add(n: &u64) -> (CountN, bool) {
    (CountN(1), *n < 999)
}

flow!(Add(Count) { add -> match { true => add, false => END } });

#[tokio::test]
async fn the_limit_of_a_resumed_run_is_that_of_the_launch() {
    let thread = Add::new()
        .limit(10)
        .store(&InMemoryStore::new())
        .thread("add");
    for turn in 1..=3 {
        let error = if turn == 1 {
            thread.run(()).await.unwrap_err()
        } else {
            thread.resume(()).await.unwrap_err()
        };
        assert!(
            matches!(error.kind(), RunErrorKind::Limit { limit: 10, .. }),
            "{error}"
        );
        assert!(
            error.to_string().contains("within 10 supersteps"),
            "{error}"
        );
        assert_eq!(error.superstep(), turn * 10);
    }
}

flow!(Two(Count) { quick -> quick_too });

#[node(Count)]
async fn quick_too() -> CountN {
    CountN(1)
}

flow!(Fork(Count) { START -> quick & quick_too });

#[tokio::test(start_paused = true)]
async fn a_drained_run_stops_at_its_first_barrier() {
    let token = CancelToken::new();
    token.drain();
    let drained = |next: &[&str]| RunErrorKind::Drained {
        next: next.iter().map(ToString::to_string).collect(),
    };
    let launch = Two::new().cancel_with(&token).timeout(SHORT);
    let error = launch.run(()).await.unwrap_err();
    assert_eq!(*error.kind(), drained(&["quick"]));
    assert_eq!(
        (error.superstep(), error.state::<Count>().unwrap().n),
        (0, 0)
    );

    let error = Fork::new().cancel_with(&token).run(()).await.unwrap_err();
    assert_eq!(*error.kind(), drained(&["quick", "quick_too"]));
    assert_eq!(
        (error.superstep(), error.state::<Count>().unwrap().n),
        (0, 0)
    );
}

#[tokio::test]
async fn a_thread_that_is_drained_before_it_begins_is_resumed() {
    let store = InMemoryStore::new();
    let token = CancelToken::new();
    token.drain();
    let stopped = Two::new().cancel_with(&token).store(&store).thread("two");
    let error = stopped.run(()).await.unwrap_err();
    assert!(
        matches!(error.kind(), RunErrorKind::Drained { .. }),
        "{error}"
    );
    assert_eq!(error.superstep(), 0);
    let resumed = Two::new().store(&store).thread("two").resume(()).await;
    assert_eq!(resumed.unwrap().into_finished().unwrap().n, 2);
}

#[tokio::test(start_paused = true)]
async fn a_token_of_tokio_util_cancels_a_run() {
    let token = tokio_util::sync::CancellationToken::new();
    let launch = Recover::new().cancel_with(&token);
    let stop = async {
        tokio::time::sleep(SHORT).await;
        token.cancel();
    };
    let (error, ()) = tokio::join!(launch.run(()), stop);
    assert_eq!(*error.unwrap_err().kind(), RunErrorKind::Cancelled);
}

#[node(Count, timeout = 200000000000000.5d, idle = 200000000000000.5d)]
async fn unlimited() -> CountN {
    tokio::time::sleep(SHORT).await;
    CountN(1)
}

flow!(Unlimited(Count) { unlimited });

#[tokio::test(start_paused = true)]
async fn the_longest_duration_is_no_deadline() {
    let launch = Unlimited::new()
        .timeout(Duration::MAX)
        .superstep_timeout(Duration::MAX);
    assert_eq!(launch.run(()).await.unwrap().n, 1);
    let retried = Retry::attempts(2).first(Duration::MAX).max(Duration::MAX);
    let run = retried.run(|_| async { "x".parse::<u8>() });
    assert!(tokio::time::timeout(SHORT, run).await.is_err(), "it waits");
}

/// Cancels its own run and then ends.
#[node(Count, retry = 2)]
async fn cancels(token: Managed<CancelToken>, cx: Context) -> petalflow::Result<()> {
    if cx.attempt() == 1 {
        return Err("the first attempt".into());
    }
    token.cancel();
    Err("out of ink".into())
}

#[node(Count)]
async fn cancels_and_panics(token: Managed<CancelToken>) {
    token.cancel();
    panic!("out of paper");
}

#[node(Count)]
async fn cancels_and_waits(token: Managed<CancelToken>) {
    token.cancel();
    std::future::pending::<()>().await;
}

flow!(LastAttempt(Count) { cancels });
flow!(Panics(Count) { cancels_and_panics });
flow!(Waits(Count) { cancels_and_waits });
flow!(PanicsInside(Count) {
    START -> inner;
    node inner: Panics { in: || (), out: |_count: Count| () };
});
flow!(WaitsInside(Count) {
    START -> inner;
    node inner: Waits { in: || (), out: |_count: Count| () };
});

/// The error of a run that its node cancels, in memory and on a thread.
async fn errors_of<F: Flow<State = Count> + Default>(
    launch: impl Fn() -> Launch<F>,
) -> [petalflow::RunError; 2] {
    let launch = || {
        let token = CancelToken::new();
        launch().manage(token.clone()).cancel_with(&token)
    };
    let in_memory = launch().run(()).await.unwrap_err();
    let threads = launch().store(&InMemoryStore::new());
    [in_memory, threads.thread("t").run(()).await.unwrap_err()]
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_a_node_fails_keeps_the_error_of_the_node() {
    for (errors, flow, node, text) in [
        (
            errors_of(LastAttempt::new).await,
            "LastAttempt",
            "cancels",
            "out of ink",
        ),
        (
            errors_of(Panics::new).await,
            "Panics",
            "cancels_and_panics",
            "out of paper",
        ),
        (
            errors_of(PanicsInside::new).await,
            "PanicsInside",
            "inner",
            "out of paper",
        ),
    ] {
        for error in errors {
            assert_eq!(*error.kind(), RunErrorKind::Cancelled);
            assert_eq!(error.node(), Some(node));
            let begin = format!(
                "`{flow}` was cancelled in superstep 1; node `{node}` failed at the same time: "
            );
            let message = error.to_string();
            assert!(
                message.starts_with(&begin) && message.ends_with(text),
                "{message}"
            );
            let source = error.get_ref().expect("the node has failed").to_string();
            assert!(source.contains(text), "{source}");
        }
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_no_node_fails_has_no_other_cause() {
    for (errors, flow) in [
        (errors_of(Waits::new).await, "Waits"),
        (errors_of(WaitsInside::new).await, "WaitsInside"),
    ] {
        for error in errors {
            assert_eq!(
                error.to_string(),
                format!("`{flow}` was cancelled in superstep 1")
            );
            assert!(error.get_ref().is_none());
        }
    }
}

#[node(Count, retry = 1)]
async fn pays_twice(cx: Context) -> petalflow::Result<()> {
    for _ in 0..2 {
        cx.once("pay", async { Ok::<_, petalflow::BoxError>(()) })
            .await?;
    }
    Ok(())
}

#[node(Count)]
async fn pays(n: &u64, cx: Context) -> petalflow::Result<(CountN, bool)> {
    cx.once("pay", async { Ok::<_, petalflow::BoxError>(()) })
        .await?;
    Ok((CountN(1), *n < 2))
}

flow!(PayTwice(Count) { pays_twice });
flow!(PayEachTime(Count) { pays -> match { true => pays, false => END }; });

#[tokio::test(start_paused = true)]
async fn an_effect_of_one_name_runs_once_in_a_node_with_a_store_or_without() {
    let in_memory = PayTwice::run(()).await.unwrap_err();
    let threads = PayTwice::new().store(&InMemoryStore::new());
    let on_thread = threads.thread("t").run(()).await.unwrap_err();
    assert_eq!(in_memory.to_string(), on_thread.to_string());
    assert_eq!(
        in_memory.to_string(),
        "node `pays_twice` failed in superstep 1: node `pays_twice` used `once` twice for `pay` in one run, and both would get one \
         result: give each effect its own name"
    );
}

#[tokio::test]
async fn an_effect_of_one_name_runs_in_each_superstep() {
    assert_eq!(PayEachTime::run(()).await.unwrap().n, 3);
}
