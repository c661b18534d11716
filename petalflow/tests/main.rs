//! Behaviour of runs on threads, threads as a store lists them, tools, reducers and stored failures. That of flows is tested
//! in the package of the folder `tests`, which also has stores.

mod errors;
mod runs;
mod state;
mod test_context;
mod threads;
mod tools;
