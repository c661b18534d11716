//! Messages, requests, answers, how pieces become answers, and what stands between a client and whoever asks it.

mod aggregate;
mod cassette;
mod retrying;
mod scripted;
mod streams;
mod types;
