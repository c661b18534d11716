//! Behaviour of petalflow, by topic. Tests are named after the case they hold petalflow to: `c15_…` of the conformance cases,
//! `g032_…` of agentmesh's behaviours, `p059_…` of the core's rows, `peers_…` of the bugs that others have already paid for.
#![allow(non_snake_case, reason = "nodes are named as in the cases")]
#![allow(
    clippy::items_after_statements,
    reason = "a flow of one test is declared where it is used"
)]
#![allow(clippy::ptr_arg, reason = "an item is taken as the type that is sent")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "what the run hands over comes by value"
)]

mod support;

mod builder;
mod durable;
mod events;
mod failure;
mod flow;
mod macros;
mod node;
mod random;
mod state;
mod store_contract;
mod superstep;
