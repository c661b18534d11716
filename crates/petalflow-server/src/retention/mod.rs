//! Which finished threads are kept: by flow, as the program or a client says.

mod rule;
mod rules;

pub use rule::ThreadRetention;
pub(crate) use rules::{Rule, Rules};
