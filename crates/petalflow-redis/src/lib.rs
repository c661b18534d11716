//! Stores the threads of [petalflow] flows in a Redis server, or in a compatible one such as Valkey.
//!
//! ```no_run
//! use petalflow::prelude::*;
//! use petalflow_redis::RedisStore;
//!
//! #[state]
//! struct Chat {
//!     #[key(input, append)]
//!     lines: Vec<String>,
//! }
//!
//! #[node(Chat)]
//! async fn reply(lines: &[String]) -> ChatLines {
//!     ChatLines(vec![format!("{} so far", lines.len())])
//! }
//!
//! flow!(Talk(Chat) { reply });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let store = RedisStore::connect("redis://localhost").await?;
//! let thread = Talk::new().store(&store).thread("ann");
//! let chat = thread.run(vec!["hello".to_string()]).await?.into_finished()?;
//! assert_eq!(chat.lines, ["hello", "1 so far"]);
//! # Ok(())
//! # }
//! ```
//!
//! * [`RedisStore`] is the store, with what it promises. Read there how the server must be configured so that nothing is lost.
//! * [`RedisOptions`] has the settings.
//!
//! The feature `tls` encrypts connections. The feature `events` adds `RedisEvents`: the events of threads that an engine runs, such
//! as `petalflow-restate`, for listeners in other processes.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
mod connection;
#[cfg(feature = "events")]
mod events;
mod eviction;
mod keys;
mod options;
mod scripts;
mod store;
mod values;
mod verify;

#[cfg(feature = "events")]
#[cfg_attr(docsrs, doc(cfg(feature = "events")))]
pub use events::RedisEvents;
pub use options::RedisOptions;
pub use store::RedisStore;
