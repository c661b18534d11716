//! petalflow: agent workflows as plain Rust functions, checked by the compiler and run in deterministic supersteps.

#![cfg_attr(docsrs, feature(doc_cfg))]

// Lets the macros, which write `::petalflow::…`, work in this crate's own tests and examples.
extern crate self as petalflow;

mod macros;

mod error;
mod event;
mod flow;
pub mod graph;
pub mod middleware;
mod node;
mod run;
mod state;
mod superstep;
pub mod testing;

pub mod prelude;

#[doc(hidden)]
pub mod __private;

pub use error::{BoxError, FailureKind, NodeError, Result, RunError, RunErrorKind};
pub use event::{Event, EventKind, Events};
pub use flow::{Flow, Launch};
pub use graph::Graph;
pub use middleware::{Middleware, Next, NodeCall};
pub use node::{
    Chooses, Chosen, Context, Delivery, Each, Effects, Extract, FnNode, Managed, ManagedValues,
    Namespace, Node, Output, Policy, Requirements, Retry, Route, Scope, Takes, TaskId, Written,
};
pub use petalflow_graph::Topology;
pub use petalflow_macros::{Route, node, state};
pub use run::{CancelToken, Run};
pub use state::{
    Durable, Keeps, Key, KeyMeta, KeySet, Message, Overwrite, Remove, State, Trait, Update,
    Volatile, Write, WriteError, Writes, reduce,
};
