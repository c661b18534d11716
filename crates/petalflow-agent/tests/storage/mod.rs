//! Conversations in a store, with crashes, and artifacts.

mod artifacts;
mod durable;
mod killed;
mod killed_deep;
mod killed_steering;
mod liveness;
mod planted;
mod replay;
mod replay_deep;
mod replay_requests;
