//! The answer of an agent as far as it is known.

use petalflow::event::{CustomEvent, EventKind};
use petalflow::state::State;
use petalflow::tool::Partial;
use petalflow::{Context, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::Conversation;

/// The typed answer of a [streaming](crate::Agent::streaming) agent, as far as its model has written it. Each replaces the one
/// before; a [retry](crate::stream::AgentEventKind::Retry) and an answer that goes [back](crate::AgentEvent::repair) to the model
/// void it.
///
/// Lists and texts in it grow. A number is there when it is complete, and so is a text of which only some values are allowed, such
/// as that of an enum: see [`PartialJson`](petalflow_llm::stream::PartialJson). It is not checked. Only the end of the turn says
/// that an answer is complete, so act on [`Conversation::output`], and only show this.
///
/// The first one comes with the first piece, and each other one when the answer is an eighth longer, or after 50 milliseconds and one
/// more for each 400 bytes. So their cost is in proportion to the answer. They are not stored.
///
/// Listeners get it as [`AgentEventKind::PartialOutput`](crate::stream::AgentEventKind::PartialOutput), and
/// [`OutputStream`](crate::OutputStream) reads it as a type. A server sends it as the event `partial_output`.
///
/// ```
/// use petalflow_agent::{Agent, stream::AgentEventKind};
/// use petalflow_llm::{Reply, ScriptedModel};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Flower {
///     name: String,
///     petals: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let answer = Reply::chunks([r#"{"name": "wild "#, r#"rose", "#, r#""petals": 5}"#]);
/// let mut events = Agent::new(ScriptedModel::new([answer])).output::<Flower>().streaming().events("A flower?");
/// let mut known = Vec::new();
/// while let Some(item) = events.next().await {
///     match item.kind {
///         AgentEventKind::PartialOutput(output) => known.push(output.value),
///         AgentEventKind::Finished(talk) => assert_eq!(talk.output::<Flower>().unwrap().petals, 5),
///         _ => {}
///     }
/// }
/// assert_eq!(known[0], json!({ "name": "wild " }));
/// assert_eq!(known[1], json!({ "name": "wild rose" }));
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PartialOutput {
    /// The name of the agent.
    pub agent: String,
    /// The branch of an agent that another agent has called, as in [`AgentEvent::branch`](crate::AgentEvent).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The output function whose arguments these are, if the agent answers with one
    /// ([`Agent::output_function`](crate::Agent::output_function)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The answer as far as it is known.
    pub value: Value,
}

impl PartialOutput {
    /// Reads the value as what is known of a `T`. `None` if nothing of it is, or it is the value of another type.
    ///
    /// ```
    /// use petalflow::tool::Partial;
    /// use petalflow_agent::PartialOutput;
    ///
    /// #[derive(Partial)]
    /// struct Flower {
    ///     name: String,
    ///     petals: u32,
    /// }
    ///
    /// fn show(output: &PartialOutput) {
    ///     let flower: Option<FlowerPartial> = output.read::<Flower>();
    ///     println!("{}", flower.unwrap_or_default().name.unwrap_or_default());
    /// }
    /// # show(&PartialOutput::default());
    /// ```
    pub fn read<T: Partial>(&self) -> Option<T::Partial> {
        T::partial(&self.value)
    }

    /// The partial answer in an event of the flow in which the agent runs, as [`AgentEvent::of`](crate::AgentEvent::of) finds
    /// messages. `None` for every other event.
    pub fn of<S: State>(event: &Event<S>) -> Option<&Self> {
        match &event.kind {
            EventKind::Custom(custom) => custom.downcast_ref(),
            _ => Self::of(event.nested::<Conversation>()?),
        }
    }

    pub(crate) fn emit(cx: &Context, output: PartialOutput) {
        cx.emit(CustomEvent::named("partial_output", output).transient());
    }
}
