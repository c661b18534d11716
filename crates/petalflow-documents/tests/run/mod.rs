//! Runs of graphs over envelopes.

mod merging;
mod routes;
mod runs;
mod steps;
