//! Commands for many threads: the address, and what a command does with one thread.

mod give;
pub(crate) mod http;
