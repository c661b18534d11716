//! Nodes that change the variables and messages of an envelope.

mod filter;
mod transform;

pub use filter::{DuplicateKept, FilterConfig, FilterNode, FilterOp, FilterTarget, SortOrder};
pub use transform::{DeepOrShallow, ParseFormat, StringifyFormat, TransformConfig, TransformNode};
