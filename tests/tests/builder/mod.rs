//! What the run-time builder refuses, and what a graph shows of itself.

mod interrupt_statements;
mod introspection;
mod items;
mod refusals;
