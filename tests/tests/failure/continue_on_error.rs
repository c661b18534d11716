//! A run that continues although a node failed.

use petalflow::NodeError;
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;

use crate::support::{expect_error, flow_and_graph, list, run_both};

/// Work that continues although some of it fails.
#[state]
#[derive(Debug, PartialEq)]
struct Job {
    #[key(append)]
    xs: Vec<String>,
    #[key(append)]
    failures: Vec<NodeError>,
}

#[node(Job)]
async fn items() -> Each<u32> {
    Each(vec![0, 1, 2])
}

#[node(Job)]
async fn odd_fails(#[item] number: &u32) -> petalflow::Result<JobXs> {
    if number % 2 == 1 {
        Err(format!("{number} is odd").into())
    } else {
        Ok(JobXs(vec![number.to_string()]))
    }
}

#[node(Job)]
async fn report(failures: &[NodeError]) -> JobXs {
    JobXs(
        failures
            .iter()
            .map(|failure| format!("{} {:?}: {}", failure.node, failure.index, failure.message))
            .collect(),
    )
}

flow_and_graph! { GoOn(Job) { items -> each odd_fails -> report; } nodes: items, odd_fails, report }

#[tokio::test]
async fn p078_continue_on_error_records_the_failure_and_continues() {
    let job = run_both!(GoOn, |launch| launch
        .continue_on_error::<JobFailures>()
        .run(())
        .await
        .unwrap());
    assert_eq!(job.xs, ["0", "2", "odd_fails Some(1): 1 is odd"]);
    assert_eq!(job.failures.len(), 1);
    let failed = run_both!(GoOn, |launch| expect_error(launch.run(()).await)
        .node()
        .map(String::from));
    assert_eq!(
        failed.as_deref(),
        Some("odd_fails"),
        "only where it was asked for"
    );
}

#[node(Job)]
async fn lone_failure() -> petalflow::Result<JobXs> {
    Err("alone".into())
}

#[node(Job)]
async fn route_failure() -> petalflow::Result<bool> {
    Err("which way?".into())
}

#[node(Job)]
async fn next() -> JobXs {
    JobXs(list(["next"]))
}

flow_and_graph! { LoneGoesOn(Job) { lone_failure -> next; } nodes: lone_failure, next }
flow_and_graph! { RouteEnds(Job) { route_failure -> match { true => next, false => END }; } nodes: route_failure, next }

#[tokio::test]
async fn p060_continue_on_error_follows_plain_edges_but_no_route() {
    let job = run_both!(LoneGoesOn, |launch| launch
        .continue_on_error::<JobFailures>()
        .run(())
        .await
        .unwrap());
    assert_eq!(
        (job.xs, job.failures[0].message.as_str()),
        (list(["next"]), "alone")
    );
    let job = run_both!(RouteEnds, |launch| launch
        .continue_on_error::<JobFailures>()
        .run(())
        .await
        .unwrap());
    assert_eq!((job.xs, job.failures.len()), (vec![], 1));
}

#[node(Job)]
async fn side() -> JobXs {
    JobXs(list(["side"]))
}

#[node(Job)]
async fn join() -> JobXs {
    JobXs(list(["join"]))
}

flow_and_graph! {
    Stranded(Job) { START -> side & route_failure; route_failure -> match { true => next, false => next }; side & next -> join; }
    nodes: side, route_failure, next, join
}

#[tokio::test]
async fn continue_on_error_reports_an_incomplete_join() {
    let (kind, xs) = run_both!(Stranded, |launch| {
        let error = expect_error(launch.continue_on_error::<JobFailures>().run(()).await);
        (error.kind().clone(), error.into_state::<Job>().unwrap().xs)
    });
    assert_eq!(
        (kind, xs),
        (
            RunErrorKind::IncompleteJoin {
                waiting: list(["join"])
            },
            list(["side"])
        )
    );
}
