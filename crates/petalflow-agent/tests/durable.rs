//! Turns that resume after a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::{Agent, ConversationInput};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_testing::crashes;
use serde_json::{Value, json};

use super::kit::{results, scripted, tool};

/// A tool that counts its calls.
fn counting(name: &str, count: &Arc<AtomicUsize>) -> FuncTool {
    let count = Arc::clone(count);
    tool(name, move |_, _| Ok(json!(count.fetch_add(1, SeqCst) + 1)))
}

#[tokio::test(start_paused = true)]
async fn a_finished_call_is_not_made_again_when_the_process_dies_during_another() {
    let store = InMemoryStore::new();
    let (fast, slow) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let hangs = Arc::new(AtomicBool::new(true));
    let agent = |replies: Vec<Reply>| {
        let (counter, hangs) = (Arc::clone(&slow), Arc::clone(&hangs));
        let spec = ToolSpec::new("slow", "Hangs the first time.", json!({"type": "object"}));
        let hanging = FuncTool::untyped(spec, move |_, _| {
            let hangs = hangs.load(SeqCst);
            let count = counter.fetch_add(1, SeqCst) + 1;
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(json!(count))
            }
        });
        let (agent, model) = scripted(replies);
        (agent.tool(counting("fast", &fast)).tool(hanging), model)
    };
    let calls = Reply::call("fast", json!({})).and_call("slow", json!({}));
    let (first, _) = agent(vec![calls]);
    let thread = first.store(&store).thread("t");
    // The process dies while `slow` hangs.
    let mut run = Box::pin(async { thread.run("go").await });
    for _ in 0..50 {
        let ended = tokio::time::timeout(Duration::from_millis(1), &mut run).await;
        assert!(ended.is_err(), "it hangs");
    }
    drop(run);
    assert_eq!((fast.load(SeqCst), slow.load(SeqCst)), (1, 1));

    hangs.store(false, SeqCst);
    let (second, model) = agent(vec!["done".into()]);
    let talk = second
        .store(&store)
        .thread("t")
        .resume(())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(
        (fast.load(SeqCst), slow.load(SeqCst)),
        (1, 2),
        "only what had not finished"
    );
    assert_eq!(results(&talk), [1, 2]);
    assert_eq!(talk.answer(), "done");
    assert_eq!(
        model.requests().len(),
        1,
        "the first answer was kept as well"
    );
}

#[tokio::test]
async fn a_model_that_failed_is_asked_again_without_calling_the_tools_again() {
    let store = InMemoryStore::new();
    let count = Arc::new(AtomicUsize::new(0));
    let failed = petalflow_llm::LlmError::new(petalflow_llm::LlmErrorKind::Connection, "cut");
    let (agent, _) = scripted([Reply::call("t", json!({})), failed.into(), "done".into()]);
    let thread = agent.tool(counting("t", &count)).store(&store).thread("t");
    thread.run("go").await.unwrap_err();
    let talk = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((count.load(SeqCst), talk.answer()), (1, "done".into()));
}

/// A model whose answers depend only on the request, in every process: two calls, then text.
fn steady(request: &LlmRequest) -> Reply {
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
    Agent::new(ScriptedModel::from_fn(steady))
        .tool(super::kit::returns("a", json!("one")))
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
    let (agent, model) = scripted(["ok"]);
    let input = ConversationInput::from(ChatMessage::user("now"));
    let input = ConversationInput {
        events: vec![super::kit::user("then")],
        ..input
    };
    agent.run(input).await.unwrap();
    assert_eq!(super::kit::asked(&model), ["user: then", "user: now"]);
}
