//! Lists the threads of a store.

use petalflow::checkpoint::{ThreadCount, ThreadInfo, ThreadOrder};
use serde_json::{Value, json};

use crate::answers::time;
use crate::exit::{Exit, Result};
use crate::place::{FilterArgs, PAGE, Place, PlaceArgs};
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PlaceArgs,

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

    // The heading is that of all options which follow.
    #[command(flatten, next_help_heading = "Conditions")]
    filter: FilterArgs,
}

const AFTER: &str = "\
Examples:
  petalflow threads list --store runs.db
  petalflow threads list --store runs.db --status waiting --json
  petalflow threads list --store runs.db --newest --limit 10 --not-label team:night
  petalflow threads list --store runs.db --where 'amount>100' --where paid=true
  petalflow threads list --store runs.db --count";

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

pub(crate) async fn run(args: Args) -> Result {
    let place = args.place.open().await?;
    let none = if args.count {
        print_counts(&place.counts(&args.filter).await?, args.json)?
    } else {
        print_threads(&place, &args).await?
    };
    if none && !args.json {
        terminal::note("there are no such threads");
    }
    Ok(Exit::Done)
}

/// Prints the threads page by page. Returns whether there is none.
async fn print_threads(place: &Place, args: &Args) -> Result<bool> {
    let order = if args.newest {
        ThreadOrder::CreatedNewest
    } else {
        args.order.into()
    };
    let limit = args.limit.unwrap_or(usize::MAX);
    let (mut printed, mut next) = (0, None);
    loop {
        let most = PAGE.min(limit - printed);
        let page = place.page(&args.filter, order, next.as_ref(), most).await?;
        print_page(&page.threads, args.json)?;
        if terminal::is_closed() {
            return Ok(false);
        }
        printed += page.threads.len();
        let Some(after) = page.next else {
            return Ok(printed == 0);
        };
        if printed >= limit {
            note_more(place, args, printed).await?;
            return Ok(false);
        }
        next = Some(after);
    }
}

/// Says how many threads were not printed.
async fn note_more(place: &Place, args: &Args, printed: usize) -> Result<()> {
    let counts = place.counts(&args.filter).await?;
    let all: u64 = counts.iter().map(|count| count.threads).sum();
    let more = all.saturating_sub(printed as u64);
    let plural = if more == 1 { "" } else { "s" };
    terminal::note(format_args!(
        "{more} more thread{plural}: set a larger `--limit`, or none"
    ));
    Ok(())
}

/// Prints a line for each thread.
pub(super) fn print_page(threads: &[ThreadInfo], json: bool) -> Result<()> {
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
        "attributes": info.attributes,
    })
}
