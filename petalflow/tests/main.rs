//! Behaviour of tools, reducers and stored failures. That of flows is tested in the package of the folder `tests`, which
//! also has stores.

mod errors;
mod state;
mod test_context;
mod tools;
