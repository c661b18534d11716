//! The studio in Chromium: each test has a server and a browser of its own.
//!
//! The server is the example `examples/studio`, with a flow whose tasks wait until the test allows them to end.
#![cfg(unix)]

mod accessibility;
mod chat;
mod citations;
mod engine;
mod event_source;
mod export;
mod flows;
mod foreign_text;
mod forms;
mod fuzzer;
mod graph;
mod history;
mod lists;
mod page;
mod picture;
mod proxy;
mod questions;
mod runs;
mod schedules;
mod served;
mod sign_in;
mod vendor;
mod waterfall;
