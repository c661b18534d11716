//! The events of threads that an engine runs, as one stream of Redis for each thread.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use petalflow::checkpoint::StoreError;
use petalflow::engine::{EventSink, EventSource, StoredEvents, StreamedEvent};
use petalflow::{BoxError, async_trait};
use redis::RedisError;
use redis::aio::MultiplexedConnection;

use crate::connection::{Connection, open_waiting, store_error};
use crate::options::RedisOptions;
use crate::scripts;

/// How long the server waits for an event before it answers that there is none, in milliseconds.
const BLOCK: u64 = 5_000;

/// How many events are read at once.
const PAGE: u64 = 500;

/// How often a reader that has lost its connection connects again before it fails, and how long it waits before each time.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(300);

/// The events of threads that an engine runs, for listeners in other processes: one stream of Redis for each thread. Clones share
/// the connection that publishes. Each reader has a connection of its own, because it waits on the server.
///
/// About 10,000 events of a thread remain, for an hour after the last one. The events contain what nodes emit, such as the text of
/// models. They are not encrypted, also if the checkpoints are.
///
/// ```no_run
/// use std::time::Duration;
/// use petalflow_redis::{RedisEvents, RedisOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let events = RedisEvents::connect(RedisOptions::new("redis://localhost")).await?;
/// let events = events.retain(50_000, Duration::from_hours(24));
/// # let _ = events;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisEvents {
    connection: Connection,
    options: Arc<RedisOptions>,
    max_events: u64,
    remains: Duration,
}

impl fmt::Debug for RedisEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisEvents")
            .field("options", &self.options)
            .field("max_events", &self.max_events)
            .field("remains", &self.remains)
            .finish_non_exhaustive()
    }
}

impl RedisEvents {
    /// Connects. A store can use the same server and the same prefix.
    ///
    /// # Errors
    ///
    /// The URL is not valid, or the server cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection.
    pub async fn connect(options: RedisOptions) -> Result<Self, StoreError> {
        Ok(RedisEvents {
            connection: Connection::open(&options).await?,
            options: Arc::new(options),
            max_events: 10_000,
            remains: Duration::from_hours(1),
        })
    }

    /// Sets how many events of a thread remain, or some more, and how long they remain after the last one. A listener that connects
    /// again reads all that remain, so a very long stream makes it slow.
    #[must_use]
    pub fn retain(mut self, events: u64, after_last: Duration) -> Self {
        self.max_events = events.max(1);
        self.remains = after_last.max(Duration::from_millis(1));
        self
    }

    fn key(&self, thread: &str) -> String {
        format!("{}events:{thread}", self.options.prefix)
    }

    async fn append(
        &self,
        thread: &str,
        events: &[&StreamedEvent],
        removes: bool,
    ) -> Result<(), StoreError> {
        let mut script = scripts::PUBLISH.key(self.key(thread));
        let remains = u64::try_from(self.remains.as_millis()).unwrap_or(u64::MAX);
        script.arg(self.max_events).arg(remains);
        script.arg(if removes { "remove" } else { "" });
        for event in events {
            script.arg(event.to_bytes());
        }
        // If the connection breaks they may arrive twice. Readers know them by their numbers.
        self.connection.invoke(thread, &script).await
    }
}

#[async_trait]
impl EventSink for RedisEvents {
    async fn publish(&self, events: &[StreamedEvent]) -> Result<(), BoxError> {
        let mut threads: BTreeMap<&str, Vec<&StreamedEvent>> = BTreeMap::new();
        for event in events {
            threads.entry(&event.thread).or_default().push(event);
        }
        // At once, so that many threads take one round trip. And each for itself: the key of one can be damaged.
        let appended = threads
            .iter()
            .map(|(thread, events)| self.append(thread, events, false));
        for result in join_all(appended).await {
            result?;
        }
        Ok(())
    }

    async fn forget(&self, thread: &str) -> Result<(), BoxError> {
        Ok(self
            .append(thread, &[&StreamedEvent::deleted(thread)], true)
            .await?)
    }
}

#[async_trait]
impl EventSource for RedisEvents {
    fn events(&self, thread: &str) -> StoredEvents {
        let reader = Reader {
            options: Arc::clone(&self.options),
            key: self.key(thread),
            last: "0".into(),
            connection: None,
            has_connected: false,
        };
        // `None` after an error.
        let pages = stream::unfold(Some(reader), async |reader| {
            let mut reader = reader?;
            match reader.page().await {
                Ok(page) => Some((page.into_iter().map(Ok).collect(), Some(reader))),
                Err(error) => Some((vec![Err(error)], None)),
            }
        });
        pages.flat_map(stream::iter).boxed()
    }

    async fn newest(&self, thread: &str) -> Result<u64, BoxError> {
        let mut command = redis::cmd("XREVRANGE");
        command.arg(self.key(thread)).arg("+").arg("-");
        command.arg("COUNT").arg(1);
        let mut newest: Entries = self.connection.read(&command).await?;
        Ok(newest
            .pop()
            .map_or(0, |(id, _)| number_of(&id).unwrap_or(0)))
    }
}

/// Reads the stream of a thread.
struct Reader {
    options: Arc<RedisOptions>,
    key: String,
    /// The id of the last event.
    last: String,
    connection: Option<MultiplexedConnection>,
    has_connected: bool,
}

/// For each event, its fields with their values.
type Entries = Vec<(String, Vec<Vec<u8>>)>;

/// The reply to `XREAD`: the events of each stream.
type Reply = Option<Vec<(String, Entries)>>;

/// The number of the event with this id.
fn number_of(id: &str) -> Option<u64> {
    id.split('-').next()?.parse().ok()
}

impl Reader {
    /// The next events. None if there were none for a while.
    async fn page(&mut self) -> Result<Vec<(u64, StreamedEvent)>, BoxError> {
        let mut attempt = 0;
        let reply = loop {
            match self.read().await {
                Ok(reply) => break reply,
                Err(StoreError::Unavailable(_)) if self.has_connected && attempt < ATTEMPTS => {
                    attempt += 1;
                    self.connection = None;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let mut events = Vec::new();
        for (id, fields) in reply.into_iter().flatten().flat_map(|(_, events)| events) {
            let (Some(number), [_, event]) = (number_of(&id), &fields[..]) else {
                return Err(format!(
                    "the stream `{}` has an entry `{id}` that is not an event: delete the key, or use another prefix",
                    self.key
                )
                .into());
            };
            events.push((number, StreamedEvent::from_bytes(event)?));
            self.last = id;
        }
        Ok(events)
    }

    async fn read(&mut self) -> Result<Reply, StoreError> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(open_waiting(&self.options).await?),
        };
        self.has_connected = true;
        let mut command = redis::cmd("XREAD");
        command.arg("BLOCK").arg(BLOCK).arg("COUNT").arg(PAGE);
        command.arg("STREAMS").arg(&self.key).arg(&self.last);
        let reply: Result<Reply, RedisError> = command.query_async(connection).await;
        reply.map_err(store_error)
    }
}
