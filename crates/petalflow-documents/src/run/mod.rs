//! Runs of graphs over envelopes: their options, their events, and controllers that run them step by step.
//!
//! ```
//! use petalflow_documents::Envelope;
//! use petalflow_documents::builder::EnvelopeBuilder;
//! use petalflow_documents::kinds::NoopNode;
//! use petalflow_documents::run::RunOptions;
//! use std::sync::{Arc, Mutex};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
//! let log = Arc::new(Mutex::new(Vec::new()));
//! let lines = Arc::clone(&log);
//! let options = RunOptions::new().on_event(move |event| lines.lock().unwrap().push(event.kind.to_string()));
//! flow.run_with(Envelope::new(), &options).await?;
//! assert_eq!(*log.lock().unwrap(), ["run.started", "node.started", "node.finished", "run.finished"]);
//! # Ok(())
//! # }
//! ```
//!
//! # What differs from PetalFlow
//!
//! * `concurrency` limits how many nodes run at the same time. It has no influence on the result. See the
//!   [builder](crate::builder).
//! * The panic of a node is a failure with its message. Rust's panic hook prints the stack, so the event does not have it.
//! * A failed router chooses nothing, so with `continue_on_error` its path ends.
//! * An event of a node that is not one of the known kinds is a `node.output`.

mod control;
mod controllers;
mod drive;
mod event;
pub(crate) mod flow;
mod options;
mod step;

pub use control::{MaxHopsExceeded, NodeTimeout};
pub(crate) use control::{PausePoint, RunControl};
pub use controllers::{
    AutoController, BreakpointController, ChannelController, FuncController, NoSuchRequest,
};
pub use drive::EnvelopeRunError;
pub use event::{EventReceiver, RunEvent, RunEventKind};
pub use options::RunOptions;
pub use step::{StepAborted, StepController, StepGraph, StepPoint, StepRequest, StepResponse};
