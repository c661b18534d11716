//! Runs step by step: rows P084 to P086.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow_documents::builder::{EnvelopeBuilder, EnvelopeFlow};
use petalflow_documents::kinds::RuleRouter;
use petalflow_documents::run::{
    AutoController, BreakpointController, ChannelController, EnvelopeRunError, FuncController,
    RunEventKind, RunOptions, StepAborted, StepController, StepPoint, StepRequest, StepResponse,
};
use petalflow_documents::{Artifact, Envelope, NodeFailure, NodeKind};
use serde_json::{Map, json};

use crate::builder::{mark, merge, set, visited_nodes};
use crate::support::{settings, var};

fn chain() -> EnvelopeFlow {
    let built = EnvelopeBuilder::new("test").add_node("a", mark("a").1);
    built
        .edge("b", mark("b").1)
        .edge("c", mark("c").1)
        .must_build()
}

fn set_vars(name: &str, value: i64) -> StepResponse {
    StepResponse::Continue {
        set_vars: Map::from_iter([(name.to_owned(), json!(value))]),
        delete_vars: Vec::new(),
    }
}

/// A controller that pauses everywhere and answers with a function. It records the pauses.
struct Everywhere<F> {
    answer: F,
    pauses: Arc<Mutex<Vec<String>>>,
}

#[petalflow::async_trait]
impl<F: Fn(&StepRequest) -> StepResponse + Send + Sync + 'static> StepController for Everywhere<F> {
    fn pauses_at(&self, _: &str, _: StepPoint) -> bool {
        true
    }

    fn is_breakpoint(&self, node: &str, point: StepPoint) -> bool {
        (node, point) == ("c", StepPoint::After)
    }

    async fn step(&self, request: StepRequest) -> StepResponse {
        let pause = format!("{:?} {}", request.point, request.node);
        self.pauses.lock().unwrap().push(pause);
        (self.answer)(&request)
    }
}

async fn run_with_controller(
    flow: &EnvelopeFlow,
    envelope: Envelope,
    answer: impl Fn(&StepRequest) -> StepResponse + Send + Sync + 'static,
) -> (Result<Envelope, EnvelopeRunError>, Vec<String>, Vec<String>) {
    let (pauses, events): (Arc<Mutex<Vec<String>>>, Arc<Mutex<Vec<String>>>) = Default::default();
    let log = Arc::clone(&events);
    let options = RunOptions::new()
        .step(Everywhere {
            answer,
            pauses: Arc::clone(&pauses),
        })
        .on_event(move |event| {
            if event.kind.as_str().starts_with("step.") {
                let node = event.node.as_deref().unwrap_or_default();
                log.lock().unwrap().push(format!("{} {node}", event.kind));
            }
        });
    let result = flow.run_with(envelope, &options).await;
    let (pauses, events) = (
        pauses.lock().unwrap().clone(),
        events.lock().unwrap().clone(),
    );
    (result, pauses, events)
}

#[tokio::test]
async fn p084_a_run_pauses_before_and_after_nodes() {
    let (envelope, pauses, events) =
        run_with_controller(&chain(), Envelope::new(), |_| StepResponse::proceed()).await;
    assert_eq!(visited_nodes(&envelope.unwrap()), "a b c");
    assert_eq!(
        pauses,
        [
            "Before a", "After a", "Before b", "After b", "Before c", "After c"
        ]
    );
    assert_eq!(
        events[..4],
        [
            "step.paused a",
            "step.resumed a",
            "step.paused a",
            "step.resumed a"
        ]
    );
}

#[tokio::test]
async fn p084_by_default_a_run_pauses_before_nodes_only() {
    let seen: Arc<Mutex<Vec<StepPoint>>> = Arc::default();
    let points = Arc::clone(&seen);
    let controller = FuncController::new(move |request| {
        points.lock().unwrap().push(request.point);
        async { StepResponse::proceed() }
    });
    chain()
        .run_with(None, &RunOptions::new().step(controller))
        .await
        .unwrap();
    assert_eq!(*seen.lock().unwrap(), [StepPoint::Before; 3]);
}

#[tokio::test]
async fn p084_a_skipped_node_does_not_run_and_its_successors_do() {
    let skip = |request: &StepRequest| match request.node.as_str() {
        "b" => StepResponse::Skip,
        _ => StepResponse::proceed(),
    };
    let (envelope, pauses, events) = run_with_controller(&chain(), Envelope::new(), skip).await;
    assert_eq!(visited_nodes(&envelope.unwrap()), "a c");
    assert!(!pauses.contains(&"After b".to_owned()));
    assert!(events.contains(&"step.skipped b".to_owned()));
    // All targets of a router run, and the first branch of a merge is used.
    let router = RuleRouter::new(settings(
        json!({ "rules": [{ "target": "x" }], "default_target": "y" }),
    ));
    let built = EnvelopeBuilder::new("test").add_node("a", mark("a").1);
    let built = built.conditional("pick", router, [("x", set("n", 1)), ("y", set("n", 2))]);
    let flow = built.merge("m", merge()).must_build();
    let skip = |request: &StepRequest| match request.node.as_str() {
        "pick" | "m" => StepResponse::Skip,
        _ => StepResponse::proceed(),
    };
    let (envelope, pauses, _) = run_with_controller(&flow, Envelope::new(), skip).await;
    assert_eq!(var(&envelope.unwrap(), "n"), json!(1));
    assert!(pauses.contains(&"Before x".to_owned()) && pauses.contains(&"Before y".to_owned()));
}

#[tokio::test]
async fn p084_abort_ends_the_run() {
    let abort = |request: &StepRequest| match request.node.as_str() {
        "b" => StepResponse::Abort {
            reason: "seen enough".into(),
        },
        _ => StepResponse::proceed(),
    };
    let (result, pauses, events) = run_with_controller(&chain(), Envelope::new(), abort).await;
    let aborted = StepAborted {
        node: "b".into(),
        reason: "seen enough".into(),
    };
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&aborted));
    assert_eq!(pauses.last().unwrap(), "Before b");
    assert_eq!(events.last().unwrap(), "step.aborted b");
    // Also with `continue_on_error`.
    let controller = FuncController::new(|_| async {
        StepResponse::Abort {
            reason: "no".into(),
        }
    });
    let options = RunOptions::new().continue_on_error(true).step(controller);
    assert!(chain().run_with(None, &options).await.is_err());
}

#[tokio::test]
async fn p084_run_to_breakpoint_pauses_at_breakpoints_only() {
    let run = |_: &StepRequest| StepResponse::RunToBreakpoint;
    let (envelope, pauses, _) = run_with_controller(&chain(), Envelope::new(), run).await;
    assert_eq!(visited_nodes(&envelope.unwrap()), "a b c");
    assert_eq!(pauses, ["Before a", "After c"]);
}

#[tokio::test]
async fn p084_variables_change_only_before_a_node() {
    let edit = |request: &StepRequest| match (request.node.as_str(), request.point) {
        ("a", StepPoint::Before) => StepResponse::Continue {
            set_vars: Map::from_iter([("set".to_owned(), json!(1))]),
            delete_vars: vec!["old".into(), "none".into()],
        },
        ("b", StepPoint::After) => set_vars("late", 1),
        _ => StepResponse::proceed(),
    };
    let flow = chain();
    let envelope = Envelope::new().with_var("old", 1).with_var("kept", 1);
    let (envelope, ..) = run_with_controller(&flow, envelope, edit).await;
    let envelope = envelope.unwrap();
    assert_eq!(json!(envelope.vars), json!({ "kept": 1, "set": 1 }));
    assert_eq!(visited_nodes(&envelope), "a b c");
}

#[tokio::test(start_paused = true)]
async fn p084_there_is_no_timeout_unless_it_is_set() {
    let slow = || {
        FuncController::new(|_| async {
            tokio::time::sleep(Duration::from_secs(100_000)).await;
            StepResponse::proceed()
        })
    };
    chain()
        .run_with(None, &RunOptions::new().step(slow()))
        .await
        .unwrap();
    let options = RunOptions::new()
        .step(slow())
        .step_timeout(Duration::from_secs(5));
    let error = chain().run_with(None, &options).await.unwrap_err();
    assert!(
        error
            .downcast_ref::<StepAborted>()
            .unwrap()
            .reason
            .contains("5s"),
        "{error}"
    );
}

#[tokio::test]
async fn p085_a_request_has_the_envelope_and_the_graph() {
    let built = EnvelopeBuilder::new("test").add_node("a", mark("a").1);
    let flow = built
        .fan_out([("b", set("b", 1)), ("c", set("c", 2))])
        .merge("m", merge())
        .must_build();
    let seen: Arc<Mutex<Vec<StepRequest>>> = Arc::default();
    let requests = Arc::clone(&seen);
    let mut envelope = Envelope::new().with_var("v", 7);
    envelope.append_artifact(Artifact::new("chunk"));
    envelope.append_error(NodeFailure::new("before", "once"));
    let (result, ..) = run_with_controller(&flow, envelope, move |request| {
        requests.lock().unwrap().push(request.clone());
        StepResponse::proceed()
    })
    .await;
    let run_id = result.unwrap().trace.run_id;
    let seen = seen.lock().unwrap();
    let at = |node: &str, point| {
        seen.iter()
            .find(|it| it.node == node && it.point == point)
            .unwrap()
    };
    let before = at("b", StepPoint::Before);
    assert_eq!(before.envelope.get_var("v"), Some(&json!(7)));
    assert_eq!(
        (
            before.envelope.artifacts.len(),
            before.envelope.errors.len()
        ),
        (1, 1)
    );
    assert_eq!(visited_nodes(&before.envelope), "a");
    assert_eq!(before.envelope.trace.run_id, run_id);
    assert_eq!(
        (
            before.graph.predecessors.join(" "),
            before.graph.successors.join(" ")
        ),
        ("a".into(), "m".into())
    );
    assert_eq!(*before.graph.nodes, ["a", "b", "c", "m"]);
    let merge = at("m", StepPoint::Before);
    assert_eq!(
        (&merge.kind, merge.envelope.branches.iter().count()),
        (&NodeKind::Merge, 2)
    );
    let after = at("m", StepPoint::After);
    assert_eq!(
        (after.envelope.get_var("b"), after.envelope.get_var("c")),
        (Some(&json!(1)), Some(&json!(2)))
    );
    let numbers: Vec<u64> = seen.iter().map(|request| request.number).collect();
    assert_eq!(numbers, (1..=8).collect::<Vec<u64>>());
}

#[tokio::test]
async fn p086_a_channel_controller_is_answered_by_another_task() {
    let controller = ChannelController::new();
    controller.set_breakpoint("c", StepPoint::After);
    controller.set_breakpoint("b", StepPoint::After);
    assert!(controller.remove_breakpoint("b", StepPoint::After));
    assert!(!controller.remove_breakpoint("b", StepPoint::After));
    let options = RunOptions::new().step(controller.clone());
    let flow = chain();
    let run = async { flow.run_with(None, &options).await };
    let answers = async {
        let first = controller.next().await;
        assert_eq!((first.node.as_str(), controller.pending().len()), ("a", 1));
        controller.respond(first.number, set_vars("x", 1)).unwrap();
        controller
            .respond(first.number, StepResponse::proceed())
            .unwrap_err();
        let second = controller.next().await;
        assert_eq!(
            (second.node.as_str(), second.point),
            ("b", StepPoint::Before)
        );
        controller
            .respond(second.number, StepResponse::RunToBreakpoint)
            .unwrap();
        let third = controller.next().await;
        assert_eq!((third.node.as_str(), third.point), ("c", StepPoint::After));
        controller
            .respond(third.number, StepResponse::proceed())
            .unwrap();
    };
    let (envelope, ()) = tokio::join!(run, answers);
    assert_eq!(var(&envelope.unwrap(), "x"), json!(1));
    // A run that was dropped leaves no request.
    {
        let run = flow.run_with(None, &options);
        tokio::select! {
            biased;
            _ = run => panic!("nothing answers"),
            () = tokio::task::yield_now() => {}
        }
    }
    assert!(controller.pending().is_empty());
}

#[tokio::test]
async fn p086_a_breakpoint_controller_pauses_at_its_points() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let nodes = Arc::clone(&seen);
    let inner = FuncController::new(move |request| {
        nodes
            .lock()
            .unwrap()
            .push(format!("{:?} {}", request.point, request.node));
        async { StepResponse::proceed() }
    });
    let points = [("b", StepPoint::After), ("c", StepPoint::Before)];
    let controller = BreakpointController::new(points, inner);
    chain()
        .run_with(None, &RunOptions::new().step(controller))
        .await
        .unwrap();
    assert_eq!(*seen.lock().unwrap(), ["After b", "Before c"]);
}

#[tokio::test(start_paused = true)]
async fn p086_an_auto_controller_waits_and_can_be_paused() {
    let controller = AutoController::new().delay(Duration::from_secs(2));
    let options = RunOptions::new().step(controller.clone());
    let begun = tokio::time::Instant::now();
    chain().run_with(None, &options).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(6));
    controller.pause();
    let flow = chain();
    let mut run = Box::pin(flow.run_with(None, &options));
    let waited = tokio::time::timeout(Duration::from_mins(1), &mut run).await;
    assert!(waited.is_err() && controller.is_paused());
    controller.resume();
    run.await.unwrap();
}

/// Nodes of one superstep ask one after another, in their order.
#[tokio::test]
async fn requests_come_one_at_a_time() {
    let built = EnvelopeBuilder::new("test").add_node("a", mark("a").1);
    let flow = built
        .fan_out([mark("b"), mark("c"), mark("d")])
        .must_build();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let nodes = Arc::clone(&seen);
    let controller = FuncController::new(move |request| {
        let nodes = Arc::clone(&nodes);
        async move {
            nodes
                .lock()
                .unwrap()
                .push(format!("begin {}", request.node));
            tokio::task::yield_now().await;
            nodes.lock().unwrap().push(format!("end {}", request.node));
            StepResponse::proceed()
        }
    });
    let options = RunOptions::new().concurrency(6).step(controller);
    let stopped = RunEventKind::StepPaused;
    let options =
        options.on_event(move |event| assert!(event.kind != stopped || event.node.is_some()));
    flow.run_with(None, &options).await.unwrap();
    let expected: Vec<String> = ["a", "b", "c", "d"]
        .iter()
        .flat_map(|it| [format!("begin {it}"), format!("end {it}")])
        .collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}
