//! Managed values: values that the program supplies to a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use petalflow::BoxError;
use petalflow::checkpoint::{Address, InMemoryStore, Store as _};
use petalflow::node::{Extract, ManagedProvider, Requirements, Scope};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;

use crate::support::{
    Log, LogXs, Trace, assert_log, expect_error, expect_finished, flow_and_graph, kind, run_both,
};

#[derive(Debug, Default)]
struct Pool(AtomicU32);

#[derive(Debug)]
struct Clock;

#[node(Log)]
async fn first(trace: Managed<Trace>) -> LogXs {
    trace.record("first");
    LogXs(vec!["first".into()])
}

#[node(Log)]
async fn needs_pool(pool: Managed<Pool>) -> LogXs {
    LogXs(vec![format!(
        "pool {}",
        pool.0.fetch_add(1, Ordering::SeqCst)
    )])
}

#[node(Log)]
async fn needs_both(_pool: Managed<Pool>, _clock: Managed<Clock>) {}

flow_and_graph! { Needs(Log) { first -> needs_pool -> needs_both; } nodes: first, needs_pool, needs_both }

#[tokio::test]
async fn g075_all_missing_values_are_named_before_the_first_node_runs() {
    let (kind, ran, text) = run_both!(Needs, |launch| {
        let trace = Trace::default();
        let error = expect_error(launch.manage(trace.clone()).run(vec![]).await);
        (error.kind().clone(), trace.all(), error.to_string())
    });
    let RunErrorKind::MissingManaged(names) = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(names.len(), 2, "each once: {names:?}");
    assert!(
        names[0].ends_with("Pool") && names[1].ends_with("Clock"),
        "{names:?}"
    );
    assert_eq!(ran, [""; 0]);
    assert!(
        text.contains("managed value") && text.contains(".manage(..)"),
        "{text}"
    );
}

#[tokio::test]
async fn g073_nodes_share_the_value_with_the_caller() {
    let (xs, left) = run_both!(Needs, |launch| {
        let pool = Arc::new(Pool::default());
        let launch = launch
            .manage(Trace::default())
            .manage(Clock)
            .manage_with(Arc::clone(&pool));
        launch.clone().run(vec![]).await.unwrap();
        (
            launch.run(vec![]).await.unwrap().xs,
            pool.0.load(Ordering::SeqCst),
        )
    });
    assert_eq!(
        xs,
        ["first", "pool 1"],
        "the second run sees what the first left"
    );
    assert_eq!(left, 2);
}

#[tokio::test]
async fn a_second_value_of_a_type_replaces_the_first() {
    let xs = run_both!(Needs, |launch| {
        let launch = launch
            .manage(Trace::default())
            .manage(Clock)
            .manage(Pool(AtomicU32::new(7)))
            .manage(Pool(AtomicU32::new(40)));
        launch.run(vec![]).await.unwrap().xs
    });
    assert_eq!(xs, ["first", "pool 40"]);
}

#[node(Log)]
async fn asks(cx: Context) -> LogXs {
    LogXs(vec![cx.managed::<Pool>().map_or_else(
        || "none".into(),
        |pool| format!("{}", pool.0.load(Ordering::SeqCst)),
    )])
}

flow_and_graph! { Asks(Log) { asks } nodes: asks }

#[tokio::test]
async fn g076_an_optional_value_may_be_missing() {
    assert_log!(Asks, ["none"]);
    assert_eq!(
        run_both!(Asks, |launch| launch
            .manage(Pool(AtomicU32::new(3)))
            .run(vec![])
            .await
            .unwrap()
            .xs),
        ["3"]
    );
}

/// A handle of the user's own.
struct Place(String);

impl Extract for Place {
    fn extract(scope: &Scope) -> Result<Self, BoxError> {
        let clock = scope
            .managed()
            .and_then(node::ManagedValues::get::<Clock>)
            .ok_or("no clock")?;
        Ok(Place(format!(
            "{} in superstep {} with {clock:?}",
            scope.node(),
            scope.superstep()
        )))
    }

    fn require(requirements: &mut Requirements<'_>) {
        requirements.managed::<Clock>();
    }
}

#[node(Log)]
async fn placed(place: Place) -> LogXs {
    LogXs(vec![place.0])
}

/// Like `Place`, but does not declare what it needs.
struct Careless;

impl Extract for Careless {
    fn extract(scope: &Scope) -> Result<Self, BoxError> {
        scope
            .managed()
            .and_then(node::ManagedValues::get::<Clock>)
            .map(|_| Careless)
            .ok_or_else(|| "no clock".into())
    }
}

#[node(Log)]
async fn careless(_careless: Careless) {}

flow_and_graph! { Placed(Log) { placed } nodes: placed }
flow_and_graph! { Carelessly(Log) { careless } nodes: careless }

#[tokio::test]
async fn a_custom_extractor_provides_and_requires_values() {
    assert_eq!(
        run_both!(Placed, |launch| launch
            .manage(Clock)
            .run(vec![])
            .await
            .unwrap()
            .xs),
        ["placed in superstep 1 with Clock"]
    );
    assert!(
        matches!(run_both!(Placed, |launch| kind(launch.run(vec![]).await)), RunErrorKind::MissingManaged(names) if names.len() == 1)
    );
}

#[tokio::test]
async fn the_error_of_an_extractor_fails_the_node() {
    let text = run_both!(Carelessly, |launch| expect_error(launch.run(vec![]).await)
        .to_string());
    assert_eq!(text, "node `careless` failed in superstep 1: no clock");
}

#[tokio::test]
async fn g055_managed_values_are_not_part_of_the_state() {
    let log = Needs::new()
        .manage(Trace::default())
        .manage(Clock)
        .manage(Pool::default())
        .run(vec![])
        .await
        .unwrap();
    assert_eq!(format!("{log:?}"), "Log { xs: [\"first\", \"pool 0\"] }");
}

/// A number that is computed for each use.
#[derive(Debug)]
struct Ticket(u32);

#[node(Log)]
async fn takes_ticket(ticket: Managed<Ticket>) -> LogXs {
    LogXs(vec![format!("{}", ticket.0)])
}

flow! { Inside(Log) { takes_ticket } }

flow_and_graph! {
    Tickets(Log) {
        node again = takes_ticket;
        node inner: Inside { in: || Vec::new(), out: |log: Log| log.xs.into_iter().next().map(|x| LogXs(vec![x])) };
        takes_ticket -> again -> inner;
    }
    nodes:
        takes_ticket,
        again = |b| b.node_as("again", takes_ticket {}),
        inner = |b| b.subflow("inner", Inside, |_: &Log| Vec::new().into(), |log: Log| log.xs.into_iter().next().map(|x| LogXs(vec![x])))
}

/// Counts up from 1.
fn counter() -> impl Fn() -> Ticket + Send + Sync + 'static {
    let next = AtomicU32::new(1);
    move || Ticket(next.fetch_add(1, Ordering::SeqCst))
}

#[tokio::test]
async fn g073_a_value_may_be_computed_for_each_use_or_each_run() {
    run_both!(Tickets, |launch| {
        let each_use = launch
            .clone()
            .manage_with(ManagedProvider::each_use(counter()));
        assert_eq!(
            each_use.clone().run(vec![]).await.unwrap().xs,
            ["1", "2", "3"]
        );
        assert_eq!(each_use.run(vec![]).await.unwrap().xs, ["4", "5", "6"]);
        let each_run = launch
            .clone()
            .manage_with(ManagedProvider::each_run(counter()));
        assert_eq!(
            each_run.clone().run(vec![]).await.unwrap().xs,
            ["1", "1", "1"]
        );
        assert_eq!(each_run.run(vec![]).await.unwrap().xs, ["2", "2", "2"]);
        // A value that is given takes its place.
        let given = launch
            .manage_with(ManagedProvider::each_use(counter()))
            .manage(Ticket(9));
        assert_eq!(given.run(vec![]).await.unwrap().xs, ["9", "9", "9"]);
    });
}

#[tokio::test(start_paused = true)]
async fn g073_a_value_may_last_a_while_and_be_invalidated() {
    run_both!(Tickets, |launch| {
        let hour = std::time::Duration::from_hours(1);
        let provider = ManagedProvider::lasting(hour, counter());
        let launch = launch.manage_with(provider.clone());
        let first = async || launch.clone().run(vec![]).await.unwrap().xs[0].clone();
        assert_eq!((first().await, first().await), ("1".into(), "1".into()));
        tokio::time::advance(hour).await;
        assert_eq!((first().await, first().await), ("2".into(), "2".into()));
        provider.invalidate();
        assert_eq!((first().await, first().await), ("3".into(), "3".into()));
    });
}

#[derive(Debug)]
struct Secret(&'static str);

#[node(Log)]
async fn reports(secret: Managed<Secret>) -> LogXs {
    LogXs(vec![format!("{} letters", secret.0.len())])
}

flow_and_graph! { Tells(Log) { first -> reports; } nodes: first, reports }

#[tokio::test]
async fn g074_checkpoints_never_hold_managed_values() {
    // agentmesh stores their names; here the nodes of the flow declare what they need, so no name is stored.
    run_both!(Tells, |launch| {
        let store = InMemoryStore::new();
        let launch = launch
            .manage(Trace::default())
            .manage(Secret("open sesame"));
        let thread = launch.store(&store).thread("t");
        let log = expect_finished(thread.run(vec![])).await;
        assert_eq!(log.xs, ["first", "11 letters"]);
        let history = store.history(Address::root("t"), None, 99).await.unwrap();
        assert_eq!(history.len(), 3);
        for checkpoint in history {
            let text = String::from_utf8_lossy(&checkpoint.bytes).into_owned();
            assert!(!text.contains("sesame"), "{text}");
        }
    });
}

#[tokio::test]
async fn g075_a_missing_value_is_built_when_the_run_begins_or_resumes() {
    run_both!(Tells, |launch| {
        let made = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&made);
        let launch = launch
            .manage(Trace::default())
            .manage_with(ManagedProvider::for_thread(move |cx| {
                let count = Arc::clone(&count);
                async move {
                    tokio::task::yield_now().await;
                    assert!(cx.managed::<Trace>().is_some() && cx.thread() == "t");
                    count.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, BoxError>(Secret("made"))
                }
            }));
        let store = InMemoryStore::new();
        let thread = launch.clone().store(&store).thread("t");
        let log = expect_finished(thread.run(vec![])).await;
        assert_eq!(log.xs, ["first", "4 letters"]);
        let _ = thread.resume(()).await.unwrap();
        assert_eq!(made.load(Ordering::SeqCst), 2, "for each run");
        // A given value is not computed, in either order.
        let given = launch
            .clone()
            .manage(Secret("given"))
            .store(&store)
            .thread("t");
        expect_finished(given.run(vec![])).await;
        assert_eq!(made.load(Ordering::SeqCst), 2);
        // A run without a thread has no stored value.
        let kind = kind(launch.run(vec![]).await);
        assert!(
            matches!(&kind, RunErrorKind::MissingManaged(names) if names[0].ends_with("Secret"))
        );
    });
}

#[tokio::test]
async fn g075_a_value_that_cannot_be_built_is_named_with_the_cause_and_no_node_runs() {
    run_both!(Tells, |launch| {
        let trace = Trace::default();
        let launch = launch
            .manage(trace.clone())
            .manage_with(ManagedProvider::for_thread(async |_| {
                Err::<Secret, BoxError>("the vault is shut".into())
            }));
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let error = thread.run(vec![]).await.unwrap_err();
        assert!(
            matches!(error.kind(), RunErrorKind::RestoreManaged { name, problem } if name.ends_with("Secret") && problem == "the vault is shut"),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .ends_with("Secret` could not be made for the run of `Tells`: the vault is shut")
        );
        assert_eq!(trace.all(), [""; 0]);
        assert!(
            thread.snapshot().await.unwrap().is_none(),
            "nothing has begun"
        );
    });
}

#[tokio::test]
async fn g075_all_values_missing_at_a_resume_are_named_together() {
    run_both!(Needs, |launch| {
        let store = InMemoryStore::new();
        let made = launch.clone().manage(Trace::default());
        let made = made.manage_with(ManagedProvider::for_thread(async |_| {
            Ok::<_, BoxError>(Pool::default())
        }));
        let error = made
            .store(&store)
            .thread("t")
            .run(vec![])
            .await
            .unwrap_err();
        assert!(
            matches!(error.kind(), RunErrorKind::MissingManaged(names) if names.len() == 1 && names[0].ends_with("Clock")),
            "what can be made is not missing: {error}"
        );
        let error = launch
            .store(&store)
            .thread("t")
            .run(vec![])
            .await
            .unwrap_err();
        assert!(
            matches!(error.kind(), RunErrorKind::MissingManaged(names) if names.len() == 3),
            "{error}"
        );
    });
}
