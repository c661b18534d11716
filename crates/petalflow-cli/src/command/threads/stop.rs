//! Stops the run of a thread, in whichever process it is.

use petalflow::checkpoint::ThreadStatus;
use petalflow::thread::{StoredThreads, ThreadError};
use serde_json::json;

use crate::command::run::unknown_thread;
use crate::exit::{Exit, Failure, Result};
use crate::store::StoreArgs;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the thread
    id: String,

    #[command(flatten)]
    store: StoreArgs,

    /// Print a line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) const CANCEL: &str = "\
Examples:
  petalflow threads cancel review-1 --store runs.db

Nothing of the superstep that runs is applied. `threads resume` continues the thread.
The command returns when no process runs the thread. A process looks for it once in a second.";

pub(super) const HOLD: &str = "\
Examples:
  petalflow threads hold review-1 --store runs.db

A thread that waits or sleeps is held, too. `threads resume` continues it.
The command returns when no process runs the thread, which can take as long as its superstep.";

pub(super) const DRAIN: &str = "\
Examples:
  petalflow threads drain review-1 --store runs.db

Moves a thread to another process: a server continues it when it looks for such threads, or `threads resume` does.
The command returns when no process runs the thread, which can take as long as its superstep.";

/// How the run is stopped.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Cancel,
    Hold,
    Drain,
}

pub(super) async fn run(args: Args, stop: Stop) -> Result {
    let threads = StoredThreads::new(&args.store.open().await?);
    let stopped = match stop {
        Stop::Cancel => threads.cancel(&args.id),
        Stop::Hold => threads.hold(&args.id),
        Stop::Drain => threads.drain(&args.id),
    };
    let status = stopped.await.map_err(|error| match error {
        ThreadError::Unknown { .. } => unknown_thread(&args.id, &args.store),
        error => Failure::new(Exit::Thread, error),
    })?;
    print(&args, status)?;
    Ok(Exit::Done)
}

fn print(args: &Args, status: ThreadStatus) -> Result<()> {
    if args.json {
        return terminal::json_line(&json!({ "thread": args.id, "status": status.as_str() }));
    }
    let id = &args.id;
    terminal::line(format_args!("{STRONG}{id}{STRONG:#}  {status}"))
}
