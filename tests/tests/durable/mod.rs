//! Runs that a store remembers.

mod asks;
mod pending;
mod time_travel;
mod turns;
mod upgrades;
