//! Requests with a key: a repetition gets the answer of the first one, and begins nothing.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use petalflow::checkpoint::Cause;
use petalflow::run::CancelToken;
use petalflow::thread::HistoryQuery;
use serde_json::{Value, json};

use crate::MultitaskStrategy;
use crate::access::Access;
use crate::digest::digest;
use crate::idempotency::Keys;
use crate::notify::mark;
use crate::refusal::Refusal;
use crate::request;
use crate::served::RunEvents;
use crate::server::Inner;
use crate::start_lock::StartLock;

/// A request with a key.
pub(crate) struct Keyed {
    /// The key of this caller.
    key: String,
    /// Says that a request is the same one.
    checksum: String,
    of: Of,
}

/// What a request does, to find out whether it was done by a process that ended before it could answer.
pub(crate) enum Of {
    /// It begins a run of the thread.
    Run { thread: String },
    /// It answers a question of the thread.
    Answer { thread: String, question: String },
    /// It can be done again without doing anything twice. `about`: the thread or the schedule.
    Repeatable { about: String },
    /// It adds a checkpoint with this cause to the thread.
    Checkpoint { thread: String, cause: Cause },
    /// It makes this thread of another one.
    Copy { of: String, thread: String },
}

impl Of {
    /// A message to a thread. One that is queued has an id, by which it begins its turn once.
    pub(crate) fn turn(thread: &str, strategy: MultitaskStrategy) -> Self {
        let thread = thread.to_string();
        match strategy {
            MultitaskStrategy::Enqueue | MultitaskStrategy::Steer => {
                Of::Repeatable { about: thread }
            }
            _ => Of::Run { thread },
        }
    }
}

impl Of {
    /// A request that makes a thread of another one.
    pub(crate) fn copy(of: &str, thread: &str) -> Self {
        Of::Copy {
            of: of.to_string(),
            thread: thread.to_string(),
        }
    }
}

impl Keyed {
    /// The request to an address of a thread or a schedule. `None` if it has no key.
    pub(crate) fn of(
        server: &Inner,
        access: &Access,
        headers: &HeaderMap,
        (address, body): (&str, &[u8]),
        of: Of,
    ) -> Result<Option<Self>, Refusal> {
        let key = request::identifier(headers, &server.settings.key_header)?;
        Ok(key.map(|key| {
            let about = match &of {
                Of::Run { thread: about }
                | Of::Checkpoint { thread: about, .. }
                | Of::Copy { of: about, .. }
                | Of::Repeatable { about } => format!("{address}\0{about}\0"),
                Of::Answer { thread, question } => format!("{address}\0{thread}\0{question}\0"),
            };
            Keyed {
                key: access.key(&key),
                checksum: digest([about.as_bytes(), body].concat()),
                of,
            }
        }))
    }

    /// A text that only this request has.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    async fn handle(
        self,
        server: &Arc<Inner>,
        work: impl Future<Output = Result<Value, Refusal>>,
    ) -> Result<Value, Refusal> {
        let (keys, id) = (&server.settings.keys, Keys::id(&self.key));
        let _lock = StartLock::take(server, &id).await?;
        match keys.read(&id).await? {
            Some(first) if first.checksum != self.checksum => {
                let text = "another request had this identifier: give each request one of its own";
                return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text));
            }
            Some(first) => {
                let done = match first.answer {
                    Some(answer) => return Ok(answer),
                    None => self.of.done_since(server, &first.before).await?,
                };
                if let Some(answer) = done {
                    keys.set(&id, &answer).await?;
                    return Ok(answer);
                }
            }
            None => {
                let before = self.of.mark(server).await?;
                keys.add(&id, &self.checksum, before).await?;
            }
        }
        match work.await {
            Ok(answer) => {
                keys.set(&id, &answer).await?;
                Ok(answer)
            }
            Err(refusal) => {
                // Nothing was done. If the record stays, a repetition finds that out.
                let _ = keys.delete(&id).await;
                Err(refusal)
            }
        }
    }
}

impl Of {
    /// What is there of the thread before the request is handled.
    async fn mark(&self, server: &Inner) -> Result<String, Refusal> {
        match self {
            Of::Run { thread } | Of::Answer { thread, .. } => {
                Ok(mark(server.info(thread).await?.as_ref()))
            }
            Of::Checkpoint { thread, .. } => Ok(newest(server, thread).await?.to_string()),
            Of::Copy { thread, .. } => Ok(mark(server.info(thread).await?.as_ref())),
            Of::Repeatable { .. } => Ok(String::new()),
        }
    }

    /// The answer, if the request was done when the thread was like this, or after it.
    async fn done_since(&self, server: &Inner, before: &str) -> Result<Option<Value>, Refusal> {
        if self.mark(server).await? == before {
            return Ok(None);
        }
        Ok(match self {
            Of::Run { thread } => Some(json!({ "thread": thread })),
            // Other nodes may have changed the thread.
            Of::Answer { thread, question } => {
                let is_open = is_open(server, thread, question).await?;
                (!is_open).then(|| json!({ "thread": thread }))
            }
            Of::Checkpoint { thread, cause } => added(server, thread, before, *cause).await?,
            // It fails if the thread exists.
            Of::Copy { thread, .. } => before.is_empty().then(|| json!({ "thread": thread })),
            Of::Repeatable { .. } => None,
        })
    }
}

/// The number of the newest checkpoint of a thread; 0 if it has none.
async fn newest(server: &Inner, thread: &str) -> Result<u64, Refusal> {
    let flow = server.owner(thread).await?;
    let newest = flow.history(thread, HistoryQuery::all().limit(1)).await?;
    Ok(newest.first().map_or(0, |newest| newest.checkpoint))
}

/// The answer of the request that has added a checkpoint with this cause after the one with the number `before`.
async fn added(
    server: &Inner,
    thread: &str,
    before: &str,
    cause: Cause,
) -> Result<Option<Value>, Refusal> {
    let before: u64 = before.parse().unwrap_or(0);
    let flow = server.owner(thread).await?;
    let history = flow.history(thread, HistoryQuery::all()).await?;
    // The history has the newest first.
    let mut since = history.iter().rev().filter(|it| it.checkpoint > before);
    let added = since.find(|it| it.cause == cause);
    Ok(added.map(|it| match cause {
        Cause::Fork => json!({ "thread": thread, "checkpoint": it.checkpoint }),
        _ => json!({ "checkpoint": it.checkpoint }),
    }))
}

/// Whether the thread waits for the answer to a question or to a call.
async fn is_open(server: &Inner, thread: &str, question: &str) -> Result<bool, Refusal> {
    let flow = server.owner(thread).await?;
    let Some(view) = flow.view(thread, None).await? else {
        return Ok(false);
    };
    let open = ["questions", "waits"].map(|name| view[name].as_array());
    let mut open = open.into_iter().flatten().flatten();
    Ok(open.any(|open| open["id"] == question))
}

impl Inner {
    /// Handles a request to its end, also if the client disconnects. A repeated request with a key gets the answer of the first one.
    pub(crate) async fn once(
        self: &Arc<Self>,
        keyed: Option<Keyed>,
        work: impl Future<Output = Result<Value, Refusal>> + Send + 'static,
    ) -> Result<Value, Refusal> {
        let server = Arc::clone(self);
        self.run_detached(async move {
            match keyed {
                Some(keyed) => keyed.handle(&server, work).await,
                None => work.await,
            }
        })
        .await
    }

    /// Begins a run as [`begin`](Self::begin) does, also if its client disconnects, and once for a request with a key.
    pub(crate) async fn begin_once<B>(
        self: &Arc<Self>,
        keyed: Option<Keyed>,
        thread: &str,
        begin: impl FnOnce(CancelToken) -> B + Send + 'static,
    ) -> Result<(), Refusal>
    where
        B: Future<Output = Result<RunEvents, Refusal>> + Send,
    {
        let (server, thread) = (Arc::clone(self), thread.to_string());
        let begun = async move {
            server.begin(thread.clone(), begin).await?;
            Ok(json!({ "thread": thread }))
        };
        self.once(keyed, begun).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use petalflow::checkpoint::InMemoryStore;
    use petalflow::prelude::*;
    use petalflow_documents::kinds::TriggerAuth;

    use super::*;
    use crate::{ServedFlow, Server};

    #[state]
    struct Count {
        #[key(input, sum)]
        total: u64,
    }

    #[node(Count)]
    async fn look() {}

    flow!(Counts(Count) { look });

    fn server(store: &InMemoryStore) -> Server {
        Server::builder(store)
            .serve_flow(ServedFlow::new(Counts::new()))
            .threads(TriggerAuth::None)
            .idempotency_retention(Duration::from_hours(1))
            .build()
            .expect("the settings are right")
    }

    fn keyed(key: &str, body: &str) -> Keyed {
        Keyed {
            key: key.to_string(),
            checksum: digest(body),
            of: Of::Run {
                thread: "Counts:a".into(),
            },
        }
    }

    /// Handles a request that begins a turn.
    async fn turn(server: &Server, keyed: Keyed) -> Result<(), Refusal> {
        let flow = Arc::clone(server.inner().flow("Counts").expect("it is served"));
        let begin = async move |token| {
            let input = crate::served::Input {
                value: json!({ "total": 1 }).into(),
                labels: crate::served::Labels::new(),
                discards: false,
                rolls_back: false,
                message: None,
            };
            flow.begin("Counts:a", input, &token).await
        };
        let begun = server.inner().begin_once(Some(keyed), "Counts:a", begin);
        begun.await?;
        while server.inner().is_running("Counts:a") {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn total(server: &Server) -> Value {
        let flow = server.inner().flow("Counts").expect("it is served");
        let view = flow.view("Counts:a", None).await.expect("it can be read");
        view.expect("it exists")["state"]["total"].clone()
    }

    #[tokio::test]
    async fn f43_a_process_that_dies_before_it_answers_leaves_a_key_that_the_next_one_decides() {
        let store = InMemoryStore::new();
        let first = server(&store);
        turn(&first, keyed("begins", "x")).await.expect("it begins");
        let (inner, id) = (first.inner(), Keys::id("dies"));
        let of = keyed("dies", "x").of;
        let before = of.mark(inner).await.expect("it is listed");
        let added = inner.settings.keys.add(&id, &digest("x"), before).await;
        added.expect("it is stored");

        // The first process has stored the key, and not the turn.
        let next = server(&store);
        turn(&next, keyed("dies", "x")).await.expect("it begins");
        assert_eq!(total(&next).await, 2);

        // The first process has stored the turn, and not its answer.
        let before = of.mark(inner).await.expect("it is listed");
        let id = Keys::id("dies later");
        let added = inner.settings.keys.add(&id, &digest("x"), before).await;
        added.expect("it is stored");
        turn(&first, keyed("its turn", "x"))
            .await
            .expect("it begins");
        for _ in 0..2 {
            let repeated = turn(&next, keyed("dies later", "x")).await;
            repeated.expect("it was begun");
        }
        assert_eq!(total(&next).await, 3);
    }

    #[tokio::test]
    async fn f43_a_process_that_dies_after_an_edit_or_a_copy_has_made_it_once() {
        let store = InMemoryStore::new();
        let server = server(&store);
        turn(&server, keyed("begins", "x"))
            .await
            .expect("it begins");
        let inner = server.inner();
        let flow = Arc::clone(inner.flow("Counts").expect("it is served"));
        let keys = serde_json::Map::from_iter([("total".to_string(), json!(5))]);
        let (thread, copy) = ("Counts:a", "Counts:b");
        let requests = [
            (
                "edit",
                Of::Checkpoint {
                    thread: thread.into(),
                    cause: Cause::Update,
                },
            ),
            (
                "fork",
                Of::Checkpoint {
                    thread: thread.into(),
                    cause: Cause::Fork,
                },
            ),
            ("copy", Of::copy(thread, copy)),
        ];
        for (name, of) in requests {
            let keyed = |of| Keyed {
                key: name.to_string(),
                checksum: digest("x"),
                of,
            };
            let before = of.mark(inner).await.expect("it can be read");
            let open = of.done_since(inner, &before).await.expect("it can be read");
            assert_eq!(open, None, "{name}: nothing was done");
            // The process stores the key, does what is asked, and dies before it answers.
            let (id, checksum) = (Keys::id(name), digest("x"));
            let added = inner.settings.keys.add(&id, &checksum, before);
            added.await.expect("it is stored");
            let expected = match name {
                "edit" => {
                    let edited = flow.edit(thread, keys.clone(), None).await;
                    json!({ "checkpoint": edited.expect("it is edited") })
                }
                "fork" => {
                    let forked = flow.fork(thread, 1).await.expect("it is forked");
                    json!({ "thread": thread, "checkpoint": forked })
                }
                _ => {
                    flow.copy(thread, copy).await.expect("it is copied");
                    json!({ "thread": copy })
                }
            };
            let again = async { panic!("it is done a second time") };
            let answer = inner.once(Some(keyed(of)), again).await;
            assert_eq!(answer.expect("it was done"), expected, "{name}");
        }
    }

    #[tokio::test]
    async fn f43_a_refused_request_is_handled_again() {
        let server = server(&InMemoryStore::new());
        let tries = Arc::new(AtomicUsize::new(0));
        for expected in [None, Some(1), Some(1)] {
            let counted = Arc::clone(&tries);
            let work = async move {
                match counted.fetch_add(1, Ordering::SeqCst) {
                    0 => Err(Refusal::busy("too many runs")),
                    number => Ok(json!(number)),
                }
            };
            let answer = server.inner().once(Some(keyed("k", "x")), work).await;
            assert_eq!(answer.ok(), expected.map(|number: usize| json!(number)));
        }
        assert_eq!(tries.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn f43_while_the_first_request_is_handled_another_one_with_its_key_is_a_conflict() {
        use petalflow::checkpoint::Store as _;

        let store = InMemoryStore::new();
        let server = server(&store);
        // What another process has meanwhile.
        let lock = format!("{}:begin", Keys::id("k"));
        store.claim(&lock, "another").await.expect("it is free");
        let refused = turn(&server, keyed("k", "x"))
            .await
            .expect_err("a conflict");
        assert_eq!(refused.status(), StatusCode::CONFLICT, "{refused:?}");
        store.release(&lock, "another");
        turn(&server, keyed("k", "x")).await.expect("it begins");
        assert_eq!(total(&server).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn f43_a_key_is_known_for_a_time_and_its_record_is_deleted_then() {
        let store = InMemoryStore::new();
        let server = server(&store);
        turn(&server, keyed("k", "x")).await.expect("it begins");
        turn(&server, keyed("k", "x")).await.expect("it is known");
        let other = turn(&server, keyed("k", "y")).await.expect_err("another");
        assert!(other.text().contains("another request"), "{other:?}");
        assert_eq!(total(&server).await, 1);
        tokio::time::sleep(Duration::from_mins(61)).await;
        turn(&server, keyed("k", "y")).await.expect("it is new");
        assert_eq!(total(&server).await, 2);

        let known = async || {
            let info = server.inner().info(&Keys::id("k")).await;
            info.expect("it lists").is_some()
        };
        server.recover().await.expect("it lists");
        assert!(known().await, "its time is not over");
        tokio::time::sleep(Duration::from_mins(61)).await;
        server.recover().await.expect("it lists");
        assert!(!known().await, "it is swept");
    }
}
