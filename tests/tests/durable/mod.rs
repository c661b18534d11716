//! Runs that a store remembers.

mod asks;
mod crash;
mod killed;
mod pending;
mod time_travel;
mod turns;
