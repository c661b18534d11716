//! Code around nodes and around runs.

use std::sync::Arc;

use petalflow::middleware::{Next, NodeCall, RunMiddleware, RunNext, for_nodes, from_fn, recover};
use petalflow::node::Output;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::{BoxError, Middleware, RunError, async_trait};

use crate::support::{
    Log, LogInput, LogXs, Trace, appending, expect_error, flow_and_graph, kind, list, run_both,
};

appending!(a b);

/// Says when it is passed, inward and outward.
struct Say(&'static str, Trace);

#[async_trait]
impl<S: State> Middleware<S> for Say {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        self.1.record(format!("{}-before", self.0));
        let result = next.run(call).await;
        self.1.record(format!("{}-after", self.0));
        result
    }
}

#[node(Log)]
async fn node(trace: Managed<Trace>) -> LogXs {
    trace.record("node");
    LogXs(list(["node"]))
}

flow_and_graph! { One(Log) { node } nodes: node }
flow_and_graph! { Two(Log) { a -> b; } nodes: a, b }
flow_and_graph! { Fork(Log) { START -> a & b; } nodes: a, b }

#[tokio::test]
async fn c107_g044_g048_the_first_middleware_is_the_outermost() {
    let trace_lines = run_both!(One, |launch| {
        let trace = Trace::default();
        let launch = launch
            .middleware(Say("m1", trace.clone()))
            .middleware(Say("m2", trace.clone()));
        launch.manage(trace.clone()).run(vec![]).await.unwrap();
        trace.all()
    });
    assert_eq!(
        trace_lines,
        ["m1-before", "m2-before", "node", "m2-after", "m1-after"]
    );
}

#[tokio::test]
async fn g046_middleware_sees_which_node_and_what_it_reads() {
    let (trace_lines, xs) = run_both!(Two, |launch| {
        let trace = Trace::default();
        let sees = trace.clone();
        let look = from_fn(move |call: NodeCall<'_, Log>, next| {
            sees.record(format!(
                "{} {} {} {:?} {}",
                call.node(),
                call.superstep(),
                call.attempt(),
                call.state.xs,
                call.context().node()
            ));
            next.run(call)
        });
        let xs = launch.middleware(look).run(list(["x"])).await.unwrap().xs;
        (trace.all(), xs)
    });
    assert_eq!(trace_lines, [r#"a 1 1 ["x"] a"#, r#"b 2 1 ["x", "a"] b"#]);
    assert_eq!(xs, ["x", "a", "b"]);
}

#[tokio::test]
async fn middleware_may_replace_the_node_and_its_writes() {
    let xs = run_both!(Fork, |launch| {
        let instead = from_fn(|call: NodeCall<'_, Log>, _next| {
            Box::pin(async move { LogXs(vec![format!("not {}", call.node())]).apply(call.effects) })
        });
        launch.middleware(instead).run(vec![]).await.unwrap().xs
    });
    assert_eq!(xs, ["not a", "not b"]);
}

#[tokio::test]
async fn middleware_may_fail_the_node() {
    let refused = run_both!(Fork, |launch| {
        let refuse = from_fn(|_, _| Box::pin(async { Err("not today".into()) }));
        expect_error(
            launch
                .middleware(for_nodes(|node| node == "b", refuse))
                .run(vec![])
                .await,
        )
        .to_string()
    });
    assert_eq!(refused, "node `b` failed in superstep 1: not today");
}

#[tokio::test]
async fn middleware_sees_what_the_node_wrote() {
    let written = run_both!(Two, |launch| {
        let trace = Trace::default();
        let sees = Arc::new(trace.clone());
        let look = from_fn(move |mut call: NodeCall<'_, Log>, next| {
            let sees = Arc::clone(&sees);
            Box::pin(async move {
                assert!(!call.effects.update.written_any());
                next.run(call.reborrow()).await?;
                sees.record(call.effects.update.of::<LogXs>().only().unwrap().join(" "));
                LogXs(list(["and more"])).apply(call.effects)
            })
        });
        let xs = launch.middleware(look).run(vec![]).await.unwrap().xs;
        assert_eq!(xs, ["a", "and more", "b", "and more"]);
        trace.all()
    });
    assert_eq!(written, ["a", "b"]);
}

#[tokio::test]
async fn g047_middleware_applies_to_some_nodes_only() {
    let trace_lines = run_both!(Two, |launch| {
        let trace = Trace::default();
        launch
            .middleware(for_nodes(|node| node != "a", Say("m", trace.clone())))
            .run(vec![])
            .await
            .unwrap();
        trace.all()
    });
    assert_eq!(trace_lines, ["m-before", "m-after"]);
}

#[node(Log)]
async fn panics() -> LogXs {
    panic!("no paper")
}

flow_and_graph! { Panics(Log) { a -> panics; } nodes: a, panics }

#[tokio::test]
async fn g047_recovery_turns_a_panic_into_an_error_and_calls_its_hook() {
    let (kind, trace_lines) = run_both!(Panics, |launch| {
        let trace = Trace::default();
        let hook = trace.clone();
        let launch = launch.middleware(recover(move |node, message| {
            hook.record(format!("{node}: {message}"));
        }));
        (kind(launch.run(vec![]).await), trace.all())
    });
    assert_eq!(trace_lines, ["panics: panicked: no paper"]);
    let RunErrorKind::Node(error) = kind else {
        panic!("{kind:?}")
    };
    assert_eq!(
        (error.kind, error.message.as_str()),
        (petalflow::error::FailureKind::Error, "panicked: no paper")
    );
}

#[tokio::test]
async fn a_panic_in_middleware_fails_the_node() {
    let kind = run_both!(One, |launch| {
        let panics = from_fn(|_: NodeCall<'_, Log>, _| panic!("in middleware"));
        kind(
            launch
                .middleware(panics)
                .manage(Trace::default())
                .run(vec![])
                .await,
        )
    });
    assert!(
        matches!(kind, RunErrorKind::Node(error) if error.message == "panicked: in middleware")
    );
}

/// Says what goes in and what comes out.
struct Around(&'static str, Trace);

#[async_trait]
impl RunMiddleware<Log> for Around {
    async fn around(
        &self,
        input: Option<LogInput>,
        next: RunNext<'_, Log>,
    ) -> Result<Log, RunError> {
        let xs = input.as_ref().map(|input| &input.xs);
        self.1.record(format!("{} {:?}", self.0, xs.unwrap()));
        let result = next.run(input).await;
        self.1.record(match &result {
            Ok(log) => format!("{} {:?}", self.0, log.xs),
            Err(error) => format!("{} {error}", self.0),
        });
        result
    }
}

/// Changes the input, or prevents the run.
struct Gatekeeper;

#[async_trait]
impl RunMiddleware<Log> for Gatekeeper {
    async fn around(
        &self,
        mut input: Option<LogInput>,
        next: RunNext<'_, Log>,
    ) -> Result<Log, RunError> {
        if let Some(input) = &mut input {
            if input.xs == ["blocked"] {
                return Ok(Log {
                    xs: list(["no entry"]),
                });
            }
            input.xs.push("seen".into());
        }
        next.run(input).await
    }
}

#[tokio::test]
async fn g045_run_middleware_sees_input_and_result_and_the_first_is_outermost() {
    let trace_lines = run_both!(One, |launch| {
        let trace = Trace::default();
        let launch = launch
            .run_middleware(Around("r1", trace.clone()))
            .run_middleware(Gatekeeper)
            .run_middleware(Around("r2", trace.clone()));
        launch.manage(trace.clone()).run(list(["x"])).await.unwrap();
        trace.all()
    });
    assert_eq!(
        trace_lines,
        [
            r#"r1 ["x"]"#,
            r#"r2 ["x", "seen"]"#,
            "node",
            r#"r2 ["x", "seen", "node"]"#,
            r#"r1 ["x", "seen", "node"]"#
        ]
    );
}

#[tokio::test]
async fn g045_run_middleware_may_block_everything() {
    let (xs, trace_lines) = run_both!(One, |launch| {
        let trace = Trace::default();
        let launch = launch
            .run_middleware(Gatekeeper)
            .run_middleware(Around("r", trace.clone()));
        let xs = launch
            .manage(trace.clone())
            .run(list(["blocked"]))
            .await
            .unwrap()
            .xs;
        (xs, trace.all())
    });
    assert_eq!((xs, trace_lines), (list(["no entry"]), vec![]));
}

#[tokio::test]
async fn g045_run_middleware_sees_the_error() {
    let trace_lines = run_both!(Panics, |launch| {
        let trace = Trace::default();
        expect_error(
            launch
                .run_middleware(Around("r", trace.clone()))
                .run(vec![])
                .await,
        );
        trace.all()
    });
    assert_eq!(
        trace_lines,
        [
            "r []",
            "r node `panics` failed in superstep 2: panicked: no paper"
        ]
    );
}
