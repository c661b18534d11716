//! Runs of threads.

mod begin;
