//! Begins the threads of schedules, and serves the schedules over HTTP.

mod define;
pub(crate) mod http;
mod runner;
mod shown;
