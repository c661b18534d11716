//! Runs that are stored.

mod approvals;
mod asks;
mod busy;
mod checkpoints;
mod contract;
mod crash;
mod edits;
mod faults;
mod inner;
mod killed;
mod killed_log;
mod many_questions;
mod outage;
mod pending;
mod protected;
mod rollback;
mod rollback_killed;
mod stop;
mod streams;
mod subflow_forks;
mod time_travel;
mod turns;
mod upgrades;
