//! Running an audit: at once, or with a file that remembers how far it has come.

use std::path::Path;

use futures_util::StreamExt;
use petalflow::thread::Thread;
use petalflow::{EventKind, Events};
use petalflow_sqlite::SqliteStore;

use super::args::{Memory, Options};
use super::flow::{Audit, DocAudit};
use super::progress::Progress;

/// Supersteps beside the rounds: collect, load, and at the end judge and save, with one to spare.
const AROUND: u64 = 5;
/// Supersteps of one round: split, check, judge, fix.
const ROUND: u64 = 4;

/// The thread of a file, which holds one audit.
const THREAD: &str = "audit";

/// Runs the flow, and moves the bar by its events.
///
/// # Errors
///
/// When the file cannot be used, or holds no audit to go on with.
///
/// # Cancel safety
///
/// An audit that is dropped can be resumed, if it was written down.
pub async fn run(
    options: Options,
    memory: &Memory,
    progress: &Progress,
) -> petalflow::Result<Audit> {
    let events = match memory {
        Memory::None => launch(&options).run(options).events(),
        Memory::Begin(file) => {
            let thread = thread(&options, file).await?;
            thread.delete().await?;
            thread.run(options).events()
        }
        Memory::Resume(file) => resume(options, file).await?,
    };
    watch(events, progress).await
}

fn launch(options: &Options) -> petalflow::Launch<DocAudit> {
    DocAudit::new()
        .limit(AROUND + ROUND * (options.rounds.get() as u64 + 1))
        .max_concurrency(options.jobs.get())
}

async fn thread(options: &Options, file: &Path) -> petalflow::Result<Thread<DocAudit>> {
    let store = SqliteStore::open(file).await?;
    Ok(launch(options).store(&store).thread(THREAD))
}

/// Goes on with what was begun; of `options` only how to run it counts.
async fn resume(options: Options, file: &Path) -> petalflow::Result<Events<DocAudit>> {
    let nothing = || {
        let file = file.display();
        format!("there is no audit in `{file}` to go on with: begin one without `--resume`")
    };
    // Opening it would make it.
    if !file.exists() {
        return Err(nothing().into());
    }
    let begun = thread(&options, file).await?.state().await?;
    let begun = begun.ok_or_else(nothing)?.state.options;
    let options = Options {
        jobs: options.jobs,
        ..begun
    };
    Ok(thread(&options, file).await?.resume(()).events())
}

async fn watch(mut events: Events<DocAudit>, progress: &Progress) -> petalflow::Result<Audit> {
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::SuperstepStarted { nodes } => progress.start(stage(&nodes[0]), nodes.len()),
            EventKind::NodeFinished { .. } => progress.step(),
            EventKind::Finished { state } => return Ok(state),
            EventKind::Failed { error } => return Err(error.into()),
            _ => {}
        }
    }
    Err("the run ended without a result".into())
}

fn stage(node: &str) -> &'static str {
    match node {
        "collect" => "looking",
        "load" => "reading",
        "split" => "splitting",
        "check_section" => "checking",
        "fix_documents" => "fixing",
        _ => "finishing",
    }
}
