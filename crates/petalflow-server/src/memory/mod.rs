//! The long-term memory of a server, and which part of it a caller sees.

mod served;

pub(crate) use served::{Part, ServedMemory};
