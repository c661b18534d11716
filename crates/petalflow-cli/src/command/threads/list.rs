//! Lists the threads of a store.

use petalflow::checkpoint::{ThreadInfo, ThreadQuery, ThreadStatus};
use serde_json::{Value, json};

use crate::answers::time;
use crate::exit::{Exit, Failure, Result};
use crate::store::StoreArgs;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArgs,

    /// Only threads whose names begin with this
    #[arg(long, default_value = "")]
    prefix: String,

    /// Only threads with this status
    #[arg(long, value_enum)]
    status: Option<Status>,

    /// Only threads of this graph
    #[arg(long)]
    graph: Option<String>,

    /// At most this many
    #[arg(long, default_value_t = 100)]
    limit: usize,

    /// Print a line of JSON for each
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads list --store runs.db
  petalflow threads list --store runs.db --status waiting --json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Status {
    Running,
    Waiting,
    Sleeping,
    Stopped,
    Failed,
    Finished,
    Held,
}

pub(crate) async fn run(args: Args) -> Result {
    let store = args.store.open().await?;
    let query = ThreadQuery {
        prefix: &args.prefix,
        limit: Some(args.limit),
        flow: args.graph.as_deref(),
        status: args.status.map(|status| match status {
            Status::Running => ThreadStatus::Running,
            Status::Waiting => ThreadStatus::Waiting,
            Status::Sleeping => ThreadStatus::Sleeping,
            Status::Stopped => ThreadStatus::Stopped,
            Status::Failed => ThreadStatus::Failed,
            Status::Finished => ThreadStatus::Finished,
            Status::Held => ThreadStatus::Held,
        }),
        ..ThreadQuery::default()
    };
    let threads = store
        .threads(query)
        .await
        .map_err(|error| Failure::new(Exit::Thread, error))?;
    let width = threads
        .iter()
        .map(|it| it.id.chars().count())
        .max()
        .unwrap_or_default();
    for info in &threads {
        if args.json {
            terminal::json_line(&as_json(info))?;
        } else {
            let (id, status, flow) = (&info.id, info.status.as_str(), &info.flow);
            if let Some(problem) = &info.damage {
                let line = format_args!("{STRONG}{id:width$}{STRONG:#}  damaged: {problem}");
                terminal::line(line)?;
                continue;
            }
            let updated = time(info.updated_ms);
            terminal::line(format_args!(
                "{STRONG}{id:width$}{STRONG:#}  {status:8}  {updated}  {flow}"
            ))?;
        }
    }
    if threads.is_empty() && !args.json {
        terminal::note("there are no such threads");
    }
    Ok(Exit::Done)
}

/// The properties of a thread as JSON.
pub(super) fn as_json(info: &ThreadInfo) -> Value {
    if let Some(problem) = &info.damage {
        return json!({ "id": info.id, "damage": problem });
    }
    json!({
        "id": info.id,
        "status": info.status.as_str(),
        "graph": info.flow,
        "checkpoints": info.checkpoints,
        "bytes": info.bytes,
        "created": time(info.created_ms),
        "updated": time(info.updated_ms),
        "labels": info.labels,
    })
}
