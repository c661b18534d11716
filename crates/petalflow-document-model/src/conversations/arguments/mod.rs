//! Checks the arguments of a call with the parameters of its function.

mod check;
mod checker;
mod errors;
mod format;
mod keyword;
mod number;
mod pattern;
mod rule;

pub use checker::ArgumentChecker;
pub(crate) use checker::parameter_errors;
pub use errors::{ArgumentErrors, ParameterError};
pub(crate) use pattern::Budget;
