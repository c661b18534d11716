//! Behaviour of tools, reducers, stored failures, and threads as a store lists them. That of flows is tested in the package of the folder `tests`, which
//! also has stores.

mod errors;
mod state;
mod threads;
mod tools;
