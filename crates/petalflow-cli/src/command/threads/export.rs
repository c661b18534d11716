//! Writes a thread to a file, and the thread of a file to a store.

use std::path::PathBuf;

use petalflow::thread::StoredThreads;

use super::show::thread_failure;
use crate::exit::{Exit, Failure, Result};
use crate::place::PlaceArgs;
use crate::store::StoreArgs;
use crate::{terminal, thread_file};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The name of the thread
    id: String,

    #[command(flatten)]
    place: PlaceArgs,

    /// A key whose value is removed, by its name in storage. Name each one that the program marks `secret`. Only for a store
    #[arg(long, value_name = "KEY")]
    secret: Vec<String>,

    /// No key is secret. Only for a store
    #[arg(long, conflicts_with = "secret")]
    no_secrets: bool,

    /// Write to this file, such as `order-7.thread.json`. Without it, the thread is printed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  petalflow threads export review-1 --store runs.db --no-secrets -o review-1.thread.json
  petalflow threads export review-1 --store runs.db --secret vars --secret input
  petalflow threads export review-1 --server http://127.0.0.1:8080 -o review-1.thread.json

A server removes the values of secret keys. A store does not know which keys of a program are secret. A value that is removed is also removed where other
values repeat its text. A Rust test replays the file with `Replay` of petalflow-testing.";

pub(crate) async fn run(args: Args) -> Result {
    #[cfg(feature = "client")]
    if let Some(server) = args.place.server()? {
        if !args.secret.is_empty() || args.no_secrets {
            return Err(
                Failure::new(Exit::Usage, "a server knows which keys are secret")
                    .hint("leave out `--secret` and `--no-secrets`"),
            );
        }
        let file = crate::place::exported(&server, &args.id).await?;
        terminal::output(args.output.as_deref(), &format!("{file:#}\n"))?;
        return Ok(Exit::Done);
    }
    if args.secret.is_empty() && !args.no_secrets {
        return Err(Failure::new(
            Exit::Usage,
            "a store does not know which keys of a program are secret",
        )
        .hint("name each with `--secret KEY`, or say `--no-secrets`"));
    }
    let store = args.place.open_store("export a thread").await?;
    let threads = StoredThreads::new(&store);
    let file = threads.export(&args.id, args.secret).await;
    let file = file.map_err(thread_failure)?;
    terminal::output(args.output.as_deref(), &format!("{file}\n"))?;
    Ok(Exit::Done)
}

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_IMPORT)]
pub(crate) struct ImportArgs {
    /// The file that `petalflow threads export` has written
    file: PathBuf,

    #[command(flatten)]
    store: StoreArgs,
}

const AFTER_IMPORT: &str = "\
Examples:
  petalflow threads export review-1 --store runs.db --no-secrets -o r.json && petalflow threads import r.json --store copy.db

The thread keeps its name. The store must not have it.";

pub(crate) async fn import(args: ImportArgs) -> Result {
    let file = thread_file::read(&args.file)?;
    let store = match &args.store.store {
        // It may be a new file.
        Some(_) => args.store.open_or_memory().await?,
        None => args.store.open().await?,
    };
    file.write_to(&store).await.map_err(thread_failure)?;
    terminal::line(format_args!("thread {} was imported", file.thread()))?;
    Ok(Exit::Done)
}
