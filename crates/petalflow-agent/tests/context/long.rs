//! A conversation of 10,000 messages: its requests stay within a window, its limits hold, and a turn costs as much as an early one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::error::message_with_sources;
use petalflow::thread::{Durability, Retention};
use petalflow_agent::compaction::{ContextSize, LastMessages, StoredEvents, Summary, TokenWindow};
use petalflow_agent::{Agent, AgentEvent, Conversation, ConversationInput, History, Limits, Mode};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel, TokenUsage};
use petalflow_testing::{CountingStore, StoreTraffic};
use serde_json::json;

use crate::kit::constant_tool;

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
    let agent = Agent::new(counting(answers)).tool(constant_tool("t", json!("found")));
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

/// The traffic of each of these turns, and the conversation of the last, in a thread that begins with this many messages.
/// Each turn is in a new process.
async fn turns(messages: usize, turns: usize, removes: bool) -> (Vec<StoreTraffic>, Conversation) {
    let store = CountingStore::default();
    let (mut traffic, mut last) = (Vec::new(), None);
    for turn in 0..=turns {
        let (mut agent, _) = agent(Limits::new());
        if removes {
            agent = agent.remove_cut_events();
        }
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
        let all = talk.events.len() as u64 + talk.removed_events();
        assert_eq!(all, (messages + 4 * (turn + 1)) as u64);
        traffic.push(store.take());
        last = Some(talk);
    }
    // The first turn stores the history.
    (traffic.split_off(1), last.unwrap())
}

#[tokio::test]
async fn a_turn_after_ten_thousand_messages_writes_as_much_as_one_after_a_hundred() {
    let (early, _) = turns(100, 40, false).await;
    let (late, talk) = turns(10_000, 40, false).await;
    assert_eq!(talk.removed_events(), 0, "all events stay by default");
    let records = |turns: &[StoreTraffic]| {
        let records = turns.iter();
        let records = records.map(|turn| (turn.appends, turn.writes, turn.reads.len()));
        let mut records: Vec<_> = records.collect();
        // The turns with a compaction are others.
        records.sort_unstable();
        records
    };
    assert_eq!(records(&early), records(&late));
    // The numbers of checkpoints and events get longer.
    let most = |turns: &[StoreTraffic]| turns.iter().map(|turn| turn.written_bytes).max().unwrap();
    assert!(
        most(&late) < most(&early) + 100,
        "{} bytes of a turn, and {}",
        most(&early),
        most(&late)
    );
}

#[tokio::test]
async fn without_events_that_were_cut_a_turn_reads_as_much_after_ten_thousand_messages() {
    let (early, _) = turns(100, 80, true).await;
    let (late, talk) = turns(10_000, 80, true).await;
    let (removed, events) = (talk.removed_events(), talk.events.len());
    assert!(removed > 10_000 && events < 200, "{removed} and {events}");
    // The first turns remove the history, and write the checkpoint on which the later ones build.
    let most = |turns: &[StoreTraffic]| {
        let turns = &turns[20..];
        for StoreTraffic { reads, .. } in turns {
            // The thread once, how far it has read its messages, and the new ones at the start and in each superstep.
            let new_messages = reads.strip_prefix(&["read", "writes"][..]);
            let new_messages = new_messages.unwrap_or_else(|| panic!("{reads:?}"));
            assert!(
                new_messages.iter().all(|read| *read == "history"),
                "{reads:?}"
            );
            assert!((6..=8).contains(&new_messages.len()), "{reads:?}");
        }
        let most = |bytes: fn(&StoreTraffic) -> u64| turns.iter().map(bytes).max().unwrap();
        (
            most(|turn| turn.read_bytes),
            most(|turn| turn.written_bytes),
        )
    };
    let (early, late) = (most(&early), most(&late));
    // The numbers of checkpoints and events get longer, and the turns that remove events are others.
    assert!(late.0 < early.0 * 5 / 4, "{late:?} bytes, and {early:?}");
    assert!(late.1 < early.1 * 5 / 4, "{late:?} bytes, and {early:?}");
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

/// The ids of the events of `talk`, in order.
fn ids(events: &[AgentEvent]) -> Vec<&str> {
    events.iter().map(|event| &*event.id).collect()
}

#[tokio::test]
async fn events_that_were_removed_are_read_from_the_checkpoints() {
    for durability in [Durability::Sync, Durability::Exit] {
        let store = InMemoryStore::new();
        let (agent, _) = agent(Limits::new());
        let agent = agent.remove_cut_events();
        let threads = agent.store(&store).durability(durability);
        let thread = threads.thread("t");
        assert_eq!(
            StoredEvents::of(&thread).await.unwrap(),
            StoredEvents::default()
        );
        let mut expected: Vec<String> = Vec::new();
        let mut halfway = None;
        for turn in 0..100 {
            let talk = thread.run("no?").await.unwrap().into_finished().unwrap();
            // The last turn is never removed.
            let new = ids(&talk.events[talk.events.len() - 4..]);
            expected.extend(new.into_iter().map(String::from));
            if turn == 50 {
                halfway = thread.snapshot().await.unwrap();
            }
        }
        let whole = StoredEvents::of(&thread).await.unwrap();
        assert_eq!(
            (ids(&whole.events), whole.missing),
            (expected.iter().map(|id| &**id).collect(), 0)
        );
        let talk = thread.snapshot().await.unwrap().unwrap().state;
        let (removed, events) = (talk.removed_events(), talk.events.len());
        assert!(removed >= 200 && events < 200, "{removed} and {events}");

        // A fork has the events of its own branch.
        let halfway = halfway.unwrap().info.checkpoint;
        thread.fork(halfway).await.unwrap();
        for _ in 0..40 {
            thread.run("no?").await.unwrap().into_finished().unwrap();
        }
        let forked = StoredEvents::of(&thread).await.unwrap();
        assert_eq!((forked.events.len(), forked.missing), (4 * (51 + 40), 0));
        let forked = ids(&forked.events);
        assert_eq!(forked[..4 * 51], expected[..4 * 51]);
        assert!(!forked.contains(&&*expected[4 * 51]));
    }
}

#[tokio::test]
async fn events_whose_checkpoints_were_removed_are_counted_as_missing() {
    let (agent, _) = agent(Limits::new());
    let store = InMemoryStore::new();
    let threads = agent.remove_cut_events().store(&store);
    let thread = threads
        .retention(Retention::max_checkpoints(20))
        .thread("t");
    for _ in 0..100 {
        thread.run("no?").await.unwrap().into_finished().unwrap();
    }
    let left = StoredEvents::of(&thread).await.unwrap();
    assert!(left.missing > 0);
    assert_eq!(left.events.len() as u64 + left.missing, 400);
}

#[tokio::test]
async fn a_call_that_is_open_keeps_the_events_since_its_turn() {
    let replies = |request: &LlmRequest| match &*request.messages.last().unwrap().text() {
        "build" => Reply::call("build", json!({})),
        _ => format!("{}", request.messages.len()).into(),
    };
    let model = Arc::new(ScriptedModel::from_fn(replies));
    let build = constant_tool("build", json!(null)).long_running();
    let agent = Agent::new(Arc::clone(&model)).tool(build);
    let agent = agent.compaction(LastMessages::new(6)).remove_cut_events();
    let store = InMemoryStore::new();
    let thread = agent.store(&store).thread("t");
    let run = async |input: ConversationInput| {
        let talk = thread.run(input).await.unwrap();
        talk.into_finished().unwrap()
    };
    for _ in 0..20 {
        run("hello".into()).await;
    }
    let talk = run("build".into()).await;
    let id = talk.pending()[0].id().to_string();
    for _ in 0..20 {
        run("hello".into()).await;
    }
    let talk = run("hello".into()).await;
    let removed = talk.removed_events();
    assert!(
        (20..=40).contains(&removed),
        "{removed} of 40 events before"
    );
    assert_eq!(talk.pending()[0].id(), id);

    run(ConversationInput::default().result(&*id, "four rooms")).await;
    let read = model.last_request().unwrap();
    let results = read.messages.iter().flat_map(ChatMessage::tool_results);
    let results: Vec<_> = results.map(|result| &result.content).collect();
    assert_eq!(results, ["four rooms"], "the call came back with it");
    for _ in 0..20 {
        run("hello".into()).await;
    }
    let talk = run("hello".into()).await;
    assert!(talk.pending().is_empty() && talk.events.len() < 20);
    let whole = StoredEvents::of(&thread).await.unwrap();
    let built = whole.events.iter().filter(|event| {
        let mut calls = event.message.iter().flat_map(ChatMessage::calls);
        calls.any(|call| call.id == id)
    });
    assert_eq!((built.count(), whole.missing), (1, 0));
}

#[tokio::test]
async fn what_an_agent_without_a_cut_reads_is_not_removed() {
    let counts =
        || ScriptedModel::from_fn(|request: &LlmRequest| request.messages.len().to_string());
    let team = |below: Agent| {
        let agent = Agent::new(counts()).compaction(LastMessages::new(6));
        agent.sub_agent(below.model(counts())).remove_cut_events()
    };
    // A call of this one has its own conversation.
    let called = team(Agent::named("called").mode(Mode::SingleTurn));
    let peer = team(Agent::named("peer"));
    let reads_turns = team(Agent::named("peer").history(History::Turn));
    for (agent, removes) in [(called, true), (peer, false), (reads_turns, true)] {
        // Without a store, the conversation is passed on by hand.
        let mut talk = agent.run("hello").await.unwrap();
        for turn in 2..40 {
            talk = agent.run(talk.next_input("hello")).await.unwrap();
            let read: usize = talk.answer().parse().unwrap();
            assert!(read <= 6, "{read}");
            assert_eq!(talk.removed_events() + talk.events.len() as u64, 2 * turn);
        }
        assert_eq!(talk.removed_events() > 0, removes);
    }
}
