//! What the caller lends to a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use petalflow::prelude::*;
use petalflow::{BoxError, Extract, Requirements, RunErrorKind, Scope};

use crate::support::{Log, LogXs, Trace, both, failed, kind, twin};

#[derive(Debug, Default)]
struct Pool(AtomicU32);

#[derive(Debug)]
struct Clock;

#[node(Log)]
async fn first(trace: Managed<Trace>) -> LogXs {
    trace.say("first");
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

twin! { Needs(Log) { first -> needs_pool -> needs_both; } nodes: first, needs_pool, needs_both }

#[tokio::test]
async fn g075_all_missing_values_are_named_before_the_first_node_runs() {
    let (kind, ran, text) = both!(Needs, |launch| {
        let trace = Trace::default();
        let error = failed(launch.manage(trace.clone()).run(vec![]).await);
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
async fn g073_nodes_share_the_value_and_the_caller_keeps_it() {
    let (xs, left) = both!(Needs, |launch| {
        let pool = Arc::new(Pool::default());
        let launch = launch
            .manage(Trace::default())
            .manage(Clock)
            .manage_shared(Arc::clone(&pool));
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
async fn a_second_value_of_one_type_takes_the_place_of_the_first() {
    let xs = both!(Needs, |launch| {
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

twin! { Asks(Log) { asks } nodes: asks }

#[tokio::test]
async fn g076_a_value_that_is_only_asked_for_may_be_missing() {
    assert_eq!(
        both!(Asks, |launch| launch.run(vec![]).await.unwrap().xs),
        ["none"]
    );
    assert_eq!(
        both!(Asks, |launch| launch
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
            .and_then(petalflow::ManagedValues::get::<Clock>)
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

/// As `Place`, but does not say what it needs.
struct Careless;

impl Extract for Careless {
    fn extract(scope: &Scope) -> Result<Self, BoxError> {
        scope
            .managed()
            .and_then(petalflow::ManagedValues::get::<Clock>)
            .map(|_| Careless)
            .ok_or_else(|| "no clock".into())
    }
}

#[node(Log)]
async fn careless(_careless: Careless) {}

twin! { Placed(Log) { placed } nodes: placed }
twin! { Carelessly(Log) { careless } nodes: careless }

#[tokio::test]
async fn an_extractor_of_ones_own_hands_over_and_requires() {
    assert_eq!(
        both!(Placed, |launch| launch
            .manage(Clock)
            .run(vec![])
            .await
            .unwrap()
            .xs),
        ["placed in superstep 1 with Clock"]
    );
    assert!(
        matches!(both!(Placed, |launch| kind(launch.run(vec![]).await)), RunErrorKind::MissingManaged(names) if names.len() == 1)
    );
}

#[tokio::test]
async fn what_an_extractor_fails_with_fails_the_node() {
    let text = both!(Carelessly, |launch| failed(launch.run(vec![]).await)
        .to_string());
    assert_eq!(text, "node `careless` failed in superstep 1: no clock");
}

#[tokio::test]
async fn g055_managed_values_are_no_part_of_the_state() {
    let log = Needs::new()
        .manage(Trace::default())
        .manage(Clock)
        .manage(Pool::default())
        .run(vec![])
        .await
        .unwrap();
    assert_eq!(format!("{log:?}"), "Log { xs: [\"first\", \"pool 0\"] }");
}
