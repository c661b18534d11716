//! The events of a run and their order. Without a listener no event is built.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use futures_util::StreamExt as _;
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::{Event, Flow, Launch};
use serde::ser::Serializer;

use crate::support::{Log, LogXs, appending, flow_and_graph, list, poll_once, run_both};

appending!(a b c);

flow_and_graph! { Fork(Log) { a -> b & c; } nodes: a, b, c }

/// An event in one line.
fn line(event: &Event<Log>) -> String {
    let what = match &event.kind {
        EventKind::SuperstepStarted { nodes } => format!("superstep_started {nodes:?}"),
        EventKind::NodeFinished { update, .. } => {
            format!("node_finished {:?}", update.of::<LogXs>().only())
        }
        EventKind::Custom(custom) => format!("custom {custom}"),
        EventKind::Finished { state } => format!("finished {:?}", state.xs),
        EventKind::Failed { error } => format!("failed {error}"),
        kind => kind.name().to_string(),
    };
    let task = event
        .task
        .as_ref()
        .map(|task| format!(" {}#{}", task.node, task.attempt))
        .unwrap_or_default();
    format!("{}{task}: {what}", event.superstep)
}

/// All events of a run, a line each.
async fn lines<F: Flow<State = Log>>(launch: Launch<F>) -> Vec<String> {
    let events = launch.run(vec![]).events();
    events.map(|event| line(&event)).collect().await
}

#[tokio::test]
async fn g084_p057_events_have_the_order_of_execution() {
    let lines = run_both!(Fork, |launch| lines(launch).await);
    let expected = [
        "0: run_started",
        r#"1: superstep_started ["a"]"#,
        "1 a#1: node_started",
        r#"1 a#1: node_finished Some(["a"])"#,
        "1: superstep_finished",
        r#"2: superstep_started ["b", "c"]"#,
        "2 b#1: node_started",
        r#"2 b#1: node_finished Some(["b"])"#,
        "2 c#1: node_started",
        r#"2 c#1: node_finished Some(["c"])"#,
        "2: superstep_finished",
        r#"2: finished ["a", "b", "c"]"#,
    ];
    assert_eq!(lines, expected);
}

#[node(Log)]
async fn talk(cx: Context) -> petalflow::Result<LogXs> {
    cx.emit("one");
    tokio::task::yield_now().await;
    cx.emit(serde_json::json!({ "two": 2 }));
    Ok(LogXs(list(["talk"])))
}

flow_and_graph! { Talk(Log) { talk } nodes: talk }

#[tokio::test]
async fn g038_g039_a_custom_event_is_yielded_at_once_and_changes_no_state() {
    let lines = run_both!(Talk, |launch| lines(launch).await);
    let expected = [
        "0: run_started",
        r#"1: superstep_started ["talk"]"#,
        "1 talk#1: node_started",
        r#"1 talk#1: custom "one""#,
        r#"1 talk#1: custom {"two":2}"#,
        r#"1 talk#1: node_finished Some(["talk"])"#,
        "1: superstep_finished",
        r#"1: finished ["talk"]"#,
    ];
    assert_eq!(lines, expected);
    // Three events before it, and then it is there although the node waits.
    let mut events = Talk::run(vec![]).events();
    for _ in 0..3 {
        assert!(poll_once(&mut Box::pin(events.next())).await.is_ready());
    }
    let Poll::Ready(Some(event)) = poll_once(&mut Box::pin(events.next())).await else {
        panic!("not yielded at once")
    };
    assert_eq!(line(&event), r#"1 talk#1: custom "one""#);
}

#[node(Log)]
async fn fail() -> petalflow::Result<LogXs> {
    Err("broken".into())
}

flow_and_graph! { Fail(Log) { a -> fail; } nodes: a, fail }

#[tokio::test]
async fn a_failure_ends_the_events() {
    let lines = run_both!(Fail, |launch| lines(launch).await);
    let expected = [
        "2 fail#1: node_started",
        "2 fail#1: node_failed",
        "2: failed node `fail` failed in superstep 2: broken",
    ];
    assert_eq!(lines[lines.len() - 3..], expected);
}

#[tokio::test]
async fn g040_a_stream_that_has_ended_stays_ended() {
    let mut events = Fork::run(vec![]).events();
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event.kind.name());
    }
    assert_eq!(last, Some("finished"));
    assert!(events.next().await.is_none());
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn g041_the_last_event_has_the_typed_state_of_the_run() {
    let heard = run_both!(Fork, |launch| {
        let mut finished = None;
        let mut events = launch.run(list(["x"])).events();
        while let Some(event) = events.next().await {
            if let EventKind::Finished { state } = event.kind {
                finished = Some(state);
            }
        }
        finished.unwrap()
    });
    assert_eq!(heard, Fork::run(list(["x"])).await.unwrap());
}

#[tokio::test]
async fn an_error_that_happens_before_the_first_node_is_an_event_too() {
    let kinds: Vec<_> = Fork::new().limit(0).run(vec![]).events().collect().await;
    let [
        Event {
            kind: EventKind::RunStarted,
            ..
        },
        Event {
            kind: EventKind::Failed { error },
            ..
        },
    ] = &kinds[..]
    else {
        panic!("{kinds:?}")
    };
    assert!(matches!(error.kind(), RunErrorKind::Limit { limit: 0, .. }));
}

/// Counts how often it is cloned or serialized.
#[derive(Debug, Default)]
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Counted(Arc::clone(&self.0))
    }
}

impl serde::Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        serializer.serialize_unit()
    }
}

#[state(volatile)]
struct Quiet {
    #[key(default)]
    counted: Counted,
}

#[node(Quiet)]
async fn counts(cx: Context, count: Managed<Counted>) -> petalflow::Result<QuietCounted> {
    let counted = Counted(Arc::clone(&count.0));
    cx.emit_with(|| counted.clone());
    Ok(QuietCounted(counted))
}

flow_and_graph! { Counts(Quiet) { counts } nodes: counts }

#[tokio::test]
async fn no_event_is_built_without_a_listener() {
    let silent = run_both!(Counts, |launch| {
        let count = Counted::default();
        launch
            .manage(Counted(Arc::clone(&count.0)))
            .run(())
            .await
            .unwrap();
        count.0.load(Ordering::SeqCst)
    });
    assert_eq!(silent, 0);
    let heard = run_both!(Counts, |launch| {
        let count = Counted::default();
        launch
            .manage(Counted(Arc::clone(&count.0)))
            .run(())
            .events()
            .count()
            .await;
        count.0.load(Ordering::SeqCst)
    });
    assert_eq!(
        heard, 2,
        "one serialized for `emit`, one cloned for the update"
    );
}

#[tokio::test]
#[should_panic(expected = "must be called before the run is polled")]
async fn events_must_be_requested_before_the_run_begins() {
    let mut run = Box::pin(Talk::run(vec![]));
    assert!(poll_once(&mut run).await.is_pending());
    drop((*std::pin::Pin::into_inner(run)).events());
}

#[node(Log)]
async fn items() -> Each<u32> {
    Each(vec![10, 20])
}

#[node(Log)]
async fn item(#[item] _number: &u32) {}

flow_and_graph! { Items(Log) { items -> each item; } nodes: items, item }

#[tokio::test]
async fn events_name_the_item_and_its_task() {
    let (nodes, indexes, ids) = run_both!(Items, |launch| {
        let (mut nodes, mut indexes, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let mut events = launch.run(vec![]).events();
        while let Some(event) = events.next().await {
            if let EventKind::SuperstepStarted { nodes: started } = &event.kind {
                nodes.extend(started.iter().map(ToString::to_string));
            }
            if let (EventKind::NodeStarted | EventKind::NodeFinished { .. }, Some(task)) =
                (&event.kind, &event.task)
            {
                indexes.push(task.index);
                ids.push(task.id);
            }
        }
        ids.dedup();
        (nodes, indexes, ids.len())
    });
    assert_eq!(nodes, ["items", "item", "item"]);
    assert_eq!(indexes, [None, None, Some(0), Some(0), Some(1), Some(1)]);
    assert_eq!(ids, 3, "each task has one id, from start to finish");
}
