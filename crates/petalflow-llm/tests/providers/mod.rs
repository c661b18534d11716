//! Models of real providers, asked over HTTP.

mod anthropic;
mod cancel;
mod encrypted;
mod failures;
mod gemini;
mod odd;
mod openai;
mod recorded;
mod responses;
mod sent;
