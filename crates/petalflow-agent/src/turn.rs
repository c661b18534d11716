//! The flow of an agent. Each step of a turn is a superstep, stored, resumed and streamed like that of any flow.

// The flow is private to this crate, but `flow!` makes its items `pub`.
#![allow(unreachable_pub, private_interfaces)]

use std::sync::Arc;

use super::ask::{self, Next};
use super::at::At;
use super::conversation::{
    Conversation, ConversationCalls, ConversationEvents, ConversationInvocation,
    ConversationMessage, ConversationOutcomes, ConversationSpeakers, ConversationState,
    ConversationTemp, ConversationThoughts, ConversationWaiting, PendingCall,
};
use super::definition::Definition;
use super::gather;
use super::roster::Roster;
use super::{AgentError, begin, call, code};
use petalflow::{BoxError, Context, Launch, Route, flow, node};

/// The first step of a turn: the model call, or the tool calls that people have decided about.
#[derive(Route)]
pub(crate) enum First {
    Ask,
    Call(Vec<PendingCall>),
}

/// What follows a step: the model, tools, code, or the end.
#[derive(Route)]
pub(crate) enum Then {
    Ask,
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
pub(crate) struct Begin(pub(super) Arc<Definition>);

/// Calls the model.
#[derive(Clone, Debug)]
pub(crate) struct Ask(pub(super) Arc<Definition>);

/// Calls a tool.
#[derive(Clone, Debug)]
pub(crate) struct Call(pub(super) Arc<Definition>);

/// Runs code.
#[derive(Clone, Debug)]
pub(crate) struct Execute(pub(super) Arc<Definition>);

/// Collects the results.
#[derive(Clone, Debug)]
pub(crate) struct Gather(pub(super) Arc<Definition>);

#[node(Conversation)]
impl Begin {
    async fn run(
        &self,
        conversation: &Conversation,
        cx: Context,
    ) -> Result<
        (
            Option<ConversationMessage>,
            ConversationInvocation,
            ConversationEvents,
            ConversationSpeakers,
            First,
        ),
        BoxError,
    > {
        let begun = begin::begin(&self.0.roster()?, conversation, &cx)?;
        let first = if begun.calls.is_empty() {
            First::Ask
        } else {
            First::Call(begun.calls)
        };
        let message = begun
            .message
            .map(|message| ConversationMessage(Some(message)));
        Ok((
            message,
            ConversationInvocation(begun.invocation),
            ConversationEvents(begun.events),
            ConversationSpeakers(begun.speakers),
            first,
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
            ConversationThoughts,
            Then,
        ),
        BoxError,
    > {
        let roster = self.0.roster()?;
        listened(&cx).await;
        let asked = ask::ask(at(&roster, conversation, &cx)?).await?;
        let then = match asked.then {
            Next::Ask => Then::Ask,
            Next::Call(calls) => Then::Call(calls),
            Next::Run => Then::Run,
            Next::End => Then::Done,
        };
        let (state, temp) = split(asked.state);
        Ok((
            ConversationEvents(asked.events),
            state,
            temp,
            ConversationCalls(1),
            ConversationThoughts(asked.thoughts),
            then,
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
        let roster = self.0.roster()?;
        listened(&cx).await;
        let outcome = call::call(at(&roster, conversation, &cx)?, pending).await;
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
        let roster = self.0.roster()?;
        listened(&cx).await;
        let printed = code::execute(at(&roster, conversation, &cx)?).await?;
        Ok(ConversationEvents(vec![printed]))
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
            After,
        ),
        BoxError,
    > {
        let roster = self.0.roster()?;
        let gathered = gather::gather(at(&roster, conversation, &cx)?)?;
        let (state, temp) = split(gathered.state);
        let after = if gathered.goes_on {
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
            after,
        ))
    }
}

/// Lets listeners receive the events before the next step, because they may stop the run.
pub(super) async fn listened(cx: &Context) {
    if cx.has_listener() {
        tokio::task::yield_now().await;
    }
}

/// The current position in the conversation.
fn at<'a>(
    roster: &'a Arc<Roster>,
    conversation: &'a Conversation,
    cx: &'a Context,
) -> Result<At<'a>, AgentError> {
    let speaker = conversation.speakers.last();
    let name = speaker.map_or("", |speaker| &*speaker.agent);
    let place = roster.place(name);
    Ok(At {
        roster,
        place: place.ok_or_else(|| AgentError::NoSuchAgent(name.into()))?,
        conversation,
        cx,
    })
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
    /// One turn of a conversation.
    #[flow(id = "agent")]
    pub Turn(Conversation) {
        node begin: Begin;
        node ask: Ask;
        node call: Call;
        node execute: Execute;
        node gather: Gather;
        START -> begin;
        begin -> match { Ask => ask, Call => each call };
        ask -> match { Ask => ask, Call => each call, Run => execute, Done => END };
        execute -> ask;
        call -> gather;
        gather -> match { Ask => ask, Done => END };
    }
}

impl Turn {
    pub(super) fn of(agent: &Arc<Definition>) -> Launch<Self> {
        Turn::new()
            .begin(Begin(Arc::clone(agent)))
            .ask(Ask(Arc::clone(agent)))
            .call(Call(Arc::clone(agent)))
            .execute(Execute(Arc::clone(agent)))
            .gather(Gather(Arc::clone(agent)))
            .launch()
    }
}
