//! Behaviour of runs on threads, tools, reducers and stored failures. That of flows is tested in the package of the folder
//! `tests`, which also has stores.

mod errors;
mod runs;
mod state;
mod test_context;
mod tools;
