//! The start of a turn: a new thread, or a further turn of one.

use std::sync::Arc;

use crate::refusal::Refusal;
use crate::served::{AnswerBody, Input, InputValue, Labels, ServedThreads, no_thread};
use crate::server::Inner;
use crate::threads::start::{self, Start, Starter};
use crate::turn_parts::TurnInput;

/// A turn that was begun: it is stored, and its run goes on if nobody reads it.
#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) flow: Arc<dyn ServedThreads>,
    pub(crate) thread: String,
    /// The number of the last event before the turn.
    pub(crate) after: u64,
    /// The short name of its request, if that was queued: clients know the turn by it.
    #[cfg_attr(
        not(any(feature = "a2a", feature = "openai")),
        expect(dead_code, reason = "the other protocols have no ids of turns")
    )]
    pub(crate) queued_as: Option<String>,
}

/// A thread that a turn begins.
pub(crate) struct NewThread {
    /// The id, after the name of the flow. `None`: that of the identifier, or one that the server chooses.
    pub(crate) id: Option<String>,
    pub(crate) input: TurnInput,
    pub(crate) labels: Labels,
    /// Who begins it, and with which request.
    pub(crate) starter: Starter,
}

impl Turn {
    /// A turn that was begun before, to read it again.
    pub(crate) fn attach(flow: &Arc<dyn ServedThreads>, thread: String, after: u64) -> Self {
        Turn {
            flow: Arc::clone(flow),
            thread,
            after,
            queued_as: None,
        }
    }

    /// Begins the first turn of a thread. It is stored when this returns, also if the client disconnects before.
    pub(crate) async fn begin_thread(
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        new: NewThread,
    ) -> Result<Self, Refusal> {
        let start = Start {
            id: new.id,
            input: InputValue::Turn(Box::new(new.input)),
            labels: new.labels,
            own_labels: Labels::new(),
            at: None,
        };
        let begun = start::begin(Arc::clone(server), Arc::clone(flow), start, new.starter);
        let thread = server.run_detached(begun).await?;
        Ok(Self::attach(flow, thread, 0))
    }

    /// Begins a further turn of a thread. It is stored when this returns, also if the client disconnects before.
    pub(crate) async fn begin_on(
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        thread: String,
        input: TurnInput,
    ) -> Result<Self, Refusal> {
        Self::begin_next(server, flow, thread, input, false).await
    }

    /// Begins a turn of a thread in place of the last one, which was stopped before its end: that one is undone.
    pub(crate) async fn begin_instead(
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        thread: String,
        input: TurnInput,
    ) -> Result<Self, Refusal> {
        Self::begin_next(server, flow, thread, input, true).await
    }

    async fn begin_next(
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        thread: String,
        input: TurnInput,
        rolls_back: bool,
    ) -> Result<Self, Refusal> {
        if server.info(&thread).await?.is_none() {
            return Err(no_thread());
        }
        let after = flow.last_event(&thread).await?;
        let input = Input {
            discards: input.discards_questions,
            value: InputValue::Turn(Box::new(input)),
            labels: Labels::new(),
            rolls_back,
            message: None,
        };
        let (of_turn, id) = (Arc::clone(flow), thread.clone());
        let begin = async move |token| of_turn.begin(&id, input, &token).await;
        server.begin_once(None, &thread, begin).await?;
        Ok(Self::attach(flow, thread, after))
    }

    /// Answers a question of the flow of a thread, which goes on with the answer.
    pub(crate) async fn answer(
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        thread: String,
        question: String,
        answer: AnswerBody,
    ) -> Result<Self, Refusal> {
        let after = flow.last_event(&thread).await?;
        let (of_turn, id) = (Arc::clone(flow), thread.clone());
        let begin = async move |token| of_turn.answer(&id, &question, answer, &token).await;
        server.begin_once(None, &thread, begin).await?;
        Ok(Self::attach(flow, thread, after))
    }

    /// When the turn has begun, in milliseconds since 1970 (UTC). 0 if the log does not have its start.
    pub(crate) async fn began_ms(&self) -> Result<u64, Refusal> {
        let events = self.flow.events_since(&self.thread, self.after).await?;
        Ok(events.first().map_or(0, |first| first.recorded_ms))
    }

    /// Deletes the thread of the turn.
    pub(crate) async fn delete(&self) -> Result<(), Refusal> {
        Ok(self.flow.delete(&self.thread).await?)
    }
}
