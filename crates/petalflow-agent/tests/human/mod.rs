//! Turns that wait for people, or for results that come later.

mod confirmations;
mod credentials;
mod parked;
mod waiting;
