//! `MapNode`, rows P122 to P126.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow_documents::kinds::{FuncNode, MapConfig, MapNode};
use petalflow_documents::{Changes, Envelope, Trace};
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

fn config(value: Value) -> MapConfig {
    settings(value)
}

fn double(config: MapConfig) -> MapNode {
    MapNode::function(config, |item, _| async move {
        let number = item.as_i64().ok_or("not a number")?;
        Ok(json!(2 * number))
    })
}

#[tokio::test]
async fn p122_the_input_must_be_a_list() {
    let node = || double(config(json!({ "input_var": "x" })));
    let error = run(node(), vars(json!({})))
        .await
        .expect_err("it is missing");
    assert_eq!(error, "map node `n`: there is no variable `x`");
    for value in [json!(null), json!("abc"), json!({})] {
        let error = run(node(), vars(json!({ "x": value }))).await;
        assert_eq!(
            error.expect_err("no list"),
            "map node `n`: variable `x` is not a list"
        );
    }
    // A node without a mapper cannot be made. Upstream it fails when it runs.
    assert!(settings_error::<MapConfig>(json!({ "mapper": "x" })).contains("mapper"));
    assert!(settings_error::<MapConfig>(json!({})).contains("input_var"));
}

#[tokio::test(start_paused = true)]
async fn p123_results_keep_the_order_of_the_items() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let highest = Arc::clone(&most);
    let node = MapNode::function(
        config(json!({ "input_var": "x", "concurrency": 3 })),
        move |item, index| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let wait = 10 - u64::try_from(index)?;
                tokio::time::sleep(Duration::from_secs(wait)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(item)
            }
        },
    );
    let items: Vec<usize> = (0..10).collect();
    let envelope = run(node, vars(json!({ "x": items })))
        .await
        .expect("it maps");
    assert_eq!(var(&envelope, "n_output"), json!(items));
    assert_eq!(highest.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn p124_an_error_stops_or_is_null() {
    for concurrency in [1, 4] {
        let mut settings = json!({ "input_var": "x", "concurrency": concurrency });
        let items = vars(json!({ "x": [1, "two", 3, "four"] }));
        let error = run(double(config(settings.clone())), items.clone()).await;
        assert_eq!(error.expect_err("it fails"), "map item 1: not a number");
        settings["continue_on_error"] = json!(true);
        let envelope = run(double(config(settings)), items).await.expect("it maps");
        assert_eq!(var(&envelope, "n_output"), json!([2, null, 6, null]));
    }
}

#[tokio::test]
async fn p125_a_node_gets_the_item_and_its_variables_are_the_result() {
    let inner = FuncNode::new(|envelope: Envelope| async move {
        let trace = envelope.trace.clone();
        let item = envelope.get_var_string("word").to_uppercase();
        Ok(Changes::new()
            .var("loud", item)
            .var("trace", json!([trace.parent_id, trace.span_id])))
    });
    let settings =
        json!({ "input_var": "x", "item_var": "word", "index_var": "i", "output_var": "y" });
    let mut input = vars(json!({ "x": ["a", "b"], "kept": 1 }));
    input.trace = Trace {
        run_id: "run-1".into(),
        ..Trace::now()
    };
    let envelope = run(MapNode::node(config(settings), inner), input)
        .await
        .expect("it maps");
    let results = var(&envelope, "y");
    assert_eq!(
        results[1],
        json!({ "x": ["a", "b"], "kept": 1, "word": "b", "i": 1, "loud": "B", "trace": ["run-1", "n-item-1"] })
    );
    assert_eq!(results[0]["loud"], json!("A"));
    assert_eq!(
        envelope.get_var("loud"),
        None,
        "an item has its own envelope"
    );
}

#[tokio::test]
async fn p126_defaults() {
    let defaults = config(json!({ "input_var": "x" }));
    assert_eq!(
        (defaults.item_var.as_str(), defaults.concurrency),
        ("item", 1)
    );
    let node = double(config(json!({ "input_var": "x", "concurrency": 0 })));
    let envelope = run(node, vars(json!({ "x": [1] }))).await.expect("it maps");
    assert_eq!(var(&envelope, "n_output"), json!([2]));
    let envelope = run(double(defaults), vars(json!({ "x": [] })))
        .await
        .expect("it maps");
    assert_eq!(var(&envelope, "n_output"), json!([]));
}
