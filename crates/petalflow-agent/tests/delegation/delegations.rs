//! Agents that give work to others.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::{Agent, AgentEvent, History, Mode};
use petalflow_llm::{Part, Reply, ScriptedModel};
use serde::Deserialize;
use serde_json::json;

use crate::kit::{
    call, collect_stream, events, results, scripted_agent, sent_messages, shape, tool,
};

#[derive(Deserialize, petalflow::tool::schemars::JsonSchema)]
#[schemars(crate = "petalflow::tool::schemars")]
struct Items {
    #[expect(dead_code, reason = "only its schema is of interest")]
    items: Vec<String>,
}

fn fetcher(replies: impl IntoIterator<Item = Reply>) -> (Agent, Arc<ScriptedModel>) {
    let (agent, model) = scripted_agent(replies);
    let agent = agent
        .name("fetcher")
        .description("Fetches items.")
        .mode(Mode::Task);
    (agent.output::<Items>(), model)
}

fn give(id: &str) -> Reply {
    Reply::from(call(id, "fetcher", json!({"request": "fetch apples"})))
}

fn finish(items: serde_json::Value) -> Reply {
    Reply::from(call("f", "finish_task", json!({ "items": items })))
}

#[tokio::test]
async fn a069_an_agent_works_on_a_task_until_it_finishes_it() {
    let (fetcher, inner) = fetcher([finish(json!("apples")), finish(json!(["apples"]))]);
    let (agent, outer) = scripted_agent([give("1"), "I have apples.".into()]);
    let root = agent.name("root").sub_agent(fetcher);
    let (events, talk) = events(&root, "apples, please").await;
    assert_eq!(
        shape(&events)[3..],
        [
            r#"finish_task{"items":["apples"]}"#,
            r#"finish_task = {"result":"Task completed."}"#,
            r#"fetcher = {"items":["apples"]}"#,
            "I have apples.",
        ]
    );
    // The mismatch was reported to the model of the task.
    assert!(
        results(&talk)[0]["error"]
            .as_str()
            .unwrap()
            .contains("`items`")
    );
    let whose: Vec<(&str, Option<&str>)> = events
        .iter()
        .map(|event| (&*event.author, event.scope.as_deref()))
        .collect();
    let task = ("fetcher", Some("1"));
    assert_eq!(
        whose,
        [
            ("root", None),
            task,
            task,
            task,
            task,
            ("user", None),
            ("root", None)
        ]
    );
    assert_eq!(events[4].output, Some(json!({"items": ["apples"]})));
    assert_eq!(
        sent_messages(&inner)[0],
        r#"user: {"request":"fetch apples"}"#
    );
    assert_eq!(
        sent_messages(&outer),
        [
            "user: apples, please",
            r#"assistant: fetcher{"request":"fetch apples"}"#,
            r#"tool: fetcher = {"items":["apples"]}"#,
        ],
        "how the task was done is the other's own"
    );
}

#[tokio::test]
async fn a_task_may_take_several_turns_and_outlives_the_process() {
    let store = InMemoryStore::new();
    let (first, _) = fetcher(["Which apples?".into()]);
    let (agent, _) = scripted_agent([give("1")]);
    let root = agent.name("root").sub_agent(first);
    let talk = root
        .store(&store)
        .thread("t")
        .run("apples")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(talk.answer(), "Which apples?");

    let (second, inner) = fetcher([finish(json!(["red ones"]))]);
    let (agent, _) = scripted_agent(["I have them."]);
    let root = agent.name("root").sub_agent(second);
    let talk = root
        .store(&store)
        .thread("t")
        .run("red ones")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(talk.answer(), "I have them.");
    assert_eq!(
        sent_messages(&inner),
        [
            r#"user: {"request":"fetch apples"}"#,
            "assistant: Which apples?",
            "user: red ones"
        ]
    );
}

#[tokio::test]
async fn two_tasks_of_one_answer_are_worked_on_one_after_the_other() {
    let both = give("1").and(Part::Call(call(
        "2",
        "fetcher",
        json!({"request": "fetch pears"}),
    )));
    let (fetcher, _) = fetcher([finish(json!(["apples"])), finish(json!(["pears"]))]);
    let (agent, model) = scripted_agent([both, "I have both.".into()]);
    let (_, talk) = events(&agent.name("root").sub_agent(fetcher), "fruit").await;
    assert_eq!(talk.answer(), "I have both.");
    assert_eq!(
        sent_messages(&model)[2],
        r#"tool: fetcher = {"items":["apples"]} & fetcher = {"items":["pears"]}"#
    );
}

#[tokio::test]
async fn a_call_within_a_task_may_need_a_person() {
    let (executor, _) = scripted_agent([
        Reply::from(call("c", "wipe", json!({}))),
        Reply::from(call("f", "finish_task", json!({"result": "wiped"}))),
    ]);
    let wipe = tool("wipe", |_, _| Ok(json!("clean"))).confirm_if(|_| Some("really?".into()));
    let executor = executor.name("executor").mode(Mode::Task).tool(wipe);
    let (agent, _) = scripted_agent([
        Reply::from(call("1", "executor", json!({"request": "wipe it"}))),
        "It is clean.".into(),
    ]);
    let root = agent.name("root").sub_agent(executor);
    let talk = root.run("wipe it").await.unwrap();
    let id = talk.pending()[0].id().to_string();
    let yes = petalflow_agent::ConversationInput::default().confirm(id, true);
    let talk = root.run(talk.next_input(yes)).await.unwrap();
    assert_eq!(talk.answer(), "It is clean.");
    let scoped: Vec<&AgentEvent> = talk
        .events
        .iter()
        .filter(|event| event.scope.is_some())
        .collect();
    assert_eq!(
        scoped.len(),
        7,
        "all of the task is in its scope, the user's answer as well"
    );
}

#[tokio::test]
async fn a069_single_turn_agents_answer_in_parallel() {
    let (translator, inner) = scripted_agent([r#""hola""#, r#""salut""#]);
    let translator = translator
        .name("translator")
        .mode(Mode::SingleTurn)
        .streaming();
    let both = Reply::from(call("1", "translator", json!({"request": "Spanish"}))).and(Part::Call(
        call("2", "translator", json!({"request": "French"})),
    ));
    let (agent, _) = scripted_agent([both, "done".into()]);
    let root = agent.name("root").sub_agent(translator);
    let (pieces, events, talk) = collect_stream(root.events("hello")).await;
    assert_eq!(pieces.len(), 2, "they are heard as well");
    assert_eq!(
        inner.requests()[0].messages.len(),
        1,
        "each has a conversation of its own"
    );
    let whose: Vec<(&str, Option<&str>)> = events
        .iter()
        .map(|event| (&*event.author, event.branch.as_deref()))
        .collect();
    let asked = ("translator", Some("translator@1"));
    assert_eq!(
        whose,
        [("root", None), asked, asked, ("root", None), ("root", None)]
    );
    let mut answers = results(&talk);
    answers.sort_by_key(ToString::to_string);
    assert_eq!(
        answers,
        [
            json!({"result": "\"hola\""}),
            json!({"result": "\"salut\""})
        ]
    );
    assert_eq!(talk.answer(), "done");
    // They are heard as they arrive, and kept in the order of the calls.
    let by_id = |events: &[AgentEvent]| {
        let mut events = events.to_vec();
        events.sort_by(|a, b| a.id.cmp(&b.id));
        events
    };
    assert_eq!(
        by_id(&talk.events[1..]),
        by_id(&events),
        "and they are kept"
    );
}

/// What the model of a caller is sent after its reader has read a page, and has itself called another agent.
async fn sent_after_reading(history: History) -> String {
    let reader = [
        Reply::call("page", json!({})),
        Reply::call("counter", json!({ "request": "count" })),
        Reply::call("page", json!({})),
        "three".into(),
        "Read: three.".into(),
    ];
    let call = Reply::call("reader", json!({ "request": "read" }));
    let script = [call].into_iter().chain(reader).chain(["Done.".into()]);
    let (agent, model) = scripted_agent(script);
    let page = || tool("page", |_, _| Ok(json!("a long page")));
    let counter = Agent::named("counter").mode(Mode::SingleTurn).tool(page());
    let reader = Agent::named("reader").mode(Mode::SingleTurn).tool(page());
    let agent = agent.history(history).sub_agent(reader.sub_agent(counter));
    let talk = agent.run("Read it.").await.unwrap();
    assert_eq!(talk.answer(), "Done.");
    // The events of both agents are part of the conversation.
    assert_eq!(
        results(&talk)
            .iter()
            .filter(|result| **result == "a long page")
            .count(),
        2
    );
    sent_messages(&model).join("\n")
}

#[tokio::test]
async fn f44_a_caller_reads_the_answer_of_an_agent_and_not_what_that_agent_has_read() {
    let sent = sent_after_reading(History::All).await;
    assert!(sent.contains("Read: three."), "{sent}");
    assert!(
        !sent.contains("a long page") && !sent.contains("For context"),
        "{sent}"
    );
    let sent = sent_after_reading(History::WithCalled).await;
    assert_eq!(sent.matches("a long page").count(), 2, "{sent}");
}
