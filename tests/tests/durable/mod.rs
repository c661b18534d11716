//! Runs that a store remembers.

mod approvals;
mod asks;
mod busy;
mod checkpoints;
mod contract;
mod crash;
mod faults;
mod inner;
mod kept;
mod killed;
mod outage;
mod pending;
mod protected;
mod streams;
mod time_travel;
mod turns;
mod upgrades;
