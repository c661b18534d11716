//! The plan of an agent.

use crate::kit::{results, scripted_agent};
use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow_agent::compaction::LastMessages;
use petalflow_agent::deep::{Plan, PlanChanged, PlanState};
use petalflow_llm::Reply;
use serde_json::{Value, json};

fn plan(items: &[(&str, &str)]) -> Reply {
    let items: Vec<Value> = items
        .iter()
        .map(|(text, state)| json!({ "text": text, "state": state }))
        .collect();
    Reply::call("write_plan", json!({ "items": items }))
}

#[tokio::test]
async fn f44_a_plan_is_stored_and_sent_to_listeners() {
    let store = InMemoryStore::new();
    let replies = [
        plan(&[("read", "active"), ("write", "pending")]),
        plan(&[("read", "done"), ("write", "active")]),
        plan(&[(" ", "pending")]),
        plan(&[("read", "begun")]),
        "Half done.".into(),
    ];
    let (agent, _) = scripted_agent(replies);
    let thread = agent.plan().store(&store).thread("ann");
    let mut events = thread.run("Read, then write.").events();
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom(event) = &event.kind
            && let Some(changed) = event.downcast_ref::<PlanChanged>()
        {
            assert_eq!(event.name(), Some("agent_plan"));
            seen.push(changed.plan.to_string());
        }
    }
    assert_eq!(seen, ["[>] read\n[ ] write", "[x] read\n[>] write"]);
    let talk = thread.snapshot().await.unwrap().unwrap().state;
    let stored = Plan::of(&talk);
    assert_eq!(stored.to_string(), "[x] read\n[>] write");
    assert_eq!(stored.items[1].state, PlanState::Active);
    let results = results(&talk);
    assert_eq!(results[1], json!({ "items": 2 }));
    assert_eq!(
        results[2],
        json!({ "error": "an item of the plan has no text: say what is to be done" })
    );
    assert!(
        results[3]["error"]
            .as_str()
            .unwrap()
            .contains("unknown variant `begun`")
    );
}

#[tokio::test]
async fn f44_the_plan_is_read_again_when_its_call_is_not() {
    let (agent, model) = scripted_agent([
        plan(&[("read", "active")]),
        "one".into(),
        "two".into(),
        "three".into(),
    ]);
    let agent = agent.plan().compaction(LastMessages::new(4));
    let thread = agent.store(&InMemoryStore::new()).thread("ann");
    for message in ["a", "b", "c"] {
        let _ = thread.run(message).await.unwrap();
    }
    let systems: Vec<String> = model
        .requests()
        .iter()
        .map(|request| request.system.clone().unwrap())
        .collect();
    assert!(!systems[0].contains("Your plan:"));
    assert!(
        systems[3].ends_with("Your plan:\n\n[>] read"),
        "{}",
        systems[3]
    );
}
