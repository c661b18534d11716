//! The usage of models, by node and by run.

use petalflow::prelude::*;
use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, TokenUsage};
use petalflow_tracing::{Metered, Totals, UsageSummary};

use super::Model;

#[state]
struct Work {
    #[key(append)]
    done: Vec<u32>,
}

#[node(Work)]
async fn list() -> Each<u32> {
    Each(vec![1, 2, 3])
}

#[node(Work, spawn, retry = 2)]
async fn visit(#[item] page: &u32, model: Managed<Metered<Model>>) -> petalflow::Result<WorkDone> {
    model.complete(&LlmRequest::default()).await?;
    Ok(WorkDone(vec![*page]))
}

#[node(Work)]
async fn report(model: Managed<Metered<Model>>) -> petalflow::Result<()> {
    let request = LlmRequest::default();
    let mut pieces = model.stream(&request).await?;
    while pieces.next().await.is_some() {}
    Ok(())
}

flow!(Crawl(Work) { list -> each visit; visit -> report; });

fn usage(input: u64) -> TokenUsage {
    TokenUsage {
        input,
        output: 1,
        total: input + 1,
        cost: 0.5,
        ..TokenUsage::default()
    }
}

fn answer(input: u64) -> Result<LlmResponse, LlmError> {
    let usage = usage(input);
    let response = LlmResponse {
        usage,
        ..LlmResponse::default()
    };
    response.checked(&LlmRequest::default())
}

fn connection_error() -> Result<LlmResponse, LlmError> {
    Err(LlmError::new(LlmErrorKind::Connection, "lost"))
}

#[tokio::test(start_paused = true)]
async fn totals_are_by_node_and_by_run() {
    let all = Totals::new();
    let model = || {
        Model::new([
            connection_error(),
            answer(1),
            answer(2),
            answer(3),
            answer(10),
        ])
    };
    let mut runs = Vec::new();
    for _ in 0..2 {
        let run = all.child();
        let launch = Crawl::new()
            .manage(all.meter(model()))
            .middleware(run.clone());
        launch.run(()).await.unwrap();
        runs.push(run);
    }
    for run in &runs {
        let report = run.report();
        assert_eq!(report.nodes.len(), 2, "{report}");
        let visits = report.node("visit").unwrap();
        // The attempt that failed counts as a call.
        assert_eq!((visits.calls, visits.failed), (4, 1));
        assert_eq!((visits.usage.input, visits.usage.output), (6, 3));
        let last = report.node("report").unwrap();
        assert_eq!(
            *last,
            UsageSummary {
                calls: 1,
                failed: 0,
                usage: usage(10)
            }
        );
        assert!((report.total().usage.cost - 2.0).abs() < 1e-9);
    }
    assert_eq!(all.total().usage.input, 32);
    assert_eq!(all.report().node("visit").unwrap().calls, 8);
}

#[tokio::test]
async fn calls_outside_nodes_and_calls_of_other_totals_count_once() {
    let (mine, theirs) = (Totals::new(), Totals::new());
    let model = mine.meter(Model::new([answer(7)]));
    model.complete(&LlmRequest::default()).await.unwrap();
    assert_eq!(mine.report().node("").unwrap().usage.input, 7);
    assert!(mine.report().to_string().contains("(outside)      1"));

    // The run's totals are not part of the client's: both count.
    let model = mine.meter(Model::new([
        answer(1),
        answer(1),
        answer(1),
        connection_error(),
    ]));
    let launch = Crawl::new().manage(model).middleware(theirs.clone());
    launch.run(()).await.unwrap();
    assert_eq!(mine.total().usage.input, 10);
    assert_eq!(theirs.total().usage.input, 3);
    // An interrupted stream is a failed call.
    assert_eq!(theirs.report().node("report").unwrap().failed, 1);
}

#[tokio::test]
async fn a_thousand_runs_use_the_memory_of_one() {
    let all = Totals::new();
    for _ in 0..1_000 {
        let run = all.child();
        run.record("visit", &usage(1));
    }
    assert_eq!(all.report().nodes.len(), 1);
    assert_eq!(all.total().calls, 1_000);
}
