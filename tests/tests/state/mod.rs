//! The keys of a state, and the reducers that fold writes into them.

mod conflicts;
mod keys;
mod reducer_laws;
mod reducers;
