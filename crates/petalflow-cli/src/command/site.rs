//! What the commands that serve HTTP have in common: the address, the hosts, the token, the studio.

use std::future::Future;
use std::path::PathBuf;

use axum::Router;
use petalflow_documents::Services;
use petalflow_documents::document::ReadGraph;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Notice, Server, ServerBuilder};
use tokio::net::TcpListener;

use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::services::ServiceArgs;
use crate::terminal;

/// The environment variable with the token of the threads. It is not an option, because the list of processes shows options
/// to everyone.
pub(super) const TOKEN_VARIABLE: &str = "PETALFLOW_TOKEN";

/// The header with the token of the threads.
const TOKEN_HEADER: &str = "X-PetalFlow-Token";

/// Where the studio is.
const STUDIO_PATH: &str = "/studio";

/// The hosts of an address that only this machine can reach.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Where a server listens.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ListenArgs {
    /// The address to listen on. Port 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,

    /// Refuse requests to other hosts than this one, which may be given several times. With the studio on an address of this
    /// machine, `localhost`, `127.0.0.1` and `[::1]` are accepted too, and others are refused
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
}

/// The addresses that a server has besides its triggers.
pub(super) struct Site {
    /// The token of the threads, if they are served.
    pub(super) token: Option<String>,
    pub(super) has_studio: bool,
}

impl ListenArgs {
    pub(super) async fn bind(&self) -> Result<TcpListener> {
        TcpListener::bind(&self.listen).await.map_err(|error| {
            let exit = match error.kind() {
                // The text is not an address.
                std::io::ErrorKind::InvalidInput => Exit::Usage,
                _ => Exit::Failed,
            };
            let text = format_args!("`{}` cannot be listened on: {error}", self.listen);
            Failure::new(exit, text)
        })
    }

    /// The hosts to which requests are answered. None means all.
    fn accepted_hosts(&self, has_studio: bool) -> Vec<String> {
        let is_local = LOOPBACK.iter().any(|host| self.listen.starts_with(host));
        let local = LOOPBACK.iter().filter(|_| has_studio && is_local);
        let local = local.map(|host| (*host).to_string());
        local.chain(self.hosts.iter().cloned()).collect()
    }
}

impl Site {
    /// A site with the studio, and a token: that of the environment, or a new one.
    pub(super) fn with_studio() -> Self {
        let new = || format!("{:032x}", fastrand::u128(..));
        Site {
            token: Some(token_of_environment().unwrap_or_else(new)),
            has_studio: true,
        }
    }

    /// Adds the threads, the studio and the hosts, and checks the settings.
    pub(super) fn build(&self, mut builder: ServerBuilder, listen: &ListenArgs) -> Result<Server> {
        if let Some(token) = &self.token {
            // A token from the environment may begin with `env:` itself.
            let is_set = token_of_environment().is_some_and(|set| set == *token);
            builder = builder.threads(TriggerAuth::HeaderToken {
                header: TOKEN_HEADER.into(),
                token: if is_set {
                    format!("env:{TOKEN_VARIABLE}")
                } else {
                    token.clone()
                },
            });
        }
        if self.has_studio {
            let studio = petalflow_server::studio::router();
            builder = builder.routes(Router::new().nest_service(STUDIO_PATH, studio));
        }
        builder
            .hosts(listen.accepted_hosts(self.has_studio))
            .on_notice(print_failure)
            .build()
            .map_err(|errors| Failure::new(Exit::Missing, errors))
    }

    /// Prints the addresses of the triggers and of the threads, and the link to the studio.
    pub(super) fn print_addresses(&self, server: &Server, listener: &TcpListener) -> Result<()> {
        let address = listener
            .local_addr()
            .map_err(|error| Failure::new(Exit::Failed, error))?;
        for path in server.paths() {
            terminal::line(format_args!("http://{address}{path}"))?;
        }
        match &self.token {
            Some(token) if self.has_studio => {
                terminal::line(format_args!("http://{address}{STUDIO_PATH}/#token={token}"))
            }
            // The token is that of the environment, which is not printed.
            Some(_) => terminal::line(format_args!("http://{address}/threads")),
            None => Ok(()),
        }
    }
}

/// Reads graphs, with the services that they need.
pub(super) fn read_documents(
    files: &[PathBuf],
    services: &ServiceArgs,
) -> Result<Vec<(ReadGraph, Services)>> {
    let catalog = services.catalog();
    let read = |path: &PathBuf| {
        let read = load::read_graph(path, &catalog)?;
        let services = services.services(&read.definition)?;
        Ok((read, services))
    };
    files.iter().map(read).collect()
}

/// Adds documents to a server.
pub(super) fn with_documents(
    builder: ServerBuilder,
    documents: Vec<(ReadGraph, Services)>,
) -> ServerBuilder {
    let documents = documents.into_iter();
    documents.fold(builder, |builder, (read, services)| {
        builder.document(read, &services)
    })
}

/// Serves until `stop` is ready.
pub(super) async fn serve(
    server: Server,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send,
) -> Result<()> {
    let served = server.serve(listener, stop).await;
    served.map_err(|error| Failure::new(Exit::Failed, format_args!("the server failed: {error}")))
}

/// The token of the environment. An empty one is none.
pub(super) fn token_of_environment() -> Option<String> {
    let set = std::env::var(TOKEN_VARIABLE).ok();
    set.filter(|token| !token.is_empty())
}

/// Prints notices of failures. Other notices are not printed.
fn print_failure(notice: Notice<'_>) {
    if matches!(
        notice,
        Notice::Failed { .. } | Notice::NotRecovered { .. } | Notice::NotScheduled { .. }
    ) {
        terminal::note(notice);
    }
}
