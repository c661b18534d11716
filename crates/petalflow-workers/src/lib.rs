//! Shares the tasks of a petalflow run between processes.
//!
//! [`Worker`] runs its share of the tasks of a run, sends their results to a [`Backend`], and commits each superstep with the
//! results of all workers. A backend is any place to which processes can send bytes: a message bus, a table, a folder.
//! [`InMemoryBackend`] is one for tests and for several tasks of one process.
//!
//! Planning and committing are pure, so all workers of a run reach the same states without exchanging them. A worker that
//! starts late, or restarts after a crash, commits the supersteps whose results are in the backend, and repeats no node.
//!
//! For most programs, `petalflow-restate` is what to use: a Restate server keeps the threads, so they have questions to people,
//! history and forks, and it calls the processes that run nodes. This crate is for a service of your own in its place.
//!
//! Use a [store](petalflow::checkpoint) where one process runs a thread at a time: it also has questions to people, history
//! and forks. Use this crate where a superstep has more work than one process can do, or where a service of your own keeps
//! the results.
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow_workers::{InMemoryBackend, Share, Worker};
//!
//! #[state]
//! struct Crawl {
//!     #[key(input)]
//!     pages: Vec<u32>,
//!     #[key(append)]
//!     texts: Vec<String>,
//! }
//!
//! #[node(Crawl)]
//! async fn list(pages: &[u32]) -> Each<u32> {
//!     pages.iter().copied().collect()
//! }
//!
//! #[node(Crawl)]
//! async fn fetch(#[item] page: &u32) -> CrawlTexts {
//!     CrawlTexts(vec![format!("the text of page {page}")])
//! }
//!
//! flow!(CrawlAll(Crawl) { list -> each fetch });
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let backend = InMemoryBackend::new();
//! let worker = |index| Worker::new(CrawlAll::new(), backend.clone()).share(Share::new(index, 2));
//! let (one, two) = (worker(0), worker(1));
//! // Each of the two, usually in a process of its own, fetches one page. Both have the result.
//! let (one, two) = tokio::join!(one.run("crawl-1", vec![1, 2]), two.run("crawl-1", vec![1, 2]));
//! assert_eq!(one?.texts, ["the text of page 1", "the text of page 2"]);
//! assert_eq!(two?.texts.len(), 2);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;
mod memory;
mod worker;

pub use backend::{Backend, BackendError, Mailbox, TaskReport};
pub use memory::InMemoryBackend;
pub use worker::{Share, Worker, WorkerError};
