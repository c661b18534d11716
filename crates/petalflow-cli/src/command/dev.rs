//! Serves documents with the studio, and loads them again when they change.

use std::path::PathBuf;
use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow_server::Server;
use tokio::net::TcpListener;

use super::site::{self, ListenArgs, Site};
use crate::changes::FileChanges;
use crate::exit::{Exit, Failure, Result};
use crate::services::ServiceArgs;
use crate::stop::StopRequests;
use crate::store::StoreArgs;
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The documents: graphs in JSON or YAML
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    listen: ListenArgs,

    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    pub(super) services: ServiceArgs,
}

const AFTER: &str = "\
Examples:
  petalflow dev letters.graph.yaml
  petalflow dev letters.graph.yaml --store runs.db --allow-program

A file that is saved is loaded again. Threads go on with the new document, if they fit it. While a
document has errors, they are printed, and the last one without errors is served.";

pub(crate) async fn run(args: Args) -> Result {
    let store = args.store.open_or_memory().await?;
    let site = Site::with_studio();
    let mut server = args.server(&store, &site)?;
    let mut changes = FileChanges::watch(&args.files)?;
    let mut requests = StopRequests::new();
    let listener = args.listen.bind().await?;
    site.print_addresses(&server, &listener)?;
    // All servers have the same socket, so a request that comes between two of them waits for the next one.
    let socket = listener.into_std().map_err(failed)?;
    loop {
        let listener = socket.try_clone().and_then(TcpListener::from_std);
        let listener = listener.map_err(failed)?;
        let mut next = None;
        let stop = async {
            tokio::select! {
                () = requests.next() => {}
                server = args.changed(&mut changes, &store, &site) => next = Some(server),
            }
        };
        site::serve(server, listener, stop).await?;
        let Some(changed) = next else {
            return Ok(Exit::Done);
        };
        server = changed;
        terminal::note("loaded again");
    }
}

fn failed(error: std::io::Error) -> Failure {
    Failure::new(Exit::Failed, error)
}

impl Args {
    fn server(&self, store: &Arc<dyn Store>, site: &Site) -> Result<Server> {
        let documents = site::read_documents(&self.files, &self.services)?;
        let builder = site::with_documents(Server::builder(store), documents);
        site.build(builder, &self.listen)
    }

    /// Waits for a change after which the documents have no errors. Errors are printed.
    async fn changed(
        &self,
        changes: &mut FileChanges,
        store: &Arc<dyn Store>,
        site: &Site,
    ) -> Server {
        loop {
            changes.next().await;
            match self.server(store, site) {
                Ok(server) => return server,
                Err(failure) => terminal::failure(&failure),
            }
        }
    }
}
