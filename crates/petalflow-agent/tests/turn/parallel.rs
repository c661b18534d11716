//! Several calls in one turn, and what their results become.

use std::collections::BTreeMap;
use std::time::Duration;

use petalflow::tool::{Actions, Confirmation, FuncTool, ToolSpec, merge};
use petalflow_llm::{Reply, Role};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::kit::{constant_tool, events, results, scripted_agent, shape, tool};

/// Waits for the given time, then returns its argument.
fn slow(name: &str) -> FuncTool {
    let spec = ToolSpec::new(name, "Takes its time.", json!({"type": "object"}));
    FuncTool::untyped(spec, |arguments: Value, _| async move {
        sleep(Duration::from_millis(
            arguments["wait"].as_u64().unwrap_or(0),
        ))
        .await;
        Ok(arguments["say"].clone())
    })
}

#[tokio::test(start_paused = true)]
async fn a037_c101_calls_run_concurrently_and_results_have_the_order_of_the_calls() {
    let reply = Reply::call("slow", json!({"wait": 500, "say": 5}))
        .and_call("slow", json!({"wait": 300, "say": 9}))
        .and_call("slow", json!({"wait": 400, "say": 13}));
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let begun = Instant::now();
    let (events, talk) = events(&agent.tool(slow("slow")), "go").await;
    assert_eq!(
        begun.elapsed().as_millis() / 100,
        5,
        "as long as the longest"
    );
    assert_eq!(events.len(), 3, "calls, results, words");
    assert_eq!(results(&talk), [5, 9, 13]);
    let message = events[1].message.as_ref().unwrap();
    // The wire's `user`.
    assert_eq!(message.role, Role::Tool);
    assert_eq!(message.parts.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_concurrent_tools_is_limited() {
    let calls = |reply: Reply, _| reply.and_call("slow", json!({"wait": 100}));
    let reply = (1..6).fold(Reply::call("slow", json!({"wait": 100})), calls);
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let begun = Instant::now();
    events(&agent.tool(slow("slow")).parallel_tools(2), "go").await;
    assert_eq!(begun.elapsed().as_millis() / 100, 3, "six by twos");
}

#[tokio::test]
async fn a038_a039_c104_results_that_come_later_are_left_out_of_the_event() {
    let reply = |first: &str, second: &str, third: &str| {
        Reply::call(first, json!({}))
            .and_call(second, json!({}))
            .and_call(third, json!({}))
    };
    for (calls, shown) in [
        (["later", "b", "later"], vec!["b"]),
        (["a", "later", "c"], vec!["a", "c"]),
        (["a", "b", "c"], vec!["a", "b", "c"]),
    ] {
        let (agent, _) = scripted_agent([reply(calls[0], calls[1], calls[2]), "done".into()]);
        let agent = ["a", "b", "c"]
            .into_iter()
            .fold(agent, |agent, name| {
                agent.tool(constant_tool(name, json!(name)))
            })
            .tool(constant_tool("later", json!(null)).deferred());
        let (events, talk) = events(&agent, "go").await;
        assert_eq!(results(&talk), shown);
        assert_eq!(events[1].author, "agent");
    }
    let (agent, _) = scripted_agent([reply("later", "later", "later"), "done".into()]);
    let agent = agent.tool(constant_tool("later", json!(null)).deferred());
    let (events, _) = events(&agent, "go").await;
    assert_eq!(shape(&events), ["later{} & later{} & later{}", "done"]);
}

#[tokio::test]
async fn a040_a041_a042_a043_the_actions_of_all_tools_are_merged() {
    let acts = |name: &str, act: fn(&mut Actions)| {
        tool(name, move |_, cx| {
            act(&mut cx.actions());
            Ok(json!(null))
        })
    };
    let reply = Reply::call("one", json!({})).and_call("two", json!({}));
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let agent = agent
        .tool(acts("one", |actions| {
            actions.skip_summarization = true;
            actions
                .state_delta
                .insert("a".into(), json!({"x": 1, "y": 1}));
            actions.artifact_delta = BTreeMap::from([("report".into(), 3), ("draft".into(), -1)]);
        }))
        .tool(acts("two", |actions| {
            actions.escalate = true;
            actions
                .state_delta
                .insert("a".into(), json!({"y": 2, "z": 2}));
            actions.artifact_delta = BTreeMap::from([("report".into(), 2)]);
        }));
    let (events, talk) = events(&agent, "go").await;
    assert_eq!(events.len(), 2, "the results are the answer");
    let actions = &events[1].actions;
    assert!(actions.skip_summarization && actions.escalate);
    assert_eq!(talk.state["a"], json!({"x": 1, "y": 2, "z": 2}));
    assert_eq!(
        actions.artifact_delta,
        BTreeMap::from([("report".into(), 3), ("draft".into(), -1)])
    );
}

#[test]
fn a040_a043_a044_actions_of_two_events() {
    let to = |agent: &str| Actions {
        transfer_to_agent: Some(agent.into()),
        ..Actions::default()
    };
    let asks = |id: &str| Actions {
        requested_confirmations: BTreeMap::from([(id.into(), Confirmation::ask(id))]),
        ..Actions::default()
    };
    let both = merge([Some(to("a")), Some(to("b"))]).unwrap();
    assert_eq!(both.transfer_to_agent.as_deref(), Some("b"));
    let both = merge([Some(to("a")), Some(to(""))]).unwrap();
    assert_eq!(
        both.transfer_to_agent.as_deref(),
        Some("a"),
        "the last that names one"
    );
    let both = merge([Some(asks("1")), Some(asks("2"))]).unwrap();
    assert_eq!(both.requested_confirmations.len(), 2);
    assert_eq!(merge([None, None]), None);
    assert_eq!(merge([None, Some(to("a"))]), Some(to("a")));
    assert_eq!(merge([Some(to("a")), None]), Some(to("a")));
}
