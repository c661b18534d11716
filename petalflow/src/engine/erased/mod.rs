//! The engine without the types of its flow: all that [`ThreadEngine`](super::ThreadEngine) does.

mod engine;
mod logging;
mod passes;
mod streaming;

pub(super) use engine::AnyEngine;
