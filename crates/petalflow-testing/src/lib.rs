//! Tests for [petalflow] flows and stores, for `dev-dependencies`.
//!
//! * [`crashes`] crashes a flow wherever a crash can make a difference, and compares the results.
//! * [`Replay`] runs the program of today over a thread that was stored, and shows where the two differ.
//! * [`assert_flow_lock!`] checks that stored threads can resume after a change of their flow.
//! * [`check_reducer`] checks the laws of a reducer.
//! * [`store_contract!`] tests a store.
//! * [`driver_contract!`] tests a program that executes the supersteps of threads.
//! * [`CountingStore`] counts what a run reads and writes.
//! * [`FailureScript`] makes the n-th call of a node fail, panic or hang.
//!
//! A node needs none of this: it is called as the function that it is. A flow runs under paused time
//! (`#[tokio::test(start_paused = true)]`), where timeouts and waits take no time.
//!
//! ```
//! # use petalflow::prelude::*;
//! # #[state]
//! # struct Essay { #[key(input)] topic: String, draft: String }
//! #[node(Essay)]
//! async fn write(topic: &str) -> EssayDraft {
//!     EssayDraft(format!("about {topic}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // In a test:
//! assert_eq!(write("petals").await.0, "about petals");
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod contract;
mod counting_store;
mod crash;
mod driver;
mod flow_lock;
mod reducer;
mod replay;

pub use contract::StoreUnderTest;
pub use counting_store::{CountingStore, StoreTraffic};
pub use crash::{
    Crashed, Crashes, FailureScript, Fault, FaultKind, FaultTarget, FaultyStore, crashes,
};
pub use driver::{CaseStep, Driver, DriverCase, Interruptions, SteppedDriver, cases};
pub use reducer::check_reducer;
pub use replay::{Replay, ReplayEnds, ReplayFrom, ReplayOf, ReplayReport};

/// What the macros name.
#[doc(hidden)]
pub mod __private {
    pub use petalflow::BoxError;

    pub use crate::flow_lock::check_flow_lock;
}
