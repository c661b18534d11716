//! Reducers.

mod messages;
mod reducers;
