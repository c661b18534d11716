//! Handlers of actions.

use std::future::Future;

use petalflow::{BoxError, Context, async_trait};
use petalflow_document_model::conversations::Action;
use serde_json::{Map, Value};

/// A call of an action's handler.
///
/// ```
/// use petalflow_conversations::ActionCall;
/// use petalflow::BoxError;
///
/// async fn play(call: ActionCall) -> Result<(), BoxError> {
///     let file = call.action.extra.get("file").ok_or("the action has no `file`")?;
///     println!("{} at {}", file, call.node);
///     Ok(())
/// }
/// # fn is_handler(_: impl petalflow_conversations::ActionHandler) {}
/// # is_handler(play);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ActionCall {
    /// The action of the document, with its placeholders filled.
    pub action: Action,
    /// The node.
    pub node: String,
    /// The values that functions have set.
    pub values: Map<String, Value>,
    /// The task that runs the action: managed values, events, effects that happen once.
    pub cx: Context,
}

/// Code for an action. Closures that return a future are handlers.
///
/// A handler may run again if the process ends while it runs. [`Context::once`] records an effect that must not happen
/// twice.
///
/// ```
/// use petalflow_conversations::{ActionCall, ActionHandler};
/// use petalflow::{BoxError, async_trait};
///
/// struct Beep;
///
/// #[async_trait]
/// impl ActionHandler for Beep {
///     async fn run(&self, call: ActionCall) -> Result<(), BoxError> {
///         println!("beep at {}", call.node);
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait ActionHandler: Send + Sync + 'static {
    /// Runs the action.
    ///
    /// # Errors
    ///
    /// The turn fails, and the next attempt continues with this action.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped if the run stops.
    async fn run(&self, call: ActionCall) -> Result<(), BoxError>;
}

#[async_trait]
impl<F, R> ActionHandler for F
where
    F: Fn(ActionCall) -> R + Send + Sync + 'static,
    R: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    async fn run(&self, call: ActionCall) -> Result<(), BoxError> {
        self(call).await
    }
}
