//! The events of an agent, found in the events of the flow in which it runs.

use petalflow::Event;
use petalflow::event::EventKind;
use petalflow::state::State;

use crate::AgentEvent;
use crate::conversation::Conversation;

impl AgentEvent {
    /// The event that an agent has emitted, from an event of the flow in which the agent runs
    /// ([`Agent::run_in`](crate::Agent::run_in), [`AgentNode`](crate::AgentNode)): the
    /// messages and actions of the agent and of those below it, and with [`Agent::streaming`](crate::Agent::streaming) the
    /// pieces of its answers, which are `partial`. `None` for every other event. The events of an agent in a sub-flow are in [`Event::nested`]: pass the inner event.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_agent::{Agent, AgentEvent};
    /// use petalflow_llm::{Reply, ScriptedModel};
    ///
    /// #[state]
    /// struct Letter { #[key(input)] wish: String, text: String }
    ///
    /// #[node(Letter)]
    /// async fn write(wish: &str, agent: Managed<Agent>, cx: Context) -> petalflow::Result<LetterText> {
    ///     Ok(LetterText(agent.run_in(&cx, wish).await?.answer()))
    /// }
    ///
    /// flow!(WriteLetter(Letter) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let agent = Agent::new(ScriptedModel::new([Reply::chunks(["Dear ", "Ann"])])).streaming();
    /// let mut events = WriteLetter::new().manage(agent).run("to Ann".to_string()).events();
    /// let mut pieces = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     if let Some(piece) = AgentEvent::of(&event).filter(|piece| piece.partial) {
    ///         pieces.push(piece.text()); // Or `print!("{}", piece.text())`.
    ///     }
    /// }
    /// assert_eq!(pieces, ["Dear ", "Ann"]);
    /// # }
    /// ```
    pub fn of<S: State>(event: &Event<S>) -> Option<&Self> {
        match &event.kind {
            EventKind::Custom(custom) => custom.downcast_ref(),
            _ => Self::of(event.nested::<Conversation>()?),
        }
    }
}
