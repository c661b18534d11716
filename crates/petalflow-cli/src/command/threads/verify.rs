//! Reads everything in a store, and reports what is damaged.

use std::sync::Arc;

use petalflow::checkpoint::{Store, ThreadInfo, ThreadQuery};
use petalflow::thread::StoredThreads;
use serde_json::json;

use crate::exit::{Exit, Failure, Result};
use crate::store::StoreArgs;
use crate::terminal::{self, STRONG};

/// The number of threads that are listed at once.
const PAGE: usize = 1_000;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The store: a file, `sqlite:FILE`, `postgres://..` or `redis://..`
    #[arg(value_name = "STORE")]
    address: Option<String>,

    #[command(flatten)]
    store: StoreArgs,

    /// Only threads whose names begin with this
    #[arg(long, default_value = "")]
    prefix: String,

    /// Print a line of JSON for each problem
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads verify runs.db
  petalflow threads verify --store runs.db --prefix review- --json";

pub(crate) async fn run(args: Args) -> Result {
    let store = match args.address {
        Some(address) => StoreArgs {
            store: Some(address),
        },
        None => args.store,
    };
    let store = store.open().await?;
    let threads = StoredThreads::new(&store);
    let (mut verified, mut damaged) = (0, 0);
    let mut after = None;
    loop {
        let page = page(&store, &args.prefix, after.as_deref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        for info in page {
            let problems = problems(&threads, &info).await?;
            verified += 1;
            damaged += usize::from(!problems.is_empty());
            for problem in problems {
                report(Some(&info.id), &problem, args.json)?;
            }
        }
    }
    let of_store = store.verify().await.map_err(failed)?;
    for problem in &of_store {
        report(None, problem, args.json)?;
    }
    terminal::note(format_args!("{damaged} of {verified} threads are damaged"));
    if damaged == 0 && of_store.is_empty() {
        Ok(Exit::Done)
    } else {
        Ok(Exit::Thread)
    }
}

async fn page(
    store: &Arc<dyn Store>,
    prefix: &str,
    after: Option<&str>,
) -> Result<Vec<ThreadInfo>> {
    let query = ThreadQuery {
        prefix,
        after,
        limit: Some(PAGE),
        ..ThreadQuery::default()
    };
    store.threads(query).await.map_err(failed)
}

/// What is damaged of a thread. The list may know a thread of which nothing else can be read.
async fn problems(threads: &StoredThreads, info: &ThreadInfo) -> Result<Vec<String>> {
    let mut problems = threads.verify(&info.id).await.map_err(failed)?;
    if let Some(damage) = &info.damage
        && !problems.contains(damage)
    {
        problems.insert(0, damage.clone());
    }
    Ok(problems)
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Thread, error)
}

/// Prints a problem, of a thread or of the store.
fn report(thread: Option<&str>, problem: &str, json: bool) -> Result<()> {
    if json {
        return terminal::json_line(&json!({ "thread": thread, "damage": problem }));
    }
    match thread {
        Some(thread) => terminal::line(format_args!(
            "{STRONG}{thread}{STRONG:#}  damaged: {problem}"
        )),
        None => terminal::line(format_args!("damaged: {problem}")),
    }
}
