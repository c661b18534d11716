//! Serves documents over HTTP.

use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Limits, Notice, Server};
use tokio::net::TcpListener;

use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::services::ServiceArgs;
use crate::stop::StopRequests;
use crate::store::StoreArgs;
use crate::terminal::{self, WARNING};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The documents: graphs in JSON or YAML. One with nodes of type `webhook_trigger` is started by requests to them; any other
    /// by clients of `--threads`, or on the page of `--studio`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The address to listen on. Port 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,

    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    services: ServiceArgs,

    /// Serve the flows and their threads: starting them, their state, events and questions, to callers whose header `X-PetalFlow-Token` has the
    /// value of the variable `PETALFLOW_TOKEN`
    #[arg(long)]
    threads: bool,

    /// Serve the studio: a page on which people see and steer the threads. It serves the threads too, with a new token if the
    /// variable `PETALFLOW_TOKEN` is not set, and prints a link with the token
    #[arg(long)]
    studio: bool,

    /// Refuse requests to other hosts than this one, which may be given several times. With `--studio` on an address of this
    /// machine, `localhost`, `127.0.0.1` and `[::1]` are accepted too, and others are refused
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

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

/// The environment variable with the token of the threads. It is not an option, because the list of processes shows options
/// to everyone.
const TOKEN_VARIABLE: &str = "PETALFLOW_TOKEN";

/// Where the studio is.
const STUDIO_PATH: &str = "/studio";

/// The header with the token of the threads.
const TOKEN_HEADER: &str = "X-PetalFlow-Token";

const AFTER: &str = "\
Examples:
  petalflow serve orders.graph.yaml --store runs.db
  petalflow serve orders.graph.yaml refunds.graph.yaml --listen 0.0.0.0:8080 --store runs.db
  PETALFLOW_TOKEN=secret petalflow serve orders.graph.yaml --store runs.db --threads
  petalflow serve letters.graph.yaml --store runs.db --studio

A request to a trigger starts a run: `POST /workflows/GRAPH/webhooks/TRIGGER`. With a store, no
request is lost: the next process continues. Ctrl-C ends the server after the current nodes.
`GET /health` answers 200 while the store can be reached.";

pub(crate) async fn run(args: Args) -> Result {
    let catalog = args.services.catalog();
    let store = args.store.open_or_memory().await?;
    let mut builder = Server::builder(&store)
        .limits(args.limits.limits())
        .on_notice(print_failure);
    let token = args.token()?;
    for path in &args.files {
        let read = load::read_graph(path, &catalog)?;
        let mut nodes = read.definition.nodes.iter();
        if token.is_none() && !nodes.any(|node| node.kind == "webhook_trigger") {
            return Err(Failure::new(
                Exit::Missing,
                format_args!(
                    "`{}` has no webhook trigger, so no request can start it",
                    path.display()
                ),
            )
            .hint("add `--threads` or `--studio`, or a node of type `webhook_trigger`"));
        }
        let services = args.services.services(&read.definition)?;
        builder = builder.document(read, &services);
    }
    if let Some(token) = &token {
        // A token from the environment may begin with `env:` itself.
        let is_set = std::env::var(TOKEN_VARIABLE).is_ok_and(|set| set == *token);
        builder = builder.threads(TriggerAuth::HeaderToken {
            header: TOKEN_HEADER.into(),
            token: if is_set {
                format!("env:{TOKEN_VARIABLE}")
            } else {
                token.clone()
            },
        });
    }
    if args.studio {
        builder =
            builder.routes(Router::new().nest_service(STUDIO_PATH, petalflow_studio::router()));
    }
    let server = builder
        .hosts(args.accepted_hosts())
        .build()
        .map_err(|errors| Failure::new(Exit::Missing, errors))?;
    let cannot_listen = |error: std::io::Error| {
        let exit = match error.kind() {
            // The text is not an address.
            std::io::ErrorKind::InvalidInput => Exit::Usage,
            _ => Exit::Failed,
        };
        Failure::new(
            exit,
            format_args!("`{}` cannot be listened on: {error}", args.listen),
        )
    };
    let mut requests = StopRequests::new();
    let listener = TcpListener::bind(&args.listen)
        .await
        .map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    if args.store.store.is_none() {
        terminal::note(format_args!(
            "{WARNING}warning:{WARNING:#} without `--store` all runs are lost when the server ends"
        ));
    }
    for path in server.paths() {
        terminal::line(format_args!("http://{address}{path}"))?;
    }
    if let Some(token) = token.filter(|_| args.studio) {
        terminal::line(format_args!("http://{address}{STUDIO_PATH}/#token={token}"))?;
    }
    let served = server.serve(listener, requests.next()).await;
    served
        .map_err(|error| Failure::new(Exit::Failed, format_args!("the server failed: {error}")))?;
    Ok(Exit::Done)
}

/// The hosts of an address that only this machine can reach.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Args {
    /// The hosts to which requests are answered. None means all.
    fn accepted_hosts(&self) -> Vec<String> {
        let is_local = LOOPBACK.iter().any(|host| self.listen.starts_with(host));
        let local = LOOPBACK.iter().filter(|_| self.studio && is_local);
        let local = local.map(|host| (*host).to_string());
        local.chain(self.hosts.iter().cloned()).collect()
    }

    /// The token of the threads, if they are served. A studio without one gets a new one.
    fn token(&self) -> std::result::Result<Option<String>, Failure> {
        let set = std::env::var(TOKEN_VARIABLE).ok();
        match set.filter(|token| !token.is_empty()) {
            _ if !self.threads && !self.studio => Ok(None),
            Some(token) => Ok(Some(token)),
            None if self.studio => Ok(Some(format!("{:032x}", fastrand::u128(..)))),
            None => Err(Failure::new(Exit::Usage, "`--threads` needs a token")
                .hint(format_args!("set the variable `{TOKEN_VARIABLE}`"))),
        }
    }
}

/// Prints notices of failures. Other notices are not printed.
fn print_failure(notice: Notice<'_>) {
    if matches!(notice, Notice::Failed { .. } | Notice::NotRecovered { .. }) {
        terminal::note(notice);
    }
}
