//! The start of a turn, and the end of an interrupted one.

pub(super) mod input;
pub(super) mod unfinished;
