//! Conversations in a store, with crashes.

mod durable;
mod killed;
