//! `MergeNode` and branches, rows P113 to P121.

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow_documents::kinds::{BranchNode, FuncNode, MergeConfig, MergeNode};
use petalflow_documents::{Artifact, Branch, Changes, Envelope, NodeFailure};
use petalflow_llm::ChatMessage;
use serde_json::{Value, json};

use crate::support::{settings, settings_error, var, vars};

/// A branch that sets variables.
fn branch_with_vars(variables: Value) -> BranchNode {
    BranchNode::new(FuncNode::new(move |_| {
        let variables = variables.clone();
        async move {
            let vars = variables.as_object().expect("an object").clone();
            Ok(vars
                .into_iter()
                .fold(Changes::new(), |changes, (name, value)| {
                    changes.var(name, value)
                }))
        }
    }))
}

/// Merges branches that set these variables.
async fn merge(node: MergeNode, branches: &[Value], input: Envelope) -> Result<Envelope, String> {
    let mut flow = Graph::<Envelope>::builder("merge");
    let names: Vec<String> = (1..=branches.len())
        .map(|number| format!("b{number}"))
        .collect();
    for (name, branch) in names.iter().zip(branches) {
        flow = flow
            .node_as(name.as_str(), branch_with_vars(branch.clone()))
            .edge(START, name.as_str());
    }
    flow = flow.node_as("m", node);
    flow = match &names[..] {
        [] => flow.edge(START, "m"),
        [only] => flow.edge(only.as_str(), "m"),
        several => flow.join(several.iter().cloned(), "m"),
    };
    let envelope = flow.build().expect("it is a graph").run(input).await;
    envelope.map_err(|error| error.to_string())
}

async fn merge_branches(config: Value, branches: &[Value], before: Value) -> Value {
    let node = MergeNode::new(settings(config));
    let envelope = merge(node, branches, vars(before))
        .await
        .expect("it merges");
    assert_eq!(
        envelope.branches.iter().count(),
        0,
        "the branches are merged"
    );
    Value::Object(envelope.vars)
}

fn json_merge(settings: Value) -> Value {
    let mut config = json!({ "strategy": "json_merge" });
    config
        .as_object_mut()
        .expect("an object")
        .extend(settings.as_object().expect("an object").clone());
    config
}

#[tokio::test]
async fn p113_defaults_and_few_branches() {
    assert_eq!(MergeConfig::default(), settings(json_merge(json!({}))));
    assert_eq!(
        MergeConfig::default(),
        settings(json!({ "strategy": "json", "conflict_policy": "last" }))
    );
    let none = merge(
        MergeNode::new(MergeConfig::default()),
        &[],
        vars(json!({ "a": 1 })),
    )
    .await;
    assert_eq!(none.expect("it merges").vars, vars(json!({ "a": 1 })).vars);
    let one = merge_branches(
        json_merge(json!({ "conflict_policy": "error" })),
        &[json!({ "a": 2 })],
        json!({ "a": 1 }),
    )
    .await;
    assert_eq!(one, json!({ "a": 2 }));
}

#[tokio::test]
async fn p114_conflicts() {
    let branches = [json!({ "x": 1, "p": 1 }), json!({ "x": 2, "q": 2 })];
    let with = |policy: &str| json_merge(json!({ "conflict_policy": policy }));
    assert_eq!(
        merge_branches(with("last"), &branches, json!({})).await,
        json!({ "x": 2, "p": 1, "q": 2 })
    );
    assert_eq!(
        merge_branches(with("first"), &branches, json!({})).await,
        json!({ "x": 1, "p": 1, "q": 2 })
    );
    assert_eq!(
        merge_branches(with("whatever"), &branches, json!({})).await["x"],
        json!(2)
    );
    let error = merge(
        MergeNode::new(settings(with("error"))),
        &branches,
        vars(json!({})),
    )
    .await;
    let error = error.expect_err("they conflict");
    assert!(
        error.contains("branches `b1` and `b2` set variable `x` to different values"),
        "{error}"
    );
}

#[tokio::test]
async fn p115_a_value_from_before_the_fork_is_not_a_conflict() {
    // Upstream merges whole envelopes, so that every variable from before the fork is a conflict.
    let config = json_merge(json!({ "conflict_policy": "error" }));
    let branches = [json!({ "a": 2, "same": 3 }), json!({ "b": 1, "same": 3 })];
    let after = merge_branches(config, &branches, json!({ "a": 1, "kept": true })).await;
    assert_eq!(after, json!({ "a": 2, "b": 1, "same": 3, "kept": true }));
    // The first branch did not touch `a`, so that the change of the second one is used.
    let config = json_merge(json!({ "conflict_policy": "first" }));
    let after = merge_branches(
        config,
        &[json!({ "b": 1 }), json!({ "a": 2 })],
        json!({ "a": 1 }),
    )
    .await;
    assert_eq!(after["a"], json!(2));
}

#[tokio::test]
async fn p116_deep_merge_needs_the_policy_last() {
    let branches = [
        json!({ "o": { "a": 1, "n": { "x": 1 } } }),
        json!({ "o": { "b": 2, "n": { "y": 2 } } }),
    ];
    let deep = |policy: &str| json_merge(json!({ "deep_merge": true, "conflict_policy": policy }));
    assert_eq!(
        merge_branches(deep("last"), &branches, json!({})).await,
        json!({ "o": { "a": 1, "b": 2, "n": { "x": 1, "y": 2 } } })
    );
    assert_eq!(
        merge_branches(deep("first"), &branches, json!({})).await,
        branches[0]
    );
    assert_eq!(
        merge_branches(json_merge(json!({})), &branches, json!({})).await,
        branches[1]
    );
}

/// A branch that appends an item to each list.
fn append(name: &'static str) -> BranchNode {
    BranchNode::new(FuncNode::new(move |_| async move {
        Ok(Changes::new()
            .artifact(Artifact::new(name))
            .message(ChatMessage::user(name))
            .error(NodeFailure::new(name, "nearly")))
    }))
}

flow! {
    Append(Envelope) {
        START -> left & right;
        left & right -> merge;
        node left: BranchNode = append("left");
        node right: BranchNode = append("right");
        node merge: MergeNode;
    }
}

fn items(envelope: &Envelope) -> [String; 3] {
    let artifacts: Vec<&str> = envelope
        .artifacts
        .iter()
        .map(|it| it.kind.as_str())
        .collect();
    let messages: Vec<String> = envelope.messages.iter().map(ChatMessage::text).collect();
    let errors: Vec<&str> = envelope.errors.iter().map(|it| it.node.as_str()).collect();
    [artifacts.join(" "), messages.join(" "), errors.join(" ")]
}

fn with_items() -> Envelope {
    let mut envelope = Envelope::new();
    envelope.append_artifact(Artifact::new("before"));
    envelope.append_message(ChatMessage::user("before"));
    envelope.append_error(NodeFailure::new("before", "nearly"));
    envelope
}

#[tokio::test]
async fn p117_items_from_before_the_fork_are_there_once() {
    // Upstream they are there once per branch.
    for config in [
        json!({ "strategy": "json_merge" }),
        json!({ "strategy": "concat", "var_name": "x" }),
    ] {
        let launch = Append::new().merge(MergeNode::new(settings(config)));
        let envelope = launch.run(with_items()).await.expect("it merges");
        assert_eq!(items(&envelope), ["before left right"; 3]);
    }
}

#[tokio::test]
async fn p118_variables_only() {
    let config = json_merge(json!({ "vars_only": true }));
    let launch = Append::new().merge(MergeNode::new(settings(config)));
    let envelope = launch.run(with_items()).await.expect("it merges");
    let [artifacts, messages, _] = items(&envelope);
    assert_eq!([artifacts, messages], ["before left"; 2]);
}

#[tokio::test]
async fn p119_concat() {
    let branches = [
        json!({ "t": "one" }),
        json!({ "u": 1 }),
        json!({ "t": [3, { "a": 4 }] }),
    ];
    let after = merge_branches(
        json!({ "strategy": "concat", "var_name": "t" }),
        &branches,
        json!({}),
    )
    .await;
    assert_eq!(after, json!({ "t": "one\n[3,{\"a\":4}]", "u": 1 }));
    let config =
        json!({ "strategy": "concat", "var_name": "t", "separator": " | ", "output_key": "all" });
    let after = merge_branches(config, &branches, json!({})).await;
    assert_eq!(after["all"], json!("one | [3,{\"a\":4}]"));
    // Without a variable, as documents of agents have it: what each branch returned.
    let branches = [json!({ "b1_output": "one" }), json!({ "b2_output": "two" })];
    let after = merge_branches(json!({ "strategy": "concat" }), &branches, json!({})).await;
    assert_eq!(after["m_output"], json!("one\ntwo"));
}

#[tokio::test]
async fn p120_best_score() {
    let best = |settings: Value| {
        let mut config = json!({ "strategy": "best_score", "score_var": "s" });
        config
            .as_object_mut()
            .expect("an object")
            .extend(settings.as_object().expect("an object").clone());
        config
    };
    let branches = [
        json!({ "s": 1, "n": 1 }),
        json!({ "s": 3, "n": 2 }),
        json!({ "s": 3, "n": 3 }),
        json!({ "n": 4 }),
    ];
    assert_eq!(
        merge_branches(best(json!({})), &branches, json!({})).await["n"],
        json!(2)
    );
    assert_eq!(
        merge_branches(
            best(json!({ "higher_is_better": false })),
            &branches,
            json!({})
        )
        .await["n"],
        json!(1)
    );
    let unscored = [json!({ "n": 1 }), json!({ "s": "high", "n": 2 })];
    assert_eq!(
        merge_branches(best(json!({})), &unscored, json!({ "kept": 1 })).await,
        json!({ "n": 1, "kept": 1 })
    );
}

#[tokio::test]
async fn p121_functions_and_all() {
    let node = MergeNode::function(|fork, branches| {
        let names: Vec<&str> = branches.iter().map(|branch| branch.name.as_str()).collect();
        Ok(Changes::new()
            .var("names", names)
            .var("before", fork.vars.len()))
    });
    let envelope = merge(
        node,
        &[json!({ "a": 1 }), json!({ "b": 2 })],
        vars(json!({ "c": 3 })),
    )
    .await;
    let envelope = envelope.expect("it merges");
    assert_eq!(var(&envelope, "names"), json!(["b1", "b2"]));
    assert_eq!(var(&envelope, "before"), json!(1));
    assert_eq!(envelope.get_var("a"), None);

    let branches = [json!({ "a": 1, "b": 1 }), json!({ "a": 2 })];
    let after = merge_branches(json!({ "strategy": "all" }), &branches, json!({ "c": 0 })).await;
    assert_eq!(
        after,
        json!({ "a": 2, "b": 1, "c": 0, "all_inputs": [{ "a": 1, "b": 1, "c": 0 }, { "a": 2, "c": 0 }] })
    );
    let config = json!({
        "strategy": "all", "collect_key": "k", "collect_vars": ["a"],
        "inner": { "strategy": "json_merge", "conflict_policy": "first" },
    });
    let after = merge_branches(config, &branches, json!({})).await;
    assert_eq!(
        (&after["a"], &after["k"]),
        (&json!(1), &json!([{ "a": 1 }, { "a": 2 }]))
    );
    assert!(settings_error::<MergeConfig>(json!({ "strategy": "vote" })).contains("vote"));
    assert!(
        settings_error::<MergeConfig>(json!({ "strategy": "concat", "varname": "x" }))
            .contains("varname")
    );
}

#[tokio::test]
async fn a_merge_takes_only_its_branches() {
    let node = MergeNode::new(MergeConfig::default()).inputs(["b3", "b1", "missing"]);
    let branches = [json!({ "x": 1 }), json!({ "x": 2 }), json!({ "x": 3 })];
    let envelope = merge(node, &branches, vars(json!({})))
        .await
        .expect("it merges");
    assert_eq!(
        var(&envelope, "x"),
        json!(1),
        "the last in the order of the inputs"
    );
    let open: Vec<&str> = envelope
        .branches
        .iter()
        .map(|branch| branch.name.as_str())
        .collect();
    assert_eq!(open, ["b2"]);
}

#[node(Envelope)]
async fn two_steps(envelope: &Envelope) -> Changes {
    Changes::new()
        .var("seen", envelope.vars.len())
        .var("x", "sub")
}

flow!(Sub(Envelope) { two_steps });

flow! {
    SubFlows(Envelope) {
        START -> left & right;
        left & right -> merge;
        node left: Sub { in: |e: &Envelope| e.clone(), out: |e: Envelope| Branch::new("left", e) };
        node right: BranchNode = branch_with_vars(json!({ "x": "right" }));
        node merge: MergeNode = MergeNode::new(MergeConfig::default());
    }
}

#[tokio::test]
async fn a_flow_can_be_a_branch_and_branches_survive_on_a_thread() {
    let store = InMemoryStore::new();
    let thread = SubFlows::new().launch().store(&store).thread("t");
    let envelope = thread.run(vars(json!({ "a": 1 }))).await.expect("it runs");
    let envelope = envelope.into_finished().expect("it ends");
    assert_eq!(var(&envelope, "x"), json!("right"));
    assert_eq!(var(&envelope, "seen"), json!(1));
}
