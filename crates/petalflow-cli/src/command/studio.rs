//! Opens a store on the page of the studio.

use std::path::PathBuf;

use petalflow_server::Server;

use super::site::{self, ListenArgs, Site};
use crate::exit::{Exit, Result};
use crate::services::ServiceArgs;
use crate::stop::StopRequests;
use crate::store::StoreArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The store of any program: a file, `sqlite:FILE`, `postgres://..` or `redis://..`
    #[arg(value_name = "STORE")]
    store: String,

    /// Documents whose threads are in the store: these threads can be changed, all others can only be read
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    listen: ListenArgs,

    #[command(flatten)]
    pub(super) services: ServiceArgs,
}

const AFTER: &str = "\
Examples:
  petalflow studio runs.db
  petalflow studio runs.db letters.graph.yaml
  petalflow studio postgres://localhost/shop --listen 127.0.0.1:9000

The threads of any program are shown, also those of flows that are written in Rust: the types of
the program are not needed, names and values are shown as they are stored.";

pub(crate) async fn run(args: Args) -> Result {
    let documents = site::read_documents(&args.files, &args.services)?;
    let store = StoreArgs {
        store: Some(args.store.clone()),
    };
    let store = store.open().await?;
    let builder = Server::builder(&store).stored_threads();
    let builder = site::with_documents(builder, documents);
    let site = Site::with_studio();
    let server = site.build(builder, &args.listen)?;
    let mut requests = StopRequests::new();
    let listener = args.listen.bind().await?;
    site.print_addresses(&server, &listener)?;
    site::serve(server, listener, requests.next()).await?;
    Ok(Exit::Done)
}
