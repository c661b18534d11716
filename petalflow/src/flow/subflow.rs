//! A flow as a node of another.

use std::sync::Arc;

use super::Flow;
use crate::event::Sink;
use crate::node::{Effects, Output, Scope};
use crate::run::{CancelToken, Extras, Settings, Start, drive};
use crate::{BoxError, State};

/// Runs a flow inside one superstep of another: all its supersteps, under the namespace of its node, with a limit of its
/// own. Cancellation, managed values and events are the parent's; only what `out` returns crosses. `keep` is what
/// `keep: thread` says.
#[doc(hidden)]
pub async fn subflow<C: Flow, S: State, I: Into<<C::State as State>::Input>, O: Output<S>>(
    child: C,
    scope: &Scope,
    input: I,
    out: impl FnOnce(C::State) -> O,
    effects: &mut Effects<S>,
    keep: bool,
) -> Result<(), BoxError> {
    // Without stored threads there is nothing to keep a state in.
    let _ = keep;
    let shared = &scope.shared;
    let settings = Settings {
        cancel: shared.cancel.as_ref().map(CancelToken::nested),
        managed: shared.managed.clone(),
        extras: shared.listener.clone().map(|above| {
            Arc::new(Extras {
                sink: Some(Arc::new(Sink::Above(above))),
                ..Extras::default()
            })
        }),
        namespace: shared.namespace.child(scope.node(), scope.index()),
        thread: Some(Arc::clone(shared.thread())),
        ..Settings::default()
    };
    // A box: a flow may contain itself, and its size should not add to its parent's.
    let run = drive(Start {
        flow: Arc::new(child),
        settings,
        input: input.into(),
    });
    out(run.await?).apply(effects)
}
