//! Nodes that fail, retries, time limits, and runs that are stopped.

mod cancel;
mod catching;
mod continue_on_error;
mod failures;
mod retries;
mod retry_policies;
mod timeouts;
