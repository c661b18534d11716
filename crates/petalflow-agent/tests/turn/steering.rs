//! Messages to an agent while it works.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::Thread;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::guardrail::{self, Verdict};
use petalflow_agent::{Agent, AgentEvent, AgentFlow, ConversationSteering};
use petalflow_llm::{ChatMessage, LlmRequest, Reply};
use serde_json::json;
use tokio::sync::Notify;

use crate::kit::scripted_agent;

#[derive(Clone, Default)]
struct Gate {
    entered: Arc<Notify>,
    open: Arc<Notify>,
}

/// A tool that waits until the gate opens.
fn search(gate: &Gate) -> FuncTool {
    let gate = gate.clone();
    let spec = ToolSpec::new("search", "Searches.", json!({"type": "object"}));
    FuncTool::untyped(spec, move |_, _| {
        let gate = gate.clone();
        async move {
            gate.entered.notify_one();
            gate.open.notified().await;
            Ok(json!("three trains"))
        }
    })
}

fn say(text: &str) -> ConversationSteering {
    ConversationSteering(vec![ChatMessage::user(text)])
}

async fn send(thread: &Thread<AgentFlow>, text: &str) {
    thread.send(say(text)).await.unwrap();
}

/// The texts of a request, with the role of each.
fn texts(request: &LlmRequest) -> Vec<String> {
    let messages = request.messages.iter();
    messages
        .map(|message| match message.tool_results().next() {
            Some(result) => format!("result {}", result.content),
            None => format!("{:?} {}", message.role, message.text()),
        })
        .collect()
}

fn agent(gate: &Gate, replies: Vec<Reply>) -> (Agent, Arc<petalflow_llm::ScriptedModel>) {
    let (agent, model) = scripted_agent(replies);
    (agent.tool(search(gate)), model)
}

#[tokio::test]
async fn f43_a_message_while_a_tool_runs_is_read_by_the_next_model_call() {
    let (store, gate) = (InMemoryStore::new(), Gate::default());
    let replies = vec![Reply::call("search", json!({})), "by bus then".into()];
    let (agent, model) = agent(&gate, replies);
    let thread = agent.store(&store).thread("ann");
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run("to Rome").await });
    gate.entered.notified().await;
    send(&thread, "no trains please").await;
    send(&thread, "and cheap").await;
    gate.open.notify_one();
    let talk = run.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "by bus then");
    assert!(talk.steering.is_empty(), "{talk:?}");
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    // The result follows its call, as providers want it.
    assert_eq!(
        texts(&requests[1]),
        [
            "User to Rome",
            "Assistant ",
            "result \"three trains\"",
            "User no trains please",
            "User and cheap"
        ]
    );
    let events: Vec<String> = talk.events.iter().map(|it| it.author.clone()).collect();
    let agent = events[1].clone();
    assert_eq!(events, ["user", &agent, &agent, "user", "user", &agent]);
    let ids: std::collections::BTreeSet<_> = talk.events.iter().map(|it| &it.id).collect();
    assert_eq!(
        ids.len(),
        talk.events.len(),
        "each event has an id of its own"
    );
}

#[tokio::test]
async fn f43_a_message_after_the_answer_is_read_in_the_next_turn() {
    let (store, gate) = (InMemoryStore::new(), Gate::default());
    let (agent, model) = agent(&gate, vec!["by train".into(), "by bus".into()]);
    let thread = agent.store(&store).thread("ann");
    thread
        .run("to Rome")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    send(&thread, "no trains please").await;
    let talk = thread.run("again").await.unwrap();
    assert_eq!(talk.into_finished().unwrap().answer(), "by bus");
    assert_eq!(
        texts(&model.requests()[1]),
        [
            "User to Rome",
            "Assistant by train",
            "User again",
            "User no trains please"
        ]
    );
}

#[tokio::test]
async fn f43_a_message_is_checked_by_guardrails_as_an_input_is() {
    let (store, gate) = (InMemoryStore::new(), Gate::default());
    let replies = vec![Reply::call("search", json!({})), "never".into()];
    let (agent, model) = agent(&gate, replies);
    let polite = guardrail::on_input("polite", async |message: ChatMessage| {
        let is_rude = message.text().contains("idiot");
        Ok(if is_rude {
            Verdict::block("Please be polite.")
        } else {
            Verdict::Pass
        })
    });
    let thread = agent.guardrail(polite).store(&store).thread("ann");
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run("to Rome").await });
    gate.entered.notified().await;
    send(&thread, "hurry, idiot").await;
    gate.open.notify_one();
    let talk = run.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "Please be polite.");
    assert_eq!(model.requests().len(), 1, "the model is not asked");
}

/// The turn is dropped after each number of polls, and resumed by another process.
#[tokio::test]
async fn f43_a_message_survives_the_end_of_the_process() {
    let mut sent_before_the_end = 0;
    for polls in 1..40 {
        let (store, gate) = (InMemoryStore::new(), Gate::default());
        let replies = || vec![Reply::call("search", json!({})), "done".into()];
        let (first, asked) = agent(&gate, replies());
        let thread = first.store(&store).thread("ann");
        let mut sent = false;
        {
            let mut run = Box::pin(async { thread.run("to Rome").await });
            for _ in 0..polls {
                let next = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_ready()));
                if next.await {
                    break;
                }
                if !sent && thread.snapshot().await.unwrap().is_some() {
                    send(&thread, "no trains please").await;
                    sent = true;
                }
                gate.open.notify_one();
                tokio::task::yield_now().await;
            }
        }
        if !sent {
            continue;
        }
        sent_before_the_end += 1;
        let mut left = replies().split_off(asked.requests().len().min(2));
        left.extend(["more".into(), "and more".into()]);
        let (second, _) = agent(&gate, left);
        let thread = second.store(&store).thread("ann");
        gate.open.notify_one();
        let _resumed = thread.resume(()).await.unwrap();
        // What came too late for the turn is for the next one.
        let talk = thread.run("good bye").await.unwrap();
        let talk = talk.into_finished().unwrap();
        let said = talk.events.iter().map(AgentEvent::text);
        let said = said.filter(|text| text == "no trains please").count();
        assert_eq!(said, 1, "{polls} polls: {talk:?}");
    }
    assert!(sent_before_the_end > 3, "{sent_before_the_end}");
}
