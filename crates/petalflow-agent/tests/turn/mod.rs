//! The steps of a turn: what it streams, returns and records.

mod cut;
mod freed;
mod output;
mod output_functions;
mod parallel;
mod scripts;
mod spans;
mod steering;
mod streaming;
mod tool_search;
mod turns;
mod typed_stream;
