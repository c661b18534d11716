//! Begins the threads of schedules, and serves the schedules over HTTP.

pub(crate) mod http;
mod runner;
