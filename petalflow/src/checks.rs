//! What the macros check with types. Compile errors name these traits and functions. Programs do not use them: semver does
//! not apply to them.
//!
//! | name | the condition |
//! | --- | --- |
//! | [`is_state`], [`is_flow`] | a type is a state, or a flow |
//! | [`is_node`], [`KeyOf`] | a type is a node over this state, or a key of it |
//! | [`Subflow`] | a flow can be a node |
//! | [`RunsAtOnce`], [`HasValue`] | a flow needs no node values, or has this one |
//! | [`last_output`], [`key_output`] | a node can return the type in the last place of a tuple, or before it |
//! | [`Optional`] | a key holds an `Option` |
//! | [`NeedsDefault`], [`SkipsZero`] | the value of a key has a default, or a zero |
//! | [`Deliverable`], [`ItemsOf`] | a payload can travel along an edge, or consists of items for `each` |
//! | [`StoredQuestion`] | a question can be stored |
//! | [`IsThread`] | a run names its thread |
//! | [`shared`] | threads can share values of a type |
//! | [`boxed_error`] | the error of a node can be the error of a run |
//! | [`spawn`] | a node can run as a task of tokio |

pub use crate::__private::flow::{HasValue, ItemsOf, RunsAtOnce, Subflow, is_flow};
pub use crate::__private::state::{NeedsDefault, SkipsZero};
pub use crate::__private::{
    Deliverable, KeyOf, Optional, boxed_error, is_node, is_state, key_output, last_output, shared,
    spawn,
};
pub use crate::question::StoredQuestion;
pub use crate::thread::IsThread;
