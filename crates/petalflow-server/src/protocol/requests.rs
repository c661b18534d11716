//! Which requests of clients have begun which turns of a thread, so that a repeated request begins nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use petalflow::checkpoint::ThreadStatus;

use super::queued::{Begun, QueueState, QueuedTurn};
use super::turn::{Turn, TurnInput};
use crate::MultitaskStrategy;
use crate::access::Access;
use crate::message_queue::Queued;
use crate::multitask::{self, Taken};
use crate::refusal::Refusal;
use crate::request_labels::{self, Fate, Requested};
use crate::served::{AnswerBody, InputValue, Labels, ServedThreads, no_thread};
use crate::server::{Inner, prefix};
use crate::start_lock::StartLock;
use crate::threads::start::{self, Start, Starter};

/// How long a request waits for a run that has ended to release its thread.
const RELEASE_TIME: Duration = Duration::from_millis(500);

/// A request of a client that begins a turn.
#[derive(Clone)]
pub(crate) struct Request {
    /// The id that the client has given it.
    pub(crate) id: String,
    /// A checksum of what it says.
    pub(crate) checksum: String,
    /// The id of the thread after the name of the flow, as [`Inner::own_id`] makes it.
    pub(crate) own: String,
    /// The threads that its sender may see.
    pub(crate) access: Access,
    /// What happens if a run has the thread. `None`: what the flow says.
    pub(crate) strategy: Option<MultitaskStrategy>,
}

/// What a request does.
pub(crate) enum Begins {
    Input(TurnInput),
    /// It answers a question of the flow.
    #[cfg_attr(
        not(any(feature = "a2a", feature = "ag-ui")),
        expect(dead_code, reason = "the other protocols have no form for it")
    )]
    Answer {
        id: String,
        body: AnswerBody,
    },
}

impl Request {
    /// The id of the thread.
    pub(crate) fn thread(&self, flow: &dyn ServedThreads) -> String {
        format!("{}{}", prefix(flow.facts()), self.own)
    }

    /// What an earlier request with the same id has begun.
    pub(crate) async fn earlier(
        &self,
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
    ) -> Result<Option<Begun>, Refusal> {
        let thread = self.thread(&**flow);
        let Some(info) = server.info(&thread).await? else {
            return Ok(None);
        };
        if !self.access.allows(&info.labels) {
            return Err(no_thread());
        }
        let queued = self.queued(flow, thread);
        let Some(state) = queued.state(server).await? else {
            return Ok(None);
        };
        let checksum = match &state {
            QueueState::Waits(waiting) => {
                let stored = queued.read(server, waiting).await?;
                stored.and_then(|stored| stored.checksum)
            }
            QueueState::Begun(_) | QueueState::Cancelled { .. } => {
                let requested = request_labels::find(&info.labels, &queued.mark);
                requested.map(|requested| requested.checksum.to_string())
            }
        };
        if checksum.is_some_and(|checksum| checksum != self.checksum) {
            return Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!(
                    "another request had the id `{}`: give each request an id of its own",
                    self.id
                ),
            ));
        }
        Ok(Some(match state {
            QueueState::Begun(turn) => Begun::Turn(turn),
            QueueState::Waits(_) | QueueState::Cancelled { .. } => Begun::Queued(queued),
        }))
    }

    /// The turn of the request, if it is queued.
    fn queued(&self, flow: &Arc<dyn ServedThreads>, thread: String) -> QueuedTurn {
        QueuedTurn {
            flow: Arc::clone(flow),
            thread,
            mark: request_labels::mark(&self.id),
        }
    }

    /// Begins the turn, also if the client disconnects. Of several requests with the same id, one begins it. A message that is queued is
    /// stored, and stays queued if the client disconnects. A message that the running turn reads leads to that turn.
    pub(crate) async fn begin(
        self,
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        begins: Begins,
    ) -> Result<Begun, Refusal> {
        let (of_task, of_flow) = (Arc::clone(server), Arc::clone(flow));
        let begun = async move { self.begin_once(&of_task, &of_flow, begins).await };
        server.run_detached(begun).await
    }

    async fn begin_once(
        self,
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        begins: Begins,
    ) -> Result<Begun, Refusal> {
        let thread = self.thread(&**flow);
        let _lock = lock(server, &thread).await?;
        if let Some(begun) = self.earlier(server, flow).await? {
            return Ok(begun);
        }
        let Some(info) = server.info(&thread).await? else {
            return self
                .begin_thread(server, flow, begins)
                .await
                .map(Begun::Turn);
        };
        // What a killed process has left comes first.
        let queue = &server.settings.queue;
        let is_queue_empty = queue.of(&thread).await?.is_empty();
        if !is_queue_empty {
            server.advance(flow, &thread).await?;
        }
        let works = info.status == ThreadStatus::Running || !has_ended(server, &thread).await;
        let strategy = self.strategy.unwrap_or(flow.facts().multitask);
        let mut rolls_back = false;
        if let Begins::Input(input) = &begins
            && input.answers.is_empty()
            && (works || !is_queue_empty)
        {
            multitask::check_engine(&**flow, strategy)?;
            match strategy {
                MultitaskStrategy::Reject => {}
                MultitaskStrategy::Enqueue | MultitaskStrategy::Steer => {
                    return self
                        .store(server, flow, &thread, input.clone(), strategy)
                        .await;
                }
                MultitaskStrategy::Interrupt | MultitaskStrategy::Rollback => {
                    let value = InputValue::Turn(Box::new(input.clone()));
                    multitask::stop_for(server, flow, &thread, &value, strategy).await?;
                    rolls_back = strategy == MultitaskStrategy::Rollback;
                }
            }
        }
        if !has_ended(server, &thread).await {
            let text = "the thread has a turn that is not finished: wait for its end, or cancel it";
            return Err(Refusal::new(StatusCode::CONFLICT, text));
        }
        let after = flow.last_event(&thread).await?;
        let info = server.info(&thread).await?.ok_or_else(no_thread)?;
        let labels = self.added_to(info.labels, after);
        flow.set_labels(&thread, labels).await?;
        let turn = match begins {
            Begins::Input(input) if rolls_back => {
                Turn::begin_instead(server, flow, thread, input).await
            }
            Begins::Input(input) => Turn::begin_on(server, flow, thread, input).await,
            Begins::Answer { id, body } => Turn::answer(server, flow, thread, id, body).await,
        };
        turn.map(Begun::Turn)
    }

    /// Stores a message to a thread that a run has. Returns the running turn if that reads the message.
    async fn store(
        &self,
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        thread: &str,
        input: TurnInput,
        strategy: MultitaskStrategy,
    ) -> Result<Begun, Refusal> {
        let discards = input.discards_questions;
        let value = InputValue::Turn(Box::new(input));
        let mut queued = Queued::of(Some(self.id.clone()), value, discards);
        queued.checksum = Some(self.checksum.clone());
        let taken = multitask::store(server, flow, thread, queued, strategy).await?;
        if taken == Taken::Enqueued {
            return Ok(Begun::Queued(self.queued(flow, thread.to_string())));
        }
        let turn = Turn::newest(flow, thread).await?;
        let labels = server.info(thread).await?.ok_or_else(no_thread)?.labels;
        let labels = self.added_to(labels, turn.after);
        flow.set_labels(thread, labels).await?;
        Ok(Begun::Turn(turn))
    }

    async fn begin_thread(
        self,
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        begins: Begins,
    ) -> Result<Turn, Refusal> {
        let Begins::Input(input) = begins else {
            return Err(no_thread());
        };
        let start = Start {
            own_labels: self.added_to(Labels::new(), 0),
            id: Some(self.own),
            input: InputValue::Turn(Box::new(input)),
            labels: Labels::new(),
            at: None,
        };
        let (server, of_start) = (Arc::clone(server), Arc::clone(flow));
        let starter = Starter {
            access: self.access,
            key: None,
            checksum: String::new(),
        };
        let thread = start::begin(server, of_start, start, starter).await?;
        Ok(Turn::attach(flow, thread, 0))
    }

    /// The labels with that of this request. Those of the oldest requests are removed, and those of requests whose turns were
    /// not stored.
    fn added_to(&self, labels: Labels, after: u64) -> Labels {
        let requested = Requested {
            after,
            checksum: &self.checksum,
            fate: Fate::Begun,
        };
        request_labels::with(&self.id, requested, labels)
    }
}

/// With it, no request of a client begins a turn of the thread.
pub(crate) async fn lock(server: &Arc<Inner>, thread: &str) -> Result<StartLock, Refusal> {
    StartLock::of_requests(server, thread).await
}

/// Whether no run of this process has the thread. A client may know the end of a run a moment before the thread is free.
async fn has_ended(server: &Inner, thread: &str) -> bool {
    let Some(mut ended) = server.subscribe(thread) else {
        return true;
    };
    // Nothing is sent: it closes.
    let ended = tokio::time::timeout(RELEASE_TIME, ended.recv()).await;
    ended.is_ok()
}
