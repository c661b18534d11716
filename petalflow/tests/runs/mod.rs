//! Runs of threads.

mod answer_types;
mod begin;
mod built_items;
mod bus;
mod depth;
mod engine;
mod executors;
mod limits;
mod managed_in;
mod merges;
mod order;
mod panics;
mod pass_cost;
mod received;
mod siblings;
mod stops;
mod sums;
mod untracked;
mod versions;
