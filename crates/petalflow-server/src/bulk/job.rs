//! The thread that gives a command to others, page by page.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use petalflow::BoxError;
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::command::Command;
use super::commanded::{Commanded, OfServer};

pub(super) const NAME: &str = "petalflow.command";

/// What the ids of these threads begin with.
pub(crate) const PREFIX: &str = "petalflow.command:";

/// The number of threads of a superstep. After a crash, the commands of one page are given again.
const PAGE: usize = 64;
/// How many threads get the command at the same time.
const CONCURRENT: usize = 16;
/// The most failures whose reasons are kept. All are counted.
const FAILURES: usize = 1_000;

/// A thread that the command has failed for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Failure {
    thread: String,
    reason: String,
}

#[state]
pub(crate) struct Job {
    #[key(input)]
    command: Command,
    /// The query of a list.
    #[key(input)]
    conditions: String,
    /// The label that all threads have which the caller may see.
    #[key(input)]
    label: Option<(String, String)>,
    /// The last thread that was listed.
    #[key(default)]
    after: String,
    /// The threads that get the command in this superstep.
    #[key(default)]
    page: Vec<String>,
    /// How many threads meet the conditions, of those that were listed up to now.
    #[key(sum)]
    matched: u64,
    #[key(sum)]
    done: u64,
    #[key(sum)]
    failed: u64,
    #[key(append)]
    failures: Vec<Failure>,
}

/// What a request gives the thread.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Given {
    pub(crate) command: Command,
    pub(crate) conditions: String,
    pub(crate) label: Option<(String, String)>,
}

pub(super) fn read(input: Value) -> Result<JobInput, BoxError> {
    let Given {
        command,
        conditions,
        label,
    } = serde_json::from_value(input)?;
    Ok(JobInput {
        command,
        conditions,
        label,
    })
}

/// The progress.
pub(super) fn show(job: &Job) -> Value {
    json!({
        "command": job.command,
        "conditions": job.conditions,
        "matched": job.matched,
        "done": job.done,
        "failed": job.failed,
        "failures": job.failures,
    })
}

/// Lists the next page of threads. Returns whether there is one.
#[node(Job, retry = 3)]
#[expect(clippy::ref_option, reason = "the type of the key")]
async fn select(
    conditions: &str,
    label: &Option<(String, String)>,
    after: &str,
    server: Managed<OfServer>,
) -> petalflow::Result<(JobAfter, JobPage, JobMatched, bool)> {
    let server = server.get().ok_or("the server stops")?;
    let label = label.as_ref().map(|(name, value)| (&**name, &**value));
    let page = server.page(conditions, label, after, PAGE).await?;
    let is_over = page.last.is_none();
    let matched = page.threads.len() as u64;
    Ok((
        JobAfter(page.last.unwrap_or_else(|| after.into())),
        JobPage(page.threads),
        JobMatched(matched),
        !is_over,
    ))
}

/// Gives the threads of the page the command.
#[node(Job)]
async fn give(
    command: &Command,
    page: &[String],
    failures: &[Failure],
    server: Managed<OfServer>,
) -> petalflow::Result<(JobDone, JobFailed, JobFailures)> {
    let server = server.get().ok_or("the server stops")?;
    let given = page.iter().map(|thread| {
        let (server, command) = (Arc::clone(&server), command.clone());
        give_one(server, command, thread.clone())
    });
    let given: Vec<_> = given.collect();
    let given: Vec<Option<Failure>> = stream::iter(given).buffered(CONCURRENT).collect().await;
    let mut failed: Vec<Failure> = given.into_iter().flatten().collect();
    let (done, count) = (page.len() - failed.len(), failed.len());
    failed.truncate(FAILURES.saturating_sub(failures.len()));
    Ok((
        JobDone(done as u64),
        JobFailed(count as u64),
        JobFailures(failed),
    ))
}

/// Gives a thread the command. Returns why it has failed.
async fn give_one(server: Arc<dyn Commanded>, command: Command, thread: String) -> Option<Failure> {
    let reason = server.give(&command, &thread).await.err()?;
    Some(Failure { thread, reason })
}

flow! {
    /// Gives a command to all threads that meet conditions.
    pub(crate) RunCommand(Job) {
        START -> select -> match { true => give, false => END };
        give -> select;
    }
}
