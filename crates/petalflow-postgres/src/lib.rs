//! Stores the threads of [petalflow] flows in a PostgreSQL database: for programs that run in several processes or
//! on several machines.
//!
//! ```no_run
//! use petalflow::prelude::*;
//! use petalflow_postgres::PostgresStore;
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
//! let store = PostgresStore::connect("postgres://app:secret@localhost/app").await?;
//! let thread = Talk::new().store(&store).thread("ann");
//! let chat = thread.run(vec!["hello".to_string()]).await?.into_finished()?;
//! assert_eq!(chat.lines, ["hello", "1 so far"]);
//! # Ok(())
//! # }
//! ```
//!
//! * [`PostgresStore`] is the store, with what it promises
//! * [`PostgresOptions`] has the settings
//! * [`database`] is for crates that store other data in the same schema.
//!
//! The feature `tls` encrypts connections.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod connection;
pub mod database;
mod error;
mod index;
mod layout;
mod options;
mod params;
mod pool;
mod rows;
mod session;
mod sql;
mod store;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;

pub use options::PostgresOptions;
pub use store::PostgresStore;
