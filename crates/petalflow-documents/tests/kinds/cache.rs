//! `CacheNode`, rows P164 to P168.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow_documents::kinds::{CacheConfig, CacheNode, FuncNode, MemoryCacheStore};
use petalflow_documents::{Artifact, Changes, Envelope, Trace};
use serde_json::{Value, json};

use crate::support::{run, settings, var, vars};

/// A node that counts its runs.
fn counting() -> (FuncNode, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let node = FuncNode::new(move |envelope: Envelope| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            if envelope.get_var("fail").is_some() {
                return Err("it fails".into());
            }
            Ok(Changes::new().var("run", run))
        }
    });
    (node, runs)
}

/// A cache with these settings, and its store.
fn cache(config: Value) -> (CacheNode, MemoryCacheStore, Arc<AtomicUsize>) {
    let (node, runs) = counting();
    let store = MemoryCacheStore::new();
    let cache = CacheNode::new(settings(config), node).expect("they are settings");
    (cache.store(store.clone()), store, runs)
}

#[tokio::test]
async fn p164_the_key_is_a_template_or_a_hash() {
    let (node, store, _) = cache(json!({ "cache_key": "{{.q}}/{{.input.page}}" }));
    let envelope = vars(json!({ "q": "petals" })).with_input(json!({ "page": 7 }));
    run(node, envelope).await.expect("it runs");
    assert_eq!(store.keys(), ["n:petals/7"]);

    let key = async |config: Value, envelope: Envelope| {
        let (node, store, _) = cache(config);
        run(node, envelope).await.expect("it runs");
        store.keys().remove(0)
    };
    let base = || vars(json!({ "a": 1, "b": { "x": 1, "y": [2] } }));
    let hash = key(json!({}), base()).await;
    assert_eq!(hash.len(), "n:".len() + 64);
    assert_eq!(
        hash,
        key(
            json!({}),
            vars(json!({ "b": { "y": [2], "x": 1 }, "a": 1 }))
        )
        .await
    );
    assert_ne!(hash, key(json!({}), base().with_var("c", 1)).await);
    let some = json!({ "input_vars": ["a", "missing"] });
    assert_eq!(
        key(some.clone(), base()).await,
        key(some.clone(), base().with_var("c", 1)).await
    );
    assert_ne!(
        key(some.clone(), base()).await,
        key(some, base().with_var("a", 2)).await
    );
    let with_input = json!({ "include_input": true });
    assert_ne!(
        key(with_input.clone(), base()).await,
        key(with_input, base().with_input(1)).await
    );
    assert_eq!(hash, key(json!({}), base().with_input(1)).await);
    let mut with_artifact = base();
    with_artifact.append_artifact(Artifact::new("chunk"));
    let with = json!({ "include_artifacts": true });
    assert_ne!(
        key(with.clone(), base()).await,
        key(with, with_artifact).await
    );
    let error = CacheNode::without_node(settings(json!({ "cache_key": "{{" })));
    assert_eq!(error.expect_err("no template").field, "cache_key");
}

#[tokio::test]
async fn p165_a_hit_changes_only_what_the_node_changed() {
    // Upstream a hit returns the cached envelope: without what this run set before, and with the trace of another run.
    let (node, _, runs) = cache(json!({ "input_vars": ["q"] }));
    let first = vars(json!({ "q": 1, "other": "first" }));
    run(node.clone(), first).await.expect("it runs");
    let mut second = vars(json!({ "q": 1, "other": "second", "more": true }));
    second.trace = Trace {
        run_id: "second".into(),
        ..Trace::now()
    };
    let envelope = run(node, second).await.expect("it runs");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(
        Value::Object(envelope.vars),
        json!({ "q": 1, "other": "second", "more": true, "run": 1 })
    );
    assert_eq!(envelope.trace.run_id, "second");
}

#[tokio::test]
async fn p166_errors_are_not_cached() {
    let (node, store, runs) = cache(json!({ "input_vars": ["q"] }));
    for _ in 0..2 {
        let error = run(node.clone(), vars(json!({ "q": 1, "fail": true }))).await;
        assert_eq!(error.expect_err("it fails"), "it fails");
    }
    assert_eq!((runs.load(Ordering::SeqCst), store.size()), (2, 0));
    run(node.clone(), vars(json!({ "q": 1 })))
        .await
        .expect("it runs");
    // A cache without a node finds the entry, and fails without one.
    let reader = CacheNode::without_node(settings(json!({ "input_vars": ["q"] })))
        .expect("they are settings");
    let reader = reader.store(store);
    let envelope = run(reader.clone(), vars(json!({ "q": 1 })))
        .await
        .expect("it is there");
    assert_eq!(var(&envelope, "run"), json!(3));
    let error = run(reader, vars(json!({ "q": 2 })))
        .await
        .expect_err("it is not there");
    assert!(
        error.starts_with("cache node `n` has no entry `n:"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn p167_entries_expire() {
    let (node, store, runs) = cache(json!({ "cache_key": "k", "ttl": "10s" }));
    let runs_after = async |seconds: u64| {
        tokio::time::advance(Duration::from_secs(seconds)).await;
        run(node.clone(), vars(json!({}))).await.expect("it runs");
        runs.load(Ordering::SeqCst)
    };
    assert_eq!(runs_after(0).await, 1);
    assert_eq!(runs_after(9).await, 1);
    assert_eq!(runs_after(1).await, 2);
    assert_eq!(store.prune(), 0);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!((store.size(), store.prune(), store.size()), (1, 1, 0));

    let (forever, store, runs) = cache(json!({ "cache_key": "{{.vars.k}}", "ttl": 0 }));
    for key in ["b", "a", "b"] {
        tokio::time::advance(Duration::from_hours(10_000)).await;
        run(forever.clone(), vars(json!({ "k": key })))
            .await
            .expect("it runs");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(store.keys(), ["n:a", "n:b"]);
    store.clear();
    assert_eq!(store.size(), 0);
}

#[tokio::test]
async fn p168_the_output_variable_says_whether_the_cache_had_the_result() {
    let (node, ..) = cache(json!({ "cache_key": "k", "ttl": 60, "output_var": "c" }));
    for hit in [false, true] {
        let envelope = run(node.clone(), vars(json!({}))).await.expect("it runs");
        let info = var(&envelope, "c");
        assert_eq!((&info["hit"], &info["key"]), (&json!(hit), &json!("n:k")));
        let [stored, expires] =
            ["stored_at", "expires_at"].map(|name| info[name].as_str().expect("a time").to_owned());
        assert!(stored.ends_with('Z') && stored < expires, "{info}");
    }
    let (forever, ..) = cache(json!({ "output_var": "c" }));
    let envelope = run(forever, vars(json!({}))).await.expect("it runs");
    assert_eq!(var(&envelope, "c")["expires_at"], json!(null));
    assert_eq!(CacheConfig::default(), settings(json!({})));
}
