//! Long-term memory over HTTP: its entries are listed, searched, read, written and deleted.

pub(crate) mod http;
mod refused;
