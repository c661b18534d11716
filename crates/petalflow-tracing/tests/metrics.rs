//! Counts of nodes, lines of the log, and times of attempts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_tracing::{Logged, MeasureLaunch, Metrics, Timed};

#[state]
struct Count {
    #[key(sum)]
    n: u64,
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MayRun;

#[node(Count)]
async fn slow() -> CountN {
    tokio::time::sleep(Duration::from_secs(2)).await;
    CountN(1)
}

#[node(Count, retry = 2)]
async fn flaky(cx: Context) -> petalflow::Result<CountN> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    if cx.attempt() == 1 {
        return Err("at first".into());
    }
    Ok(CountN(1))
}

#[node(Count)]
async fn review(cx: Context) -> petalflow::Result<CountN> {
    let may_run = cx.ask(MayRun).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(CountN(u64::from(may_run)))
}

flow!(Work(Count) { START -> slow & flaky; });
flow!(Review(Count) { slow -> review });
flow!(Outer(Count) { node inner: Review { in: || (), out: |count: Count| CountN(count.n) }; START -> inner; });

#[tokio::test(start_paused = true)]
async fn g083_nodes_are_active_and_then_completed_or_failed() {
    let metrics = Metrics::new();
    let launch = Work::new().measured(&metrics);
    let during = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        metrics.snapshot()
    };
    let (run, during) = tokio::join!(launch.run(()), during);
    run.unwrap();
    assert_eq!(during.active(), ["flaky", "slow"]);
    assert!(during.completed().is_empty() && during.failed().is_empty());

    let after = metrics.snapshot();
    assert!(after.active().is_empty());
    assert_eq!(
        (after.completed(), after.failed()),
        (vec!["flaky", "slow"], vec!["flaky"])
    );
    let (slow, flaky) = (after.nodes["slow"], after.nodes["flaky"]);
    assert_eq!((slow.completed, slow.longest), (1, Duration::from_secs(2)));
    assert_eq!((flaky.completed, flaky.failed), (1, 1));
    assert_eq!(
        (flaky.took, flaky.average()),
        (Duration::from_secs(2), Some(Duration::from_secs(1)))
    );
    assert_eq!(during.active(), ["flaky", "slow"], "a snapshot is a copy");
}

#[tokio::test(start_paused = true)]
async fn g083_a_run_that_is_dropped_leaves_nothing_active() {
    let metrics = Metrics::new();
    let run = Work::new().measured(&metrics).run(());
    assert!(
        tokio::time::timeout(Duration::from_millis(500), run)
            .await
            .is_err()
    );
    let after = metrics.snapshot();
    assert!(after.active().is_empty() && after.completed().is_empty() && after.failed().is_empty());
}

#[tokio::test(start_paused = true)]
async fn g083_a_node_that_asks_is_paused_then_resuming_then_active() {
    for (name, metrics) in [("review", Metrics::new()), ("inner", Metrics::new())] {
        let store = InMemoryStore::new();
        let launch = || {
            (
                Review::new().measured(&metrics),
                Outer::new().measured(&metrics),
            )
        };
        let run = async |answer: Option<bool>| {
            let (review, outer) = launch();
            let outcome = if name == "review" {
                let thread = review.store(&store).thread("t");
                match answer {
                    None => thread.run(()).await,
                    Some(answer) => thread.answer::<MayRun>(answer).await,
                }
            } else {
                let thread = outer.store(&store).thread("t");
                match answer {
                    None => thread.run(()).await,
                    Some(answer) => thread.answer::<MayRun>(answer).await,
                }
            };
            outcome.unwrap()
        };
        assert_eq!(run(None).await.interrupts().len(), 1);
        let paused = metrics.snapshot();
        assert_eq!(
            (paused.paused(), paused.active(), paused.resuming()),
            (vec![name], vec![], vec![])
        );

        let during = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            metrics.snapshot()
        };
        let (outcome, during) = tokio::join!(run(Some(true)), during);
        assert_eq!(outcome.into_finished().unwrap().n, 2);
        assert_eq!(
            (during.paused(), during.active(), during.resuming()),
            (vec![], vec![name], vec![])
        );
        let after = metrics.snapshot();
        assert!(
            after.paused().is_empty() && after.resuming().is_empty() && after.active().is_empty()
        );
        assert!(after.completed().contains(&name));
    }
}

#[tokio::test(start_paused = true)]
async fn g083_a_node_is_resuming_until_it_begins_again() {
    // Another middleware holds the node back before it begins.
    let metrics = Metrics::new();
    let store = InMemoryStore::new();
    let launch = || {
        let wait = petalflow::middleware::from_fn(|call, next| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                next.run(call).await
            })
        });
        Review::new()
            .run_middleware(metrics.clone())
            .middleware(wait)
            .middleware(metrics.clone())
    };
    let thread = launch().store(&store).thread("t");
    let _ = thread.run(()).await.unwrap();
    let during = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        metrics.snapshot()
    };
    let (outcome, during) = tokio::join!(thread.answer::<MayRun>(true), during);
    outcome.unwrap().into_finished().unwrap();
    assert_eq!(
        (during.resuming(), during.active(), during.paused()),
        (vec!["review"], vec![], vec![])
    );
    assert!(metrics.snapshot().resuming().is_empty());

    // A new input discards the question: nothing is resuming.
    let thread = launch().store(&store).thread("u");
    let _ = thread.run(()).await.unwrap();
    let _ = thread.run(()).discard_pending().await.unwrap();
    assert_eq!(
        (
            metrics.snapshot().paused(),
            metrics.snapshot().nodes["review"].paused
        ),
        (vec!["review"], 1)
    );
}

#[tokio::test(start_paused = true)]
async fn g083_a_reset_forgets_what_runs_and_waits() {
    let metrics = Metrics::new();
    let reset = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        metrics.reset();
    };
    let (run, ()) = tokio::join!(Work::new().measured(&metrics).run(()), reset);
    run.unwrap();
    let after = metrics.snapshot();
    assert!(after.active().is_empty(), "{after:?}");
    assert_eq!(after.nodes.get("slow"), None, "it began before the reset");
    assert_eq!(
        after.nodes["flaky"].completed, 1,
        "its second attempt began after the reset"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hook_receives_the_time_of_each_attempt() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let timed = Timed::new(move |report| {
        let error = report.error.map(ToString::to_string);
        log.lock().unwrap().push((
            report.node.to_string(),
            report.superstep,
            report.attempt,
            report.took.as_secs(),
            error,
        ));
    });
    Work::new().middleware(timed).run(()).await.unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    assert_eq!(
        seen,
        [
            ("flaky".into(), 1, 1, 1, Some("at first".to_string())),
            ("flaky".into(), 1, 2, 1, None),
            ("slow".into(), 1, 1, 2, None),
        ]
    );
}

/// A writer that keeps what is written.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn each_run_and_each_attempt_is_logged() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .without_time()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    {
        let _guard = tracing::subscriber::set_default(subscriber);
        let launch = Work::new()
            .run_middleware(Logged::new())
            .middleware(Logged::new());
        launch.run(()).await.unwrap();
        let paused = Review::new()
            .run_middleware(Logged::new())
            .store(&InMemoryStore::new());
        let _ = paused.thread("t").run(()).await.unwrap();
    }
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for line in [
        "DEBUG petalflow: run started flow=\"Work\"",
        "DEBUG petalflow: node started node=\"slow\" superstep=1 attempt=1",
        " WARN petalflow: node failed node=\"flaky\" superstep=1 attempt=1 took_ms=1000 error=at first",
        " INFO petalflow: node finished node=\"flaky\" superstep=1 attempt=2 took_ms=1000",
        " INFO petalflow: node finished node=\"slow\" superstep=1 attempt=1 took_ms=2000",
        " INFO petalflow: run finished flow=\"Work\"",
        " INFO petalflow: run paused flow=\"Review\" thread=\"t\"",
    ] {
        let found = text.lines().any(|found| {
            let fields = |line: &str| {
                let mut words: Vec<_> = line.split_whitespace().map(str::to_string).collect();
                words.sort();
                words
            };
            let found = fields(found);
            fields(line).iter().all(|word| found.contains(word))
        });
        assert!(found, "{line} is not in:\n{text}");
    }
}
