//! Lists the threads of a store.

use petalflow::checkpoint::{
    Store, StoreError, ThreadCount, ThreadFilter, ThreadInfo, ThreadOrder, ThreadQuery,
    ThreadStatus,
};
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

    /// Only threads with one of these statuses
    #[arg(long, value_enum)]
    status: Vec<Status>,

    /// Only threads of one of these graphs
    #[arg(long)]
    graph: Vec<String>,

    /// Only threads with all of these labels
    #[arg(long, value_name = "NAME:VALUE", value_parser = label)]
    label: Vec<(String, String)>,

    /// Only threads with one of these labels
    #[arg(long, value_name = "NAME:VALUE", value_parser = label)]
    any_label: Vec<(String, String)>,

    /// Only threads with none of these labels
    #[arg(long, value_name = "NAME:VALUE", value_parser = label)]
    not_label: Vec<(String, String)>,

    /// Only threads that were created at this time or later, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    created_from: Option<u64>,

    /// Only threads that were created before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    created_before: Option<u64>,

    /// Only threads that changed last at this time or later
    #[arg(long, value_name = "TIME", value_parser = moment)]
    updated_from: Option<u64>,

    /// Only threads that changed last before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    updated_before: Option<u64>,

    /// The order
    #[arg(long, value_enum, default_value_t = Order::Id)]
    order: Order,

    /// The thread that was created last comes first: --order created-newest
    #[arg(long, conflicts_with = "order")]
    newest: bool,

    /// At most this many. The default is all
    #[arg(long)]
    limit: Option<usize>,

    /// Print how many threads of each graph have each status, and no threads
    #[arg(long, conflicts_with_all = ["order", "newest", "limit"])]
    count: bool,

    /// Print a line of JSON for each
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads list --store runs.db
  petalflow threads list --store runs.db --status waiting --json
  petalflow threads list --store runs.db --newest --limit 10 --not-label team:night
  petalflow threads list --store runs.db --count";

/// How many threads are read at once.
const PAGE: usize = 1_000;

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

impl From<Status> for ThreadFilter<'_> {
    fn from(status: Status) -> Self {
        ThreadFilter::Status(match status {
            Status::Running => ThreadStatus::Running,
            Status::Waiting => ThreadStatus::Waiting,
            Status::Sleeping => ThreadStatus::Sleeping,
            Status::Stopped => ThreadStatus::Stopped,
            Status::Failed => ThreadStatus::Failed,
            Status::Finished => ThreadStatus::Finished,
            Status::Held => ThreadStatus::Held,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Order {
    Id,
    CreatedNewest,
    CreatedOldest,
    UpdatedNewest,
    UpdatedOldest,
}

impl From<Order> for ThreadOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Id => ThreadOrder::Id,
            Order::CreatedNewest => ThreadOrder::CreatedNewest,
            Order::CreatedOldest => ThreadOrder::CreatedOldest,
            Order::UpdatedNewest => ThreadOrder::UpdatedNewest,
            Order::UpdatedOldest => ThreadOrder::UpdatedOldest,
        }
    }
}

fn label(text: &str) -> std::result::Result<(String, String), String> {
    let label = text.split_once(':').ok_or("write NAME:VALUE")?;
    Ok((label.0.into(), label.1.into()))
}

/// A time in milliseconds since 1970.
fn moment(text: &str) -> std::result::Result<u64, String> {
    let time = humantime::parse_rfc3339_weak(text).map_err(|error| error.to_string())?;
    let since = time.duration_since(std::time::SystemTime::UNIX_EPOCH);
    let since = since.map_err(|_| "the time is before 1970")?;
    u64::try_from(since.as_millis()).map_err(|error| error.to_string())
}

fn filter((name, value): &(String, String)) -> ThreadFilter<'_> {
    ThreadFilter::Label(name, value)
}

pub(crate) async fn run(args: Args) -> Result {
    let store = args.store.open().await?;
    let statuses: Vec<_> = args.status.iter().map(|it| (*it).into()).collect();
    let graphs: Vec<_> = args.graph.iter().map(|it| ThreadFilter::Flow(it)).collect();
    let any_labels: Vec<_> = args.any_label.iter().map(filter).collect();
    let not_labels: Vec<_> = args.not_label.iter().map(filter).collect();
    let some = [&statuses, &graphs, &any_labels].into_iter();
    let some = some.filter(|filters| !filters.is_empty());
    let all: Vec<_> = some
        .map(|filters| ThreadFilter::Any(filters))
        .chain(args.label.iter().map(filter))
        .chain(not_labels.iter().map(ThreadFilter::Not))
        .collect();
    let query = ThreadQuery {
        prefix: &args.prefix,
        filter: Some(ThreadFilter::All(&all)).filter(|_| !all.is_empty()),
        created_from_ms: args.created_from,
        created_before_ms: args.created_before,
        updated_from_ms: args.updated_from,
        updated_before_ms: args.updated_before,
        order: if args.newest {
            ThreadOrder::CreatedNewest
        } else {
            args.order.into()
        },
        ..ThreadQuery::default()
    };
    let none = if args.count {
        let counts = store.thread_counts(query).await.map_err(failure)?;
        print_counts(&counts, args.json)?
    } else {
        print_threads(&*store, query, &args).await?
    };
    if none && !args.json {
        terminal::note("there are no such threads");
    }
    Ok(Exit::Done)
}

fn failure(error: StoreError) -> Failure {
    Failure::new(Exit::Thread, error)
}

/// Prints the threads page by page. Returns whether there is none.
async fn print_threads(store: &dyn Store, query: ThreadQuery<'_>, args: &Args) -> Result<bool> {
    let mut left = args.limit.unwrap_or(usize::MAX);
    let mut last: Option<ThreadInfo> = None;
    loop {
        let page = last.as_ref().map_or(query, |last| query.after_thread(last));
        // One more than is printed shows whether there are more.
        let limit = Some(left.min(PAGE).saturating_add(1));
        let page = store.threads(ThreadQuery { limit, ..page }).await;
        let mut page = page.map_err(failure)?;
        let has_more = page.len() > left.min(PAGE);
        page.truncate(left.min(PAGE));
        left -= page.len();
        print_page(&page, args.json)?;
        last = page.pop().or(last);
        if !has_more {
            return Ok(last.is_none());
        }
        if left == 0 {
            if !args.json {
                terminal::note("there are more threads: set a larger --limit, or none");
            }
            return Ok(false);
        }
    }
}

fn print_page(threads: &[ThreadInfo], json: bool) -> Result<()> {
    let width = threads
        .iter()
        .map(|it| it.id.chars().count())
        .max()
        .unwrap_or_default();
    for info in threads {
        if json {
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
    Ok(())
}

/// Prints how many threads of each graph have each status. Returns whether there is none.
fn print_counts(counts: &[ThreadCount], json: bool) -> Result<bool> {
    for count in counts {
        let (graph, status, threads) = (&count.flow, count.status.as_str(), count.threads);
        if json {
            terminal::json_line(&json!({ "graph": graph, "status": status, "threads": threads }))?;
        } else {
            terminal::line(format_args!("{threads:>8}  {status:8}  {graph}"))?;
        }
    }
    Ok(counts.is_empty())
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
