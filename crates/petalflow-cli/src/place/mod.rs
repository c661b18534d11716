//! Where the threads of a command are: in a store, or on a server. Both print the same.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod events;
mod filter;
mod listing;
#[cfg(feature = "client")]
mod remote;
mod stop;
mod stored;

use std::collections::BTreeMap;
use std::sync::Arc;

use petalflow::checkpoint::{Store, ThreadCount, ThreadInfo, ThreadOrder, ThreadStatus};
use serde_json::Value;

use crate::exit::{Exit, Failure, Result};
#[cfg(feature = "client")]
use crate::store::shell_quoted;
use crate::store::{STORE_VARIABLE, StoreArgs};

#[cfg(feature = "client")]
pub(crate) use client::Server;
pub(crate) use filter::{FilterArgs, label};
pub(crate) use listing::{Next, PAGE, Page};
pub(crate) use stop::Stop;

/// The environment variable with the address of the server.
#[cfg(feature = "client")]
const SERVER_VARIABLE: &str = "PETALFLOW_SERVER";

/// Where the threads are.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PlaceArgs {
    /// The store: a file, `sqlite:FILE`, `postgres://..` or `redis://..`
    #[arg(long, value_name = "STORE", env = STORE_VARIABLE, hide_env_values = true)]
    pub(crate) store: Option<String>,

    #[cfg(feature = "client")]
    #[command(flatten)]
    server_args: ServerArgs,
}

/// A server of petalflow.
#[cfg(feature = "client")]
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ServerArgs {
    /// Ask a server instead of a store, such as `http://127.0.0.1:8080`
    #[arg(long, value_name = "URL", env = SERVER_VARIABLE)]
    server: Option<String>,

    /// The token of the server. The variable is better: the list of processes shows options to everyone
    #[arg(
        long,
        value_name = "TOKEN",
        env = "PETALFLOW_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,
}

#[cfg(feature = "client")]
impl ServerArgs {
    /// The server, if one is named.
    pub(crate) fn server(&self) -> Result<Option<Server>> {
        let token = self.token.as_deref().filter(|token| !token.is_empty());
        let server = self.server.as_deref().filter(|it| !it.is_empty());
        server.map(|server| Server::new(server, token)).transpose()
    }
}

/// A store or a server.
#[derive(Clone)]
pub(crate) enum Place {
    Store(Arc<dyn Store>),
    #[cfg(feature = "client")]
    Server(Server),
}

impl PlaceArgs {
    /// Opens the place.
    pub(crate) async fn open(&self) -> Result<Place> {
        #[cfg(feature = "client")]
        if let Some(server) = self.server()? {
            return Ok(Place::Server(server));
        }
        Ok(Place::Store(self.store_args().open().await?))
    }

    /// The server, if one is named. An option of the command line goes before a variable of the environment, and a server before
    /// a store.
    #[cfg(feature = "client")]
    pub(crate) fn server(&self) -> Result<Option<Server>> {
        let given = |value: &Option<String>, variable: &str| {
            value.is_some() && std::env::var(variable).ok() != *value
        };
        let store = given(&self.store, STORE_VARIABLE);
        let server = given(&self.server_args.server, SERVER_VARIABLE);
        if store && server {
            let text = "`--store` and `--server` are two places";
            return Err(Failure::new(Exit::Usage, text).hint("name one of them"));
        }
        if store {
            return Ok(None);
        }
        self.server_args.server()
    }

    /// The store, for a command that no server has.
    #[cfg_attr(
        not(feature = "client"),
        expect(unused_variables, reason = "only servers lack commands")
    )]
    pub(crate) async fn open_store(&self, command: &str) -> Result<Arc<dyn Store>> {
        match self.open().await? {
            Place::Store(store) => Ok(store),
            #[cfg(feature = "client")]
            Place::Server(_) => Err(Failure::new(
                Exit::Usage,
                format_args!("a server has no command to {command}"),
            )
            .hint("name the store of the server with `--store`")),
        }
    }

    pub(crate) fn store_args(&self) -> StoreArgs {
        StoreArgs {
            store: self.store.clone(),
        }
    }

    /// The option that names the place, for commands that a person can copy.
    pub(crate) fn option(&self) -> String {
        #[cfg(feature = "client")]
        if let (Some(server), Ok(Some(_))) = (&self.server_args.server, self.server()) {
            let is_set = std::env::var(SERVER_VARIABLE).is_ok_and(|it| it == *server);
            return if is_set {
                String::new()
            } else {
                format!(" --server {}", shell_quoted(server))
            };
        }
        self.store_args().option()
    }

    /// The failure for a thread that does not exist.
    pub(crate) fn unknown_thread(&self, id: &str) -> Failure {
        Failure::new(Exit::Thread, format_args!("there is no thread `{id}`"))
            .hint(format_args!("petalflow threads list{}", self.option()))
    }
}

/// A thread of a server as one file.
#[cfg(feature = "client")]
pub(crate) async fn exported(server: &Server, thread: &str) -> Result<Value> {
    remote::Remote(server).export(thread).await
}

/// What a command does with a thread in both places.
macro_rules! in_place {
    ($self:expr, $place:ident => $call:expr) => {
        match $self {
            Place::Store(store) => {
                let $place = stored::Stored::new(store);
                $call
            }
            #[cfg(feature = "client")]
            Place::Server(server) => {
                let $place = remote::Remote(server);
                $call
            }
        }
    };
}

impl Place {
    /// A page of the threads that meet the conditions.
    pub(crate) async fn page(
        &self,
        filter: &FilterArgs,
        order: ThreadOrder,
        after: Option<&Next>,
        limit: usize,
    ) -> Result<Page> {
        in_place!(self, place => place.page(filter, order, after, limit).await)
    }

    /// All threads that meet the conditions, in the order of their ids.
    pub(crate) async fn every_thread(&self, filter: &FilterArgs) -> Result<Vec<ThreadInfo>> {
        let (mut all, mut next) = (Vec::new(), None);
        loop {
            let page = self.page(filter, ThreadOrder::Id, next.as_ref(), PAGE);
            let page = page.await?;
            all.extend(page.threads);
            match page.next {
                Some(after) => next = Some(after),
                None => return Ok(all),
            }
        }
    }

    /// How many threads of each graph have each status.
    pub(crate) async fn counts(&self, filter: &FilterArgs) -> Result<Vec<ThreadCount>> {
        in_place!(self, place => place.counts(filter).await)
    }

    /// What is listed of a thread. `None` if there is no such thread.
    pub(crate) async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>> {
        let one = FilterArgs::with_prefix(thread);
        // The id itself comes before all others that begin with it.
        let page = self.page(&one, ThreadOrder::Id, None, 1).await?;
        Ok(page.threads.into_iter().find(|info| info.id == thread))
    }

    /// Stops the run of a thread, in any process. Returns the status of the thread when no run has it.
    pub(crate) async fn stop(&self, thread: &str, stop: Stop) -> Result<ThreadStatus> {
        in_place!(self, place => place.stop(thread, stop).await)
    }

    /// Deletes a thread.
    pub(crate) async fn delete(&self, thread: &str) -> Result<()> {
        in_place!(self, place => place.delete(thread).await)
    }

    /// Sets labels of a thread, and removes those without a value. Returns all.
    pub(crate) async fn label(
        &self,
        thread: &str,
        changes: &BTreeMap<String, Option<String>>,
    ) -> Result<BTreeMap<String, String>> {
        let Some(info) = self.info(thread).await? else {
            return Err(Failure::new(
                Exit::Thread,
                format_args!("there is no thread `{thread}`"),
            ));
        };
        let mut labels = info.labels;
        for (name, value) in changes {
            match value {
                Some(value) => labels.insert(name.clone(), value.clone()),
                None => labels.remove(name),
            };
        }
        in_place!(self, place => place.set_labels(thread, &labels).await)?;
        Ok(labels)
    }

    /// Calls `show` with each stored event of a thread after a number, and with those that follow, until no run has it.
    pub(crate) async fn follow(
        &self,
        thread: &str,
        number: u64,
        show: impl FnMut(&Value) -> Result<()>,
    ) -> Result<()> {
        in_place!(self, place => place.follow(thread, number, show).await)
    }
}
