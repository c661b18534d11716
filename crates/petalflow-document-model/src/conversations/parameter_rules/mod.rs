//! Checks the JSON Schemas of the parameters of functions.

mod keyword;
mod number;
mod pattern;
mod rule;
#[cfg(test)]
mod tests;

pub(crate) use pattern::Budget;
pub(crate) use rule::parameter_errors;
