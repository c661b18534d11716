//! Turns that resume after a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::{Agent, ConversationInput};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_testing::{Fault, FaultKind, FaultyStore, crashes};
use serde_json::{Value, json};

use crate::kit::{results, scripted_agent, sent_messages, tool};

/// A tool that counts its calls.
fn counting(name: &str, count: &Arc<AtomicUsize>) -> FuncTool {
    let count = Arc::clone(count);
    tool(name, move |_, _| Ok(json!(count.fetch_add(1, SeqCst) + 1)))
}

/// An agent whose tool `slow` hangs until `works` is set, and the numbers of calls of `fast` and `slow`.
#[derive(Default)]
struct Hanging {
    fast: Arc<AtomicUsize>,
    slow: Arc<AtomicUsize>,
    works: Arc<AtomicBool>,
}

impl Hanging {
    fn agent(&self, replies: Vec<Reply>) -> (Agent, Arc<ScriptedModel>) {
        let (counter, works) = (Arc::clone(&self.slow), Arc::clone(&self.works));
        let spec = ToolSpec::new("slow", "Hangs the first time.", json!({"type": "object"}));
        let hanging = FuncTool::untyped(spec, move |_, _| {
            let hangs = !works.load(SeqCst);
            let count = counter.fetch_add(1, SeqCst) + 1;
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(json!(count))
            }
        });
        let (agent, model) = scripted_agent(replies);
        let agent = agent.tool(counting("fast", &self.fast)).tool(hanging);
        (agent, model)
    }

    fn calls(&self) -> (usize, usize) {
        (self.fast.load(SeqCst), self.slow.load(SeqCst))
    }
}

#[tokio::test(start_paused = true)]
async fn a_finished_call_is_not_made_again_when_the_process_dies_during_another() {
    let store = InMemoryStore::new();
    let hanging = Hanging::default();
    let calls = Reply::call("fast", json!({})).and_call("slow", json!({}));
    let (first, _) = hanging.agent(vec![calls]);
    let thread = first.store(&store).thread("t");
    // The process dies while `slow` hangs.
    let mut run = Box::pin(async { thread.run("go").await });
    for _ in 0..50 {
        let ended = tokio::time::timeout(Duration::from_millis(1), &mut run).await;
        assert!(ended.is_err(), "it hangs");
    }
    drop(run);
    assert_eq!(hanging.calls(), (1, 1));

    hanging.works.store(true, SeqCst);
    let (second, model) = hanging.agent(vec!["done".into()]);
    let talk = second
        .store(&store)
        .thread("t")
        .resume(())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(hanging.calls(), (1, 2), "only what had not finished");
    assert_eq!(results(&talk), [1, 2]);
    assert_eq!(talk.answer(), "done");
    assert_eq!(
        model.requests().len(),
        1,
        "the first answer was kept as well"
    );
}

/// A new message comes in place of a resume.
#[tokio::test(start_paused = true)]
async fn a_new_message_after_a_crash_has_the_results_of_the_calls_that_had_finished() {
    let store = InMemoryStore::new();
    let hanging = Hanging::default();
    let calls = Reply::call("slow", json!({})).and_call("fast", json!({}));
    let (agent, _) = hanging.agent(vec![calls]);
    let thread = agent.store(&store).thread("t");
    let crash = tokio::time::timeout(Duration::from_secs(1), thread.run("go"));
    crash.await.unwrap_err();
    assert_eq!(hanging.calls(), (1, 1));

    let (agent, model) = hanging.agent(vec!["you stopped".into(), "again".into()]);
    let thread = agent.store(&store).thread("t");
    let talk = thread
        .run("what happened?")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(talk.answer(), "you stopped");
    assert_eq!(hanging.calls(), (1, 1), "nothing runs again");
    let stopped = "the program stopped while this call ran, and it is not known what the call did";
    let expected = [
        "user: go".into(),
        "assistant: slow{} & fast{}".into(),
        format!(r#"tool: slow = {{"error":"{stopped}"}} & fast = 1"#),
        "user: what happened?".into(),
    ];
    assert_eq!(sent_messages(&model), expected);
    let ids: std::collections::BTreeSet<&str> =
        talk.events.iter().map(|event| &*event.id).collect();
    assert_eq!(ids.len(), talk.events.len(), "ids differ");
    // The results are part of the conversation.
    let talk = thread
        .run("and now?")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(sent_messages(&model)[2], expected[2]);
    assert_eq!(results(&talk).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_message_after_a_crash_during_a_decided_call_closes_the_call() {
    let store = InMemoryStore::new();
    let hanging = Hanging::default();
    let confirmed = |agent: Agent| {
        let wipe = crate::kit::constant_tool("wipe", json!("wiped"));
        agent.tool(wipe.confirm_if(|_| Some("really?".into())))
    };
    let calls = Reply::call("wipe", json!({}));
    let (agent, _) = hanging.agent(vec![calls]);
    // A callback hangs, after the person has decided.
    let agent = confirmed(agent);
    let thread = agent.store(&store).thread("t");
    let asked_for = thread
        .run("tidy up")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let yes = ConversationInput::default().confirm(asked_for.pending()[0].id(), true);
    let agent = agent.callbacks(Hang);
    let thread = agent.store(&store).thread("t");
    let crash = tokio::time::timeout(Duration::from_secs(1), thread.run(yes));
    crash.await.unwrap_err();

    let (agent, model) = hanging.agent(vec!["it stopped".into()]);
    let thread = confirmed(agent).store(&store).thread("t");
    let talk = thread.run("well?").await.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "it stopped");
    let asked = sent_messages(&model);
    assert!(
        asked[2].contains("the program stopped while this call ran"),
        "{asked:?}"
    );
}

struct Hang;

#[petalflow::async_trait]
impl petalflow_agent::extension::Callbacks for Hang {
    async fn before_tool(
        &self,
        _: &mut petalflow_agent::extension::ToolStep<'_>,
    ) -> Result<Option<Value>, petalflow::BoxError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_new_message_after_any_crash_finds_every_call_with_its_result() {
    // Each write to the store fails once, and another message follows.
    for point in 1..40 {
        let store = InMemoryStore::new();
        let faulty = FaultyStore::new(&store);
        faulty.inject(Fault {
            kind: FaultKind::TransientErrorBefore,
            nth: point,
        });
        let thread = steady_agent().store(&faulty).thread("t");
        let _ = thread.run("first").await;
        let died = faulty.fault_occurred();
        let model = Arc::new(ScriptedModel::from_fn(|_| "answer"));
        let agent = steady_agent().model(Arc::clone(&model));
        let thread = agent.store(&store).thread("t");
        let talk = thread.run("second").await.unwrap().into_finished().unwrap();
        assert_eq!(talk.answer(), "answer", "point {point}");
        let requests = model.requests();
        let pending = requests[0]
            .messages
            .iter()
            .flat_map(ChatMessage::tool_results);
        let pending = pending.filter(|result| result.content["status"] == "pending");
        assert_eq!(pending.count(), 0, "point {point}");
        if !died {
            return;
        }
    }
    panic!("a turn has fewer writes");
}

#[tokio::test]
async fn a_model_that_failed_is_asked_again_without_calling_the_tools_again() {
    let store = InMemoryStore::new();
    let count = Arc::new(AtomicUsize::new(0));
    let failed = petalflow_llm::LlmError::new(petalflow_llm::LlmErrorKind::Connection, "cut");
    let (agent, _) = scripted_agent([Reply::call("t", json!({})), failed.into(), "done".into()]);
    let thread = agent.tool(counting("t", &count)).store(&store).thread("t");
    thread.run("go").await.unwrap_err();
    let talk = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((count.load(SeqCst), talk.answer()), (1, "done".into()));
}

/// A model whose answers depend only on the request, in every process: two calls, then text.
fn deterministic_reply(request: &LlmRequest) -> Reply {
    let last = request.messages.last().expect("something was said");
    let number = request
        .messages
        .iter()
        .filter(|message| message.role == Role::User)
        .count();
    match last.role {
        Role::Tool => format!("answer {number}").into(),
        _ => Reply::call("a", json!({})).and_call("b", json!({})),
    }
}

fn steady_agent() -> Agent {
    Agent::new(ScriptedModel::from_fn(deterministic_reply))
        .tool(crate::kit::constant_tool("a", json!("one")))
        .tool(tool("b", |_, cx| {
            cx.set_state("seen", true);
            Ok(Value::Null)
        }))
}

#[tokio::test]
async fn a_turn_has_the_same_result_after_any_crash() {
    let crashed = crashes(|| steady_agent().launch(), || "first")
        .turn(|| "second")
        .after(|talk, what| assert!(talk.answer().starts_with("answer"), "{what}"))
        .check()
        .await;
    assert!(crashed.trials > 100);
}

#[tokio::test]
async fn a_conversation_resumes_in_another_process_with_its_history() {
    let store = InMemoryStore::new();
    steady_agent()
        .store(&store)
        .thread("t")
        .run("first")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let talk = steady_agent()
        .store(&store)
        .thread("t")
        .run("second")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(talk.answer(), "answer 2");
    assert_eq!(talk.events.len(), 8);
    assert_eq!(talk.state["seen"], true);
    let mut ids: Vec<&str> = talk.events.iter().map(|event| &*event.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8, "ids differ over turns");
}

#[tokio::test]
async fn a_given_history_is_part_of_the_conversation() {
    let (agent, model) = scripted_agent(["ok"]);
    let input = ConversationInput::from(ChatMessage::user("now"));
    let input = ConversationInput {
        events: vec![crate::kit::user_event("then")],
        ..input
    };
    agent.run(input).await.unwrap();
    assert_eq!(sent_messages(&model), ["user: then", "user: now"]);
}
