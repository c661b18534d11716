//! The shapes that a graph can have.

use std::time::Duration;

use petalflow::NodeError;
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow_testing::{FailureScript, crashes};

use crate::support::{Log, LogXs, appending, list};

appending! { a b c d }

flow!(Chain(Log) { a -> b -> c });

#[tokio::test]
async fn a_chain() {
    let crashed = crashes(Chain::new, || list(["i"])).twice().check().await;
    assert!(crashed.trials > 300, "{crashed:?}");
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Draft {
    #[key(input)]
    wanted: u32,
    #[key(append)]
    log: Vec<String>,
    #[key(sum)]
    rounds: u32,
    last: Option<String>,
}

#[derive(Route)]
enum Verdict {
    Again(String),
    Enough,
}

#[node(Draft)]
async fn write(rounds: &u32) -> (DraftLog, DraftRounds) {
    (DraftLog(vec![format!("draft {rounds}")]), DraftRounds(1))
}

#[node(Draft)]
async fn judge(rounds: &u32, wanted: &u32) -> Verdict {
    if rounds < wanted {
        Verdict::Again(format!("round {rounds} of {wanted}"))
    } else {
        Verdict::Enough
    }
}

#[node(Draft)]
async fn note(#[item] remark: &str) -> (DraftLog, DraftLast) {
    (
        DraftLog(vec![remark.into()]),
        DraftLast(Some(remark.into())),
    )
}

flow!(Loop(Draft) {
    START -> write -> judge;
    judge -> match { Again => note, Enough => END };
    note -> write;
});

#[tokio::test]
async fn a_loop_with_payloads() {
    crashes(Loop::new, || 3_u32).turn(|| 2_u32).check().await;
    crashes(Loop::new, || 2_u32).twice().check().await;
}

// `a` and `c` reach the join in different supersteps.
flow!(Join(Log) {
    START -> a & b;
    b -> c;
    a & c -> d;
});

#[tokio::test]
async fn a_join_whose_sides_arrive_one_after_the_other() {
    crashes(Join::new, || list([])).twice().check().await;
}

#[tokio::test]
async fn a_fork_whose_sides_run_one_at_a_time() {
    crashes(|| Join::new().max_concurrency(1), || list([]))
        .check()
        .await;
}

#[node(Log)]
async fn spread(xs: &[String]) -> (LogXs, Each<String>) {
    (LogXs(list(["spread"])), Each(xs.to_vec()))
}

#[node(Log)]
async fn one(#[item] text: &str, xs: &[String]) -> LogXs {
    LogXs(vec![format!("{text} of {}", xs.len())])
}

flow!(Items(Log) { spread -> each one; one -> b });

#[tokio::test]
async fn each_with_items_and_without() {
    crashes(Items::new, || list(["x", "y", "z"])).check().await;
    crashes(Items::new, || list([])).check().await;
}

#[node(Log)]
async fn gather(xs: &[String]) -> LogXs {
    LogXs(vec![format!("{} so far", xs.len())])
}

flow!(Deferred(Log) {
    START -> a & gather;
    a -> b -> spread -> each one;
    one -> gather;
    defer gather;
});

#[tokio::test]
async fn deferred_nodes_wait_through_a_crash() {
    crashes(Deferred::new, || list(["x"])).check().await;
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Job {
    #[key(input, append)]
    log: Vec<String>,
    #[key(append)]
    failures: Vec<NodeError>,
}

#[node(Job)]
async fn begin() -> JobLog {
    JobLog(list(["begin"]))
}

#[node(Job)]
async fn work() -> petalflow::Result<JobLog> {
    Err("no luck".into())
}

#[node(Job)]
async fn beside() -> JobLog {
    JobLog(list(["beside"]))
}

#[node(Job)]
async fn explain(#[item] failure: &NodeError) -> JobLog {
    JobLog(vec![format!(
        "{} in {}",
        failure.message, failure.superstep
    )])
}

#[node(Job)]
async fn end() -> JobLog {
    JobLog(list(["end"]))
}

flow!(Caught(Job) {
    begin -> work & beside;
    catch work -> explain;
    work -> end;
    explain -> end;
    beside -> end;
});

#[tokio::test]
async fn a_failure_that_is_caught() {
    crashes(Caught::new, || list([])).twice().check().await;
}

flow!(Ignored(Job) {
    begin -> work & beside;
    work -> end;
    beside -> end;
});

#[tokio::test]
async fn a_failure_that_is_recorded() {
    crashes(
        || Ignored::new().continue_on_error::<JobFailures>(),
        || list([]),
    )
    .check()
    .await;
}

#[node(Job, retry = Retry::attempts(3).first(Duration::from_secs(1)), timeout = 1m)]
async fn flaky() -> JobLog {
    JobLog(list(["flaky"]))
}

flow!(Flaky(Job) {
    begin -> flaky & beside;
    flaky & beside -> end;
});

#[tokio::test(start_paused = true)]
async fn failures_panics_and_hangs_by_the_script() {
    for script in [
        FailureScript::new().fail("flaky", 1).fail("beside", 1),
        FailureScript::new().panic("flaky", 1).fail("end", 1),
        FailureScript::new().hang("flaky", 1).hang("flaky", 2),
        FailureScript::new()
            .fail("beside", 1)
            .panic("beside", 2)
            .fail("begin", 1),
    ] {
        let (launched, before) = (script.clone(), script.clone());
        crashes(
            move || Flaky::new().middleware(launched.clone()),
            || list([]),
        )
        .before(move || before.reset())
        .check()
        .await;
    }
}
