//! Behaviour of petalflow, by topic. Tests are named after the case they hold petalflow to: `c15_…` of the conformance cases,
//! `g032_…` of agentmesh's behaviours, `p059_…` of the core's rows, `peers_…` of the bugs that others have already paid for.
#![allow(non_snake_case, reason = "nodes are named as in the cases")]
#![allow(clippy::ptr_arg, reason = "an item is taken as the type that is sent")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "what the run hands over comes by value"
)]

mod support;

mod cache;
mod cancel;
mod catching;
mod concurrency;
mod conflicts;
mod continue_on_error;
mod durable;
mod each;
mod events;
mod failures;
mod flow;
mod interrupt_statements;
mod introspection;
mod items;
mod keys;
mod limits;
mod macros;
mod managed;
mod middleware;
mod order;
mod random;
mod recursion;
mod reducer_laws;
mod reducers;
mod refusals;
mod retries;
mod retry_policies;
mod store_contract;
mod subflows;
mod tasks;
mod timeouts;
mod topology;
