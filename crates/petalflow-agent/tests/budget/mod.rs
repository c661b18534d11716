//! Limits on a turn, and the count of what was used.

mod limits;
mod unfinished_usage;
