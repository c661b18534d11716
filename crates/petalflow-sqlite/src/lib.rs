//! Stores the threads of [petalflow] flows in a SQLite database: a file that several processes on one machine can
//! share, or memory.
//!
//! SQLite needs no server. It is compiled into the program, which takes a C compiler.
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow_sqlite::SqliteStore;
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
//! # let folder = std::env::temp_dir().join(format!("petalflow-sqlite-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let store = SqliteStore::open(folder.join("chats.db")).await?;
//! let thread = Talk::new().store(&store).thread("ann");
//! thread.run(vec!["hello".to_string()]).await?.into_finished()?;
//!
//! // Any process that opens the file later continues the thread.
//! let chat = thread.run(vec!["again".to_string()]).await?.into_finished()?;
//! assert_eq!(chat.lines, ["hello", "1 so far", "again", "3 so far"]);
//! # drop((thread, store));
//! # let _ = std::fs::remove_dir_all(folder);
//! # Ok(())
//! # }
//! ```
//!
//! * [`SqliteStore`]: the store
//! * [`SqliteOptions`] and [`Synchronous`]: settings, among them what a commit survives
//! * [`database`]: access to the same file for crates that store other data than threads
//
// Lowest first; a module uses only modules above it in this list.
//
// | module | contents |
// | --- | --- |
// | `error` | errors that name the database file |
// | `integer`, `options` | numbers as SQLite stores them; settings |
// | `lock_file` | by which processes see which others are alive |
// | `log` | the checkpoints of a thread: `entry`, `segment` and `row` (their bytes in rows), `tail` and `tails` (where each log ends), `append`, `read` and `prune` |
// | `statements` | the other statements: `listing`, `change`, `query`, `claims` |
// | `connection` | `schema` and `open` (whether a file belongs to this crate, and which layout it has), `queued_write`, `transaction` and `writer` (one connection writes; queued writes share commits), `readers` (a few connections read) |
// | `store`, `database` | the two public interfaces: the store contract, and transactions for other crates |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod connection;
pub mod database;
mod error;
mod integer;
mod lock_file;
mod log;
mod options;
mod statements;
mod store;

pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
