//! Ports of three agents that were written in Python. `docs/guide/ports.md` compares each with its source.

pub mod coder;
pub mod model;
pub mod research;
pub mod support;
pub mod turn;
