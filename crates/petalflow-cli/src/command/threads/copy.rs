//! Copies threads to another store.

use petalflow::checkpoint::ThreadInfo;
use petalflow::thread::StoredThreads;
use serde_json::json;

use super::target::{TargetArgs, Verb};
use crate::exit::{Exit, Failure, Result};
use crate::place::Place;
use crate::store::StoreArgs;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The other store, as `--store` names it. A file that does not exist is created
    #[arg(long, value_name = "STORE")]
    to: String,

    #[command(flatten)]
    pub(super) target: TargetArgs,
}

const AFTER: &str = "\
Examples:
  petalflow threads copy review-1 --store runs.db --to other.db
  petalflow threads copy --all --store runs.db --to backup.db --yes

A copy has the name, the history, the labels, the questions and the recorded effects of the thread. It does not run by
itself: what was running or asleep is held, and `threads resume` continues it. Delete one of the two before that.";

pub(crate) async fn run(args: Args) -> Result {
    let store = args.target.place.open_store("copy threads").await?;
    let to = StoreArgs {
        store: Some(args.to.clone()),
    };
    let other = StoredThreads::new(&to.open_or_memory().await?);
    let threads = StoredThreads::new(&store);
    let place = Place::Store(store);
    let verb = Verb {
        present: "copy",
        past: "copied",
    };
    let json = args.target.json;
    let give = async |info: &ThreadInfo| {
        let copied = threads.copy_to_store(&info.id, &other).await;
        copied.map_err(|error| Failure::new(Exit::Thread, error))
    };
    let each = args.target.each(&place, verb, give, |info, ()| {
        let id = &info.id;
        if json {
            return terminal::json_line(&json!({ "thread": id, "copied": true }));
        }
        terminal::line(format_args!("{STRONG}{id}{STRONG:#}  copied"))
    });
    each.await
}
