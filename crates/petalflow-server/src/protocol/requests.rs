//! Which requests of clients have begun which turns of a thread, so that a repeated request begins nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use petalflow::checkpoint::ThreadStatus;

use super::turn::{Turn, TurnInput};
use super::waits::Answers;
use crate::access::Access;
use crate::digest::digest;
use crate::refusal::Refusal;
use crate::served::{AnswerBody, InputValue, Labels, ServedThreads, no_thread};
use crate::server::{Inner, prefix};
use crate::start_lock::StartLock;
use crate::threads::start::{self, Start, Starter};

/// What the names of the labels of requests begin with. The value is the number of the last event before the turn, and a
/// checksum of the request.
const LABEL: &str = "petalflow.request.";

/// How long a request waits for a run that has ended to release its thread.
const RELEASE_TIME: Duration = Duration::from_millis(500);

/// The number of requests of a thread that are known.
const KNOWN: usize = 32;

/// A request of a client that begins a turn.
pub(crate) struct Request {
    /// The id that the client has given it.
    pub(crate) id: String,
    /// A checksum of what it says.
    pub(crate) checksum: String,
    /// The id of the thread after the name of the flow, as [`Inner::own_id`] makes it.
    pub(crate) own: String,
    /// The threads that its sender may see.
    pub(crate) access: Access,
}

/// What a request does.
pub(crate) enum Begins {
    Input(TurnInput),
    /// It answers a question of the flow.
    Answer {
        id: String,
        body: AnswerBody,
    },
}

impl Begins {
    /// The input of a turn, or the answer to a question, which has no input.
    pub(crate) fn with_answers(answers: Answers, input: TurnInput) -> Self {
        match answers {
            Answers::Turn(answers) => Begins::Input(TurnInput { answers, ..input }),
            Answers::Question { id, body } => Begins::Answer { id, body },
        }
    }
}

impl Request {
    /// The id of the thread.
    pub(crate) fn thread(&self, flow: &dyn ServedThreads) -> String {
        format!("{}{}", prefix(flow.facts()), self.own)
    }

    /// The turn that an earlier request with the same id has begun.
    pub(crate) async fn earlier(
        &self,
        server: &Inner,
        flow: &Arc<dyn ServedThreads>,
    ) -> Result<Option<Turn>, Refusal> {
        let thread = self.thread(&**flow);
        let Some(info) = server.info(&thread).await? else {
            return Ok(None);
        };
        if !self.access.allows(&info.labels) {
            return Err(no_thread());
        }
        let Some(label) = info.labels.get(&self.label()) else {
            return Ok(None);
        };
        let (after, checksum) = read(label);
        // The label is stored before the turn, and the turn before its first event.
        let runs = [ThreadStatus::Running, ThreadStatus::Stopped].contains(&info.status);
        if !runs && flow.last_event(&thread).await? <= after {
            return Ok(None);
        }
        if checksum != self.checksum {
            return Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!(
                    "another request had the id `{}`: give each request an id of its own",
                    self.id
                ),
            ));
        }
        Ok(Some(Turn::attach(flow, thread, after)))
    }

    /// Begins the turn, also if the client disconnects. Of several requests with the same id, one begins it.
    pub(crate) async fn begin(
        self,
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        begins: Begins,
    ) -> Result<Turn, Refusal> {
        let (of_task, flow) = (Arc::clone(server), Arc::clone(flow));
        server
            .run_detached(async move { self.begin_once(&of_task, &flow, begins).await })
            .await
    }

    async fn begin_once(
        self,
        server: &Arc<Inner>,
        flow: &Arc<dyn ServedThreads>,
        begins: Begins,
    ) -> Result<Turn, Refusal> {
        let thread = self.thread(&**flow);
        let _lock = lock(server, &thread).await?;
        if let Some(turn) = self.earlier(server, flow).await? {
            return Ok(turn);
        }
        let Some(info) = server.info(&thread).await? else {
            return self.begin_thread(server, flow, begins).await;
        };
        let after = flow.last_event(&thread).await?;
        if !has_ended(server, &thread).await {
            let text = "the thread has a turn that is not finished: wait for its end, or cancel it";
            return Err(Refusal::new(StatusCode::CONFLICT, text));
        }
        let labels = self.added_to(info.labels, after);
        flow.set_labels(&thread, labels).await?;
        match begins {
            Begins::Input(input) => Turn::begin_on(server, flow, thread, input).await,
            Begins::Answer { id, body } => Turn::answer(server, flow, thread, id, body).await,
        }
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

    fn label(&self) -> String {
        format!("{LABEL}{}", &digest(&self.id)[..16])
    }

    /// The labels with that of this request. Those of the oldest requests are removed, and those of requests whose turns were
    /// not stored.
    fn added_to(&self, labels: Labels, after: u64) -> Labels {
        let (requests, mut labels): (Labels, Labels) = labels
            .into_iter()
            .partition(|(name, _)| name.starts_with(LABEL));
        let stored = requests
            .into_iter()
            .filter(|(_, value)| read(value).0 < after);
        let mut stored: Vec<_> = stored.collect();
        stored.sort_by_key(|(_, value)| std::cmp::Reverse(read(value).0));
        labels.extend(stored.into_iter().take(KNOWN - 1));
        labels.insert(self.label(), format!("{after}:{}", self.checksum));
        labels
    }
}

/// With it, no request of a client begins a turn of the thread.
pub(crate) async fn lock(server: &Arc<Inner>, thread: &str) -> Result<StartLock, Refusal> {
    StartLock::take(server, &format!("{thread}:request")).await
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

/// The number and the checksum in the value of a label.
fn read(value: &str) -> (u64, &str) {
    let (after, checksum) = value.split_once(':').unwrap_or((value, ""));
    (after.parse().unwrap_or(u64::MAX), checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_requests_are_known() {
        let mut labels = Labels::from([("topic".to_string(), "roses".to_string())]);
        for number in 0..100 {
            let request = Request {
                id: number.to_string(),
                checksum: "c".into(),
                own: "t".into(),
                access: Access::All,
            };
            // The turn of each second request was not stored.
            labels = request.added_to(labels, number / 2 * 10);
        }
        assert_eq!(labels.len(), KNOWN + 1);
        let newest = labels.values().filter(|value| *value == "490:c");
        assert_eq!(newest.count(), 1);
        assert_eq!(labels["topic"], "roses");
    }
}
