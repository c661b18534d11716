//! Limits on a turn, and the count of what was used.

mod call_limits;
mod limits;
mod unfinished_usage;
