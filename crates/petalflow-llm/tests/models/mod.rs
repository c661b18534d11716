//! Messages, requests, responses, how a stream's deltas become a response, and the clients that wrap another client.

mod aggregate;
mod cassette;
mod fallback;
mod retrying;
mod scripted;
mod streams;
mod types;
mod wrappers;
