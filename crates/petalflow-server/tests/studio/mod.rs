//! The studio: which files it serves, and with which headers.

mod content;
mod headers;
mod kit;
mod mounting;
