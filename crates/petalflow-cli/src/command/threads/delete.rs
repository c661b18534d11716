//! Deletes threads.

use petalflow::checkpoint::ThreadInfo;
use serde_json::json;

use super::target::{TargetArgs, Verb};
use crate::exit::Result;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
}

const AFTER: &str = "\
Examples:
  petalflow threads delete review-1 --store runs.db
  petalflow threads delete --status finished --updated-before 2026-01-31T00:00:00Z --store runs.db --dry-run
  petalflow threads delete --status finished --store runs.db --yes

A thread that a process runs is not deleted: cancel it before. Nothing brings a thread back.";

pub(crate) async fn run(args: Args) -> Result {
    let place = args.target.place.open().await?;
    let verb = Verb {
        present: "delete",
        past: "deleted",
    };
    let json = args.target.json;
    let give = async |info: &ThreadInfo| place.delete(&info.id).await;
    let each = args.target.each(&place, verb, give, |info, ()| {
        let id = &info.id;
        if json {
            return terminal::json_line(&json!({ "thread": id, "deleted": true }));
        }
        terminal::line(format_args!("{STRONG}{id}{STRONG:#}  deleted"))
    });
    each.await
}
