//! Nodes that ask models and call tools.

mod conversation;
mod prompt;
