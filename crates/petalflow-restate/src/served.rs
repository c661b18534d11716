//! Threads on Restate, as `petalflow-server` serves them.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use petalflow::checkpoint::{StoreError, ThreadInfo, ThreadOrder, ThreadQuery, ThreadStatus};
use petalflow::engine::FollowedEvent;
use petalflow::event::LoggedEvent;
use petalflow::state::{RawValue, Storable};
use petalflow::thread::{FollowedEvents, ThreadError};
use petalflow::{Flow, async_trait};
use petalflow_server::{RemoteThreads, RemoteTrouble, ThreadWork};
use serde_json::Value;

use crate::admin::Admin;
use crate::client::Client;
use crate::error::{RestateError, store_error};
use crate::thread::RestateThread;
use crate::trouble::Trouble;

/// How many threads are read at once to list some of them.
const PAGE: usize = 500;

/// The threads of a flow on Restate, for [`ServerBuilder::serve_remote`](petalflow_server::ServerBuilder::serve_remote): clients and
/// the studio see and steer them as those in a store. Threads are listed with the administration of the Restate server, so the
/// process must reach it. While a thread runs, its time and its size in a list are those of the moment at which it began or was resumed.
///
/// Without [`RestateFlow::events`](crate::RestateFlow::events) clients receive no events, and a stream of events ends when the thread
/// rests. The protocols of agents need [`RestateFlow::event_log`](crate::RestateFlow::event_log). With the usual
/// [retention](crate::RestateFlow::retention), the history of a thread is one checkpoint.
///
/// ```no_run
/// use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
/// use petalflow_documents::kinds::TriggerAuth;
/// use petalflow_restate::{Admin, Client, RestateFlow, RestateThreads};
/// use petalflow_server::{ServedFlow, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = RestateFlow::new(Write::new());
/// let client = Client::new(&flow, "http://127.0.0.1:8080");
/// let threads = RestateThreads::new(&client, &Admin::new("http://127.0.0.1:9070"));
/// // What the server itself remembers, such as requests with an identifier, is in the store.
/// let server = Server::builder(&InMemoryStore::new())
///     .serve_remote(ServedFlow::new(Write::new()), threads)
///     .threads(TriggerAuth::None)
///     .build()?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RestateThreads<F: Flow> {
    client: Client<F>,
    admin: Admin,
}

impl<F: Flow<State: Storable>> RestateThreads<F> {
    /// The threads of this client, listed by this administration.
    pub fn new(client: &Client<F>, admin: &Admin) -> Self {
        RestateThreads {
            client: client.clone(),
            admin: admin.clone(),
        }
    }

    fn thread(&self, id: &str) -> RestateThread<F> {
        self.client.thread(id)
    }
}

/// The error with the meaning that it has for a server.
fn thread_error(error: RestateError) -> ThreadError {
    match error {
        RestateError::Thread(error) => error,
        RestateError::Busy(thread) => ThreadError::Busy { thread },
        RestateError::Unknown(thread) => ThreadError::Unknown { thread },
        RestateError::Exists(thread) => ThreadError::Exists { thread },
        error @ RestateError::TooLarge(_) => ThreadError::Request(error.to_string()),
        error => store_error(error).into(),
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> RemoteThreads<F> for RestateThreads<F> {
    async fn read(&self, thread: &str, work: ThreadWork<F>) -> Result<(), ThreadError> {
        let thread = self.thread(thread);
        let read = thread.copy(async move |thread| work(thread).await);
        read.await.map_err(thread_error)
    }

    async fn edit(&self, thread: &str, work: ThreadWork<F>) -> Result<(), ThreadError> {
        let thread = self.thread(thread);
        let edited = thread.edit(async move |thread| work(thread).await);
        edited.await.map_err(thread_error)
    }

    async fn make(
        &self,
        thread: &str,
        other: &str,
        work: ThreadWork<F>,
    ) -> Result<(), ThreadError> {
        let (thread, other) = (self.thread(thread), self.thread(other));
        let made = thread.make(&other, async move |thread| work(thread).await);
        made.await.map_err(thread_error)
    }

    async fn wait(&self, thread: &str) -> Result<Option<String>, ThreadError> {
        let rest = self.thread(thread).wait().await;
        rest.map(|rest| rest.failure).map_err(thread_error)
    }

    async fn cancel(&self, thread: &str) -> Result<ThreadStatus, ThreadError> {
        self.thread(thread).cancel().await.map_err(thread_error)
    }

    async fn hold(&self, thread: &str) -> Result<(), ThreadError> {
        self.thread(thread).send_hold().await.map_err(thread_error)
    }

    async fn send(
        &self,
        thread: &str,
        key: &str,
        value: Value,
        id: Option<String>,
    ) -> Result<(), ThreadError> {
        let sent = self.thread(thread).send_value(key, value, id).await;
        sent.map_err(thread_error)
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        let thread = self.thread(thread);
        let rests = thread.rests_at().await.map_err(thread_error)?;
        if rests.is_none() {
            return Err(ThreadError::Busy {
                thread: thread.id().into(),
            });
        }
        thread.delete().await.map_err(thread_error)
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError> {
        self.thread(thread).info().await.map_err(thread_error)
    }

    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        let service = self.client.threads_service();
        // Ids are the only order that the server has.
        let by_id = query.order == ThreadOrder::Id;
        let (mut found, mut after) = (Vec::new(), query.after.filter(|_| by_id).map(String::from));
        loop {
            let page = self
                .admin
                .listed(&service, query.prefix, after.as_deref(), PAGE)
                .await
                .map_err(thread_error)?;
            let is_last = page.len() < PAGE;
            after = page.last().map(|last| last.id.clone());
            found.extend(page.into_iter().filter(|info| query.covers(info)));
            let is_full = by_id && query.limit.is_some_and(|limit| found.len() >= limit);
            if is_last || is_full {
                return Ok(query.page(found));
            }
        }
    }

    fn follow(&self, thread: &str, number: u64) -> FollowedEvents {
        let thread = self.thread(thread);
        let events: BoxStream<'static, Result<LoggedEvent, ThreadError>> =
            if thread.source().is_ok() {
                let events = thread.follow(number);
                events
                    .map(|event| event.map(shown).map_err(thread_error))
                    .boxed()
            } else {
                let rests = async move { thread.wait().await };
                stream::once(rests)
                    .filter_map(async |rest| rest.err().map(|error| Err(thread_error(error))))
                    .boxed()
            };
        FollowedEvents::new(events)
    }

    async fn newest_event(&self, thread: &str) -> Result<Option<u64>, ThreadError> {
        let thread = self.thread(thread);
        let Ok(source) = thread.source() else {
            return Ok(None);
        };
        let newest = source.newest(thread.id()).await;
        let failed = |error| StoreError::other("the events cannot be read", error).into();
        newest.map(Some).map_err(failed)
    }

    async fn trouble(&self, thread: &str) -> Result<Option<RemoteTrouble>, ThreadError> {
        let service = self.client.threads_service();
        let trouble = self.admin.trouble(&service, thread).await;
        let trouble = trouble.map_err(thread_error)?;
        Ok(trouble.map(remote_trouble))
    }

    async fn troubles(
        &self,
        threads: &[&str],
    ) -> Result<BTreeMap<String, RemoteTrouble>, ThreadError> {
        let service = self.client.threads_service();
        let troubles = self.admin.troubles(&service).await.map_err(thread_error)?;
        let asked = troubles
            .into_iter()
            .filter(|(thread, _)| threads.contains(&&**thread));
        Ok(asked
            .map(|(thread, trouble)| (thread, remote_trouble(trouble)))
            .collect())
    }

    async fn try_again(&self, thread: &str) -> Result<bool, ThreadError> {
        let service = self.client.threads_service();
        let trouble = self.admin.trouble(&service, thread).await;
        let Some(trouble) = trouble.map_err(thread_error)? else {
            return Ok(false);
        };
        let again = self.admin.resume(trouble.invocation()).await;
        again.map_err(thread_error)?;
        Ok(true)
    }

    fn has_event_log(&self) -> bool {
        self.client.has_event_log()
    }
}

fn remote_trouble(trouble: Trouble) -> RemoteTrouble {
    RemoteTrouble {
        service: trouble.service,
        attempts: trouble.attempts,
        is_paused: trouble.is_paused,
        error: trouble.cause,
        next_ms: trouble.next_ms,
    }
}

/// The event as clients get it: if its task begins again, its value says so.
fn shown(followed: FollowedEvent) -> LoggedEvent {
    let mut event = followed.event;
    if followed.restarts
        && let Ok(mut value) = event.value.decode::<serde_json::Map<String, Value>>()
    {
        value.insert("restarts".into(), true.into());
        if let Ok(value) = RawValue::new(&value) {
            event.value = value;
        }
    }
    event
}
