//! A conversation of 10,000 messages: its requests stay within a window, its limits hold, and a turn costs as much as an early one.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadInfo, ThreadQuery,
};
use petalflow::error::message_with_sources;
use petalflow_agent::compaction::{ContextSize, Summary, TokenWindow};
use petalflow_agent::{Agent, AgentEvent, ConversationInput, Limits};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel, TokenUsage};
use serde_json::json;

use super::kit::returns;

/// What the program has written to the store.
#[derive(Clone, Default)]
struct CountingStore {
    store: InMemoryStore,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    appended: AtomicU64,
    written: AtomicU64,
    bytes: AtomicU64,
    read: AtomicU64,
}

/// The checkpoints, the records beside them and their bytes that were written, and the calls that read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traffic {
    appended: u64,
    written: u64,
    bytes: u64,
    read: u64,
}

impl CountingStore {
    /// What was counted since the last call.
    fn take(&self) -> Traffic {
        let Counts {
            appended,
            written,
            bytes,
            read,
        } = &*self.counts;
        let take = |count: &AtomicU64| count.swap(0, SeqCst);
        Traffic {
            appended: take(appended),
            written: take(written),
            bytes: take(bytes),
            read: take(read),
        }
    }
}

#[async_trait]
impl Store for CountingStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> Result<(), StoreError> {
        self.counts.appended.fetch_add(1, SeqCst);
        let bytes = checkpoint.bytes.len() as u64;
        self.counts.bytes.fetch_add(bytes, SeqCst);
        self.store.append(address, checkpoint, after, settled).await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
    ) -> Result<(), StoreError> {
        let bytes = writes.iter().map(|write| write.bytes.len() as u64);
        self.counts.written.fetch_add(writes.len() as u64, SeqCst);
        self.counts.bytes.fetch_add(bytes.sum(), SeqCst);
        self.store.write(address, seq, writes).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        self.counts.read.fetch_add(1, SeqCst);
        self.store.read(address, seq).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.counts.read.fetch_add(1, SeqCst);
        self.store.writes(address, seqs).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        self.counts.read.fetch_add(1, SeqCst);
        self.store.history(address, before, limit).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.store.threads(query).await
    }

    async fn describe(&self, thread: &str, change: ThreadChange<'_>) -> Result<(), StoreError> {
        self.store.describe(thread, change).await
    }

    async fn prune(&self, address: Address<'_>, seq: u64) -> Result<(), StoreError> {
        self.store.prune(address, seq).await
    }

    async fn delete(&self, thread: &str) -> Result<(), StoreError> {
        self.store.delete(thread).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.store.claim(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
    }
}

const WINDOW: u64 = 600;

/// Calls a tool once in a turn, and then answers.
fn answers(request: &LlmRequest) -> Reply {
    let size = ContextSize::of(&request.messages).tokens;
    assert!(size <= WINDOW, "{size}");
    let reply = match request.messages.last().unwrap().role {
        Role::Tool => "yes".into(),
        _ => Reply::call("t", json!({})),
    };
    reply.with_usage(TokenUsage {
        input: size,
        output: 10,
        total: size + 10,
        ..TokenUsage::default()
    })
}

/// The agent, and the number of its requests, those of summaries included.
fn agent(limits: Limits) -> (Agent, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let counting = |answer: fn(&LlmRequest) -> Reply| {
        let asked = Arc::clone(&asked);
        let model = ScriptedModel::from_fn(move |request| {
            asked.fetch_add(1, SeqCst);
            answer(request)
        });
        model.without_recording()
    };
    let agent = Agent::new(counting(answers)).tool(returns("t", json!("found")));
    let summaries = counting(|_| "They agree.".into());
    let agent = agent.compaction(Summary::new(summaries, TokenWindow::new(WINDOW)));
    (agent.thread_limits(limits), asked)
}

/// A history of this many messages.
fn history(messages: usize) -> Vec<AgentEvent> {
    let event = |index: usize| {
        let (author, message) = match index % 2 {
            0 => (AgentEvent::USER, ChatMessage::user("no?")),
            _ => ("agent", ChatMessage::assistant("yes")),
        };
        AgentEvent {
            id: format!("past-{index}"),
            ..AgentEvent::new(author, message)
        }
    };
    (0..messages).map(event).collect()
}

/// The traffic of each of these turns, in a thread that begins with this many messages. Each turn is in a new process.
async fn turns(messages: usize, turns: usize) -> Vec<Traffic> {
    let store = CountingStore::default();
    let mut traffic = Vec::new();
    for turn in 0..=turns {
        let (agent, _) = agent(Limits::new());
        let thread = agent.store(&store).thread("t");
        let input = ConversationInput {
            events: if turn == 0 {
                history(messages)
            } else {
                Vec::new()
            },
            ..ConversationInput::from("no?")
        };
        let talk = thread.run(input).await.unwrap().into_finished().unwrap();
        assert_eq!(talk.events.len(), messages + 4 * (turn + 1));
        traffic.push(store.take());
    }
    // The first turn stores the history.
    traffic.split_off(1)
}

#[tokio::test]
async fn a_turn_after_ten_thousand_messages_writes_as_much_as_one_after_a_hundred() {
    let (early, late) = (turns(100, 40).await, turns(10_000, 40).await);
    let records = |turns: &[Traffic]| {
        let records = turns.iter();
        let records = records.map(|turn| (turn.appended, turn.written, turn.read));
        let mut records: Vec<_> = records.collect();
        // The turns with a compaction are others.
        records.sort_unstable();
        records
    };
    assert_eq!(records(&early), records(&late));
    // The numbers of checkpoints and events get longer.
    let most = |turns: &[Traffic]| turns.iter().map(|turn| turn.bytes).max().unwrap();
    assert!(
        most(&late) < most(&early) + 100,
        "{} bytes of a turn, and {}",
        most(&early),
        most(&late)
    );
}

#[tokio::test]
async fn a_budget_is_kept_to_the_last_request_over_ten_thousand_messages() {
    let budget = 5_500;
    let (agent, asked) = agent(Limits::new().requests(budget));
    let mut talk = agent.run("no?").await.unwrap();
    let mut messages = 0;
    let error = loop {
        match agent.run(talk.next_input("no?")).await {
            Ok(next) => talk = next,
            Err(error) => break error,
        }
        messages = talk.events.len();
        assert_eq!(talk.usage().requests, asked.load(SeqCst));
    };
    assert!(messages > 10_000, "{messages}");
    assert_eq!(asked.load(SeqCst), budget);
    let text = message_with_sources(&error);
    let expected = format!("{budget} requests to models in one thread: {budget} are used");
    assert!(text.contains(&expected), "{text}");
}
