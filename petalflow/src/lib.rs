//! petalflow: agent and LLM workflows as plain Rust functions, checked by the compiler and run in deterministic
//! supersteps.
//!
//! Annotate functions as [nodes](macro@node), declare the [state](macro@state) they share, draw the graph with [`flow!`]. A
//! graph that cannot work does not compile.
//!
//! ```
//! use petalflow::prelude::*;
//!
//! /// The state of the essay flow.
//! #[state]
//! pub struct Essay {
//!     /// What to write about.
//!     #[key(input)]
//!     pub topic: String,
//!     pub draft: String,
//!     #[key(append)]
//!     pub notes: Vec<String>,
//! }
//!
//! #[derive(Route)]
//! pub enum Verdict {
//!     Revise,
//!     Publish,
//! }
//!
//! // A reference reads the key of its name; what is returned is written.
//! #[node(Essay)]
//! async fn write(topic: &str, notes: &[String]) -> EssayDraft {
//!     EssayDraft(format!("On {topic}, with {} notes", notes.len()))
//! }
//!
//! // A route, if there is one, comes last.
//! #[node(Essay)]
//! async fn critique(notes: &[String]) -> (EssayNotes, Verdict) {
//!     let verdict = if notes.len() < 2 { Verdict::Revise } else { Verdict::Publish };
//!     (EssayNotes(vec!["say why".into()]), verdict)
//! }
//!
//! flow! {
//!     /// Drafts an essay and revises it until the critic accepts it.
//!     pub WriteEssay(Essay) {
//!         START -> write -> critique;
//!         critique -> match { Revise => write, Publish => END };
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let essay = WriteEssay::run(EssayInput { topic: "petals".into() }).await?;
//! assert_eq!(essay.draft, "On petals, with 2 notes");
//! # Ok(())
//! # }
//! ```
//!
//! # Executors
//!
//! Runs are futures, which tokio polls. Another executor, such as smol or pollster, can poll plain runs only: retries, timeouts,
//! `Context::spawn`, `Context::blocking`, `Durability::Async` and stores on servers need a runtime of tokio with timers
//! (`enable_all()`). A run whose graph or settings need it, and that has none, fails at its start, and says what needs it.
//!
//! See also:
//!
//! * [`state`](macro@state): keys, reducers and their options
//! * [`node`](macro@node): the parameters and results of a node; implement [`Extract`](node::Extract) and
//!   [`Output`](node::Output) for types of your own
//! * [`flow!`]: the graph language
//! * [`Launch`]: limits, timeouts, managed values, middleware, cancellation
//! * [`Run`] and [`Events`]: await a run, or stream its events
//! * [`graph`]: graphs that are built at run time, with the feature `builder`
//! * [`thread`] and [`checkpoint`]: stored runs; [`interrupt`]: questions to a person, and approvals
//! * with the feature `engine`: runs whose supersteps the program drives, or another engine
//! * with the feature `tool`: functions that models call
//! * other crates: `petalflow-llm` (models), `petalflow-agent`, `petalflow-mcp`, `petalflow-documents`,
//!   `petalflow-memory`, `petalflow-tracing`

#![cfg_attr(docsrs, feature(doc_cfg))]

// The macros generate `::petalflow::…` paths; this line makes them resolve in this crate's own tests and examples.
extern crate self as petalflow;

#[macro_use]
mod macros;

pub mod cache;
mod cancel_token;
pub mod checkpoint;
pub mod checks;
mod delivery;
mod durable;
mod effects;
#[cfg(feature = "engine")]
#[cfg_attr(docsrs, doc(cfg(feature = "engine")))]
pub mod engine;
mod erased;
pub mod error;
pub mod event;
mod exec;
pub mod flow;
mod future;
pub mod graph;
mod inbox;
pub mod interrupt;
mod json;
pub mod launch;
pub mod middleware;
pub mod node;
mod noted_request;
mod outcome;
mod plan;
pub mod policy;
mod request_parts;
pub mod run;
mod snapshot;
pub mod state;
mod subflow;
mod superstep;
mod task_services;
pub mod thread;
mod thread_file;
#[cfg(feature = "tool")]
#[cfg_attr(docsrs, doc(cfg(feature = "tool")))]
pub mod tool;

pub mod prelude;

#[cfg(rust_analyzer)]
mod editor;

#[doc(hidden)]
pub mod __private;

use petalflow_store::{clock, ids, migration, question, upgrade};

pub use async_trait::async_trait;
pub use error::{BoxError, NodeError, Result};
pub use event::Event;
pub use flow::Flow;
#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use graph::Graph;
pub use launch::Launch;
pub use middleware::Middleware;
pub use node::{Context, Each, Managed, Overwrite, Route};
pub use petalflow_macros::Route;
#[cfg(feature = "tool")]
#[cfg_attr(docsrs, doc(cfg(feature = "tool")))]
pub use petalflow_macros::tool;
/// Says that the feature is missing.
#[cfg(not(feature = "tool"))]
#[doc(hidden)]
pub use petalflow_macros::tool;
#[cfg(not(rust_analyzer))]
pub use petalflow_macros::{node, state};
#[cfg(rust_analyzer)]
pub use petalflow_macros::{node_in_editor as node, state_in_editor as state};
pub use run::{Events, Run, RunError};
pub use state::State;
