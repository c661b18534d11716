//! Models of real providers, asked over HTTP.

mod abilities;
mod access;
mod anthropic;
mod bodies;
mod cancel;
mod clouds;
mod counting;
mod cut;
mod embeddings;
mod encrypted;
mod failures;
mod gemini;
mod hostile;
mod limits;
mod odd;
mod openai;
mod origins;
mod plans;
mod recorded;
mod responses;
mod retries;
mod schemas;
mod sent;
mod turns;
mod typed_output;
mod usage;
