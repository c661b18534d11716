//! Search attributes of threads: their values, conditions on them, and how people write those conditions.

mod condition;
mod ranges;
mod value;

pub use condition::{AttributeCondition, AttributeConditionError};
pub use ranges::AttributeTest;
pub use value::{Attribute, AttributeKind, AttributeValue};
