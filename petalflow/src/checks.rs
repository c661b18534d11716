//! What the macros check with types. Compile errors name these traits and functions. Programs do not use them: semver does
//! not apply to them.
//!
//! | name | the condition |
//! | --- | --- |
//! | [`is_state`], [`is_flow`] | a type is a state, or a flow |
//! | [`is_node`], [`KeyOf`] | a type is a node over this state, or a key of it |
//! | [`FlowName`], [`flow_name`] | the name of a flow means the flow, and not a key |
//! | [`Subflow`], [`subflow`] | a flow can be a node without node values |
//! | [`RunsAtOnce`] | a flow needs no node values |
//! | [`last_output`], [`key_output`] | a node can return the type in the last place of a tuple, or before it |
//! | [`Optional`] | a key holds an `Option` |
//! | [`NeedsDefault`], [`SkipsZero`] | the value of a key has a default, or a zero |
//! | [`Deliverable`], [`ItemsOf`] | a payload can travel along an edge, or consists of items for `each` |
//! | [`StoredQuestion`] | a question can be stored |
//! | [`IsThread`] | a run names its thread |
//! | [`shared`] | threads can share values of a type |
//! | [`boxed_error`] | the error of a node can be the error of a run |
//! | [`spawn`] | a node can run as a task of tokio |

use crate::error::BoxError;
use crate::flow::Flow;
use crate::node::{IntoBoxError, Node};
use crate::state::{State, ThreadSafe};

pub use crate::__private::flow::{ItemsOf, RunsAtOnce, Subflow};
pub use crate::__private::state::{NeedsDefault, SkipsZero};
pub use crate::__private::{Deliverable, KeyOf, Optional, key_output, last_output, spawn};
pub use crate::question::StoredQuestion;
pub use crate::thread::IsThread;

/// Fails to compile if the type is not a state. Generated code depends on the result, so that this is one error.
///
/// A key whose type does not fit is an error in the type of `KEYS`. With that this fails, too, without a further error.
pub const fn is_state<S: State>() -> usize {
    let _ = S::KEYS;
    0
}

/// Fails to compile if the type is not a node over the state.
pub const fn is_node<S: State, N: Node<S>>() {}

/// Fails to compile if the type is not a flow. Generated code depends on the result, so that this is one error.
pub const fn is_flow<F: Flow>() -> usize {
    0
}

/// The type of a flow whose name begins with the name of its state, as do the names of the types that `#[state]` makes.
#[diagnostic::on_unimplemented(
    message = "the flow `{Self}` has the name of a type that `#[state]` makes for the state `{S}`",
    label = "this is also the type of a key, or the input or the update of `{S}`",
    note = "the type of a key is named after the state and the key: rename the flow or the key"
)]
pub trait FlowName<S> {}

/// Fails to compile if the name of a flow means another type.
pub const fn flow_name<S, F: FlowName<S>>() {}

/// A new instance of a sub-flow. Fails to compile if one of its node values must be given.
pub fn subflow<F: Subflow>() -> F {
    F::fresh()
}

/// Fails to compile if threads cannot share values of the type.
pub const fn shared<T: ThreadSafe>() -> usize {
    0
}

/// The result of a node whose return type is an alias of `Result`, of which the macro does not know the error type.
///
/// # Errors
///
/// The same error.
pub fn boxed_error<T, E: IntoBoxError>(result: Result<T, E>) -> Result<T, BoxError> {
    result.map_err(Into::into)
}
