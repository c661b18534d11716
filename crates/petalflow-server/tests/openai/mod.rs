//! Agents as models of OpenAI's interface.

mod agents;
mod chat;
mod client;
mod responses;
mod waits;
