//! Agents that are asked once, and wait for people before they answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::FuncTool;
use petalflow_agent::{Agent, ConversationInput, Mode, Pending};
use petalflow_llm::{ChatMessage, Part, Reply, ScriptedModel};
use petalflow_testing::crashes;
use serde_json::{Value, json};

use crate::kit::{
    call, constant_tool, events, failure, results, scripted_agent, sent_messages, shape, tool,
};

/// A tool that a person must confirm, and how often it ran.
fn wipe() -> (FuncTool, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = tool("wipe", move |arguments, _| {
        counter.fetch_add(1, SeqCst);
        Ok(arguments["disk"].clone())
    });
    (tool.confirm_if(|_| Some("really?".into())), ran)
}

fn ask(id: &str, disk: &str) -> Reply {
    Reply::from(call(id, "cleaner", json!({ "request": disk })))
}

/// An agent that wipes the named disk and reports it.
fn cleaner(tool: FuncTool) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::from_fn(|request| {
        let first = request.messages[0].text();
        let request_of: Value = serde_json::from_str(&first).unwrap();
        match request.messages.last().unwrap().tool_results().next() {
            None => Reply::from(call(
                &format!("w-{}", request_of["request"].as_str().unwrap()),
                "wipe",
                json!({ "disk": request_of["request"] }),
            )),
            Some(result) => format!("wiped: {}", result.content).into(),
        }
    }));
    let agent = Agent::new(Arc::clone(&model));
    (
        agent.name("cleaner").mode(Mode::SingleTurn).tool(tool),
        model,
    )
}

#[tokio::test]
async fn a_single_turn_agent_waits_for_a_confirmation_and_survives_a_restart() {
    let store = InMemoryStore::new();
    let (tool, ran) = wipe();
    let (agent, outer) = scripted_agent([ask("1", "a")]);
    let root = agent.name("root").sub_agent(cleaner(tool.clone()).0);
    let thread = root.store(&store).thread("t");
    let talk = thread
        .run("clean up")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(
        (ran.load(SeqCst), outer.requests().len()),
        (0, 1),
        "the one above waits as well"
    );
    let pending = talk.pending();
    let [Pending::Confirmation { call, hint, .. }] = &pending[..] else {
        panic!("{pending:?}")
    };
    assert_eq!((&*call.name, hint.as_str()), ("wipe", "really?"));
    let last = talk.events.last().unwrap();
    assert_eq!(
        (&*last.author, last.branch.as_deref()),
        ("cleaner", Some("cleaner@1"))
    );

    let (agent, outer) = scripted_agent(["It is clean."]);
    let (cleaner, inner) = cleaner(tool);
    let root = agent.name("root").sub_agent(cleaner);
    let thread = root.store(&store).thread("t");
    let yes = ConversationInput::default().confirm(pending[0].id(), true);
    let talk = thread.run(yes).await.unwrap().into_finished().unwrap();
    assert_eq!(
        (ran.load(SeqCst), talk.answer()),
        (1, "It is clean.".into())
    );
    assert!(talk.pending().is_empty());
    assert_eq!(inner.requests().len(), 1, "it was not asked anew");
    assert_eq!(
        sent_messages(&inner),
        [
            r#"user: {"request":"a"}"#,
            r#"assistant: wipe{"disk":"a"}"#,
            r#"tool: wipe = "a""#
        ]
    );
    let transcript = sent_messages(&outer);
    assert_eq!(
        transcript[2], r#"tool: cleaner = {"result":"wiped: \"a\""}"#,
        "{transcript:?}"
    );
    assert_eq!(
        results(&talk).len(),
        4,
        "asked, confirmed, done, told: {:?}",
        shape(&talk.events)
    );
}

#[tokio::test]
async fn a_rejection_is_reported_to_the_agent_that_asked() {
    let (tool, ran) = wipe();
    let (agent, outer) = scripted_agent([ask("1", "a"), "It is not.".into()]);
    let root = agent.name("root").sub_agent(cleaner(tool).0);
    let talk = root.run("clean up").await.unwrap();
    let no = ConversationInput::default().confirm(talk.pending()[0].id(), false);
    let (heard, talk) = events(&root, talk.next_input(no)).await;
    assert_eq!((ran.load(SeqCst), talk.answer()), (0, "It is not.".into()));
    assert_eq!(heard.len(), 4, "each is heard once: {:?}", shape(&heard));
    assert!(
        sent_messages(&outer)
            .iter()
            .any(|line| line.contains("Tool execution not confirmed"))
    );
}

#[tokio::test]
async fn two_waiting_agents_are_answered_together_or_in_turn() {
    let both = || ask("1", "a").and(Part::Call(call("2", "cleaner", json!({ "request": "b" }))));
    for together in [true, false] {
        let (tool, ran) = wipe();
        let (agent, outer) = scripted_agent([both(), "One.".into(), "All.".into()]);
        let root = agent.name("root").sub_agent(cleaner(tool).0);
        let talk = root.run("clean up").await.unwrap();
        let pending = talk.pending();
        assert_eq!(pending.len(), 2);
        let first = ConversationInput::default().confirm(pending[1].id(), true);
        let talk = if together {
            let all = first.confirm(pending[0].id(), true);
            root.run(talk.next_input(all)).await.unwrap()
        } else {
            let talk = root.run(talk.next_input(first)).await.unwrap();
            assert_eq!((ran.load(SeqCst), talk.pending().len()), (1, 1));
            let transcript = sent_messages(&outer);
            assert!(
                transcript.iter().any(|line| line.contains("pending")),
                "{transcript:?}"
            );
            let second = ConversationInput::default().confirm(pending[0].id(), true);
            root.run(talk.next_input(second)).await.unwrap()
        };
        assert_eq!(ran.load(SeqCst), 2);
        assert_eq!(talk.answer(), if together { "One." } else { "All." });
        let transcript = sent_messages(&outer);
        let both =
            r#"tool: cleaner = {"result":"wiped: \"a\""} & cleaner = {"result":"wiped: \"b\""}"#;
        assert!(transcript.iter().any(|line| line == both), "{transcript:?}");
        assert!(talk.pending().is_empty());
    }
}

#[tokio::test]
async fn later_results_reach_the_agent_that_called() {
    let (builder, inner) = scripted_agent([
        Reply::from(call("b", "build", json!({}))),
        "It has four rooms.".into(),
    ]);
    let build = constant_tool("build", Value::Null).long_running();
    let builder = builder.name("builder").mode(Mode::SingleTurn).tool(build);
    let (middle, _) = scripted_agent([
        Reply::from(call("m", "builder", json!({"request": "a house"}))),
        "There is a house.".into(),
    ]);
    // Asked by one that was itself asked.
    let middle = middle
        .name("middle")
        .mode(Mode::SingleTurn)
        .sub_agent(builder);
    let (agent, outer) = scripted_agent([
        Reply::from(call("1", "middle", json!({"request": "a house"}))),
        "Meanwhile: patience.".into(),
        "You have a house.".into(),
    ]);
    let root = agent.name("root").sub_agent(middle);
    let talk = root.run("a house, please").await.unwrap();
    assert!(matches!(&talk.pending()[..], [Pending::Result { call }] if call.name == "build"));

    // The user may say something else first.
    let talk = root.run(talk.next_input("how long?")).await.unwrap();
    assert_eq!(talk.answer(), "Meanwhile: patience.");
    let built = ConversationInput::default().result("b", "four rooms");
    let talk = root.run(talk.next_input(built)).await.unwrap();
    assert_eq!(talk.answer(), "You have a house.");
    assert_eq!(sent_messages(&inner)[2], r#"tool: build = "four rooms""#);
    let transcript = sent_messages(&outer);
    assert!(
        transcript
            .iter()
            .any(|line| line.contains(r#"middle = {"result":"There is a house."}"#)),
        "{transcript:?}"
    );
}

#[tokio::test]
async fn a_message_goes_to_the_agent_that_works_on_a_task() {
    let (worker, inner) = scripted_agent([
        "Which disk?".into(),
        Reply::from(call("w", "wipe", json!({"disk": "b"}))),
        Reply::from(call("f", "finish_task", json!({"result": "b is clean"}))),
    ]);
    let (tool, ran) = wipe();
    let worker = worker.name("worker").mode(Mode::Task).tool(tool);
    let (middle, _) = scripted_agent([
        Reply::from(call("t", "worker", json!({"request": "clean up"}))),
        "Done.".into(),
    ]);
    let middle = middle
        .name("middle")
        .mode(Mode::SingleTurn)
        .sub_agent(worker);
    let (agent, outer) = scripted_agent([
        Reply::from(call("1", "middle", json!({"request": "clean up"}))),
        "It is clean.".into(),
    ]);
    let root = agent.name("root").sub_agent(middle);
    let talk = root.run("clean up").await.unwrap();
    assert_eq!(talk.events.last().unwrap().text(), "Which disk?");
    assert!(talk.pending().is_empty(), "it is a question in words");
    let talk = root.run(talk.next_input("the second")).await.unwrap();
    assert_eq!(sent_messages(&inner).last().unwrap(), "user: the second");
    let yes = ConversationInput::default().confirm(talk.pending()[0].id(), true);
    let talk = root.run(talk.next_input(yes)).await.unwrap();
    assert_eq!(
        (ran.load(SeqCst), talk.answer()),
        (1, "It is clean.".into())
    );
    assert_eq!(
        outer.requests().len(),
        2,
        "the one above waited all the time"
    );
    let transcript = sent_messages(&outer);
    assert!(
        transcript
            .iter()
            .any(|line| line.contains(r#"middle = {"result":"Done."}"#)),
        "{transcript:?}"
    );
}

#[tokio::test]
async fn an_agent_that_ended_its_task_gets_no_answer() {
    let finish = Reply::from(call("f", "finish_task", json!({"result": "never mind"})));
    let (worker, _) = scripted_agent([ask("1", "a"), finish]);
    let worker = worker
        .name("worker")
        .mode(Mode::Task)
        .sub_agent(cleaner(wipe().0).0);
    let give = Reply::from(call("t", "worker", json!({"request": "clean up"})));
    let (agent, _) = scripted_agent([give, "It was not needed.".into(), "fine".into()]);
    let root = agent.name("root").sub_agent(worker);
    let talk = root.run("clean up").await.unwrap();
    let yes = ConversationInput::default().confirm(talk.pending()[0].id(), true);
    let talk = root.run(talk.next_input("let it be")).await.unwrap();
    assert_eq!(talk.answer(), "It was not needed.");
    let late = ConversationInput {
        message: yes.message,
        ..talk.clone().next_input("")
    };
    assert_eq!(
        failure(&root, late).await,
        "agent `cleaner` waits for an answer, and agent `root`, which has the conversation, did not call it: give the answer in \
         an input of its own, while the agent that called it has the conversation"
    );
    assert_eq!(
        root.run(talk.next_input("thanks")).await.unwrap().answer(),
        "fine"
    );
}

#[tokio::test]
async fn a_callback_may_answer_for_a_waiting_agent() {
    let (agent, _) = scripted_agent([ask("1", "a"), "It is clean enough.".into()]);
    let root = agent.name("root").sub_agent(cleaner(wipe().0).0);
    let root = root.after_tool(|step, outcome| {
        let waits = step.call().name == "cleaner" && matches!(outcome, Ok(Value::Null));
        Ok(waits.then(|| json!("it can wait")))
    });
    let talk = root.run("clean up").await.unwrap();
    assert_eq!(talk.answer(), "It is clean enough.");
}

/// An agent above the cleaner. The answers of both depend only on their input.
fn deterministic_agent() -> Agent {
    let (agent, _) = cleaner(wipe().0);
    let root = ScriptedModel::from_fn(|request| {
        let mut results = request.messages.iter().flat_map(ChatMessage::tool_results);
        match results.next() {
            Some(result) if result.content.get("result").is_some() => Reply::from("done"),
            Some(_) => "waiting".into(),
            None => ask("1", "a"),
        }
    });
    Agent::new(root).name("root").sub_agent(agent)
}

#[tokio::test]
async fn a_turn_that_resumes_a_waiting_agent_has_the_same_result_after_any_crash() {
    let confirm = {
        let talk = deterministic_agent().run("clean up").await.unwrap();
        assert_eq!(talk.pending().len(), 1);
        move |talk: &petalflow_agent::Conversation| {
            ConversationInput::default().confirm(talk.pending()[0].id(), true)
        }
    };
    let talk = deterministic_agent().run("clean up").await.unwrap();
    let yes = confirm(&talk);
    let before = talk.next_input(yes);
    let crashed = crashes(|| deterministic_agent().launch(), move || before.clone())
        .after(|talk, what| assert_eq!(talk.answer(), "done", "{what}"))
        .check()
        .await;
    assert!(crashed.trials > 20);
}
