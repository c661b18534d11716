//! Runs an audit, with or without a file that stores its progress.

use std::path::Path;

use petalflow::Events;
use petalflow::event::EventKind;
use petalflow::thread::Thread;
use petalflow_sqlite::SqliteStore;

use super::args::{Options, Storage};
use super::flow::{Audit, DocAudit};
use super::progress::Progress;

/// Supersteps outside of the rounds: collect, load, and at the end judge and save, and one more.
const FIXED_SUPERSTEPS: u64 = 5;
/// Supersteps of one round: split, check, judge, fix.
const SUPERSTEPS_PER_ROUND: u64 = 4;

/// The thread of the audit. A file has one audit.
const THREAD: &str = "audit";

/// Runs the flow and shows its progress.
///
/// # Errors
///
/// If the file cannot be used, or has no audit to resume.
///
/// # Cancel safety
///
/// An audit that is dropped can be resumed if it was stored.
pub async fn run(
    options: Options,
    storage: &Storage,
    progress: &Progress,
) -> petalflow::Result<Audit> {
    let events = match storage {
        Storage::None => launch(&options).run(options).events(),
        Storage::Begin(file) => {
            let thread = thread(&options, file).await?;
            thread.delete().await?;
            thread.run(options).events()
        }
        Storage::Resume(file) => resume(options, file).await?,
    };
    watch(events, progress).await
}

fn launch(options: &Options) -> petalflow::Launch<DocAudit> {
    DocAudit::new()
        .limit(FIXED_SUPERSTEPS + SUPERSTEPS_PER_ROUND * (options.rounds.get() as u64 + 1))
        .max_concurrency(options.jobs.get())
}

async fn thread(options: &Options, file: &Path) -> petalflow::Result<Thread<DocAudit>> {
    let store = SqliteStore::open(file).await?;
    Ok(launch(options).store(&store).thread(THREAD))
}

/// Resumes the stored audit. Of `options`, only the number of jobs is used.
async fn resume(options: Options, file: &Path) -> petalflow::Result<Events<DocAudit>> {
    let nothing = || {
        let file = file.display();
        format!("there is no audit in `{file}` to resume: begin one without `--resume`")
    };
    // Opening the file would create it.
    if !file.exists() {
        return Err(nothing().into());
    }
    let stored = thread(&options, file).await?.snapshot().await?;
    let stored = stored.ok_or_else(nothing)?.state.options;
    let options = Options {
        jobs: options.jobs,
        ..stored
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
        "collect" => "searching",
        "load" => "reading",
        "split" => "splitting",
        "check_section" => "checking",
        "fix_documents" => "fixing",
        _ => "finishing",
    }
}
