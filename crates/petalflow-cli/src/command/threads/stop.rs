//! Stops the runs of threads, in whichever process they are.

use serde_json::json;

use super::target::{TargetArgs, Verb};
use crate::exit::Result;
use crate::place::Stop;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
}

pub(super) const CANCEL: &str = "\
Examples:
  petalflow threads cancel review-1 --store runs.db
  petalflow threads cancel --status waiting --store runs.db --dry-run

Nothing of the superstep that runs is applied. `threads resume` continues the thread.
The command returns when no process runs the thread. A process looks for it once in a second.";

pub(super) const HOLD: &str = "\
Examples:
  petalflow threads hold review-1 --store runs.db
  petalflow threads hold --prefix review- --store runs.db --yes

A thread that waits or sleeps is held, too. `threads resume` continues it.
The command returns when no process runs the thread, which can take as long as its superstep.";

pub(super) const DRAIN: &str = "\
Examples:
  petalflow threads drain review-1 --store runs.db

Moves a thread to another process: a server continues it when it looks for such threads, or `threads resume` does.
The command returns when no process runs the thread, which can take as long as its superstep.";

pub(super) async fn run(args: Args, stop: Stop) -> Result {
    let place = args.target.place.open().await?;
    let verb = match stop {
        Stop::Cancel => Verb {
            present: "cancel",
            past: "cancelled",
        },
        Stop::Hold => Verb {
            present: "hold",
            past: "held",
        },
        Stop::Drain => Verb {
            present: "drain",
            past: "drained",
        },
    };
    let json = args.target.json;
    let give = async |info: &petalflow::checkpoint::ThreadInfo| place.stop(&info.id, stop).await;
    let each = args.target.each(&place, verb, give, |info, status| {
        let id = &info.id;
        if json {
            return terminal::json_line(&json!({ "thread": id, "status": status.as_str() }));
        }
        terminal::line(format_args!("{STRONG}{id}{STRONG:#}  {status}"))
    });
    each.await
}
