//! The cases of the contract of drivers. Each runs a flow with the local driver and with another one, and compares what is stored.
//!
//! [`driver_contract!`](crate::driver_contract) makes a test of each.

use petalflow::interrupt::{Decision, Resume};
use petalflow::middleware::BoxFuture;
use petalflow::run::RunErrorKind;
use petalflow::state::Storable;
use petalflow::{BoxError, Flow, Launch, RunError};

use super::case::{CaseStep, Driver, DriverCase};
use super::changed;
use super::check::check as compare;
use super::flows::{
    Approving, Asking, AskingParts, AskingTwice, Caught, Chain, Choose, Fork, Job, JobTitle,
    KeptParts, Loop, Managing, MayGoOn, Parts, Paying, Repair, Retrying, Spread, SpreadOdd,
    WhichTitle, note,
};
use petalflow::thread::Thread;

/// The result of a step whose run may end with an error that is stored with the thread.
fn ran<T>(outcome: Result<T, RunError>) -> Result<(), BoxError> {
    match outcome {
        Err(error) if matches!(error.kind(), RunErrorKind::Thread { .. }) => Err(error.into()),
        _ => Ok(()),
    }
}

/// A step that begins a thread or a turn with these pages.
fn begin<F: Flow<State = Job>, const PAGES: u32>(
    thread: Thread<F>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move { ran(thread.run((1..=PAGES).collect::<Vec<_>>()).await) })
}

/// A step that resumes a thread after a failure.
fn resume<F: Flow<State: Storable>>(thread: Thread<F>) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move { ran(thread.resume(()).await) })
}

fn repair(thread: Thread<Repair>) -> BoxFuture<'static, Result<(), BoxError>> {
    let repaired = Resume::new().update(JobTitle("repaired".into()));
    Box::pin(async move { ran(thread.resume(repaired).await) })
}

fn decide<F: Flow<State: Storable>>(
    thread: Thread<F>,
    decision: fn() -> Decision<F::State>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move { ran(thread.resume(decision()).await) })
}

fn approve<F: Flow<State: Storable>>(
    thread: Thread<F>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    decide(thread, || Decision::approve().by("Ann"))
}

fn reject<F: Flow<State: Storable>>(thread: Thread<F>) -> BoxFuture<'static, Result<(), BoxError>> {
    decide(thread, Decision::reject)
}

fn skip_node<F: Flow<State: Storable>>(
    thread: Thread<F>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    decide(thread, Decision::skip)
}

fn allow<F: Flow<State: Storable>>(thread: Thread<F>) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move { ran(thread.answer::<MayGoOn>(true).await) })
}

fn give_title<F: Flow<State: Storable>>(
    thread: Thread<F>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move { ran(thread.answer::<WhichTitle>("Petals".into()).await) })
}

/// A step that sends a message to a thread that waits, and then answers.
fn send_and_allow<F: Flow<State = Job>>(
    thread: Thread<F>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move {
        thread.send(note("by mail")).await?;
        thread.send_once("2", note("twice")).await?;
        thread.send_once("2", note("twice")).await?;
        ran(thread.answer::<MayGoOn>(true).await)
    })
}

/// A step that sends a message to a thread that has ended, and begins a turn.
fn send_and_begin<F: Flow<State = Job>>(
    thread: Thread<F>,
) -> BoxFuture<'static, Result<(), BoxError>> {
    Box::pin(async move {
        thread.send(note("before the turn")).await?;
        ran(thread.run(vec![7]).await)
    })
}

async fn check<F: Flow<State = Job>>(
    driver: &impl Driver,
    name: &'static str,
    launch: fn() -> Launch<F>,
    placed: &'static [&'static str],
    steps: &[CaseStep<F>],
) -> Result<(), BoxError> {
    let case = DriverCase {
        name,
        launch,
        steps: steps.to_vec(),
        placed,
        records: None,
        has_times: false,
    };
    compare(&case, driver).await
}

/// Defines cases. The doc comment of each says what it is about.
macro_rules! cases {
    ($($(#[$doc:meta])* $name:ident: $flow:ident, $launch:expr, placed $placed:expr, [$($step:expr),*];)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// The driver failed, or what it has stored differs.
            pub async fn $name(driver: &impl Driver) -> Result<(), BoxError> {
                check::<$flow>(driver, stringify!($name), $launch, $placed, &[$($step),*]).await
            }
        )*
    };
}

cases! {
    /// Nodes one after the other.
    chain: Chain, Chain::new, placed &["read", "finish"], [begin::<Chain, 3>];
    /// Two nodes in one superstep, and a join.
    fork: Fork, Fork::new, placed &["read"], [begin::<Fork, 3>];
    /// A task for each item.
    each: Spread, Spread::new, placed &["fetch"], [begin::<Spread, 5>];
    /// A task for each item, some of which fail.
    each_with_failures: SpreadOdd, SpreadOdd::new, placed &["fetch_odd"], [begin::<SpreadOdd, 5>];
    /// A node that runs again until a condition holds.
    loops: Loop, Loop::new, placed &["add"], [begin::<Loop, 1>];
    /// A route with a value, and one without.
    routes: Choose, Choose::new, placed &["choose", "short"], [begin::<Choose, 1>, begin::<Choose, 2>];
    /// A node that succeeds with its third attempt.
    retry: Retrying, Retrying::new, placed &["unreliable"], [begin::<Retrying, 1>];
    /// A failure that an edge catches.
    catch: Caught, Caught::new, placed &["broken"], [begin::<Caught, 1>];
    /// A failure that ends the run. The thread is resumed after the repair.
    failure_and_resume: Repair, Repair::new, placed &["repaired_later"], [begin::<Repair, 1>, repair];
    /// A node that asks a person.
    question: Asking, Asking::new, placed &["ask"], [begin::<Asking, 2>, allow::<Asking>];
    /// Two nodes of one superstep that ask, and one that does not. They are answered one after the other.
    questions_of_two_tasks: AskingTwice, AskingTwice::new, placed &["ask_title"],
        [begin::<AskingTwice, 2>, allow::<AskingTwice>, give_title::<AskingTwice>];
    /// A flow as a node, for each item.
    subflow: Parts, Parts::new, placed &["part"], [begin::<Parts, 3>];
    /// A flow as a node that retains its state between turns.
    kept_subflow: KeptParts, KeptParts::new, placed &["part"], [begin::<KeptParts, 1>, begin::<KeptParts, 2>];
    /// A flow as a node that asks a person.
    question_in_subflow: AskingParts, AskingParts::new, placed &["part"], [begin::<AskingParts, 1>, allow::<AskingParts>];
    /// Effects that run once.
    once: Paying, Paying::new, placed &["pay"], [begin::<Paying, 1>];
    /// Several turns of one thread.
    turns: Chain, Chain::new, placed &["count"], [begin::<Chain, 1>, begin::<Chain, 2>, begin::<Chain, 3>];
    /// A run that reaches its limit of supersteps.
    limit: Chain, || Chain::new().limit(2), placed &["read"], [begin::<Chain, 1>, resume::<Chain>];
    /// Messages to a thread that waits, and to one that has ended.
    messages: Asking, Asking::new, placed &["ask"],
        [begin::<Asking, 2>, send_and_allow::<Asking>, send_and_begin::<Asking>, allow::<Asking>];
    /// A managed value.
    managed: Managing, || Managing::new().manage(String::from("a client")), placed &["use_client"], [begin::<Managing, 1>];
}

/// Decisions are stored with their times.
async fn check_decisions(
    driver: &impl Driver,
    name: &'static str,
    steps: Vec<CaseStep<Approving>>,
) -> Result<(), BoxError> {
    let case = DriverCase {
        name,
        launch: Approving::new,
        steps,
        placed: &["read"],
        records: None,
        has_times: true,
    };
    compare(&case, driver).await
}

/// An approval before a node, and one after a node.
///
/// # Errors
///
/// The driver failed, or what it has stored differs.
pub async fn approval(driver: &impl Driver) -> Result<(), BoxError> {
    let steps: Vec<CaseStep<Approving>> = vec![begin::<Approving, 1>, approve, approve];
    check_decisions(driver, "approval", steps).await
}

/// A rejection before a node.
///
/// # Errors
///
/// The driver failed, or what it has stored differs.
pub async fn rejection(driver: &impl Driver) -> Result<(), BoxError> {
    // Another turn, whose checkpoints have no time.
    let steps: Vec<CaseStep<Approving>> =
        vec![begin::<Approving, 1>, reject, begin::<Approving, 2>];
    check_decisions(driver, "rejection", steps).await
}

/// A node that is skipped.
///
/// # Errors
///
/// The driver failed, or what it has stored differs.
pub async fn skip(driver: &impl Driver) -> Result<(), BoxError> {
    let steps: Vec<CaseStep<Approving>> = vec![begin::<Approving, 1>, skip_node, approve];
    check_decisions(driver, "skip", steps).await
}

/// A program that is changed while a thread waits for a person beside a task that has ended: a key is added. The task does not run again.
///
/// # Errors
///
/// The driver failed or does not end, or what it has stored differs.
pub async fn changed_program(driver: &impl Driver) -> Result<(), BoxError> {
    let case = DriverCase {
        name: "changed_program",
        launch: changed::more::Review::new,
        steps: vec![allow],
        placed: &["far"],
        records: Some(changed::waiting().await?),
        has_times: false,
    };
    compare(&case, driver).await
}

/// The same with a change of the type that the task has written: its result cannot be used, and it runs again.
///
/// # Errors
///
/// The driver failed or does not end, or what it has stored differs.
pub async fn unusable_result(driver: &impl Driver) -> Result<(), BoxError> {
    let case = DriverCase {
        name: "unusable_result",
        launch: changed::wide::Review::new,
        steps: vec![allow],
        placed: &["far"],
        records: Some(changed::waiting().await?),
        has_times: false,
    };
    compare(&case, driver).await
}
