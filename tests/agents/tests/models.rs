//! Messages, requests, answers, and how pieces become answers.

mod aggregate;
mod scripted;
mod streams;
mod types;
