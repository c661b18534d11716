//! Protocols by which clients talk with agents and conversations. `turn` is what all of them share: it begins a turn and
//! reads what happens in it, in a form that belongs to no protocol.

pub(crate) mod auth;
#[cfg(feature = "openai")]
pub(crate) mod openai;
pub(crate) mod turn;
