//! Agents that hand the conversation over.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::{Agent, Mode};
use petalflow_llm::{LlmRequest, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::kit::{agent_event, events, failure, results, scripted_agent, shape, tool, user_event};

fn transfer_to(agent: &str) -> Reply {
    Reply::call("transfer_to_agent", json!({ "agent_name": agent }))
}

/// The agents that a request names as targets.
fn targets(request: &LlmRequest) -> Vec<String> {
    let system = request.system.clone().unwrap_or_default();
    let lines = system
        .lines()
        .filter_map(|line| line.strip_prefix("Agent name: "));
    let has_tool = request
        .tools
        .iter()
        .any(|spec| spec.name == "transfer_to_agent");
    let targets: Vec<String> = lines.map(Into::into).collect();
    assert_eq!(has_tool, !targets.is_empty());
    targets
}

fn leaf(name: &str) -> Agent {
    Agent::named(name)
}

/// The targets of the agent `me` in a tree, to which the root hands the conversation if `me` is below it.
async fn targets_of(tree: Agent, me: &[&str]) -> Vec<String> {
    let replies = me
        .iter()
        .map(|name| transfer_to(name))
        .chain(["here".into()]);
    let model = Arc::new(ScriptedModel::new(replies));
    tree.model(Arc::clone(&model)).run("go").await.unwrap();
    targets(model.requests().last().unwrap())
}

#[tokio::test]
async fn a054_an_agent_may_hand_over_to_those_below_above_and_beside_it() {
    let none: [&str; 0] = [];
    let root = || Agent::named("root");
    // One alone, and one with others below it.
    assert_eq!(targets_of(root(), &[]).await, none);
    assert_eq!(
        targets_of(root().sub_agent(leaf("a")).sub_agent(leaf("b")), &[]).await,
        ["a", "b"]
    );
    // Upward and aside.
    assert_eq!(
        targets_of(root().sub_agent(leaf("a")), &["a"]).await,
        ["root"]
    );
    assert_eq!(
        targets_of(root().sub_agent(leaf("a")).sub_agent(leaf("b")), &["a"]).await,
        ["root", "b"]
    );
    let both = |a: Agent| {
        root()
            .sub_agent(a)
            .sub_agent(leaf("b"))
            .sub_agent(leaf("c"))
    };
    assert_eq!(
        targets_of(both(leaf("a")), &["a"]).await,
        ["root", "b", "c"]
    );
    assert_eq!(
        targets_of(both(leaf("a").disallow_transfer_to_parent()), &["a"]).await,
        ["b", "c"]
    );
    assert_eq!(
        targets_of(both(leaf("a").disallow_transfer_to_peers()), &["a"]).await,
        ["root"]
    );
    let neither = leaf("a")
        .disallow_transfer_to_parent()
        .disallow_transfer_to_peers();
    assert_eq!(targets_of(both(neither.clone()), &["a"]).await, none);
    assert_eq!(
        targets_of(both(neither.sub_agent(leaf("d"))), &["a"]).await,
        ["d"]
    );
    // In the middle.
    let middle = || {
        root()
            .sub_agent(leaf("m").sub_agent(leaf("x")).sub_agent(leaf("y")))
            .sub_agent(leaf("b"))
    };
    assert_eq!(targets_of(middle(), &["m"]).await, ["x", "y", "root", "b"]);
    assert_eq!(targets_of(middle(), &["m", "x"]).await, ["m", "y"]);
}

#[tokio::test]
async fn a054_task_agents_are_called_instead_of_getting_the_conversation() {
    let tree = Agent::named("root")
        .sub_agent(leaf("a"))
        .sub_agent(leaf("task").mode(Mode::Task))
        .sub_agent(leaf("once").mode(Mode::SingleTurn));
    assert_eq!(targets_of(tree.clone(), &[]).await, ["a"]);
    assert_eq!(targets_of(tree, &["a"]).await, ["root"]);
}

#[tokio::test]
async fn a053_a056_after_a_transfer_the_other_agent_answers_in_the_same_turn() {
    let (agent, _) = scripted_agent([transfer_to("writer")]);
    let writer = Arc::new(ScriptedModel::new([
        Reply::call("style", json!({})),
        "Dear all".into(),
    ]));
    let writer = Agent::new(Arc::clone(&writer))
        .name("writer")
        .description("writes letters")
        .tool(crate::kit::constant_tool("style", json!("formal")));
    let root = agent.name("root").sub_agent(writer);
    let (events, talk) = events(&root, "write a letter").await;
    assert_eq!(
        shape(&events),
        [
            r#"transfer_to_agent{"agent_name":"writer"}"#,
            "transfer_to_agent = null",
            "style{}",
            r#"style = "formal""#,
            "Dear all",
        ]
    );
    let authors: Vec<&str> = events.iter().map(|event| &*event.author).collect();
    assert_eq!(authors, ["root", "root", "writer", "writer", "writer"]);
    assert_eq!(
        events[1].actions.transfer_to_agent.as_deref(),
        Some("writer")
    );
    assert_eq!(talk.answer(), "Dear all");
}

#[tokio::test]
async fn a056_an_error_of_the_other_agent_ends_the_run() {
    let (agent, _) = scripted_agent([transfer_to("writer")]);
    let broken = ScriptedModel::new(Vec::<Reply>::new());
    let root = agent
        .name("root")
        .sub_agent(Agent::new(broken).name("writer"));
    assert!(failure(&root, "write").await.contains("add a reply"));
}

#[tokio::test]
async fn a053_a_tool_that_names_an_agent_out_of_reach_fails_the_run() {
    let jump = tool("jump", |_, cx| {
        cx.actions().transfer_to_agent = Some("nobody".into());
        Ok(Value::Null)
    });
    let (agent, _) = scripted_agent([Reply::call("jump", json!({}))]);
    let agent = agent.tool(jump).sub_agent(leaf("a"));
    assert_eq!(failure(&agent, "go").await, "failed to find agent: nobody");
}

#[tokio::test]
async fn a055_wrong_arguments_of_a_transfer_are_reported_to_the_model() {
    for (arguments, error) in [
        (
            json!({}),
            "`transfer_to_agent` needs the argument `agent_name`: the name of an agent",
        ),
        (
            json!({"agent_name": null}),
            "the argument `agent_name` of `transfer_to_agent` is null: give the name of an agent",
        ),
        (
            json!({"agent_name": 7}),
            "the argument `agent_name` of `transfer_to_agent` is 7: give the name of an agent",
        ),
        (json!({"agent_name": "x"}), "failed to find agent: x"),
    ] {
        let (agent, _) =
            scripted_agent([Reply::call("transfer_to_agent", arguments), "sorry".into()]);
        let (_, talk) = events(&agent.sub_agent(leaf("a")), "go").await;
        assert_eq!(results(&talk), [json!({ "error": error })]);
        assert_eq!(talk.answer(), "sorry");
    }
}

#[tokio::test]
async fn the_next_turn_goes_to_the_active_agent_if_it_can_transfer_back() {
    let store = InMemoryStore::new();
    let tree = |writer: Agent, model: &Arc<ScriptedModel>| {
        Agent::named("root")
            .sub_agent(writer)
            .model(Arc::clone(model))
    };
    for (writer, speaks) in [
        (leaf("writer"), "writer"),
        (leaf("writer").disallow_transfer_to_parent(), "root"),
    ] {
        let model = Arc::new(ScriptedModel::new([
            transfer_to("writer"),
            "Dear all".into(),
            "Best wishes".into(),
        ]));
        let thread = tree(writer, &model).store(&store).thread(speaks);
        thread
            .run("a letter")
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        let talk = thread
            .run("and an end")
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        assert_eq!(talk.events.last().unwrap().author, speaks);
    }
}

#[tokio::test]
async fn an_agent_uses_the_model_of_its_parent_and_sees_its_events_as_user_messages() {
    let (agent, model) = scripted_agent([transfer_to("writer"), "Dear all".into()]);
    agent
        .name("root")
        .sub_agent(leaf("writer"))
        .run("a letter")
        .await
        .unwrap();
    assert_eq!(
        crate::kit::sent_messages(&model),
        [
            "user: a letter",
            "user: For context: & [root] called tool `transfer_to_agent` with parameters: {\"agent_name\":\"writer\"}",
            "user: For context: & [root] `transfer_to_agent` tool returned result: {}",
        ]
    );
    assert_eq!(user_event("a").text(), agent_event("b", "a").text());
}
