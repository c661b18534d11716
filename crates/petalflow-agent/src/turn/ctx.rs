//! The position in a conversation that the steps of a turn read.

use std::sync::Arc;

use crate::conversation::history::Reader;
use crate::definition::{AgentTree, Definition, History};
use crate::extension::{Callbacks, Position};
use crate::limits::{OwnShare, Share};
use crate::{AgentError, AgentEvent, Conversation, ConversationInput};
use petalflow::middleware::BoxFuture;
use petalflow::tool::ToolCall;
use petalflow::{BoxError, Context};

/// Runs one turn of the root of this tree inside the node of `Context`, as a flow of this name and as a called agent.
/// The last argument says whether its answers are streamed.
pub(super) type RunAgent = for<'a> fn(
    &'a Arc<AgentTree>,
    &'a Context,
    &'a str,
    ConversationInput,
    OwnShare,
    bool,
) -> BoxFuture<'a, Result<Conversation, BoxError>>;

/// A position in a conversation.
#[derive(Clone, Copy)]
pub(super) struct Ctx<'a> {
    pub(super) tree: &'a Arc<AgentTree>,
    /// The index of the current agent.
    pub(super) index: usize,
    pub(super) conversation: &'a Conversation,
    pub(super) cx: &'a Context,
    /// The part of the conversation in the meter of its caller, if it is that of a called agent.
    pub(super) share: Option<&'a Share>,
    /// The flow of a turn, for agents that this agent calls. It is above the steps of a turn, which cannot name it.
    pub(super) run_agent: RunAgent,
}

impl<'a> Ctx<'a> {
    pub(super) fn new(
        tree: &'a Arc<AgentTree>,
        conversation: &'a Conversation,
        cx: &'a Context,
        run_agent: RunAgent,
    ) -> Result<Self, AgentError> {
        let speaker = conversation.speakers.last();
        let name = speaker.map_or("", |speaker| &*speaker.agent);
        let index = tree.index(name);
        Ok(Ctx {
            tree,
            index: index.ok_or_else(|| AgentError::UnknownAgent(name.into()))?,
            conversation,
            cx,
            share: None,
            run_agent,
        })
    }

    /// The context of an agent that was called as a tool.
    pub(super) fn with_share(self, own_share: Option<&'a OwnShare>) -> Self {
        let share = own_share.and_then(|own_share| own_share.0.as_ref());
        Ctx { share, ..self }
    }

    pub(super) fn agent(&self) -> &'a Arc<Definition> {
        self.tree.agent(self.index)
    }

    pub(super) fn root(&self) -> &'a Arc<Definition> {
        self.tree.agent(AgentTree::ROOT)
    }

    /// The position for callbacks, processors and instructions.
    pub(super) fn position(&self) -> Position<'a> {
        Position {
            agent: &self.agent().name,
            conversation: self.conversation,
            cx: self.cx,
        }
    }

    /// The callbacks, with those of plugins first.
    pub(super) fn callbacks(&self) -> impl Iterator<Item = &'a Arc<dyn Callbacks>> + use<'a> {
        self.root().plugins.iter().chain(&self.agent().callbacks)
    }

    pub(super) fn reader(&self) -> Reader {
        let agent = self.agent();
        let speaker = self.conversation.speakers.last();
        let task = speaker.and_then(|speaker| speaker.task.as_ref());
        Reader {
            agent: Arc::clone(&agent.name),
            branch: self.conversation.branch.clone(),
            plans: agent.plans.clone(),
            runs_code: agent.code_executor.is_some(),
            reads_called: agent.history == History::WithCalled,
            task: task.map(|task| (task.id.clone(), task.arguments.to_string())),
        }
    }

    /// An event of the agent. Its id is made from the task's id and `number`.
    pub(super) fn event(&self, number: usize) -> AgentEvent {
        self.position().event(number)
    }

    /// The call with this id.
    pub(super) fn call(&self, id: &str) -> Option<&'a ToolCall> {
        let events = self.conversation.events.iter().rev();
        events
            .flat_map(AgentEvent::calls)
            .find(|call| call.id == id)
    }
}
