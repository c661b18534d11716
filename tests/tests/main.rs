//! Behaviour of petalflow, by topic. Tests are named after the case they hold petalflow to: `c15_…` of the conformance cases,
//! `g032_…` of agentmesh's behaviours, `peers_…` of the bugs that others have already paid for.
#![allow(non_snake_case, reason = "nodes are named as in the cases")]

mod support;

mod cancel;
mod concurrency;
mod conflicts;
mod each;
mod events;
mod failures;
mod introspection;
mod keys;
mod limits;
mod managed;
mod middleware;
mod order;
mod random;
mod reducers;
mod refusals;
mod retries;
mod subflows;
mod tasks;
mod timeouts;
mod topology;
