//! Runs petalflow threads on a [Restate](https://restate.dev) server.
//!
//! A flow that needs more than one process runs on Restate without a change. A thread is a virtual object of Restate, and each
//! superstep is one short invocation of it. So a thread that waits for a person occupies nothing, and goes on with the newest
//! program. A node runs in the driver, or, if it is placed on a pool, in any process that [serves](Endpoint::nodes) the pool.
//!
//! * [`RestateFlow`]: a flow with its placements and settings
//! * [`Endpoint`]: serves threads and nodes to the Restate server
//! * [`Client`] and [`RestateThread`]: begin threads, answer, wait, read; with [`Trouble`] if a process is away
//! * [`Admin`]: registers endpoints
//! * [`Bodies`]: an object store for what is too large for a message of Restate
//! * [`RestateFlow::events`] and [`RestateThread::follow`]: listeners in other processes receive the events of a thread
//!
//! The feature `server` adds `RestateThreads`, with which `petalflow-server` serves these threads as those in a store.
//!
//! The checkpoints are those of a local thread, byte for byte: [`RestateThread::export`] and [`RestateThread::import`] move threads
//! between Restate and any store.
//!
//! ```no_run
//! use petalflow::prelude::*;
//! use petalflow_restate::{Admin, Client, Endpoint, RestateFlow};
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
//! flow!(CrawlAll(Crawl) {
//!     list -> each fetch;
//!     with fetch { remote: "crawlers" };
//! });
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let flow = RestateFlow::new(CrawlAll::new());
//! // Usually these are two programs on several machines.
//! let driver = Endpoint::new().threads(&flow)?.bind("127.0.0.1:9080").await?;
//! let host = Endpoint::new().nodes(&flow, "crawlers")?.concurrency(8).bind("127.0.0.1:9081").await?;
//! tokio::spawn(driver.serve());
//! tokio::spawn(host.serve());
//!
//! let admin = Admin::new("http://127.0.0.1:9070");
//! admin.register("http://127.0.0.1:9080").await?;
//! admin.register("http://127.0.0.1:9081").await?;
//!
//! let thread = Client::new(&flow, "http://127.0.0.1:8080").thread("ann");
//! thread.begin(vec![1, 2, 3]).await?;
//! thread.wait().await?;
//! assert_eq!(thread.snapshot().await?.expect("it has begun").state.texts.len(), 3);
//! # Ok(())
//! # }
//! ```

mod admin;
mod bodies;
mod cancellation;
mod children;
mod client;
mod commands;
mod driver;
mod endpoint;
mod error;
mod flow;
mod follow;
mod http;
mod ingress;
mod links;
mod node_host;
mod pass;
mod placed;
#[cfg(feature = "server")]
mod served;
mod service;
mod size_limit;
mod thread;
mod thread_state;
mod timeouts;
mod trouble;

pub use admin::{Admin, Invocation};
pub use bodies::Bodies;
pub use client::Client;
pub use endpoint::{Bound, Endpoint};
pub use error::RestateError;
pub use flow::{RestateFlow, RetryPolicy};
pub use follow::FollowedThread;
#[cfg(feature = "server")]
pub use served::RestateThreads;
pub use thread::{Rest, RestateThread};
pub use trouble::Trouble;
