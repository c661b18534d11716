//! The statements of the store contract, by what they are about. Those on the rows of the log are in [`log`](crate::log).

pub(crate) mod attributes;
pub(crate) mod change;
pub(crate) mod claims;
pub(crate) mod counts;
mod index;
pub(crate) mod listing;
pub(crate) mod query;
pub(crate) mod verify;

pub(crate) use index::Listing;
