//! Compaction: the part of a long conversation that a model reads.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::Durability;
use petalflow_agent::compaction::{
    Compactor, ContextSize, LastMessages, Replaced, Summary, TokenWindow,
};
use petalflow_agent::limits::LimitKind;
use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, AgentError, Conversation, ConversationInput, History, Limits};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_testing::crashes;
use serde_json::{Value, json};

use crate::kit::{constant_tool, scripted_agent, words};

/// Every result comes right after its call, every call has its result, and a user speaks first.
fn assert_is_whole(request: &LlmRequest) {
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in request.messages.iter().enumerate() {
        let results: Vec<&str> = message
            .tool_results()
            .map(|result| &*result.call_id)
            .collect();
        assert_eq!(results, open, "message {index} of {:?}", request.messages);
        open = message.calls().map(|call| &*call.id).collect();
    }
    assert!(open.is_empty());
    assert_eq!(request.messages[0].role, Role::User);
    assert_eq!(request.system.as_deref(), Some("Be brief."));
}

/// A model that calls tools in some turns, alone, together and several times.
fn reply_with_calls(request: &LlmRequest) -> Reply {
    let messages = request.messages.iter().rev();
    let last_user = messages.clone().find(|message| message.role == Role::User);
    let number: usize = last_user
        .and_then(|last_user| last_user.text().parse().ok())
        .unwrap_or(0);
    let round = match request.messages.last().unwrap().role {
        Role::Tool => {
            let last = messages.flat_map(ChatMessage::calls).next().unwrap();
            last.arguments["round"].as_u64().unwrap() + 1
        }
        _ => 1,
    };
    if round > (number % 4) as u64 {
        return format!("answer {number}").into();
    }
    let call = Reply::call("t", json!({ "round": round }));
    if number.is_multiple_of(3) {
        call.and_call("t", json!({ "round": round }))
    } else {
        call
    }
}

fn busy_agent() -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::from_fn(reply_with_calls));
    let agent = Agent::new(Arc::clone(&model)).tool(constant_tool("t", json!("found")));
    (agent.instructions("Be brief."), model)
}

async fn turns(agent: &Agent, turns: usize) -> Conversation {
    let mut talk = agent.run("0").await.unwrap();
    for turn in 1..turns {
        talk = agent.run(talk.next_input(turn.to_string())).await.unwrap();
        assert_eq!(talk.answer(), format!("answer {turn}"));
    }
    talk
}

#[tokio::test]
async fn a_model_reads_the_last_messages_with_whole_calls_and_the_events_stay() {
    for max in [4, 5, 8, 21] {
        let (agent, model) = busy_agent();
        let talk = turns(&agent.compaction(LastMessages::new(max).keep(max / 2)), 100).await;
        let requests = model.requests();
        requests.iter().for_each(assert_is_whole);
        let longest = requests.iter().map(|request| request.messages.len()).max();
        // The last request is kept beside the window.
        assert!(longest.unwrap() <= max + 1, "{longest:?} of {max}");
        let (plain, _) = busy_agent();
        let whole = turns(&plain, 100).await;
        assert_eq!(talk.events.len(), whole.events.len());
    }
}

#[tokio::test]
async fn a_window_of_tokens_is_kept_over_ten_thousand_messages() {
    let window = 400;
    let model = Arc::new(ScriptedModel::from_fn(move |request: &LlmRequest| {
        let size = ContextSize::of(&request.messages).tokens;
        assert!(size <= window, "{size}");
        reply_with_calls(request)
    }));
    let model = Agent::new(model).tool(constant_tool("t", json!("found")));
    let agent = model
        .compaction(TokenWindow::new(window))
        .turn_limits(Limits::new().input_tokens(3_000));
    let mut talk = agent.run("0").await.unwrap();
    let mut turn = 0;
    while talk.events.len() < 10_000 {
        turn += 1;
        talk = agent.run(talk.next_input(turn.to_string())).await.unwrap();
    }
    assert_eq!(talk.answer(), format!("answer {turn}"));
}

#[tokio::test]
async fn a_long_turn_keeps_its_request() {
    let calls = |_: usize| Reply::call("t", json!({}));
    let replies = (0..40).map(calls).chain(["done".into()]);
    let (agent, model) = scripted_agent(replies);
    let agent = agent
        .tool(constant_tool("t", json!(1)))
        .instructions("Be brief.")
        .compaction(LastMessages::new(10));
    agent.run("Count to forty.").await.unwrap();
    for request in model.requests() {
        assert_is_whole(&request);
        assert_eq!(request.messages[0].text(), "Count to forty.");
        assert!(request.messages.len() <= 11);
    }
}

#[tokio::test]
async fn a_result_that_comes_late_brings_its_call_back() {
    let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
        let lines: Vec<String> = request.messages.iter().map(words).collect();
        match lines.last().map(String::as_str) {
            Some("a house") => Reply::call("build", json!({})).and_call("t", json!({})),
            Some("and?") if lines.iter().any(|message| message.contains("four rooms")) => {
                "It is built.".into()
            }
            _ => "yes".into(),
        }
    }));
    let agent = Agent::new(Arc::clone(&model));
    let build = petalflow::tool::FuncTool::new("build", "Builds.", |_: Value| async { Ok(()) })
        .long_running();
    let agent = agent
        .tool(build)
        .tool(constant_tool("t", json!(1)))
        .instructions("Be brief.")
        .compaction(LastMessages::new(4));
    let mut talk = agent.run("a house").await.unwrap();
    let call = talk.pending()[0].id().to_string();
    for _ in 0..10 {
        talk = agent.run(talk.next_input("and?")).await.unwrap();
    }
    let read = |model: &ScriptedModel| {
        model
            .requests()
            .last()
            .unwrap()
            .messages
            .iter()
            .map(words)
            .collect::<Vec<_>>()
    };
    assert!(
        !read(&model).iter().any(|message| message.contains("build")),
        "it was cut"
    );
    let built = ConversationInput::default().result(call, "four rooms");
    talk = agent.run(talk.next_input(built)).await.unwrap();
    assert_eq!(talk.answer(), "It is built.");
    assert_is_whole(model.requests().last().unwrap());
    let messages = read(&model);
    assert!(
        messages.contains(&"build = \"four rooms\" & t = 1".to_string()),
        "{messages:?}"
    );
    agent.run(talk.next_input("thanks")).await.unwrap();
    assert_is_whole(model.requests().last().unwrap());
}

#[tokio::test]
async fn a_summary_includes_the_earlier_one_and_is_counted() {
    let summaries = Arc::new(ScriptedModel::new(
        (1..).take(20).map(|number| format!("summary {number}")),
    ));
    let (agent, model) = busy_agent();
    let agent = agent.compaction(Summary::new(Arc::clone(&summaries), LastMessages::new(8)));
    let talk = turns(&agent, 12).await;
    let asked = summaries.requests();
    assert!(asked.len() > 2);
    assert!(asked[0].messages[0].text().starts_with(
        "user: 0\n\nassistant: answer 0\n\nuser: 1\n\ncall of `t` with {\"round\":1}"
    ));
    assert!(
        asked[1].messages[0]
            .text()
            .starts_with("user: Summary of the conversation so far:\n\nsummary 1\n")
    );
    assert!(
        asked[0]
            .system
            .as_ref()
            .unwrap()
            .starts_with("You write the summary")
    );
    let last = model.requests().pop().unwrap();
    assert_is_whole(&last);
    assert_eq!(
        last.messages[0].text(),
        format!(
            "Summary of the conversation so far:\n\nsummary {}",
            asked.len()
        )
    );
    let requests = asked.len() + model.requests().len();
    assert_eq!(talk.usage().requests, requests as u64);
    assert!(
        !talk
            .events
            .iter()
            .any(|event| event.text().contains("summary")),
        "the events are those of the users"
    );
}

#[tokio::test]
async fn a_limit_holds_for_the_summary_too() {
    let (summaries, model) = (
        Arc::new(ScriptedModel::new(["never"])),
        ScriptedModel::from_fn(|_| "yes"),
    );
    let agent =
        Agent::new(model).compaction(Summary::new(Arc::clone(&summaries), LastMessages::new(4)));
    let agent = agent.thread_limits(Limits::new().requests(2));
    let mut talk = agent.run("1").await.unwrap();
    talk = agent.run(talk.next_input("2")).await.unwrap();
    let error = agent.run(talk.next_input("3")).await.unwrap_err();
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    assert!(
        matches!(cause, Some(AgentError::Limit(limit)) if limit.kind == LimitKind::Requests),
        "{error:?}"
    );
    assert!(summaries.requests().is_empty());
}

#[tokio::test]
async fn a_function_replaces_what_is_cut_and_a_listener_gets_an_event() {
    let window = Replaced::new(
        LastMessages::new(4).keep(1),
        |cut: Vec<ChatMessage>| async move {
            Ok(vec![ChatMessage::user(format!("{} are gone", cut.len()))])
        },
    );
    let agent = Agent::new(ScriptedModel::from_fn(|request| {
        words(&request.messages[0])
    }))
    .compaction(window);
    let mut talk = agent.run("1").await.unwrap();
    talk = agent.run(talk.next_input("2")).await.unwrap();
    let mut events = agent.events(talk.next_input("3"));
    let mut compacted = Vec::new();
    let talk = loop {
        match events.next().await.unwrap().kind {
            AgentEventKind::Compacted(event) => {
                compacted.push((event.agent, event.cut, event.kept, event.replacement));
            }
            AgentEventKind::Finished(talk) => break talk,
            _ => {}
        }
    };
    assert_eq!(compacted, [("agent".to_string(), 4, 1, 1)]);
    assert_eq!(talk.answer(), "4 are gone");
}

#[tokio::test]
async fn each_agent_has_its_own_cut() {
    let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
        let last = request.messages.last().unwrap();
        match &*last.text() {
            "over" => Reply::call("transfer_to_agent", json!({"agent_name": "b"})),
            _ => format!("{} read", request.messages.len()).into(),
        }
    }));
    let agent = Agent::new(Arc::clone(&model))
        .name("a")
        .compaction(LastMessages::new(6));
    let agent = agent.sub_agent(Agent::named("b").compaction(LastMessages::new(60)));
    let mut talk = agent.run("1").await.unwrap();
    for _ in 0..10 {
        talk = agent.run(talk.next_input("more")).await.unwrap();
    }
    let at_most_six = |model: &ScriptedModel| {
        model
            .requests()
            .iter()
            .all(|request| request.messages.len() <= 7)
    };
    assert!(at_most_six(&model));
    talk = agent.run(talk.next_input("over")).await.unwrap();
    assert_eq!(talk.answer(), "25 read", "the other agent reads all");
}

#[tokio::test]
async fn the_history_of_a_turn_is_compacted_too() {
    let (agent, model) = busy_agent();
    let agent = agent
        .history(History::Turn)
        .compaction(LastMessages::new(5));
    turns(&agent, 30).await;
    model.requests().iter().for_each(assert_is_whole);
    assert!(
        model
            .requests()
            .iter()
            .all(|request| request.messages.len() <= 7)
    );
}

#[tokio::test]
async fn a_message_that_alone_is_too_long_does_not_stop_the_turn() {
    let (agent, model) = scripted_agent(["yes", "yes"]);
    let agent = agent.compaction(TokenWindow::new(10));
    let talk = agent.run("long ".repeat(100)).await.unwrap();
    agent
        .run(talk.next_input("long ".repeat(100)))
        .await
        .unwrap();
    assert_eq!(model.requests()[1].messages.len(), 1);
}

/// An agent whose answers and summaries depend on the requests only.
fn deterministic_agent(summaries: &Arc<AtomicUsize>) -> Agent {
    let summaries = Arc::clone(summaries);
    let summary = ScriptedModel::from_fn(move |request| {
        summaries.fetch_add(1, SeqCst);
        format!("summary of {} bytes", request.messages[0].text().len())
    });
    let agent = Agent::new(ScriptedModel::from_fn(reply_with_calls))
        .tool(constant_tool("t", json!("found")));
    agent.compaction(Summary::new(summary, LastMessages::new(6)))
}

#[tokio::test]
async fn a_crash_during_a_compaction_loses_nothing() {
    let summaries = Arc::new(AtomicUsize::new(0));
    let made = Arc::clone(&summaries);
    let crashed = crashes(move || deterministic_agent(&made).launch(), || "1")
        .turn(|| "3")
        .durabilities([Durability::Sync])
        .after(|talk, what| {
            assert!(talk.answer().starts_with("answer"), "{what}");
            let ids: HashSet<&str> = talk.events.iter().map(|event| &*event.id).collect();
            assert_eq!(ids.len(), talk.events.len(), "{what}");
        })
        .check()
        .await;
    assert!(crashed.trials > 100);
    assert!(summaries.load(SeqCst) > 100, "the turns have compactions");
}

#[tokio::test]
async fn a_stored_summary_is_not_made_again() {
    let summaries = Arc::new(AtomicUsize::new(0));
    let store = InMemoryStore::new();
    let fails = Arc::new(AtomicUsize::new(0));
    let agent = |fails: Arc<AtomicUsize>| {
        let model = ScriptedModel::from_fn(move |request: &LlmRequest| {
            let compacted = request.messages[0].text().starts_with("Summary");
            if compacted && fails.fetch_add(1, SeqCst) < 2 {
                return petalflow_llm::LlmError::new(
                    petalflow_llm::LlmErrorKind::Connection,
                    "cut",
                )
                .into();
            }
            reply_with_calls(request)
        });
        deterministic_agent(&summaries).model(model)
    };
    for turn in ["4", "8", "12"] {
        agent(Arc::clone(&fails))
            .store(&store)
            .thread("t")
            .run(turn)
            .await
            .unwrap()
            .into_finished()
            .unwrap();
    }
    agent(Arc::clone(&fails))
        .store(&store)
        .thread("t")
        .run("16")
        .await
        .unwrap_err();
    // Each time in a new process.
    agent(Arc::clone(&fails))
        .store(&store)
        .thread("t")
        .resume(())
        .await
        .unwrap_err();
    let talk = agent(Arc::clone(&fails))
        .store(&store)
        .thread("t")
        .resume(())
        .await
        .unwrap();
    assert_eq!(talk.into_finished().unwrap().answer(), "answer 16");
    assert_eq!((summaries.load(SeqCst), fails.load(SeqCst)), (1, 3));
}

#[test]
fn windows_count_what_they_keep() {
    let messages = vec![ChatMessage::user("12345678"); 10];
    assert_eq!(ContextSize::of(&messages).tokens, 60);
    assert_eq!(TokenWindow::new(50).messages_to_keep(&messages), 4);
    assert_eq!(LastMessages::new(10).messages_to_keep(&messages), 5);
    assert!(TokenWindow::new(59).is_due(ContextSize::of(&messages)));
    assert!(!LastMessages::new(10).is_due(ContextSize::of(&messages)));
}

/// Always cuts.
struct Always;

#[petalflow::async_trait]
impl Compactor for Always {
    fn is_due(&self, _: ContextSize) -> bool {
        true
    }

    fn messages_to_keep(&self, messages: &[ChatMessage]) -> usize {
        messages.len()
    }
}

#[tokio::test]
async fn a_conversation_without_a_message_for_the_model_is_not_cut() {
    let (agent, model) = scripted_agent(["yes"]);
    let talk = agent.compaction(Always).run("").await.unwrap();
    assert_eq!((talk.answer(), model.requests().len()), ("yes".into(), 1));
}
