//! The commands for stored runs: list, show, resume, stop, fork, verify.

mod fork;
mod list;
mod open;
mod resume;
mod show;
mod stop;
mod verify;

use clap::Subcommand;

use self::stop::Stop;
use crate::exit::Result;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  petalflow threads list --store runs.db
  petalflow threads show review-1 --store runs.db --history
  petalflow threads resume review-1 --store runs.db --answer approve
  petalflow threads cancel review-1 --store runs.db
  petalflow threads fork review-1 --store runs.db --checkpoint 3 --to review-2
  petalflow threads verify runs.db

`PETALFLOW_STORE=runs.db` takes the place of `--store`.";

#[derive(Debug, Subcommand)]
enum Command {
    /// List the threads of a store
    List(list::Args),
    /// Show a thread: its status, its questions and its result
    Show(show::Args),
    /// Continue a thread that waits, failed or was stopped
    Resume(resume::Args),
    /// Stop the run of a thread at once, in whichever process it is, and hold the thread
    #[command(after_help = stop::CANCEL)]
    Cancel(stop::Args),
    /// Stop the run of a thread after its current superstep, and hold the thread
    #[command(after_help = stop::HOLD)]
    Hold(stop::Args),
    /// Stop the run of a thread after its current superstep. The next process continues it
    #[command(after_help = stop::DRAIN)]
    Drain(stop::Args),
    /// Continue a thread from an old checkpoint, or copy it from there to a new thread
    Fork(fork::Args),
    /// Read everything in a store, and report what is damaged
    Verify(verify::Args),
}

impl Args {
    pub(super) fn prints_json(&self) -> bool {
        match &self.command {
            Command::List(args) => args.json,
            Command::Show(args) => args.json,
            Command::Resume(args) => args.prints_json(),
            Command::Cancel(args) | Command::Hold(args) | Command::Drain(args) => args.json,
            Command::Fork(args) => args.json,
            Command::Verify(args) => args.json,
        }
    }
}

/// `options` are those that `resume` needs again.
pub(crate) async fn run(args: Args, options: &str) -> Result {
    match args.command {
        Command::List(args) => list::run(args).await,
        Command::Show(args) => Box::pin(show::run(args)).await,
        Command::Resume(args) => Box::pin(resume::run(args, options)).await,
        Command::Cancel(args) => stop::run(args, Stop::Cancel).await,
        Command::Hold(args) => stop::run(args, Stop::Hold).await,
        Command::Drain(args) => stop::run(args, Stop::Drain).await,
        Command::Fork(args) => Box::pin(fork::run(args)).await,
        Command::Verify(args) => Box::pin(verify::run(args)).await,
    }
}
