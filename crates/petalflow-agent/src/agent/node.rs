//! An agent as a node of another flow.

use std::fmt;
use std::marker::PhantomData;

use super::Agent;
use crate::{Conversation, ConversationInput};
use petalflow::node::{Key, Node, Scope};
use petalflow::state::KeySet;
use petalflow::{BoxError, Context, State, node};

/// An agent as a node. Its message is the value of the key `In`, and it writes its answer to the key `Out`. For other
/// types than text, [`Agent::run_in`] runs an agent within any node.
///
/// ```
/// use petalflow_agent::{Agent, AgentNode};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Letter {
///     #[key(input)]
///     wish: String,
///     text: String,
/// }
///
/// flow! {
///     Write(Letter) {
///         node writer: AgentNode<LetterWish, LetterText>;
///         START -> writer;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["Dear all"])).instructions("Write a letter.");
/// let letter = Write::new().writer(agent.node()).run("to everybody".to_string()).await?;
/// assert_eq!(letter.text, "Dear all");
/// # Ok(())
/// # }
/// ```
pub struct AgentNode<In, Out> {
    agent: Agent,
    keys: PhantomData<fn(In) -> Out>,
}

impl Agent {
    /// The agent as a node that reads one key and writes another.
    pub fn node<In, Out>(&self) -> AgentNode<In, Out> {
        AgentNode {
            agent: self.clone(),
            keys: PhantomData,
        }
    }
}

#[node(Out::State)]
#[diagnostic::do_not_recommend]
impl<In, Out> AgentNode<In, Out>
where
    In: Key<Value = String>,
    Out: Key<State = In::State, Value = String>,
{
    async fn run(&self, #[key(In)] message: &str, cx: Context) -> Result<Out, BoxError> {
        let input = ConversationInput::from(message);
        let conversation: Conversation = self.agent.run_in(&cx, input).await?;
        Ok(Out::new(conversation.answer()))
    }
}

/// What an agent would need to be a node by itself. Nothing implements it: it makes `node writer: Agent` an error that says what
/// to write. rustc shows the message of a bound only if the bound is on another type than the one that the caller names.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "PF025: an `Agent` is not a node by itself, because a node says which keys it reads and writes",
    label = "not a node over `{S}`",
    note = "declare it as `node name: AgentNode<{S}Question, {S}Answer> = agent.node();`, with the key of the message and the key of the answer"
)]
pub trait IsNodeByItself<S> {}

#[doc(hidden)]
impl<S: State> Node<S> for Agent
where
    (Agent,): IsNodeByItself<S>,
{
    type Output = ();
    type Item = ();
    const NAME: &'static str = "agent";
    const READS: KeySet = KeySet::NONE;

    async fn run<'a>(&'a self, _: &'a S, _: &'a Scope) {}
}

impl<In, Out> Clone for AgentNode<In, Out> {
    fn clone(&self) -> Self {
        self.agent.node()
    }
}

impl<In, Out> fmt::Debug for AgentNode<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentNode").field(&self.agent).finish()
    }
}
