//! The begin of a turn, and what is left of one that broke off.

pub(super) mod input;
pub(super) mod unfinished;
