//! The schedules of a server.

use reqwest::Method;
use serde_json::{Value, json};

use crate::document::File;
use crate::exit::{Exit, Failure, Result};
use crate::place::{Server, ServerArgs};
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "\
Examples:
  petalflow schedules list --server http://127.0.0.1:8080
  petalflow schedules set morning letters '0 9 * * MON-FRI' --zone Europe/Berlin --server http://127.0.0.1:8080
  petalflow schedules pause morning --server http://127.0.0.1:8080

A schedule begins a thread of a graph at the times of a cron line. Those that `set` has defined can be changed and
deleted; those of the program of the server can be paused. The token is in `PETALFLOW_TOKEN`.";

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the schedules, with their next times
    #[command(after_help = LIST)]
    List(ListArgs),
    /// Show a schedule
    #[command(after_help = SHOW)]
    Show(NameArgs),
    /// Define a schedule, or change it. What a change does not name stays
    #[command(after_help = SET)]
    Set(SetArgs),
    /// Delete a schedule. Its threads stay
    #[command(after_help = DELETE)]
    Delete(NameArgs),
    /// Pause a schedule
    #[command(after_help = PAUSE)]
    Pause(NameArgs),
    /// Continue a schedule with its next time
    #[command(after_help = UNPAUSE)]
    Unpause(NameArgs),
    /// Begin a thread of a schedule now
    #[command(after_help = RUN)]
    Run(NameArgs),
    /// Begin the threads of the planned times of a range that has passed, each once
    #[command(after_help = BACKFILL)]
    Backfill(BackfillArgs),
}

const LIST: &str = "\
Examples:
  petalflow schedules list --server http://127.0.0.1:8080 --json";
const SHOW: &str = "\
Examples:
  petalflow schedules show morning --server http://127.0.0.1:8080";
const SET: &str = "\
Examples:
  petalflow schedules set morning letters '0 9 * * *' --server http://127.0.0.1:8080
  petalflow schedules set morning letters '@daily' --input '{\"vars\": {\"name\": \"Ann\"}}' --server http://127.0.0.1:8080";
const DELETE: &str = "\
Examples:
  petalflow schedules delete morning --server http://127.0.0.1:8080";
const PAUSE: &str = "\
Examples:
  petalflow schedules pause morning --server http://127.0.0.1:8080";
const UNPAUSE: &str = "\
Examples:
  petalflow schedules unpause morning --server http://127.0.0.1:8080";
const RUN: &str = "\
Examples:
  petalflow schedules run morning --server http://127.0.0.1:8080";
const BACKFILL: &str = "\
Examples:
  petalflow schedules backfill morning --from 2026-01-01T00:00:00Z --to 2026-01-03T00:00:00Z --server http://127.0.0.1:8080";

/// The server, and how the result is printed.
#[derive(Debug, clap::Args)]
struct OutputArgs {
    #[command(flatten)]
    server: ServerArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct NameArgs {
    /// The name of the schedule
    name: String,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// The name of the schedule
    name: String,

    /// The graph
    graph: String,

    /// The cron line, such as `0 9 * * MON-FRI`
    cron: String,

    /// The time zone of the cron line, such as `Europe/Berlin`. The default is UTC
    #[arg(long)]
    zone: Option<String>,

    /// The input of the runs, in JSON
    #[arg(long, value_name = "JSON", conflicts_with = "input_file")]
    input: Option<String>,

    /// The input of the runs: a file in JSON or YAML; `-` is stdin
    #[arg(short = 'f', long, value_name = "FILE")]
    input_file: Option<std::path::PathBuf>,

    /// What happens to times at which no server ran: `skip`, `latest` or `all`. The default is `skip`
    #[arg(long, value_name = "TIMES", value_parser = ["skip", "latest", "all"])]
    missed: Option<String>,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct BackfillArgs {
    /// The name of the schedule
    name: String,

    /// The first time, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    from: String,

    /// The last time. It has passed
    #[arg(long, value_name = "TIME")]
    to: String,

    #[command(flatten)]
    output: OutputArgs,
}

impl OutputArgs {
    fn server(&self) -> Result<Server> {
        self.server.server()?.ok_or_else(|| {
            Failure::new(Exit::Usage, "there is no server")
                .hint("name it with `--server URL` or the variable `PETALFLOW_SERVER`")
        })
    }
}

impl Args {
    pub(super) fn prints_json(&self) -> bool {
        let output = match &self.command {
            Command::List(args) => &args.output,
            Command::Set(args) => &args.output,
            Command::Backfill(args) => &args.output,
            Command::Show(args)
            | Command::Delete(args)
            | Command::Pause(args)
            | Command::Unpause(args)
            | Command::Run(args) => &args.output,
        };
        output.json
    }
}

pub(crate) async fn run(args: Args) -> Result {
    match args.command {
        Command::List(args) => list(&args).await?,
        Command::Show(args) => {
            let path = ["schedules", &args.name];
            let schedule = args.output.server()?.get(&path, &[]).await?;
            print(&schedule, args.output.json)?;
        }
        Command::Set(args) => set(&args).await?,
        Command::Delete(args) => {
            let path = ["schedules", &args.name];
            let server = args.output.server()?;
            server.send(Method::DELETE, &path, &Value::Null).await?;
            let name = &args.name;
            report(
                args.output.json,
                json!({ "name": name, "deleted": true }),
                format!("{name}  deleted"),
            )?;
        }
        Command::Pause(args) => command(&args, "pause").await?,
        Command::Unpause(args) => command(&args, "unpause").await?,
        Command::Run(args) => {
            let begun = post(&args, "run", &Value::Null).await?;
            let thread = begun["thread"].as_str().unwrap_or_default().to_owned();
            report(args.output.json, begun, format!("{thread}  begins"))?;
        }
        Command::Backfill(args) => {
            let path = ["schedules", &args.name, "backfill"];
            let range = json!({ "from": args.from, "to": args.to });
            let server = args.output.server()?;
            let begun = server.send(Method::POST, &path, &range).await?;
            print_begun(&begun, args.output.json)?;
        }
    }
    Ok(Exit::Done)
}

async fn list(args: &ListArgs) -> Result<()> {
    let list = args.output.server()?.get(&["schedules"], &[]).await?;
    let schedules = list["schedules"].as_array().cloned().unwrap_or_default();
    for schedule in &schedules {
        if args.output.json {
            terminal::json_line(schedule)?;
        } else {
            print(schedule, false)?;
        }
    }
    if schedules.is_empty() && !args.output.json {
        terminal::note("there are no schedules");
    }
    Ok(())
}

async fn set(args: &SetArgs) -> Result<()> {
    let input = match (&args.input, &args.input_file) {
        (Some(input), _) => Some(serde_json::from_str(input).map_err(|error| {
            Failure::new(Exit::Input, format_args!("`--input` is not JSON: {error}"))
        })?),
        (None, Some(file)) => Some(File::read(file)?.value()?),
        (None, None) => None,
    };
    let server = args.output.server()?;
    let mut definition = json!({ "flow": args.graph, "cron": args.cron });
    let given = [
        ("zone", args.zone.clone().map(Value::from)),
        ("missed", args.missed.clone().map(Value::from)),
        ("input", input),
    ];
    let before = existing(&server, &args.name).await?;
    for (name, value) in given {
        // What the command does not name stays.
        if let Some(value) = value.or_else(|| before.as_ref().map(|it| it[name].clone())) {
            definition[name] = value;
        }
    }
    let path = ["schedules", &args.name];
    let schedule = server.send(Method::PUT, &path, &definition).await?;
    print(&schedule, args.output.json)
}

/// The schedule with this name, if there is one.
async fn existing(server: &Server, name: &str) -> Result<Option<Value>> {
    let list = server.get(&["schedules"], &[]).await?;
    let mut schedules = list["schedules"].as_array().into_iter().flatten();
    Ok(schedules.find(|schedule| schedule["name"] == name).cloned())
}

async fn post(args: &NameArgs, command: &str, body: &Value) -> Result<Value> {
    let path = ["schedules", &args.name, command];
    args.output.server()?.send(Method::POST, &path, body).await
}

async fn command(args: &NameArgs, command: &str) -> Result<()> {
    let schedule = post(args, command, &Value::Null).await?;
    print(&schedule, args.output.json)
}

/// Prints a schedule: its name, when, what, and its next time.
fn print(schedule: &Value, json: bool) -> Result<()> {
    if json {
        return terminal::json(schedule);
    }
    let text = |name: &str| schedule[name].as_str().unwrap_or_default();
    let (name, cron, zone, flow) = (text("name"), text("cron"), text("zone"), text("flow"));
    let next = match schedule["next"][0].as_str() {
        _ if schedule["paused"] == true => "paused".to_owned(),
        Some(next) => format!("next {next}"),
        None => "never again".to_owned(),
    };
    terminal::line(format_args!(
        "{STRONG}{name}{STRONG:#}  {cron}  {zone}  {flow}  {next}"
    ))
}

fn print_begun(begun: &Value, json: bool) -> Result<()> {
    let threads = begun["threads"].as_array().into_iter().flatten();
    let threads: Vec<&str> = threads.filter_map(Value::as_str).collect();
    if json {
        return terminal::json(begun);
    }
    for thread in &threads {
        terminal::line(format_args!("{thread}  begins"))?;
    }
    let (count, times) = (threads.len(), &begun["times"]);
    terminal::note(format_args!(
        "{count} threads begin, of {times} planned times"
    ));
    Ok(())
}

fn report(json: bool, value: Value, text: String) -> Result<()> {
    if json {
        return terminal::json(&value);
    }
    terminal::line(text)
}
