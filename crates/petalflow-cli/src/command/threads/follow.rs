//! Prints the events of a thread, and those that follow.

use serde_json::Value;

use crate::answers::time;
use crate::exit::{Exit, Failure, Result};
use crate::place::PlaceArgs;
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The name of the thread
    id: String,

    #[command(flatten)]
    place: PlaceArgs,

    /// Only events after the one with this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,

    /// Print a line of JSON for each
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow threads follow review-1 --store runs.db
  petalflow threads follow review-1 --store runs.db --after 12 --json

It ends when no process runs the thread. A server stores the events of its threads, and `petalflow run` stores none.";

pub(crate) async fn run(args: Args) -> Result {
    let place = args.place.open().await?;
    if place.info(&args.id).await?.is_none() {
        return Err(args.place.unknown_thread(&args.id));
    }
    let mut is_empty = true;
    let show = |event: &Value| {
        is_empty = false;
        print(event, args.json)?;
        if terminal::is_closed() {
            // The events are the only result.
            return Err(Failure::silent(Exit::Done));
        }
        Ok(())
    };
    place.follow(&args.id, args.after, show).await?;
    if is_empty && !args.json {
        terminal::note("there are no such events of the thread");
    }
    Ok(Exit::Done)
}

fn print(event: &Value, json: bool) -> Result<()> {
    if json {
        return terminal::json_line(event);
    }
    let number = &event["number"];
    let at = time(event["recorded_ms"].as_u64().unwrap_or_default());
    let kind = event["kind"].as_str().unwrap_or_default().replace('_', " ");
    let node = event["task"]["node"].as_str().unwrap_or_default();
    let error = match &event["error"] {
        Value::Null => String::new(),
        Value::String(error) => format!(": {error}"),
        error => format!(": {}", error["message"].as_str().unwrap_or_default()),
    };
    let line = format!("{number:>5}  {at}  {kind}  {STRONG}{node}{STRONG:#}{error}");
    terminal::line(line.trim_end())
}
