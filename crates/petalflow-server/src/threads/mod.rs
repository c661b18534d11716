//! The addresses of threads: list, start, show, steer.

mod attributes;
pub(crate) mod conditions;
pub(crate) mod control;
pub(crate) mod inbox;
pub(crate) mod labels;
pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod start;
pub(crate) mod stop;
pub(crate) mod wait;
mod when;
