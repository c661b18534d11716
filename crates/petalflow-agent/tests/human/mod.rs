//! Turns that wait for people, or for results that come later.

mod client;
mod confirmations;
mod credentials;
mod parked;
mod sleeping;
mod waiting;
