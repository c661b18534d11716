//! Runs of threads.

mod answer_types;
mod begin;
mod order;
mod siblings;
mod stops;
mod untracked;
