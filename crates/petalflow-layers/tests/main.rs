//! Layers around tools and around nodes.

mod nodes;
mod tools;
