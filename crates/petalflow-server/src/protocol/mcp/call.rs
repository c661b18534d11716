//! A call of the tool of a flow: it starts a thread, or continues one, and waits for its run.

use std::sync::Arc;

use rmcp::model::{CallToolResponse, JsonObject};
use serde_json::Value;

use super::arguments::Arguments;
use super::caller::{Caller, Waited};
use super::outcome;
use super::progress::Progress;
use super::questions::{self, Asked};
use crate::answers;
use crate::refusal::Refusal;
use crate::served::{AnswerBody, Input, Labels, ServedThreads, no_thread};
use crate::threads::start::{self, Start, Starter};

impl Caller {
    /// Calls the tool of a flow.
    pub(super) async fn call(
        &self,
        flow: Arc<dyn ServedThreads>,
        arguments: JsonObject,
    ) -> Result<CallToolResponse, Refusal> {
        if let Some(thread) = &self.state {
            // The call is made again, with answers to its questions.
            let waited = self.thread_of(&flow, thread).await?;
            return self.go_on(waited).await;
        }
        let read = Arguments::of(flow.facts()).read(arguments)?;
        let waited = match read.thread {
            None => self.start(flow, read.input).await?,
            Some(thread) => {
                let waited = self.thread_of(&flow, &thread).await?;
                self.turn(&waited, read.input).await?;
                waited
            }
        };
        self.outcome(waited).await
    }

    /// The thread with this id, which the caller may see.
    pub(super) async fn thread(&self, thread: &str) -> Result<Waited, Refusal> {
        self.server.visible(&self.access, thread).await?;
        let flow = self.server.owner(thread).await?;
        self.server.must_exist(thread).await?;
        Ok(Waited {
            after: flow.last_event(thread).await?,
            flow,
            thread: thread.to_string(),
        })
    }

    /// The thread of this flow with this id.
    async fn thread_of(
        &self,
        flow: &Arc<dyn ServedThreads>,
        thread: &str,
    ) -> Result<Waited, Refusal> {
        let waited = self.thread(thread).await?;
        let is_of_flow = waited.flow.facts().name == flow.facts().name;
        is_of_flow.then_some(waited).ok_or_else(no_thread)
    }

    async fn start(&self, flow: Arc<dyn ServedThreads>, input: Value) -> Result<Waited, Refusal> {
        let start = Start {
            id: None,
            input: input.into(),
            labels: Labels::new(),
            own_labels: Labels::new(),
            at: None,
        };
        let starter = Starter {
            access: self.access.clone(),
            key: None,
            checksum: String::new(),
        };
        let begun = start::begin(Arc::clone(&self.server), Arc::clone(&flow), start, starter);
        Ok(Waited {
            thread: self.server.run_detached(begun).await?,
            flow,
            after: 0,
        })
    }

    async fn turn(&self, waited: &Waited, input: Value) -> Result<(), Refusal> {
        let input = Input {
            value: input.into(),
            labels: Labels::new(),
            discards: false,
            rolls_back: false,
            message: None,
        };
        let (flow, thread) = (Arc::clone(&waited.flow), waited.thread.clone());
        let begin = async move |token| flow.begin(&thread, input, &token).await;
        self.server.begin_once(None, &waited.thread, begin).await
    }

    /// Answers what a thread waits for.
    pub(super) async fn answer(
        &self,
        waited: &mut Waited,
        question: &str,
        body: AnswerBody,
    ) -> Result<(), Refusal> {
        waited.after = waited.flow.last_event(&waited.thread).await?;
        let (flow, thread) = (Arc::clone(&waited.flow), waited.thread.clone());
        answers::give(&self.server, flow, thread, question.to_string(), body).await
    }

    /// Gives the answers that the client has sent, and waits for the run.
    async fn go_on(&self, mut waited: Waited) -> Result<CallToolResponse, Refusal> {
        let view = view(&waited).await?;
        let given = questions::given(&view, &self.responses)?;
        if given.is_empty() {
            return outcome::of(&self.server, &waited, view).await;
        }
        for (question, body) in given {
            // An answer to a call of an agent begins a turn, after which the others still wait.
            self.settle(&waited).await?;
            self.answer(&mut waited, &question, body).await?;
        }
        self.outcome(waited).await
    }

    /// Waits for the run of a thread, and asks the person behind the client what the thread waits for.
    pub(super) async fn outcome(&self, mut waited: Waited) -> Result<CallToolResponse, Refusal> {
        loop {
            if !self.settle(&waited).await? {
                return Ok(outcome::failed("the call was cancelled").into());
            }
            let view = view(&waited).await?;
            match questions::ask(self, &waited.thread, &view).await {
                Asked::Nobody => return outcome::of(&self.server, &waited, view).await,
                Asked::Client(required) => return Ok((*required).into()),
                Asked::Answered { question, body } => {
                    self.answer(&mut waited, &question, body).await?;
                }
            }
        }
    }

    /// Waits until no run has the thread, and tells the client what happens. Returns `false` if the client has cancelled the call,
    /// which cancels the run.
    async fn settle(&self, waited: &Waited) -> Result<bool, Refusal> {
        let mut progress = Progress::of(&self.cx, waited.after);
        let mut events = waited.flow.follow_log(&waited.thread, waited.after);
        loop {
            tokio::select! {
                biased;
                () = self.cancelled.cancelled() => {
                    self.server.cancel_anywhere(&waited.thread).await?;
                    return Ok(false);
                }
                event = events.next() => match event {
                    Some(event) => progress.tell(&event?).await,
                    None => return Ok(true),
                },
            }
        }
    }
}

async fn view(waited: &Waited) -> Result<Value, Refusal> {
    let view = waited.flow.view(&waited.thread, None).await?;
    view.ok_or_else(no_thread)
}
