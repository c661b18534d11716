//! Serves documents over HTTP.

use std::path::{Path, PathBuf};
use std::time::Duration;

use petalflow_documents::document::ReadGraph;
use petalflow_server::{Limits, Server};

use super::schedule_args::ScheduleArgs;
use super::site::{self, ListenArgs, Site, TOKEN_VARIABLE};
use crate::exit::{Exit, Failure, Result};
use crate::services::ServiceArgs;
use crate::stop::StopRequests;
use crate::store::StoreArgs;
use crate::terminal::{self, WARNING};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The documents: graphs in JSON or YAML. One with nodes of type `webhook_trigger` is started by requests to them; any other
    /// by clients of `--threads`, on the page of `--studio`, or by `--schedule`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    listen: ListenArgs,

    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

    /// Serve the flows and their threads: starting them, their state, events and questions, to callers whose header `X-PetalFlow-Token` has the
    /// value of the variable `PETALFLOW_TOKEN`
    #[arg(long)]
    threads: bool,

    /// Serve the studio: a page on which people see and steer the threads. It serves the threads too, with a new token if the
    /// variable `PETALFLOW_TOKEN` is not set, and prints a link with the token
    #[arg(long)]
    studio: bool,

    /// Serve the documents as tools of the Model Context Protocol, at `/mcp`. It serves the threads too, and clients send the value of
    /// the variable `PETALFLOW_TOKEN` in the same header or as a bearer token
    #[arg(long)]
    mcp: bool,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    limits: LimitArgs,
}

/// The limits on clients. A request beyond one of them gets 503, and may be sent again.
#[derive(Debug, clap::Args)]
struct LimitArgs {
    /// The most runs at the same time [default: 256]
    #[arg(long = "max-runs", value_name = "N")]
    runs: Option<usize>,

    /// The most requests at the same time [default: 256]
    #[arg(long = "max-requests", value_name = "N")]
    requests: Option<usize>,

    /// The most clients that receive events at the same time [default: 256]
    #[arg(long = "max-streams", value_name = "N")]
    streams: Option<usize>,

    /// The most connections at the same time; further ones wait [default: 1024]
    #[arg(long = "max-connections", value_name = "N")]
    connections: Option<usize>,

    /// How many seconds a request may wait for the end of its run, with the header `Prefer: wait=SECONDS` [default: 0]
    #[arg(long = "max-wait", value_name = "SECONDS")]
    wait: Option<u64>,
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            max_runs: self.runs.unwrap_or(default.max_runs),
            max_requests: self.requests.unwrap_or(default.max_requests),
            max_streams: self.streams.unwrap_or(default.max_streams),
            max_connections: self.connections.unwrap_or(default.max_connections),
            max_wait: self.wait.map_or(default.max_wait, Duration::from_secs),
            ..default
        }
    }
}

const AFTER: &str = "\
Examples:
  petalflow serve orders.graph.yaml --store runs.db
  petalflow serve orders.graph.yaml refunds.graph.yaml --listen 0.0.0.0:8080 --store runs.db
  PETALFLOW_TOKEN=secret petalflow serve orders.graph.yaml --store runs.db --threads
  petalflow serve letters.graph.yaml --store runs.db --studio
  petalflow serve letters.graph.yaml --store runs.db --schedule 'letters=0 9 * * MON-FRI'

A request to a trigger starts a run: `POST /workflows/GRAPH/webhooks/TRIGGER`. With a store, no
request is lost: the next process continues. Ctrl-C ends the server after the current nodes.
`GET /health` answers 200 while the store can be reached.";

pub(crate) async fn run(args: Args) -> Result {
    let store = args.store.open_or_memory().await?;
    let site = args.site()?;
    let documents = site::read_documents(&args.files, &args.services)?;
    for (path, (read, _)) in args.files.iter().zip(&documents) {
        args.check_start(&site, path, read)?;
    }
    let builder = Server::builder(&store).limits(args.limits.limits());
    let mut builder = site::with_documents(builder, documents);
    if args.mcp {
        builder = builder.mcp();
    }
    let server = site.build(args.schedules.add_to(builder)?, &args.listen)?;
    let mut requests = StopRequests::new();
    let listener = args.listen.bind().await?;
    if args.store.store.is_none() {
        terminal::note(format_args!(
            "{WARNING}warning:{WARNING:#} without `--store` all runs are lost when the server ends"
        ));
    }
    site.print_addresses(&server, &listener)?;
    if args.mcp {
        let address = listener
            .local_addr()
            .map_err(|error| Failure::new(Exit::Failed, error))?;
        terminal::line(format_args!("http://{address}/mcp"))?;
    }
    site::serve(server, listener, requests.next()).await?;
    Ok(Exit::Done)
}

impl Args {
    /// The token of the threads, if they are served. A studio without one gets a new one.
    fn site(&self) -> Result<Site> {
        if self.studio {
            return Ok(Site::with_studio());
        }
        let option = match (self.threads, self.mcp) {
            (true, _) => Some("--threads"),
            (false, true) => Some("--mcp"),
            (false, false) => None,
        };
        let token = site::token_of_environment().filter(|_| option.is_some());
        if let (Some(option), None) = (option, &token) {
            return Err(
                Failure::new(Exit::Usage, format_args!("`{option}` needs a token"))
                    .hint(format_args!("set the variable `{TOKEN_VARIABLE}`")),
            );
        }
        Ok(Site {
            token,
            has_studio: false,
        })
    }

    /// Fails if nothing starts the runs of a graph.
    fn check_start(&self, site: &Site, path: &Path, read: &ReadGraph) -> Result<()> {
        let mut nodes = read.definition.nodes.iter();
        let has_trigger = nodes.any(|node| node.kind == "webhook_trigger");
        if has_trigger || site.token.is_some() || self.schedules.names(&read.definition.id) {
            return Ok(());
        }
        let text = format_args!(
            "`{}` has no webhook trigger, so no request can start it",
            path.display()
        );
        let hint = "add `--threads`, `--studio`, `--mcp` or `--schedule`, or a node of type `webhook_trigger`";
        Err(Failure::new(Exit::Missing, text).hint(hint))
    }
}
