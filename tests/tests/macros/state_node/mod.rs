//! What `#[state]`, `#[node]` and `#[derive(Route)]` make.

mod hygiene;
mod keys;
mod nodes;
mod routes;
mod updates;
