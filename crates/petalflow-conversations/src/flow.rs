//! The flow of a conversation. Each step of a turn is a superstep, stored, resumed and streamed like that of any flow.

// The flow is private to this crate, but `flow!` makes its items `pub`.
#![allow(unreachable_pub, private_interfaces)]

use std::sync::Arc;

use petalflow::checkpoint::Store;
use petalflow::state::InputOf;
use petalflow::thread::{DocumentVersion, Threads};
use petalflow::{BoxError, Context, Launch, Route, Run, flow, node};
use petalflow_document_model::conversations::Conversation;

use crate::ConversationState;
use crate::program::Program;
use crate::state::{
    ConversationStateMessages, ConversationStateModelCalls, ConversationStateOutcomes,
    ConversationStatePosition, ConversationStateValues,
};
use crate::step::{Act, PendingCall, Step};
use crate::turn;

/// The first step of a turn.
#[derive(Route)]
pub(crate) enum First {
    Act(Act),
    Enter(String),
    Ask,
}

/// What follows an action.
#[derive(Route)]
pub(crate) enum AfterAction {
    Act(Act),
    Enter(String),
    Done,
}

/// What follows the entry of a node.
#[derive(Route)]
pub(crate) enum AfterEntry {
    Ask,
    Done,
}

/// What follows an answer.
#[derive(Route)]
pub(crate) enum AfterAnswer {
    Call(Vec<PendingCall>),
    Act(Act),
    Done,
}

/// What follows the results of functions.
#[derive(Route)]
pub(crate) enum AfterResults {
    Act(Act),
    Enter(String),
    Ask,
    Done,
}

/// Reads what the person says.
#[derive(Clone)]
pub(crate) struct Begin(Arc<Program>);

/// Runs an action.
#[derive(Clone)]
pub(crate) struct RunAction(Arc<Program>);

/// Enters a node.
#[derive(Clone)]
pub(crate) struct Enter(Arc<Program>);

/// Calls the model.
#[derive(Clone)]
pub(crate) struct Ask(Arc<Program>);

/// Calls a function.
#[derive(Clone)]
pub(crate) struct Call(Arc<Program>);

/// Collects the results.
#[derive(Clone)]
pub(crate) struct Gather(Arc<Program>);

#[node(ConversationState)]
impl Begin {
    async fn run(
        &self,
        state: &ConversationState,
    ) -> Result<(Option<ConversationStateMessages>, First), BoxError> {
        let start = turn::begin(&self.0, state)?;
        let first = match start.step {
            Step::Act(act) => First::Act(act),
            Step::Enter(node) => First::Enter(node),
            Step::Ask | Step::Done => First::Ask,
        };
        Ok((
            start
                .message
                .map(|message| ConversationStateMessages(vec![message])),
            first,
        ))
    }
}

#[node(ConversationState)]
impl RunAction {
    async fn run(
        &self,
        #[item] act: &Act,
        state: &ConversationState,
        cx: Context,
    ) -> Result<(Option<ConversationStatePosition>, AfterAction), BoxError> {
        let acted = Box::pin(turn::act(&self.0, state, act, &cx)).await?;
        let next = match acted.step {
            Step::Act(act) => AfterAction::Act(act),
            Step::Enter(node) => AfterAction::Enter(node),
            Step::Ask | Step::Done => AfterAction::Done,
        };
        Ok((acted.position.map(ConversationStatePosition), next))
    }
}

#[node(ConversationState)]
impl Enter {
    #[expect(clippy::ptr_arg, reason = "the type of the item")]
    async fn run(
        &self,
        #[item] node: &String,
        state: &ConversationState,
        cx: Context,
    ) -> Result<
        (
            ConversationStatePosition,
            ConversationStateMessages,
            AfterEntry,
        ),
        BoxError,
    > {
        let entry = Box::pin(turn::enter(&self.0, state, node, &cx)).await?;
        let next = if entry.responds {
            AfterEntry::Ask
        } else {
            AfterEntry::Done
        };
        Ok((
            ConversationStatePosition(entry.position),
            ConversationStateMessages(entry.messages),
            next,
        ))
    }
}

#[node(ConversationState)]
impl Ask {
    async fn run(
        &self,
        state: &ConversationState,
        cx: Context,
    ) -> Result<
        (
            ConversationStateMessages,
            Option<ConversationStatePosition>,
            ConversationStateModelCalls,
            AfterAnswer,
        ),
        BoxError,
    > {
        // Boxed: every step of a turn has room for the largest one.
        let answer = Box::pin(turn::ask(&self.0, state, &cx)).await?;
        let next = if !answer.calls.is_empty() {
            AfterAnswer::Call(answer.calls)
        } else if let Some(act) = answer.act {
            AfterAnswer::Act(act)
        } else {
            AfterAnswer::Done
        };
        let messages = answer.message.into_iter().collect();
        Ok((
            ConversationStateMessages(messages),
            answer.position.map(ConversationStatePosition),
            ConversationStateModelCalls(1),
            next,
        ))
    }
}

#[node(ConversationState)]
impl Call {
    async fn run(
        &self,
        #[item] pending: &PendingCall,
        state: &ConversationState,
        cx: Context,
    ) -> Result<ConversationStateOutcomes, BoxError> {
        let outcome = Box::pin(turn::call(&self.0, state, pending, &cx)).await?;
        Ok(ConversationStateOutcomes(vec![outcome]))
    }
}

#[node(ConversationState)]
impl Gather {
    async fn run(
        &self,
        state: &ConversationState,
    ) -> Result<
        (
            ConversationStateMessages,
            ConversationStateValues,
            AfterResults,
        ),
        BoxError,
    > {
        let results = turn::gather(&self.0, state)?;
        let next = match results.step {
            Step::Act(act) => AfterResults::Act(act),
            Step::Enter(node) => AfterResults::Enter(node),
            Step::Ask => AfterResults::Ask,
            Step::Done => AfterResults::Done,
        };
        Ok((
            ConversationStateMessages(vec![results.message]),
            ConversationStateValues(results.values),
            next,
        ))
    }
}

flow! {
    /// One turn of a conversation.
    #[flow(id = "conversation")]
    pub TurnFlow(ConversationState) {
        node begin: Begin;
        node action: RunAction;
        node enter: Enter;
        node ask: Ask;
        node call: Call;
        node gather: Gather;
        START -> begin;
        begin -> match { Act => action, Enter => enter, Ask => ask };
        action -> match { Act => action, Enter => enter, Done => END };
        enter -> match { Ask => ask, Done => END };
        ask -> match { Call => each call, Act => action, Done => END };
        call -> gather;
        gather -> match { Act => action, Enter => enter, Ask => ask, Done => END };
    }
}

/// A conversation flow that can run: a document, the code of its functions and actions, and a model.
///
/// Clones share it.
///
/// ```
/// use petalflow_conversations::ConversationFlow;
/// # use petalflow_conversations::document::Conversation;
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// # let document = Conversation::from_config(&document).unwrap();
/// let flow = ConversationFlow::builder(document)
///     .model(ScriptedModel::new(["Hello.", "I am well."]))
///     .build()?;
/// let state = flow.run(()).await?;
/// assert_eq!(state.answer(), "Hello.");
/// let state = flow.run(state.next_input("How are you?")).await?;
/// assert_eq!(state.answer(), "I am well.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ConversationFlow(pub(crate) Arc<Program>);

impl ConversationFlow {
    /// Returns a launch of one turn, to add settings: managed values, middleware, timeouts.
    pub fn launch(&self) -> Launch<TurnFlow> {
        let program = &self.0;
        TurnFlow::new()
            .begin(Begin(Arc::clone(program)))
            .action(RunAction(Arc::clone(program)))
            .enter(Enter(Arc::clone(program)))
            .ask(Ask(Arc::clone(program)))
            .call(Call(Arc::clone(program)))
            .gather(Gather(Arc::clone(program)))
            .launch()
            // `max_model_calls` bounds a turn.
            .limit(u64::MAX)
            .document_version(&program.version)
    }

    /// Returns the conversation of the document, with the descriptions and the parameters of functions that are in code.
    ///
    /// [`to_editor`](Conversation::to_editor) writes it for the graphical editor, and
    /// [`mermaid`](Conversation::mermaid) and [`dot`](Conversation::dot) draw it.
    ///
    /// ```
    /// use petalflow_conversations::ConversationFlow;
    /// # use petalflow_conversations::document::Conversation;
    /// # use petalflow_llm::ScriptedModel;
    /// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// # let document = Conversation::from_config(&document).unwrap();
    /// # let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."])).build().unwrap();
    ///
    /// let exported = flow.conversation().to_editor().document;
    /// assert_eq!(exported.nodes[0].id, "a");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn conversation(&self) -> &Conversation {
        &self.0.document
    }

    /// The version of the document, which is stored with each thread: a checksum of its content.
    ///
    /// A thread continues with a changed document if that has the node where the conversation is.
    pub fn version(&self) -> &DocumentVersion {
        &self.0.version
    }

    /// Runs one turn: `()` lets the model begin, a text is what the person says.
    pub fn run(&self, input: impl InputOf<ConversationState>) -> Run<TurnFlow> {
        self.launch().run(input)
    }

    /// Stores conversations. Each is a thread.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_conversations::ConversationFlow;
    /// # use petalflow_conversations::document::Conversation;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// # let document = Conversation::from_config(&document).unwrap();
    /// # let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello.", "I am well."])).build()?;
    /// let calls = flow.store(&InMemoryStore::new());
    /// let call = calls.thread("call-1");
    /// assert_eq!(call.run(()).await?.into_finished()?.answer(), "Hello.");
    /// assert_eq!(call.run("How are you?").await?.into_finished()?.answer(), "I am well.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(&self, store: &(impl Store + Clone)) -> Threads<TurnFlow> {
        self.launch().store(store)
    }
}

impl std::fmt::Debug for ConversationFlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConversationFlow").finish_non_exhaustive()
    }
}
