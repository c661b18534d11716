//! The items that `#[state]`, `#[node]` and `#[derive(Route)]` generate.

mod hygiene;
mod keys;
mod nodes;
mod routes;
mod updates;
