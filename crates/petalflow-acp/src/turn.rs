//! A turn of a session: from a prompt to its end.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    StopReason, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use petalflow::RunError;
use petalflow::checkpoint::ThreadStatus;
use petalflow::error::message_with_sources;
use petalflow::interrupt::{Interrupt, Resume};
use petalflow::run::RunErrorKind;
use petalflow::thread::{Thread, ThreadRun};
use petalflow::tool::ToolCall;
use petalflow_agent::stream::{AgentEventKind, AgentEvents};
use petalflow_agent::{AgentError, AgentFlow, Conversation, ConversationInput, Pending};
use petalflow_llm::ChatMessage;
use petalflow_llm::response::FinishReason;
use serde_json::Value;

use crate::call;
use crate::client::{Client, Decision};
use crate::elicitation::Form;
use crate::error::{conflict, failed, of_thread};
use crate::question::{self, Questions};
use crate::remembered::Remembered;
use crate::session::Running;
use crate::updates::{Updates, call_update, notice};

/// The reason with which the calls of a cancelled turn are refused.
const ABANDONED: &str = "the user has cancelled the turn in which the call was asked for";

/// A turn that runs.
pub(crate) struct Turn<'s> {
    running: Running,
    client: &'s Client,
    questions: &'s Questions,
    thread: Thread<AgentFlow>,
    updates: Updates,
}

/// How a run has ended.
enum End {
    Finished(Box<Conversation>),
    Asks(Vec<Interrupt>),
    /// It waits for a time.
    Sleeps,
    Cancelled,
    /// A limit of the turn is reached.
    Limit(String),
}

/// What comes after a run, or instead of one.
enum Next {
    Run(ThreadRun<AgentFlow>),
    Stop(StopReason),
}

impl<'s> Turn<'s> {
    pub(crate) fn new(running: Running, client: &'s Client, questions: &'s Questions) -> Self {
        let session = &running.session;
        let threads = session.threads.clone().cancel_with(&running.token);
        Turn {
            client,
            questions,
            thread: threads.thread(&session.id.0),
            updates: Updates::new(session.folder_of_files()),
            running,
        }
    }

    /// Runs the turn. What a crash has interrupted is finished first.
    pub(crate) async fn run(mut self, message: ChatMessage) -> Result<StopReason, Error> {
        let info = self.thread.info().await.map_err(of_thread)?;
        let status = info.filter(|it| it.checkpoints > 0).map(|it| it.status);
        let abandoned = self.running.session.take_abandoned();
        let first = match status {
            Some(ThreadStatus::Running | ThreadStatus::Stopped) => {
                let snapshot = self.thread.snapshot().await.map_err(of_thread)?;
                if let Some(snapshot) = snapshot {
                    self.updates.know(&snapshot.state);
                }
                match self.drive(self.thread.resume(())).await? {
                    StopReason::EndTurn => {}
                    other => return Ok(other),
                }
                return Box::pin(self.after_unfinished(message)).await;
            }
            Some(ThreadStatus::Waiting) => self.answer(message, abandoned).await?,
            _ => Next::Run(self.thread.run(ConversationInput::from(message))),
        };
        match first {
            Next::Run(run) => self.drive(run).await,
            Next::Stop(reason) => Ok(reason),
        }
    }

    /// Runs the turn of a prompt after the one that a crash has interrupted.
    async fn after_unfinished(mut self, message: ChatMessage) -> Result<StopReason, Error> {
        let snapshot = self.thread.snapshot().await.map_err(of_thread)?;
        if snapshot.is_some_and(|it| !it.interrupts.is_empty()) {
            // The person has not seen the question before.
            let text = "Answer this first. The agent has not read your last message.";
            self.client.update(notice(text))?;
            return Ok(StopReason::EndTurn);
        }
        let run = self.thread.run(ConversationInput::from(message));
        self.drive(run).await
    }

    /// What a prompt is to a thread that may wait: the answer to a question, or a message with decisions about the calls that
    /// wait.
    async fn answer(&mut self, message: ChatMessage, abandoned: bool) -> Result<Next, Error> {
        let snapshot = self.thread.snapshot().await.map_err(of_thread)?;
        let Some(snapshot) = snapshot else {
            return Ok(Next::Run(self.thread.run(ConversationInput::from(message))));
        };
        self.updates.know(&snapshot.state);
        if let Some(open) = snapshot.interrupts.first() {
            if !abandoned {
                return self.answer_in_text(open, &message.text());
            }
            let run = self.thread.run(ConversationInput::from(message));
            return Ok(Next::Run(run.discard_pending()));
        }
        let input = ConversationInput::from(message);
        let decided = if abandoned {
            Some(refused(input, &snapshot.state))
        } else {
            self.decide(&snapshot.state, input).await?
        };
        Ok(match decided {
            Some(input) => Next::Run(self.thread.run(input)),
            None => Next::Stop(StopReason::Cancelled),
        })
    }

    /// Reads the answer to a question in the text of a prompt.
    fn answer_in_text(&self, open: &Interrupt, text: &str) -> Result<Next, Error> {
        let question = self.questions.of(open).map_err(conflict)?;
        match question.read_text(open, text) {
            Ok(answer) => Ok(Next::Run(self.thread.resume(answer))),
            Err(problem) => {
                let problem = message_with_sources(&*problem);
                let text = format!("That is no answer ({problem}).\n\n{}", question::text(open));
                self.client.update(notice(text))?;
                Ok(Next::Stop(StopReason::EndTurn))
            }
        }
    }

    /// Runs to the end of the turn, and asks the person meanwhile.
    async fn drive(&mut self, first: ThreadRun<AgentFlow>) -> Result<StopReason, Error> {
        let mut run = first;
        loop {
            let next = match self.stream(run).await? {
                End::Finished(talk) => self.after(&talk).await?,
                End::Asks(asked) => self.ask(&asked).await?,
                End::Sleeps => {
                    self.client
                        .update(notice("The agent waits. Write to it to continue."))?;
                    Next::Stop(StopReason::EndTurn)
                }
                End::Cancelled => Next::Stop(StopReason::Cancelled),
                End::Limit(text) => {
                    self.client.update(notice(text))?;
                    Next::Stop(StopReason::MaxTurnRequests)
                }
            };
            match next {
                Next::Run(next) => run = next,
                Next::Stop(reason) => return Ok(reason),
            }
        }
    }

    /// Runs to the end of the run, and shows what happens.
    async fn stream(&mut self, run: ThreadRun<AgentFlow>) -> Result<End, Error> {
        let mut events = AgentEvents::new(run.events());
        while let Some(item) = events.next().await {
            let updates = match item.kind {
                AgentEventKind::Partial(piece) => self.updates.piece(&piece),
                AgentEventKind::Event(event) => self.updates.event(&item.namespace, &event),
                AgentEventKind::Custom(custom) => {
                    let update = self.updates.custom(&item.namespace, &custom);
                    update.into_iter().collect()
                }
                AgentEventKind::Retry { .. } => {
                    self.updates.retry();
                    Vec::new()
                }
                AgentEventKind::Finished(talk) => return Ok(End::Finished(talk)),
                AgentEventKind::Interrupted(asked) => return Ok(End::Asks(asked)),
                AgentEventKind::Sleeping(_) => return Ok(End::Sleeps),
                AgentEventKind::Failed(error) => return ended(error),
                _ => Vec::new(),
            };
            for update in updates {
                self.client.update(update)?;
            }
        }
        Ok(End::Cancelled)
    }

    /// What comes after a run that has finished: the calls that wait are decided.
    async fn after(&mut self, talk: &Conversation) -> Result<Next, Error> {
        let waits = |pending: &Pending| !matches!(pending, Pending::Result { .. });
        if !talk.pending().iter().any(waits) {
            return reason(talk).map(Next::Stop);
        }
        let decided = self.decide(talk, ConversationInput::default()).await?;
        Ok(match decided {
            Some(input) => Next::Run(self.thread.run(input)),
            None => Next::Stop(StopReason::Cancelled),
        })
    }

    /// The input with the person's decisions about all calls that wait. `None` if the turn was cancelled meanwhile.
    async fn decide(
        &mut self,
        talk: &Conversation,
        mut input: ConversationInput,
    ) -> Result<Option<ConversationInput>, Error> {
        let mut remembered = Remembered::of(&talk.state);
        for pending in talk.pending() {
            input = match pending {
                Pending::Confirmation { id, call, hint } => {
                    let decision = match remembered.decision(&call.name) {
                        Some(allowed) => self.decided_before(&call, allowed)?,
                        None => self.permission(&call, hint).await?,
                    };
                    match decision {
                        Decision::Allow => input.confirm(id, true),
                        Decision::AllowAlways => {
                            remembered.remember(&call.name, true);
                            input.confirm(id, true)
                        }
                        Decision::Reject => input.confirm(id, false),
                        Decision::RejectAlways => {
                            remembered.remember(&call.name, false);
                            input.confirm(id, false)
                        }
                        Decision::Cancelled => {
                            self.running.session.abandon();
                            return Ok(None);
                        }
                    }
                }
                // No editor takes secrets.
                Pending::Credential { id, .. } => input.credential(id, Value::Null),
                _ => input,
            };
        }
        Ok(Some(match remembered.change() {
            Some((key, value)) => input.with_state(key, value),
            None => input,
        }))
    }

    /// A call about which the person is not asked, because all calls of the tool were decided.
    fn decided_before(&self, call: &ToolCall, allowed: bool) -> Result<Decision, Error> {
        if !allowed {
            return Ok(Decision::Reject);
        }
        self.begun(self.updates.shown(&call.id))?;
        Ok(Decision::Allow)
    }

    /// Shows that a call is made now.
    fn begun(&self, id: ToolCallId) -> Result<(), Error> {
        let begun = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        self.client.update(call_update(id, begun))
    }

    /// Asks whether a call may be made, and shows what it would change.
    async fn permission(&mut self, call: &ToolCall, hint: String) -> Result<Decision, Error> {
        let id = self.updates.shown(&call.id);
        let mut content = Vec::new();
        if !hint.is_empty() {
            content.push(hint.into());
        }
        if let (Some(files), Some(folder)) = (
            &self.running.session.files,
            self.running.session.folder_of_files(),
        ) {
            let change = files.preview(call).await;
            content.extend(change.map(|change| call::diff(&folder, change)));
        }
        let fields = self.updates.fields(call);
        let fields = fields.status(ToolCallStatus::Pending).content(content);
        let asked = self.client.decide(ToolCallUpdate::new(id.clone(), fields));
        let decision = tokio::select! {
            () = self.running.token.cancelled() => Decision::Cancelled,
            decision = asked => decision?,
        };
        if matches!(decision, Decision::Allow | Decision::AllowAlways) {
            self.begun(id)?;
        }
        Ok(decision)
    }

    /// Asks the person a question, in a form if the editor has them. Otherwise the turn ends with the question, and the next
    /// prompt is the answer.
    async fn ask(&mut self, asked: &[Interrupt]) -> Result<Next, Error> {
        let Some(open) = asked.first() else {
            return Ok(Next::Stop(StopReason::EndTurn));
        };
        let text = question::text(open);
        let known = self.questions.of(open).map_err(conflict)?;
        if let Some(form) = Form::of(&known.schema).filter(|_| self.client.has_forms) {
            let filled = tokio::select! {
                () = self.running.token.cancelled() => {
                    self.running.session.abandon();
                    return Ok(Next::Stop(StopReason::Cancelled));
                }
                filled = self.client.form(&text, form.schema.clone()) => filled?,
            };
            if let Some(fields) = filled
                && let Ok(answer) = known.read(open, &form.answer(fields))
            {
                return Ok(Next::Run(self.thread.resume(Resume::from(answer))));
            }
        }
        self.client.update(notice(text))?;
        Ok(Next::Stop(StopReason::EndTurn))
    }
}

/// The input that refuses the calls of a turn that was cancelled.
fn refused(input: ConversationInput, talk: &Conversation) -> ConversationInput {
    talk.pending()
        .into_iter()
        .fold(input, |input, pending| match pending {
            Pending::Confirmation { id, .. } => input.refuse(id, ABANDONED),
            Pending::Credential { id, .. } => input.credential(id, Value::Null),
            _ => input,
        })
}

/// How a run that has not finished has ended.
fn ended(error: RunError) -> Result<End, Error> {
    if matches!(error.kind(), RunErrorKind::Cancelled) {
        return Ok(End::Cancelled);
    }
    let limit = error
        .get_ref()
        .and_then(|it| it.downcast_ref::<AgentError>());
    match limit {
        Some(AgentError::TooManyModelCalls { .. } | AgentError::Limit(_)) => {
            Ok(End::Limit(message_with_sources(&error)))
        }
        _ => Err(failed(&error)),
    }
}

/// Why a turn without open calls has ended.
fn reason(talk: &Conversation) -> Result<StopReason, Error> {
    let last = talk.events.last();
    if let Some(problem) = talk.error().filter(|_| talk.answer().is_empty()) {
        return Err(Error::internal_error().data(problem.to_string()));
    }
    Ok(match last.and_then(|event| event.finish.as_ref()) {
        Some(FinishReason::Length) => StopReason::MaxTokens,
        // A refusal is part of the conversation here, and so it is no `Refusal`, after which an editor forgets the prompt.
        _ => StopReason::EndTurn,
    })
}
