//! Behaviour of runs on threads, tools, reducers and stored failures, and of threads as a store lists them. That of flows is
//! tested in the package of the folder `tests`, which also has stores.

mod errors;
mod random;
mod runs;
mod state;
mod test_context;
mod threads;
mod tools;
