//! Continues a thread from an old checkpoint.

use serde_json::json;

use super::open::ThreadArgs;
use super::show::thread_failure;
use crate::exit::{Exit, Failure, Result};
use crate::store::shell_quoted;
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    thread: ThreadArgs,

    /// The checkpoint to continue from: `petalflow threads show ID --history` lists them
    #[arg(long, value_name = "NUMBER")]
    checkpoint: u64,

    /// Copy it to a new thread with this name. Without it, the thread itself goes back
    #[arg(long, value_name = "ID")]
    to: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads fork review-1 --store runs.db --checkpoint 3
  petalflow threads fork review-1 --store runs.db --checkpoint 3 --to review-2

Nothing is removed: the checkpoints after it stay in the history.";

pub(crate) async fn run(args: Args) -> Result {
    #[cfg(feature = "client")]
    if let Some(served) = args.thread.served()? {
        let (id, checkpoint) = served.fork(args.checkpoint, args.to.as_deref()).await?;
        return print(&args, &id, checkpoint);
    }
    let (store, info) = args.thread.find().await?;
    let flow = args.thread.flow_to_read(&info)?.ok_or_else(|| {
        Failure::new(
            Exit::File,
            format_args!("the document of thread `{}` is not known", info.id),
        )
        .hint("write it after the name of the thread")
    })?;
    let thread = flow.launch().store(&store).thread(info.id.as_str());
    let (id, checkpoint) = match &args.to {
        None => (
            info.id.clone(),
            thread.fork(args.checkpoint).await.map_err(thread_failure)?,
        ),
        Some(to) => {
            let fork = thread
                .fork_to(args.checkpoint, to.as_str())
                .await
                .map_err(thread_failure)?;
            fork.set_labels(info.labels.clone())
                .await
                .map_err(thread_failure)?;
            let newest = fork.snapshot().await.map_err(thread_failure)?;
            (
                to.clone(),
                newest.map_or(0, |newest| newest.info.checkpoint),
            )
        }
    };
    print(&args, &id, checkpoint)
}

fn print(args: &Args, id: &str, checkpoint: u64) -> Result {
    if args.json {
        terminal::json(&json!({ "id": id, "checkpoint": checkpoint }))?;
    } else {
        terminal::line(format_args!(
            "thread {id} continues from checkpoint {}",
            args.checkpoint
        ))?;
        terminal::note(format_args!(
            "petalflow threads resume {}{}",
            shell_quoted(id),
            args.thread.place.option()
        ));
    }
    Ok(Exit::Done)
}
