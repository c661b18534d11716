//! Which tasks run when, with what, and in which order their writes fold.

mod concurrency;
mod each;
mod limits;
mod order;
mod tasks;
mod topology;
