//! Flows as nodes of other flows.

use petalflow_graph::{Rule, messages};

use super::Spec;
use crate::delivery::ItemCodec;
use crate::flow::Flow;
use crate::launch::Launch;
use crate::node::{Output, Requirements, node_spec};
use crate::policy::Policy;
use crate::state::{KeyMeta, KeySet, State};

/// A flow of `flow!` that can be a node, because no node value must be given. Each flow implements it, and not one
/// implementation all of them, so that rustc says which node value is missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run as a sub-flow",
    label = "not a flow of `flow!`"
)]
pub trait Subflow: Flow {
    /// A new instance.
    fn fresh() -> Self;
}

/// The state of a sub-flow.
pub type StateOf<F> = <F as Flow>::State;

/// The input of a sub-flow.
pub type InputOfFlow<F> = <StateOf<F> as State>::Input;

/// The flow of a launch, with the node values that it sets.
pub fn with_values<F: Flow + Clone>(launch: Launch<F>) -> F {
    launch.flow().clone()
}

/// The properties of a sub-flow, from its `out`.
pub const fn of_out<S: State, A, O: Output<S>, F: Fn(A) -> O>(
    reads: &[&str],
    takes: Option<Option<ItemCodec>>,
    _: &F,
    require: fn(&mut Requirements<'_>),
) -> Spec {
    Spec {
        node: node_spec!(S, O, name: "", reads: KeyMeta::named(S::KEYS, reads), all: true, takes: takes.is_some(), policy: Policy::NONE, item: match takes { Some(item) => item, None => None }, broken: false),
        require,
        lacks_value: false,
    }
}

/// Collects what the nodes of a sub-flow need from the run.
pub fn require_subflow<F: Flow>(fresh: fn() -> F, requirements: &mut Requirements<'_>) {
    if requirements.enter::<F>() {
        fresh().require(requirements);
    }
}

/// Fails if `out` writes one key twice.
#[track_caller]
pub const fn once<S: State, A, O: Output<S>, F: Fn(A) -> O>(name: &str, _: &F) {
    let twice: KeySet = O::WRITES_TWICE.intersection(S::EXCLUSIVE);
    if let Some(key) = twice.first() {
        panic!(
            "{}",
            messages::with_code(
                Rule::WrittenTwice,
                &messages::written_twice(name, S::KEYS[key].name)
            )
            .as_str()
        );
    }
}
