//! Opens stores of threads by their addresses.

use std::path::Path;
use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store, StoreError};
use petalflow::thread::Retention;

use crate::exit::{Exit, Failure, Result};

/// The environment variable with the address of the store.
pub(crate) const STORE_VARIABLE: &str = "PETALFLOW_STORE";

/// Where threads are stored.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct StoreArgs {
    /// Store the run as a thread: a file, `sqlite:FILE`, `postgres://..` or `redis://..`
    #[arg(long, value_name = "STORE", env = STORE_VARIABLE, hide_env_values = true)]
    pub(crate) store: Option<String>,
}

/// What of a thread remains in its store.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct KeptArgs {
    /// Keep the results of all tasks and the requests to models in the store, so that `petalflow replay` can compare them
    #[arg(long)]
    keep_results: bool,
}

impl KeptArgs {
    pub(crate) fn retention(&self) -> Retention {
        if self.keep_results {
            Retention::ALL.with_results()
        } else {
            Retention::ALL
        }
    }
}

impl StoreArgs {
    /// Opens a store that exists.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>> {
        match &self.store {
            Some(address) => {
                if let Some(file) = sqlite_file(address)
                    && !Path::new(file).exists()
                {
                    return Err(Failure::new(
                        Exit::Thread,
                        format_args!("there is no store `{file}`"),
                    ));
                }
                open(address).await
            }
            None => Err(
                Failure::new(Exit::Usage, "there is no store").hint(format_args!(
                    "name it with `--store FILE` or the variable `{STORE_VARIABLE}`"
                )),
            ),
        }
    }

    /// Opens the store, or one in memory if there is none.
    pub(crate) async fn open_or_memory(&self) -> Result<Arc<dyn Store>> {
        match &self.store {
            Some(address) => open(address).await,
            None => Ok(Arc::new(InMemoryStore::new())),
        }
    }

    /// The option that names the store, for commands that a person can copy.
    pub(crate) fn option(&self) -> String {
        match &self.store {
            // With the variable the option is not needed. An address may have a password, which is not printed.
            Some(address) if std::env::var(STORE_VARIABLE).is_ok_and(|it| it == *address) => {
                String::new()
            }
            Some(address) if address.contains("://") => " --store STORE".into(),
            Some(address) => format!(" --store {}", shell_quoted(address)),
            None => String::new(),
        }
    }
}

/// A text as one word of a shell command, quoted if needed.
pub(crate) fn shell_quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| text.into(), Into::into)
}

/// The file of an address without another scheme.
fn sqlite_file(address: &str) -> Option<&str> {
    if address
        .split_once("://")
        .is_some_and(|(scheme, _)| scheme != "sqlite")
    {
        return None;
    }
    let file = address.strip_prefix("sqlite:").unwrap_or(address);
    Some(file.strip_prefix("//").unwrap_or(file))
}

async fn open(address: &str) -> Result<Arc<dyn Store>> {
    if let Some(file) = sqlite_file(address) {
        return open_sqlite(file).await;
    }
    match address.split_once("://").map(|(scheme, _)| scheme) {
        Some("postgres" | "postgresql") => open_postgres(address).await,
        Some("redis" | "rediss") => open_redis(address).await,
        other => Err(Failure::new(
            Exit::Thread,
            format_args!(
                "there is no store of the kind `{}`",
                other.unwrap_or_default()
            ),
        )
        .hint("use a file, `sqlite:FILE`, `postgres://..` or `redis://..`")),
    }
}

#[cfg(feature = "sqlite")]
async fn open_sqlite(file: &str) -> Result<Arc<dyn Store>> {
    boxed_store(petalflow_sqlite::SqliteStore::open(file).await, file)
}

#[cfg(not(feature = "sqlite"))]
async fn open_sqlite(_: &str) -> Result<Arc<dyn Store>> {
    Err(not_built("sqlite"))
}

#[cfg(feature = "postgres")]
async fn open_postgres(address: &str) -> Result<Arc<dyn Store>> {
    boxed_store(
        petalflow_postgres::PostgresStore::connect(address).await,
        "PostgreSQL",
    )
}

#[cfg(not(feature = "postgres"))]
async fn open_postgres(_: &str) -> Result<Arc<dyn Store>> {
    Err(not_built("postgres"))
}

#[cfg(feature = "redis")]
async fn open_redis(address: &str) -> Result<Arc<dyn Store>> {
    let store = petalflow_redis::RedisStore::connect(address).await;
    if let Ok(store) = &store {
        // One command opens one store.
        let _ = REDIS.set(store.clone());
    }
    boxed_store(store, "Redis")
}

/// The store in Redis, if the command has opened one.
#[cfg(feature = "redis")]
static REDIS: std::sync::OnceLock<petalflow_redis::RedisStore> = std::sync::OnceLock::new();

/// Lets the next process have the threads of this one. Other stores than Redis see that a process has ended.
#[cfg(feature = "redis")]
pub(crate) async fn flush_releases() {
    if let Some(store) = REDIS.get() {
        // A server that does not respond must not hold up the end of the program. The claims then expire.
        let limit = std::time::Duration::from_secs(2);
        let _ = tokio::time::timeout(limit, store.flush_releases()).await;
    }
}

#[cfg(not(feature = "redis"))]
async fn open_redis(_: &str) -> Result<Arc<dyn Store>> {
    Err(not_built("redis"))
}

#[allow(dead_code, reason = "without the features of stores nothing is opened")]
fn boxed_store<S: Store>(
    store: std::result::Result<S, StoreError>,
    name: &str,
) -> Result<Arc<dyn Store>> {
    match store {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(Failure::new(
            Exit::Thread,
            format_args!("the store `{name}` cannot be opened: {error}"),
        )),
    }
}

#[allow(dead_code, reason = "with all features no store is missing")]
fn not_built(feature: &str) -> Failure {
    Failure::new(
        Exit::Thread,
        format_args!("this program has no stores of the kind `{feature}`"),
    )
    .hint(format_args!(
        "install it with `cargo install petalflow-cli --features {feature}`"
    ))
}
