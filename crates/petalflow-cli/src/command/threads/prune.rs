//! Removes old checkpoints of threads.

use std::time::Duration;

use petalflow::checkpoint::ThreadInfo;
use petalflow::thread::{Retention, StoredThreads};
use serde_json::json;

use super::target::{TargetArgs, Verb};
use crate::exit::{Exit, Failure, Result};
use crate::place::Place;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Retain at most this many checkpoints of each flow of a thread: the newest
    #[arg(long, value_name = "CHECKPOINTS")]
    keep: Option<usize>,

    /// Retain only checkpoints that are younger than this, such as `30d`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    younger_than: Option<Duration>,

    #[command(flatten)]
    pub(super) target: TargetArgs,
}

const AFTER: &str = "\
Examples:
  petalflow threads prune review-1 --keep 1 --store runs.db
  petalflow threads prune --all --younger-than 30d --store runs.db --yes

The newest checkpoint of a thread stays, and those that it builds on. `threads fork` cannot go back to one that is
removed. The space is given back to the file of the store at the end.";

pub(crate) async fn run(args: Args) -> Result {
    let retention = retention(&args)?;
    let store = args.target.place.open_store("prune threads").await?;
    let threads = StoredThreads::new(&store);
    let place = Place::Store(store.clone());
    let verb = Verb {
        present: "prune",
        past: "pruned",
    };
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Thread, error);
    let give = async |info: &ThreadInfo| {
        let pruned = threads.prune(&info.id, retention).await;
        pruned.map_err(|error| failed(&error))?;
        place.info(&info.id).await
    };
    let json = args.target.json;
    let each = args.target.each(&place, verb, give, |before, after| {
        let id = &before.id;
        let (was, is) = (
            before.checkpoints,
            after.map_or(0, |after| after.checkpoints),
        );
        if json {
            return terminal::json_line(&json!({ "thread": id, "before": was, "checkpoints": is }));
        }
        terminal::line(format_args!(
            "{STRONG}{id}{STRONG:#}  {is} checkpoints of {was}"
        ))
    });
    let exit = each.await?;
    store.reclaim().await.map_err(|error| failed(&error))?;
    Ok(exit)
}

fn retention(args: &Args) -> Result<Retention> {
    let mut retention = Retention::ALL;
    if let Some(keep) = args.keep {
        retention = Retention::max_checkpoints(keep);
    }
    if let Some(age) = args.younger_than {
        retention = retention.max_age(age);
    }
    if retention == Retention::ALL {
        return Err(
            Failure::new(Exit::Usage, "the command removes no checkpoint")
                .hint("write `--keep CHECKPOINTS` or `--younger-than TIME`"),
        );
    }
    Ok(retention)
}
