//! Runs with options, and their events: rows P053 to P063 and P078 to P083, P087.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::error::FailureKind;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow_documents::builder::{EnvelopeBuilder, EnvelopeFlow, EnvelopeGraph, GraphError};
use petalflow_documents::kinds::{AnyNode, FuncNode, MergeNode, NoopNode, RuleRouter};
use petalflow_documents::run::{
    EnvelopeRunError, MaxHopsExceeded, NodeTimeout, RunEvent, RunEventKind, RunOptions,
};
use petalflow_documents::{Changes, Envelope, NodeKind, Trace};
use serde_json::{Value, json};

use crate::builder::{mark, merge, set, visited_nodes};
use crate::support::{settings, var};

fn begin() -> EnvelopeBuilder {
    EnvelopeBuilder::new("test").add_node("a", mark("a").1)
}

/// A node that fails.
fn fail(message: &'static str) -> AnyNode {
    AnyNode::new(
        FuncNode::new(move |_| async move { Err(message.into()) }).with_kind(NodeKind::Tool),
    )
}

fn panics() -> AnyNode {
    AnyNode::new(FuncNode::new(|_| async { panic!("no paper") }))
}

/// Options that collect the events.
fn with_recorder(options: RunOptions) -> (RunOptions, Arc<Mutex<Vec<RunEvent>>>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&events);
    let options = options.on_event(move |event| all.lock().unwrap().push(event.clone()));
    (options, events)
}

async fn events(flow: &EnvelopeFlow, options: RunOptions) -> Vec<RunEvent> {
    let (options, events) = with_recorder(options);
    let _ = flow.run_with(Envelope::new(), &options).await;
    let events = events.lock().unwrap();
    events.clone()
}

fn lines(events: &[RunEvent]) -> Vec<String> {
    let line = |event: &RunEvent| match &event.node {
        Some(node) => format!("{} {node}", event.kind),
        None => event.kind.to_string(),
    };
    events.iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn p053_the_defaults_of_a_run() {
    let text = format!("{:?}", RunOptions::new());
    assert!(
        text.contains(
            "max_hops: 100, continue_on_error: false, concurrency: 1, node_timeout: None"
        ),
        "{text}"
    );
    assert_eq!(format!("{:?}", RunOptions::new().max_hops(0)), text);
    assert_eq!(
        format!(
            "{:?}",
            RunOptions::new()
                .node_timeout(Duration::ZERO)
                .concurrency(0)
        ),
        text
    );
    // No timeout.
    let slow = AnyNode::new(FuncNode::new(|_| async {
        tokio::time::sleep(Duration::from_secs(1000)).await;
        Ok(Changes::new())
    }));
    let flow = begin().edge("b", slow).must_build();
    flow.run_with(Envelope::new(), &RunOptions::new())
        .await
        .unwrap();
}

/// A graph that cannot run cannot be built, so no run has begun.
#[test]
fn p054_an_empty_graph_and_one_without_an_entry_do_not_run() {
    let errors = EnvelopeGraph::new("test").build().unwrap_err();
    assert_eq!(errors.errors(), [GraphError::EmptyGraph]);
    let mut graph = EnvelopeGraph::new("test");
    graph.add_node("a", NoopNode).unwrap();
    assert_eq!(
        graph.build().unwrap_err().errors(),
        [GraphError::NoEntryNode]
    );
}

#[tokio::test]
async fn p055_a_run_without_an_envelope_creates_one() {
    let envelope = begin()
        .must_build()
        .run_with(None, &RunOptions::new())
        .await
        .unwrap();
    assert_eq!(visited_nodes(&envelope), "a");
    assert!(envelope.vars.is_empty() && envelope.trace.started_ms > 0);
}

#[tokio::test]
async fn p056_each_run_gets_an_identifier() {
    let flow = begin().must_build();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let given = Trace {
            run_id: "mine".into(),
            ..Trace::now()
        };
        let envelope = Envelope::new().with_trace(given);
        let id = flow
            .run_with(envelope, &RunOptions::new())
            .await
            .unwrap()
            .trace
            .run_id;
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
        assert!(
            id.chars().all(|it| it == '-' || it.is_ascii_hexdigit()),
            "{id}"
        );
        assert!(!ids.contains(&id));
        ids.push(id);
    }
    let all = events(&flow, RunOptions::new()).await;
    assert!(all.iter().all(|event| event.run_id == all[0].run_id));
}

#[tokio::test]
async fn p057_a_chain_runs_in_order() {
    let flow = begin()
        .edge("b", mark("b").1)
        .edge("c", mark("c").1)
        .must_build();
    let all = events(&flow, RunOptions::new()).await;
    let expected = [
        "run.started",
        "node.started a",
        "node.finished a",
        "node.started b",
        "node.finished b",
        "node.started c",
        "node.finished c",
        "run.finished",
    ];
    assert_eq!(lines(&all), expected);
    assert_eq!(all[1].node_kind, Some(NodeKind::Noop));
}

#[tokio::test]
async fn p058_the_last_event_has_the_status() {
    let last = |events: Vec<RunEvent>| json!(events.last().unwrap().payload);
    let done = events(&begin().must_build(), RunOptions::new()).await;
    assert_eq!(last(done), json!({ "status": "completed" }));
    let failed = events(
        &begin().edge("b", fail("no line")).must_build(),
        RunOptions::new(),
    )
    .await;
    let failed = last(failed);
    assert_eq!(failed["status"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("no line"));
}

#[tokio::test]
async fn p059_a_failed_node_ends_the_run() {
    let flow = begin()
        .edge("b", fail("no line"))
        .edge("c", mark("c").1)
        .must_build();
    let (options, log) = with_recorder(RunOptions::new());
    let error = flow.run_with(Envelope::new(), &options).await.unwrap_err();
    let EnvelopeRunError::Failed(error) = error else {
        panic!("{error:?}");
    };
    let RunErrorKind::Node(node) = error.kind() else {
        panic!("{error:?}");
    };
    assert_eq!(
        (node.node.as_str(), node.message.as_str()),
        ("b", "no line")
    );
    assert_eq!(error.get_ref().unwrap().to_string(), "no line");
    let log = log.lock().unwrap();
    assert_eq!(
        lines(&log)[3..],
        ["node.started b", "node.failed b", "run.finished"]
    );
    assert_eq!(log[4].payload["error"], "no line");
}

#[tokio::test]
async fn p060_a_recorded_failure_has_all_fields() {
    let flow = begin()
        .edge("b", fail("no line"))
        .edge("c", mark("c").1)
        .must_build();
    let (options, log) = with_recorder(RunOptions::new().continue_on_error(true));
    let envelope = flow.run_with(Envelope::new(), &options).await.unwrap();
    assert_eq!(visited_nodes(&envelope), "a c");
    let [error] = &envelope.errors[..] else {
        panic!("{:?}", envelope.errors);
    };
    assert_eq!(
        (error.node.as_str(), error.message.as_str(), error.attempt),
        ("b", "no line", 1)
    );
    assert_eq!(error.kind, Some(NodeKind::Tool));
    assert!(error.at_ms > 0);
    let log = lines(&log.lock().unwrap());
    assert_eq!(
        log[3..],
        [
            "node.started b",
            "node.failed b",
            "node.started c",
            "node.finished c",
            "run.finished"
        ]
    );
}

/// The engine catches panics. The stack is printed by the panic hook of Rust.
#[tokio::test]
async fn p061_a_panic_is_a_failure_of_the_node() {
    let flow = begin()
        .fan_out([("b", panics()), ("c", mark("c").1)])
        .must_build();
    for nodes in [1, 6] {
        let (options, log) = with_recorder(RunOptions::new().concurrency(nodes));
        let error = flow.run_with(Envelope::new(), &options).await.unwrap_err();
        let EnvelopeRunError::Failed(error) = error else {
            panic!("{error:?}");
        };
        let RunErrorKind::Node(node) = error.kind() else {
            panic!("{error:?}");
        };
        assert_eq!((node.node.as_str(), node.kind), ("b", FailureKind::Panic));
        assert!(node.message.contains("no paper"), "{}", node.message);
        let log = log.lock().unwrap();
        let failed = log
            .iter()
            .find(|event| event.kind == RunEventKind::NodeFailed)
            .unwrap();
        assert_eq!(failed.payload["panic"], true);
    }
    let options = RunOptions::new().continue_on_error(true);
    let envelope = flow.run_with(Envelope::new(), &options).await.unwrap();
    assert_eq!(envelope.errors[0].message, "it panicked: no paper");
}

#[tokio::test]
async fn p062_a_cancelled_run_ends_between_nodes() {
    let token = CancelToken::new();
    let cancel = token.clone();
    let node = AnyNode::new(FuncNode::new(move |_| {
        cancel.cancel();
        async { Ok(Changes::new()) }
    }));
    let flow = begin().edge("b", node).edge("c", panics()).must_build();
    let error = flow
        .run_with(None, &RunOptions::new().cancel_with(&token))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, EnvelopeRunError::Failed(error) if *error.kind() == RunErrorKind::Cancelled)
    );
}

#[tokio::test]
async fn p063_a_node_that_runs_too_often_ends_the_run() {
    let again = RuleRouter::new(settings(
        json!({ "rules": [{ "target": "a" }], "default_target": "z" }),
    ));
    let built = begin()
        .edge("pick", again)
        .edge_to("a")
        .branch("pick")
        .edge("z", NoopNode);
    let flow = built.must_build();
    for continues in [false, true] {
        let options = RunOptions::new().max_hops(3).continue_on_error(continues);
        let error = flow.run_with(None, &options).await.unwrap_err();
        let expected = MaxHopsExceeded {
            node: "a".into(),
            max_hops: 3,
        };
        assert_eq!(error.downcast_ref(), Some(&expected));
        assert!(
            error
                .to_string()
                .contains("node `a` would run more than 3 times"),
            "{error}"
        );
    }
    // It is counted per node: two nodes that run three times each are fine.
    let count = Arc::new(AtomicU32::new(0));
    let runs = Arc::clone(&count);
    let twice = FuncNode::new(move |_| {
        let n = runs.fetch_add(1, Ordering::Relaxed) + 1;
        async move { Ok(Changes::new().var("n", n)) }
    });
    let again = RuleRouter::new(settings(json!({
        "rules": [{ "target": "b", "conditions": [{ "var_path": "n", "op": "lt", "value": 3 }] }],
        "default_target": "z",
    })));
    let built = begin()
        .edge("b", twice)
        .edge("pick", again)
        .edge_to("b")
        .branch("pick")
        .edge("z", NoopNode);
    built
        .must_build()
        .run_with(None, &RunOptions::new().max_hops(3))
        .await
        .unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn p078_another_branch_still_runs() {
    let branches = [
        vec![("b", fail("no line")), ("b2", set("b", 1))],
        vec![("c", set("c", 2))],
    ];
    let flow = begin()
        .fan_out_branches(branches)
        .merge("m", merge())
        .must_build();
    let options = RunOptions::new().continue_on_error(true).concurrency(4);
    let envelope = flow.run_with(None, &options).await.unwrap();
    assert_eq!(json!(envelope.vars), json!({ "b": 1, "c": 2 }));
    assert_eq!(envelope.errors.len(), 1);
}

#[tokio::test]
async fn p079_a_failed_merge_uses_its_first_input() {
    let strategy = json!({ "strategy": "json_merge", "conflict_policy": "error" });
    let built = begin().fan_out([("b", set("x", 1)), ("c", set("x", 2))]);
    let flow = built
        .merge("m", MergeNode::new(settings(strategy)))
        .edge("d", mark("d").1)
        .must_build();
    let options = RunOptions::new().continue_on_error(true);
    let envelope = flow.run_with(None, &options).await.unwrap();
    assert_eq!(var(&envelope, "x"), json!(1));
    assert_eq!(visited_nodes(&envelope), "a d");
    assert_eq!(envelope.errors[0].kind, Some(NodeKind::Merge));
    assert!(flow.run_with(None, &RunOptions::new()).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p080_events_are_numbered_and_handled_one_at_a_time() {
    let nodes: Vec<(String, AnyNode)> = (0..6).map(|i| (format!("n{i}"), mark("n").1)).collect();
    let flow = begin().fan_out(nodes).must_build();
    let (inside, seen) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(Mutex::new(Vec::new())),
    );
    let numbers = Arc::clone(&seen);
    let options = RunOptions::new().concurrency(6).on_event(move |event| {
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
        numbers.lock().unwrap().push(event.seq);
        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
    });
    flow.run_with(None, &options).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, (1..=16).collect::<Vec<u64>>());
}

#[tokio::test]
async fn p081_a_full_channel_drops_events_and_counts_them() {
    let nodes: Vec<(String, AnyNode)> = (0..60).map(|i| (format!("n{i}"), mark("n").1)).collect();
    let flow = begin().fan_out(nodes).must_build();
    let (options, mut events) = RunOptions::new().channel();
    flow.run_with(None, &options).await.unwrap();
    // Two events of the run and two for each of 61 nodes.
    assert_eq!(events.dropped_events(), 24);
    drop(options);
    let mut received = 0;
    while let Some(event) = events.next().await {
        received += 1;
        assert_eq!(event.seq, received);
    }
    assert_eq!(received, 100);
}

#[test]
fn p082_the_kinds_of_events_have_these_names() {
    let names: Vec<&str> = RunEventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let expected = "run.started node.started node.output node.failed node.finished route.decision run.finished \
        step.paused step.resumed step.skipped step.aborted tool.call tool.result node.output.delta node.output.final \
        node.output.preview run.snapshot llm.call llm.response edge.transfer";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    for kind in RunEventKind::ALL {
        assert_eq!(RunEventKind::parse(kind.as_str()), Some(*kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    assert_eq!(RunEventKind::parse("node.begun"), None);
}

#[tokio::test(start_paused = true)]
async fn p083_a_node_of_a_graph_that_takes_too_long_fails() {
    let stuck = || AnyNode::new(FuncNode::new(|_| std::future::pending()));
    let flow = begin().edge("b", stuck()).must_build();
    let timeout = Duration::from_secs(3);
    let error = flow
        .run_with(None, &RunOptions::new().node_timeout(timeout))
        .await
        .unwrap_err();
    assert_eq!(
        error.downcast_ref(),
        Some(&NodeTimeout {
            node: "b".into(),
            timeout
        })
    );
    // What `main` prints.
    assert_eq!(format!("{error:?}"), error.to_string());
    flow_ends_in_time(timeout).await;
}

async fn flow_ends_in_time(timeout: Duration) {
    let flow = begin().must_build();
    flow.run_with(None, &RunOptions::new().node_timeout(timeout))
        .await
        .unwrap();
}

#[tokio::test]
async fn p087_the_bus_comes_before_the_handler_and_decorators_wrap_both() {
    let emits = AnyNode::new(Emits);
    let flow = begin().edge("b", emits).must_build();
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let (bus, handler) = (Arc::clone(&log), Arc::clone(&log));
    let options = RunOptions::new()
        .on_event(move |event| {
            handler
                .lock()
                .unwrap()
                .push(format!("handler {} {}", event.seq, event.kind));
        })
        .publish(move |event| {
            bus.lock()
                .unwrap()
                .push(format!("bus {} {}", event.seq, json!(event.payload)));
        })
        .decorate(|mut event, next| {
            if event.kind == RunEventKind::NodeOutputPreview {
                event.payload.insert("outer".into(), json!(true));
                next(event);
            }
        })
        .decorate(|event, next| {
            next(event.clone());
            next(event);
        });
    flow.run_with(None, &options).await.unwrap();
    let payload = r#"{"lines":3,"outer":true}"#;
    let expected = [
        format!("bus 1 {payload}"),
        "handler 1 node.output.preview".into(),
        format!("bus 2 {payload}"),
        "handler 2 node.output.preview".into(),
    ];
    assert_eq!(*log.lock().unwrap(), expected);
    // Without a listener nothing is emitted.
    flow.run_with(None, &RunOptions::new()).await.unwrap();
}

/// A node that emits an event.
struct Emits;

#[petalflow::async_trait]
impl petalflow_documents::kinds::EnvelopeNode for Emits {
    fn kind(&self) -> NodeKind {
        NodeKind::Noop
    }

    async fn process(
        &self,
        call: petalflow_documents::kinds::Call<'_>,
    ) -> Result<Changes, petalflow::BoxError> {
        RunEventKind::NodeOutputPreview.emit(call.cx, || {
            assert!(
                call.cx.has_listener(),
                "it is not called without a listener"
            );
            json!({ "lines": 3 })
        });
        Ok(Changes::new().var("done", Value::Bool(true)))
    }
}

#[tokio::test]
async fn p070_a_decision_of_a_graph_is_an_event() {
    let router = RuleRouter::new(settings(
        json!({ "rules": [{ "target": "b", "reason": "always" }] }),
    ));
    let flow = begin()
        .conditional("pick", router, [mark("b")])
        .must_build();
    let all = events(&flow, RunOptions::new()).await;
    let decision = all
        .iter()
        .find(|event| event.kind == RunEventKind::RouteDecision)
        .unwrap();
    assert_eq!(
        json!(decision.payload),
        json!({ "targets": ["b"], "reason": "always" })
    );
    assert_eq!(decision.node.as_deref(), Some("pick"));
}
