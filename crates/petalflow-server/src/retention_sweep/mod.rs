//! Deletes finished threads that are not kept, and the addresses of what is kept.

pub(crate) mod http;
mod sweep;
