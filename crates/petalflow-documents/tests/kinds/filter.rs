//! `FilterNode`, rows P131 to P141.

use petalflow_documents::kinds::{FilterConfig, FilterNode};
use petalflow_documents::{Artifact, Envelope};
use petalflow_llm::ChatMessage;
use serde_json::{Map, Value, json};

use crate::support::{run, settings, settings_error, var, vars};

/// Filters the variable `x`, and returns it.
async fn filter(filters: Value, items: Value) -> Value {
    let config = json!({ "target": "var", "input_var": "x", "filters": filters });
    let node = FilterNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, vars(json!({ "x": items }))).await;
    var(&envelope.expect("it filters"), "x")
}

fn artifacts() -> Envelope {
    let mut envelope = Envelope::new();
    for (id, kind, score) in [("a", "doc", 0.5), ("b", "chunk", 0.9), ("c", "chunk", 0.1)] {
        envelope.append_artifact(Artifact {
            id: id.into(),
            text: format!("text of {id}"),
            mime_type: "text/plain".into(),
            meta: Map::from_iter([
                ("score".into(), json!(score)),
                ("deep".into(), json!({ "n": score })),
            ]),
            ..Artifact::new(kind)
        });
    }
    envelope
}

fn ids(envelope: &Envelope) -> Vec<&str> {
    envelope.artifacts.iter().map(|it| it.id.as_str()).collect()
}

async fn artifacts_after(config: Value) -> Envelope {
    let node = FilterNode::new(settings(config)).expect("they are settings");
    run(node, artifacts()).await.expect("it filters")
}

#[tokio::test]
async fn p131_artifacts_are_filtered_by_default_with_operations_in_order() {
    let envelope =
        artifacts_after(json!({ "filters": [{ "type": "type", "include_types": ["chunk"] }] }))
            .await;
    assert_eq!(ids(&envelope), ["b", "c"]);
    // The other order would keep nothing: the first of all is a document.
    let filters = json!([
        { "type": "type", "include_types": ["chunk"] },
        { "type": "top_n", "n": 1, "score_field": "meta.score", "order": "asc" },
    ]);
    assert_eq!(
        ids(&artifacts_after(json!({ "filters": filters })).await),
        ["c"]
    );

    let mut envelope = Envelope::new();
    envelope.append_message(ChatMessage::user("hello"));
    envelope.append_message(ChatMessage::assistant("hi"));
    let config = json!({ "target": "messages", "filters": [{ "type": "match", "field": "role", "value": "user" }] });
    let node = FilterNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, envelope).await.expect("it filters");
    assert_eq!(envelope.messages.len(), 1);
    assert_eq!(envelope.messages[0].text(), "hello");
}

#[tokio::test]
async fn p132_the_best_by_score() {
    let items = json!([{ "s": 1 }, { "s": 3 }, { "t": 9 }, { "s": -2 }]);
    let top = |n: i64, order: &str| json!([{ "type": "top_n", "n": n, "score_field": "s", "order": order }]);
    assert_eq!(
        filter(top(2, "desc"), items.clone()).await,
        json!([{ "s": 3 }, { "s": 1 }])
    );
    assert_eq!(
        filter(top(2, "asc"), items.clone()).await,
        json!([{ "s": -2 }, { "t": 9 }])
    );
    for n in [0, -1, 4, 9] {
        assert_eq!(filter(top(n, "desc"), items.clone()).await, items, "{n}");
    }
}

#[tokio::test]
async fn p133_equal_scores_keep_their_order() {
    // Upstream sorts with an unstable algorithm.
    let items: Vec<Value> = (0..100)
        .map(|id| json!({ "id": id, "s": id % 2 }))
        .collect();
    let filters = json!([{ "type": "top_n", "n": 99, "score_field": "s" }]);
    let kept = filter(filters, json!(items)).await;
    let ids: Vec<i64> = kept
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["id"].as_i64().expect("a number"))
        .collect();
    let expected: Vec<i64> = (1..100).step_by(2).chain((0..98).step_by(2)).collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn p134_thresholds_are_inclusive() {
    let items = json!([{ "s": 1 }, { "s": 2 }, { "s": 3 }, {}, { "s": "2" }]);
    let filters = json!([{ "type": "threshold", "score_field": "s", "min": 1, "max": 2 }]);
    assert_eq!(
        filter(filters, items.clone()).await,
        json!([{ "s": 1 }, { "s": 2 }])
    );
    let filters = json!([{ "type": "threshold", "score_field": "s", "min": 2.5 }]);
    assert_eq!(filter(filters, items.clone()).await, json!([{ "s": 3 }]));
    let filters = json!([{ "type": "threshold", "score_field": "s" }]);
    assert_eq!(filter(filters, items.clone()).await, items);
}

#[tokio::test]
async fn p135_duplicates() {
    let items = json!([
        { "k": "a", "s": 1, "i": 0 }, { "k": "b", "s": 5, "i": 1 }, { "k": "a", "s": 3, "i": 2 },
        { "s": 1, "i": 3 }, { "k": "a", "s": 3, "i": 4 }, { "k": null, "i": 5 },
    ]);
    let kept = async |keep: &str| {
        let filters = json!([{ "type": "dedupe", "field": "k", "keep": keep, "score_field": "s" }]);
        let kept = filter(filters, items.clone()).await;
        kept.as_array()
            .expect("a list")
            .iter()
            .map(|it| it["i"].as_i64().expect("a number"))
            .collect::<Vec<_>>()
    };
    assert_eq!(kept("first").await, [0, 1, 3]);
    assert_eq!(kept("last").await, [1, 4, 5]);
    assert_eq!(kept("highest_score").await, [1, 2, 3]);
}

#[tokio::test]
async fn p136_types() {
    let items = json!([{ "type": "a" }, { "Type": "b" }, { "Type": "c", "type": "a" }, {}]);
    let only = json!([{ "type": "type", "include_types": ["a", "b"] }]);
    assert_eq!(
        filter(only, items.clone()).await,
        json!([{ "type": "a" }, { "Type": "b" }])
    );
    let but = json!([{ "type": "type", "exclude_types": ["a", "b"] }]);
    assert_eq!(
        filter(but, items.clone()).await,
        json!([{ "Type": "c", "type": "a" }, {}])
    );
    assert_eq!(
        filter(json!([{ "type": "type" }]), items.clone()).await,
        items
    );
}

#[tokio::test]
async fn p137_matches_and_their_complement() {
    let items = json!([{ "f": "petal" }, { "f": 7 }, { "g": 1 }, { "f": null }]);
    for (condition, kept) in [
        (
            json!({ "field": "f", "pattern": "^pe" }),
            json!([{ "f": "petal" }]),
        ),
        (json!({ "field": "f", "pattern": "7" }), json!([{ "f": 7 }])),
        (json!({ "field": "f", "value": 7.0 }), json!([{ "f": 7 }])),
        (
            json!({ "field": "f" }),
            json!([{ "f": "petal" }, { "f": 7 }, { "f": null }]),
        ),
        (json!({}), json!([])),
    ] {
        let with = |kind: &str| {
            let mut op = condition.clone();
            op["type"] = json!(kind);
            json!([op])
        };
        assert_eq!(
            filter(with("match"), items.clone()).await,
            kept,
            "{condition}"
        );
        let rest: Vec<Value> = items
            .as_array()
            .expect("a list")
            .iter()
            .filter(|it| !kept.as_array().expect("a list").contains(it))
            .cloned()
            .collect();
        assert_eq!(
            filter(with("exclude"), items.clone()).await,
            json!(rest),
            "{condition}"
        );
    }
}

#[tokio::test]
async fn p138_fields_of_artifacts_have_several_spellings() {
    for field in ["ID", "id"] {
        let filters = json!([{ "type": "match", "field": field, "value": "b" }]);
        assert_eq!(
            ids(&artifacts_after(json!({ "filters": filters })).await),
            ["b"],
            "{field}"
        );
    }
    for field in [
        "MimeType",
        "mimeType",
        "mime_type",
        "Text",
        "text",
        "Meta.score",
        "meta.deep.n",
        "score",
        "deep.n",
    ] {
        let filters = json!([{ "type": "match", "field": field }]);
        assert_eq!(
            ids(&artifacts_after(json!({ "filters": filters })).await).len(),
            3,
            "{field}"
        );
    }
    let filters = json!([{ "type": "match", "field": "nothing" }]);
    assert!(ids(&artifacts_after(json!({ "filters": filters })).await).is_empty());
    let nested = json!([{ "a": { "b": { "c": 1 } } }, { "a": 1 }, 7]);
    let filters = json!([{ "type": "match", "field": "a.b.c" }]);
    assert_eq!(filter(filters, nested.clone()).await, json!([nested[0]]));
}

#[tokio::test]
async fn p139_without_an_output_variable_the_input_is_replaced() {
    let one = json!([{ "type": "top_n", "n": 1, "score_field": "score" }]);
    let envelope = artifacts_after(json!({ "filters": one, "output_var": "best" })).await;
    assert_eq!(ids(&envelope), ["a", "b", "c"]);
    assert_eq!(
        envelope.get_var("best").expect("it is set")[0]["id"],
        json!("b")
    );
    assert_eq!(
        ids(&artifacts_after(json!({ "filters": one })).await),
        ["b"]
    );
    let config = json!({ "target": "var", "input_var": "x", "filters": [{ "type": "match", "field": "a" }], "output_var": "y" });
    let node = FilterNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, vars(json!({ "x": [{ "a": 1 }, {}] })))
        .await
        .expect("it filters");
    assert_eq!(var(&envelope, "x"), json!([{ "a": 1 }, {}]));
    assert_eq!(var(&envelope, "y"), json!([{ "a": 1 }]));
}

#[tokio::test]
async fn p140_statistics() {
    let config =
        json!({ "filters": [{ "type": "type", "include_types": ["doc"] }], "stats_var": "stats" });
    let before = artifacts();
    let node = FilterNode::new(settings(config)).expect("they are settings");
    let after = run(node, before.clone()).await.expect("it filters");
    assert_eq!(
        var(&after, "stats"),
        json!({ "input_count": 3, "output_count": 1, "removed": 2 })
    );
    assert_eq!(ids(&before), ["a", "b", "c"], "the input is not changed");
}

#[tokio::test]
async fn p141_errors() {
    let problem = |config: Value| {
        FilterNode::new(settings(config))
            .expect_err("they are wrong")
            .to_string()
    };
    assert!(problem(json!({ "target": "var" })).starts_with("`input_var`: "));
    let filters = json!([{ "type": "top_n" }, { "type": "dedupe", "field": "" }]);
    assert!(problem(json!({ "filters": filters })).starts_with("`filters[1].field`: "));
    let filters = json!([{ "type": "exclude", "field": "a", "pattern": "[" }]);
    assert!(problem(json!({ "filters": filters })).starts_with("`filters[0].pattern`: `[` is not"));
    assert!(
        settings_error::<FilterConfig>(json!({ "filters": [{ "type": "dedupe" }] }))
            .contains("field")
    );
    assert!(
        settings_error::<FilterConfig>(json!({ "filters": [{ "type": "magic" }] }))
            .contains("magic")
    );
    assert!(settings_error::<FilterConfig>(json!({ "target": "input" })).contains("input"));
    let node = || {
        FilterNode::new(settings(json!({ "target": "var", "input_var": "x" })))
            .expect("they are settings")
    };
    let error = run(node(), vars(json!({})))
        .await
        .expect_err("it is missing");
    assert_eq!(error, "filter node `n`: there is no variable `x`");
    let error = run(node(), vars(json!({ "x": {} })))
        .await
        .expect_err("it is not a list");
    assert_eq!(error, "filter node `n`: variable `x` is not a list");
}

#[tokio::test]
async fn a_function_can_filter() {
    let node = FilterNode::new(settings(json!({ "target": "var", "input_var": "x" })))
        .expect("they are settings");
    let node = node.keep(|item, index| Ok(item.as_i64() > Some(1) || index == 0));
    let envelope = run(node, vars(json!({ "x": [1, 1, 2] })))
        .await
        .expect("it filters");
    assert_eq!(var(&envelope, "x"), json!([1, 2]));
}
