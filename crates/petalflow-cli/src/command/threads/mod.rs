//! The commands for stored runs, in a store or on a server.

mod copy;
mod delete;
mod export;
mod follow;
mod fork;
mod label;
mod list;
mod open;
mod prune;
mod resume;
#[cfg(feature = "client")]
mod served;
mod show;
mod shown;
mod stop;
mod target;
mod verify;

use clap::Subcommand;

use crate::environment::Variable;
use crate::exit::Result;
use crate::place::Stop;

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
  petalflow threads export review-1 --store runs.db --no-secrets -o review-1.thread.json
  petalflow threads delete --status finished --store runs.db --dry-run
  petalflow threads verify runs.db

`PETALFLOW_STORE=runs.db` takes the place of `--store`. `--server URL` asks a server instead, whose token is in
`PETALFLOW_TOKEN`. `prune`, `copy`, `export`, `import` and `verify` need the store itself.";

#[derive(Debug, Subcommand)]
enum Command {
    /// List the threads of a store
    List(list::Args),
    /// Show a thread: its status, its questions and its result
    Show(show::Args),
    /// Continue a thread that waits, failed or was stopped
    Resume(resume::Args),
    /// Stop the runs of threads at once, in whichever process they are, and hold the threads
    #[command(after_help = stop::CANCEL)]
    Cancel(stop::Args),
    /// Stop the runs of threads after their current supersteps, and hold the threads
    #[command(after_help = stop::HOLD)]
    Hold(stop::Args),
    /// Stop the runs of threads after their current supersteps. The next process continues them
    #[command(after_help = stop::DRAIN)]
    Drain(stop::Args),
    /// Print the events of a thread, and those that follow
    Follow(follow::Args),
    /// Set and remove labels of threads
    Label(label::Args),
    /// Delete threads
    Delete(delete::Args),
    /// Remove old checkpoints of threads
    Prune(prune::Args),
    /// Copy threads to another store
    Copy(copy::Args),
    /// Continue a thread from an old checkpoint, or copy it from there to a new thread
    Fork(fork::Args),
    /// Write a thread to one file, for a test or another store
    Export(export::Args),
    /// Write the thread of a file to a store
    Import(export::ImportArgs),
    /// Read everything in a store, and report what is damaged
    Verify(verify::Args),
}

impl Args {
    pub(super) fn variables(&self) -> &[Variable] {
        match &self.command {
            Command::Resume(args) => &args.services.variables,
            _ => &[],
        }
    }

    pub(super) fn prints_json(&self) -> bool {
        match &self.command {
            Command::List(args) => args.json,
            Command::Show(args) => args.json,
            Command::Resume(args) => args.prints_json(),
            Command::Cancel(args) | Command::Hold(args) | Command::Drain(args) => args.target.json,
            Command::Follow(args) => args.json,
            Command::Label(args) => args.target.json,
            Command::Delete(args) => args.target.json,
            Command::Prune(args) => args.target.json,
            Command::Copy(args) => args.target.json,
            Command::Fork(args) => args.json,
            Command::Export(_) | Command::Import(_) => false,
            Command::Verify(args) => args.json,
        }
    }
}

/// `options` are those that `resume` needs again.
pub(crate) async fn run(args: Args, options: &str) -> Result {
    match args.command {
        Command::List(args) => Box::pin(list::run(args)).await,
        Command::Show(args) => Box::pin(show::run(args)).await,
        Command::Resume(args) => Box::pin(resume::run(args, options)).await,
        Command::Cancel(args) => Box::pin(stop::run(args, Stop::Cancel)).await,
        Command::Hold(args) => Box::pin(stop::run(args, Stop::Hold)).await,
        Command::Drain(args) => Box::pin(stop::run(args, Stop::Drain)).await,
        Command::Follow(args) => Box::pin(follow::run(args)).await,
        Command::Label(args) => Box::pin(label::run(args)).await,
        Command::Delete(args) => Box::pin(delete::run(args)).await,
        Command::Prune(args) => Box::pin(prune::run(args)).await,
        Command::Copy(args) => Box::pin(copy::run(args)).await,
        Command::Fork(args) => Box::pin(fork::run(args)).await,
        Command::Export(args) => Box::pin(export::run(args)).await,
        Command::Import(args) => Box::pin(export::import(args)).await,
        Command::Verify(args) => Box::pin(verify::run(args)).await,
    }
}
