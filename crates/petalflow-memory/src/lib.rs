//! Long-term memory across threads and runs, such as the preferences of a user or the facts that an agent learned.
//!
//! An entry is a JSON value with a key in a namespace, which is a path of names. A [`Memory`] reads, writes and lists
//! entries, and finds them by their fields. A [`MemoryBackend`] stores them: [`InMemory`], a file (`SqliteMemory`,
//! feature `sqlite`), a PostgreSQL database (`PostgresMemory`, feature `postgres`), or your own. Test your own with
//! `petalflow_memory::testing::memory_contract!` (feature `testing`). [`VectorIndex`] adds vector search to any backend;
//! `PostgresVectors` stores the vectors as well, and searches in the server where it has pgvector.
//!
//! Nodes and tools receive it as a managed value:
//!
//! ```
//! use petalflow_memory::{InMemory, Memory};
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Chat {
//!     #[key(input)]
//!     user: String,
//!     greeting: String,
//! }
//!
//! #[node(Chat)]
//! async fn greet(user: &str, memory: Managed<Memory>) -> petalflow::Result<ChatGreeting> {
//!     let of_user = memory.within(["users", user]);
//!     let visits = of_user.get_as::<u32>("visits").await?.unwrap_or(0) + 1;
//!     of_user.put("visits", visits).await?;
//!     Ok(ChatGreeting(format!("Hello {user}, for the {visits}. time")))
//! }
//!
//! flow!(Greet(Chat) { greet });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let memory = Memory::new(InMemory::new());
//! let launch = Greet::new().manage(memory);
//! launch.clone().run("ann".to_string()).await?;
//! let chat = launch.run("ann".to_string()).await?;
//! assert_eq!(chat.greeting, "Hello ann, for the 2. time");
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;
mod entry;
mod error;
mod filter;
mod handle;
mod in_memory;
mod namespace;
#[cfg(feature = "postgres")]
mod postgres;
mod query;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod stored;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod testing;
mod vector;

pub use backend::{MemoryBackend, SearchHit, VectorMemory};
pub use entry::{Cursor, Entry};
pub use error::MemoryError;
pub use filter::{Comparison, Filter};
pub use handle::Memory;
pub use in_memory::InMemory;
pub use namespace::Namespace;
#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
pub use postgres::{PostgresMemory, PostgresVectors};
pub use query::{Page, Query};
#[cfg(feature = "sqlite")]
#[cfg_attr(docsrs, doc(cfg(feature = "sqlite")))]
pub use sqlite::SqliteMemory;
pub use vector::{Embed, VectorIndex};
