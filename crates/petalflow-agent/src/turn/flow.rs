//! The flow of an agent. Each step of a turn is a superstep, stored, resumed and streamed like that of any flow.

// The flow is private to this crate, but `flow!` makes its items `pub`.
#![allow(unreachable_pub, private_interfaces)]

use std::sync::Arc;

use super::ctx::Ctx;
use super::guard;
use super::removal::StartedEvents;
use super::spans;
use super::spend;
use super::streams::{CallerStreams, StreamsBelow};
use super::turn_start::TurnStep;
use super::{prices, requirements};
use crate::conversation::{
    Conversation, ConversationCalls, ConversationCuts, ConversationDecided, ConversationEvents,
    ConversationMessage, ConversationOutcomes, ConversationSpeakers, ConversationSpent,
    ConversationState, ConversationSteering, ConversationTemp, ConversationThoughtOnlyAnswers,
    ConversationTurnId, ConversationTurnSpent, ConversationWaiting, PendingCall,
};
use crate::definition::{AgentTree, RootAgent};
use crate::limits::{OwnShare, Usage};
use crate::turn::begin::input;
use crate::turn::calls::gather;
use crate::turn::calls::tool_call;
use crate::turn::model::ask::{self, Next};
use crate::turn::model::code;
use crate::turn::model::compact;
use crate::{AgentError, AgentEvent, ConversationInput};
use petalflow::middleware::BoxFuture;
use petalflow::node::{ManagedProvider, Overwrite};
use petalflow::{BoxError, Context, Launch, Route, flow, node};

/// The first step of a turn: the model call, or the tool calls that a person has decided about. None if the input only
/// repeats what was decided before.
#[derive(Route)]
pub(crate) enum First {
    Ask,
    Call(Vec<PendingCall>),
    Done,
}

/// What follows a step: the model, tools, code, or the end.
#[derive(Route)]
pub(crate) enum Then {
    Ask,
    Compact,
    Call(Vec<PendingCall>),
    Run,
    Done,
}

/// What follows the results of tools.
#[derive(Route)]
pub(crate) enum After {
    Ask,
    Done,
}

/// Reads the user's message.
#[derive(Clone, Debug)]
pub(crate) struct Begin(pub(super) Arc<RootAgent>);

/// Calls the model.
#[derive(Clone, Debug)]
pub(crate) struct Ask(pub(super) Arc<RootAgent>);

/// Cuts the messages that the model reads.
#[derive(Clone, Debug)]
pub(crate) struct Compact(pub(super) Arc<RootAgent>);

/// Calls a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call(pub(super) Arc<RootAgent>);

/// Runs code.
#[derive(Clone, Debug)]
pub(crate) struct Execute(pub(super) Arc<RootAgent>);

/// Collects the results.
#[derive(Clone, Debug)]
pub(crate) struct Gather(pub(super) Arc<RootAgent>);

#[node(Conversation)]
impl Begin {
    async fn run(
        &self,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<
        (
            Option<ConversationMessage>,
            ConversationTurnId,
            StartedEvents,
            ConversationSpeakers,
            Option<(ConversationState, ConversationTemp)>,
            Option<ConversationDecided>,
            Option<ConversationWaiting>,
            Option<ConversationSpent>,
            First,
        ),
        BoxError,
    > {
        conversation.resources.remove_finished_calls();
        let tree = self.0.tree()?;
        requirements::check(&tree, &cx)?;
        prices::check(&tree)?;
        let mut start = input::begin(&tree, conversation, &cx, run_agent)?;
        let blocked = guard::begin(&tree, conversation, &cx, &mut start).await?;
        let of_agents = start.events.iter().filter(|event| !event.is_from_user());
        of_agents.for_each(|event| AgentEvent::emit(&cx, || event.clone()));
        let message = start
            .message
            .map(|message| ConversationMessage(Some(message)));
        let state = (!start.state.is_empty()).then(|| split(start.state));
        let waiting = start.waiting;
        let spent = start.spent;
        let changes = !start.decided.is_empty() || !conversation.decided.is_empty();
        Ok((
            message,
            ConversationTurnId(start.turn_id),
            StartedEvents::of(&tree, conversation, start.events),
            ConversationSpeakers(start.speakers),
            state,
            changes.then_some(ConversationDecided(start.decided)),
            waiting.map(|waiting| ConversationWaiting(Some(waiting))),
            (spent != Usage::default()).then_some(ConversationSpent(spent)),
            match start.next {
                _ if blocked => First::Done,
                TurnStep::Ask => First::Ask,
                TurnStep::Call(calls) => First::Call(calls),
                TurnStep::End => First::Done,
            },
        ))
    }
}

#[node(Conversation)]
impl Ask {
    async fn run(
        &self,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<
        (
            ConversationEvents,
            ConversationState,
            ConversationTemp,
            ConversationCalls,
            ConversationThoughtOnlyAnswers,
            ConversationSpent,
            ConversationTurnSpent,
            Option<Overwrite<ConversationSteering>>,
            Then,
        ),
        BoxError,
    > {
        let tree = self.0.tree()?;
        let own_share = cx.managed::<OwnShare>();
        let ctx = ctx(&tree, conversation, &cx, own_share.as_deref())?;
        // A listener may stop the run when it receives an event.
        cx.events_received().await;
        if ctx.share.is_none() {
            conversation.resources.remove_finished_calls();
        }
        // Boxed: every step of a turn has room for the largest one.
        let step = Box::pin(spans::step(ctx, ask::ask(ctx))).await?;
        let calls = u32::from(!matches!(step.next, Next::Compact) && !step.has_steering);
        let then = match step.next {
            Next::Ask => Then::Ask,
            Next::Compact => Then::Compact,
            Next::Call(calls) => Then::Call(calls),
            Next::Run => Then::Run,
            Next::End => Then::Done,
        };
        let (state, temp) = split(step.state);
        Ok((
            ConversationEvents(step.events),
            state,
            temp,
            ConversationCalls(calls),
            ConversationThoughtOnlyAnswers(step.thought_only_answers),
            ConversationSpent(step.spent),
            ConversationTurnSpent(step.spent),
            step.has_steering
                .then(|| Overwrite(ConversationSteering(Vec::new()))),
            then,
        ))
    }
}

#[node(Conversation)]
impl Compact {
    async fn run(
        &self,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<(ConversationCuts, ConversationSpent, ConversationTurnSpent), BoxError> {
        let tree = self.0.tree()?;
        let own_share = cx.managed::<OwnShare>();
        let ctx = ctx(&tree, conversation, &cx, own_share.as_deref())?;
        let step = Box::pin(spans::step(ctx, compact::compact(ctx))).await?;
        Ok((
            ConversationCuts(step.cuts),
            ConversationSpent(step.spent),
            ConversationTurnSpent(step.spent),
        ))
    }
}

#[node(Conversation)]
impl Call {
    async fn run(
        &self,
        #[item] pending: &PendingCall,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<ConversationOutcomes, BoxError> {
        let tree = self.0.tree()?;
        let own_share = cx.managed::<OwnShare>();
        let ctx = ctx(&tree, conversation, &cx, own_share.as_deref())?;
        cx.events_received().await;
        spend::check_calls(ctx)?;
        CallerStreams::note(ctx);
        let outcome = Box::pin(spans::step(ctx, tool_call::call(ctx, pending))).await?;
        Ok(ConversationOutcomes(vec![outcome]))
    }
}

#[node(Conversation)]
impl Execute {
    async fn run(
        &self,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<ConversationEvents, BoxError> {
        let tree = self.0.tree()?;
        let ctx = ctx(&tree, conversation, &cx, None)?;
        cx.events_received().await;
        let event = Box::pin(spans::step(ctx, code::execute(ctx))).await?;
        AgentEvent::emit_all(&cx, std::slice::from_ref(&event));
        Ok(ConversationEvents(vec![event]))
    }
}

#[node(Conversation)]
impl Gather {
    async fn run(
        &self,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<
        (
            ConversationEvents,
            ConversationState,
            ConversationTemp,
            Option<ConversationSpeakers>,
            Option<ConversationWaiting>,
            Option<ConversationDecided>,
            Option<ConversationSpent>,
            Option<ConversationTurnSpent>,
            After,
        ),
        BoxError,
    > {
        let tree = self.0.tree()?;
        let ctx = ctx(&tree, conversation, &cx, None)?;
        let gathered = spans::step(ctx, async { gather::gather(ctx) }).await?;
        // The called agents have emitted theirs, which come first.
        let outcomes = conversation.outcomes.iter();
        let of_called: usize = outcomes.map(|outcome| outcome.inner.len()).sum();
        let own = gathered.events.iter().skip(of_called);
        own.for_each(|event| AgentEvent::emit(&cx, || event.clone()));
        let (state, temp) = split(gathered.state);
        let after = if gathered.continues {
            After::Ask
        } else {
            After::Done
        };
        Ok((
            ConversationEvents(gathered.events),
            state,
            temp,
            gathered.speakers.map(ConversationSpeakers),
            gathered
                .waiting
                .map(|waiting| ConversationWaiting(Some(waiting))),
            (!conversation.decided.is_empty()).then(|| ConversationDecided(Vec::new())),
            gathered.spent.map(ConversationSpent),
            gathered.spent.map(ConversationTurnSpent),
            after,
        ))
    }
}

/// The current position in the conversation.
fn ctx<'a>(
    tree: &'a Arc<AgentTree>,
    conversation: &'a Conversation,
    cx: &'a Context,
    own_share: Option<&'a OwnShare>,
) -> Result<Ctx<'a>, AgentError> {
    Ok(Ctx::new(tree, conversation, cx, run_agent)?.with_share(own_share))
}

/// Runs one turn of the root of a tree within a node.
fn run_agent<'a>(
    tree: &'a Arc<AgentTree>,
    cx: &'a Context,
    name: &'a str,
    input: ConversationInput,
    own_share: OwnShare,
    streams: bool,
) -> BoxFuture<'a, Result<Conversation, BoxError>> {
    let root = Arc::new(RootAgent::of_tree(tree));
    let mut launch = launch_of(&root).manage(own_share);
    if streams {
        launch = launch.manage(StreamsBelow);
    }
    Box::pin(launch.run_in(cx, name, input))
}

/// Splits the changes into those of the state and those of the temporary state, which ends with the turn.
fn split(
    delta: serde_json::Map<String, serde_json::Value>,
) -> (ConversationState, ConversationTemp) {
    let is_temp = |key: &str| key.starts_with("temp:");
    let (temp, state) = delta.into_iter().partition(|(key, _)| is_temp(key));
    (ConversationState(state), ConversationTemp(temp))
}

flow! {
    /// An agent as a flow: one turn of a conversation, in which each model call and each tool call is a step. Made by [`Agent::launch`](crate::Agent::launch).
    ///
    /// ```
    /// use petalflow_agent::{Agent, AgentFlow};
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow::thread::Threads;
    ///
    /// /// The conversations of a program.
    /// struct App {
    ///     conversations: Threads<AgentFlow>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let store = petalflow::checkpoint::InMemoryStore::new();
    /// let agent = Agent::new(ScriptedModel::new(["hello", "hello again"]));
    /// let app = App { conversations: agent.store(&store) };
    /// let ann = app.conversations.thread("ann");
    /// ann.run("hi").await?.into_finished()?;
    /// assert_eq!(ann.run("hi").await?.into_finished()?.answer(), "hello again");
    /// # Ok(())
    /// # }
    /// ```
    #[flow(id = "agent")]
    pub AgentFlow(Conversation) {
        node begin: Begin;
        node ask: Ask;
        node compact: Compact;
        node call: Call;
        node execute: Execute;
        node gather: Gather;
        START -> begin;
        begin -> match { Ask => ask, Call => each call, Done => END };
        ask -> match { Ask => ask, Compact => compact, Call => each call, Run => execute, Done => END };
        compact -> ask;
        execute -> ask;
        call -> gather;
        gather -> match { Ask => ask, Done => END };
    }
}

/// A launch of a turn of this agent, with the agent's retries of model calls. `max_model_calls` bounds the turn;
/// there is no limit of supersteps.
pub(crate) fn launch_of(agent: &Arc<RootAgent>) -> Launch<AgentFlow> {
    let mut launch = AgentFlow::new()
        .begin(Begin(Arc::clone(agent)))
        .ask(Ask(Arc::clone(agent)))
        .compact(Compact(Arc::clone(agent)))
        .call(Call(Arc::clone(agent)))
        .execute(Execute(Arc::clone(agent)))
        .gather(Gather(Arc::clone(agent)))
        .launch()
        .limit(u64::MAX)
        // An agent that a tool of a called agent runs is not called by an agent.
        .manage(OwnShare(None));
    if agent.definition.streams_in_part() {
        launch = launch.manage_with(ManagedProvider::each_run(CallerStreams::default));
    }
    launch.with_retry("ask", agent.definition.retry.clone())
}
