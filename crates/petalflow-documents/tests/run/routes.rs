//! Routes of routers, gates and guardians: rows P066 to P072.

use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow_documents::kinds::{
    ConditionalNode, FuncNode, GateNode, GuardianNode, Passage, Routed, RuleRouter,
};
use petalflow_documents::{Changes, Envelope, RouteDecision};
use petalflow_llm::ChatMessage;
use serde_json::{Value, json};

use crate::support::{settings, vars};

#[derive(Route)]
#[expect(dead_code, reason = "its names are used, not its values")]
enum Way {
    Left,
    RightSide,
}

fn mark(name: &'static str) -> FuncNode {
    FuncNode::new(move |_| async move { Ok(Changes::new().message(ChatMessage::user(name))) })
}

flow! {
    Choose(Envelope) {
        START -> choose;
        choose -> match { Left => left, RightSide => right };
        node choose: Routed<RuleRouter, Way>;
        node left: FuncNode = mark("left");
        node right: FuncNode = mark("right");
    }
}

fn router(config: Value) -> Routed<RuleRouter, Way> {
    Routed::new(RuleRouter::new(settings(config))).expect("its targets are routes")
}

fn visited_nodes(envelope: &Envelope) -> Vec<String> {
    envelope.messages.iter().map(ChatMessage::text).collect()
}

async fn choose(config: Value) -> Vec<String> {
    let launch = Choose::new().choose(router(config));
    visited_nodes(&launch.run(Envelope::new()).await.expect("it runs"))
}

#[tokio::test]
async fn p066_only_the_chosen_targets_run_in_the_order_of_the_graph() {
    let one = json!({ "rules": [{ "target": "right_side" }] });
    assert_eq!(choose(one).await, ["right"]);
    let both = json!({ "rules": [{ "target": "RightSide" }, { "target": "left" }], "allow_multiple": true });
    assert_eq!(choose(both).await, ["left", "right"]);
}

#[tokio::test]
async fn p067_without_a_target_the_path_ends() {
    let none: [&str; 0] = [];
    assert_eq!(choose(json!({})).await, none);
}

#[tokio::test]
async fn p068_another_variable_for_the_decision_does_not_change_the_route() {
    // Upstream reads the decision from `<node>_decision` only. With another variable, all successors run.
    let config = json!({ "default_target": "left", "decision_key": "way" });
    let launch = Choose::new().choose(router(config));
    let envelope = launch.run(Envelope::new()).await.expect("it runs");
    assert_eq!(visited_nodes(&envelope), ["left"]);
    assert_eq!(
        envelope.get_var_nested("way.targets"),
        Some(&json!(["left"]))
    );
    assert_eq!(envelope.get_var("choose_decision"), None);
}

#[test]
fn p068_a_target_that_is_not_a_route_is_refused() {
    let config = settings(json!({ "default_target": "middle" }));
    let error = Routed::<_, Way>::new(RuleRouter::new(config)).expect_err("no such route");
    assert_eq!(
        error.to_string(),
        "`target`: there is no route `middle`: use one of Left, RightSide"
    );
}

flow! {
    Chain(Envelope) {
        START -> first;
        first -> match { Left => second, RightSide => END };
        second -> match { Left => left, RightSide => right };
        node first: Routed<RuleRouter, Way> = router(json!({ "default_target": "left" }));
        node second: Routed<ConditionalNode, Way> = Routed::new(ConditionalNode::new(settings(json!({
            "conditions": [{ "name": "right_side", "expression": "first_decision.targets[0] == \"left\"" }],
            "default": "left",
        }))).expect("they are settings")).expect("they are routes");
        node left: FuncNode = mark("left");
        node right: FuncNode = mark("right");
    }
}

#[tokio::test]
async fn p069_routers_can_follow_each_other() {
    let envelope = Chain::run(Envelope::new()).await.expect("it runs");
    assert_eq!(visited_nodes(&envelope), ["right"]);
}

#[tokio::test]
async fn p070_a_decision_is_an_event() {
    let config = json!({ "rules": [{ "target": "left", "reason": "always" }] });
    let run = Choose::new().choose(router(config)).run(Envelope::new());
    let mut events = run.events();
    let mut decisions = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom(custom) = event.kind {
            decisions.extend(custom.downcast_ref::<RouteDecision>().cloned());
        }
    }
    let decision = RouteDecision {
        targets: vec!["left".into()],
        reason: "always".into(),
        ..RouteDecision::default()
    };
    assert_eq!(decisions, [decision]);
}

flow! {
    Gated(Envelope) {
        START -> gate;
        gate -> match { Pass => pass, Redirect => other };
        node gate: Routed<GateNode, Passage> = Routed::new(GateNode::new(settings(json!({
            "condition_var": "open", "on_fail": "redirect", "redirect_node_id": "other", "result_var": "gate",
        }))).expect("they are settings")).expect("they are routes");
        node pass: FuncNode = mark("pass");
        node other: FuncNode = mark("other");
    }
}

#[tokio::test]
async fn p071_a_gate_redirects_by_a_route() {
    // Upstream a variable, `__gate_redirect__`, names the node, and a name that is not a successor is ignored.
    for (open, visits) in [(true, "pass"), (false, "other")] {
        let envelope = Gated::run(vars(json!({ "open": open })))
            .await
            .expect("it runs");
        assert_eq!(visited_nodes(&envelope), [visits]);
        assert_eq!(envelope.get_var_nested("gate.passed"), Some(&json!(open)));
        assert_eq!(envelope.get_var("__gate_redirect__"), None);
    }
}

flow! {
    Guarded(Envelope) {
        START -> guard;
        guard -> match { Pass => pass, Redirect => other };
        node guard: Routed<GuardianNode, Passage> = Routed::new(GuardianNode::new(settings(json!({
            "checks": [{ "name": "name", "type": "required", "field": "name" }],
            "on_fail": "redirect", "redirect_node_id": "other",
        }))).expect("they are settings")).expect("they are routes");
        node pass: FuncNode = mark("pass");
        node other: FuncNode = mark("other");
    }
}

#[tokio::test]
async fn p072_a_guardian_redirects() {
    // Upstream sets a variable, `__guardian_redirect__`, that nothing reads.
    let envelope = Guarded::run(vars(json!({ "name": "ann" })))
        .await
        .expect("it runs");
    assert_eq!(visited_nodes(&envelope), ["pass"]);
    let envelope = Guarded::run(vars(json!({}))).await.expect("it runs");
    assert_eq!(visited_nodes(&envelope), ["other"]);
}

#[tokio::test]
async fn p066_the_builder_takes_the_same_nodes() {
    let flow = Graph::<Envelope>::builder("choose")
        .node_as("choose", router(json!({ "default_target": "right_side" })))
        .node_as("left", mark("left"))
        .node_as("right", mark("right"))
        .edge(START, "choose")
        .route("choose", "Left", "left")
        .route("choose", "RightSide", "right")
        .build()
        .expect("it is a graph");
    let envelope = flow.run(Envelope::new()).await.expect("it runs");
    assert_eq!(visited_nodes(&envelope), ["right"]);
}
