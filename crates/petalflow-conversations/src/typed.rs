//! Handlers as a trait: from the values of calls to types, and back.

mod argument;
mod handlers;
mod reply;

pub use argument::{Argument, Fields, Misfit, Write, find, position, serialize};
pub use handlers::{Function, action, arguments, boxed, builder, done, function, own, refused};
pub use reply::{BranchResult, Reply, branch, reply, text, word};
