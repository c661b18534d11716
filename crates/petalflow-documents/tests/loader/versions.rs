//! Documents that change under threads that wait.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Answer;
use petalflow::thread::{DocumentVersion, Outcome, Thread, ThreadError};
use petalflow::{Graph, RunError};
use petalflow_documents::document::{Catalog, GraphDefinition, Source};
use petalflow_documents::kinds::{HumanQuestion, HumanResponse, ThreadHandler};
use petalflow_documents::{Envelope, Services, document_version};
use serde_json::{Value, json};

use super::{definition, load_flow};

/// A graph that asks at this node, and then writes this text.
fn review(version: &str, node: &str, text: &str) -> GraphDefinition {
    let mut graph = definition(
        json!([
            [node, "human", { "mode": "approval", "output_var": "review" }],
            ["last", "transform", { "transform": "template", "template": text, "output_var": "text" }],
        ]),
        json!([[node, "last"]]),
    );
    graph.version = version.into();
    graph
}

fn services() -> Services {
    Services::new().human(ThreadHandler)
}

fn thread(store: &InMemoryStore, graph: &GraphDefinition) -> Thread<Graph<Envelope>> {
    load_flow(graph, &services())
        .launch()
        .store(store)
        .thread("t")
}

async fn approve(thread: &Thread<Graph<Envelope>>) -> Result<Outcome<Envelope>, RunError> {
    let snapshot = thread.snapshot().await.expect("it is read");
    let snapshot = snapshot.expect("it waits");
    let response = HumanResponse {
        approved: true,
        ..HumanResponse::default()
    };
    let id = snapshot.interrupts[0].id;
    let answer = Answer::new::<HumanQuestion>(id, &Some(response)).expect("it fits");
    thread.resume(answer).await
}

async fn label(thread: &Thread<Graph<Envelope>>) -> String {
    let info = thread.info().await.expect("it is read").expect("it exists");
    info.labels[DocumentVersion::LABEL].clone()
}

fn version(graph: &GraphDefinition) -> String {
    document_version(graph).expect("it is JSON").to_string()
}

#[tokio::test]
async fn a_changed_document_that_fits_goes_on_and_is_the_version_of_the_thread() {
    let store = InMemoryStore::new();
    let old = review("1.0", "review", "old");
    let first = thread(&store, &old);
    assert!(matches!(
        first.run(Envelope::new()).await,
        Ok(Outcome::Paused(_))
    ));
    assert_eq!(label(&first).await, version(&old));

    let new = review("1.1", "review", "new");
    let second = thread(&store, &new);
    let envelope = approve(&second).await.unwrap().into_finished().unwrap();
    assert_eq!(envelope.get_var_string("text"), "new");
    assert_eq!(label(&second).await, version(&new));
}

#[tokio::test]
async fn a_changed_document_that_does_not_fit_is_refused_with_both_versions() {
    let store = InMemoryStore::new();
    let old = review("1.0", "review", "old");
    assert!(thread(&store, &old).run(Envelope::new()).await.is_ok());

    let new = review("2.0", "check", "new");
    let second = thread(&store, &new);
    let error = second.resume(()).await.unwrap_err();
    let changed = error.thread_error();
    assert!(
        matches!(changed, Some(ThreadError::Changed { .. })),
        "{error}"
    );
    let text = error.to_string();
    for part in [
        "document `g`",
        &version(&old),
        &version(&new),
        "`review`",
        "discard_pending",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    assert_eq!(label(&second).await, version(&old), "nothing has changed");
    // Both ways out.
    let envelope = approve(&thread(&store, &old))
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(envelope.get_var_string("text"), "old");
    let begun = second.run(Envelope::new()).discard_pending().await;
    assert!(matches!(begun, Ok(Outcome::Paused(_))), "{begun:?}");
    assert_eq!(label(&second).await, version(&new));
}

#[tokio::test]
async fn a_pinned_thread_refuses_each_other_version() {
    let store = InMemoryStore::new();
    let (old, new) = (
        review("1.0", "review", "old"),
        review("1.0", "review", "new"),
    );
    assert!(thread(&store, &old).run(Envelope::new()).await.is_ok());
    let flow = load_flow(&new, &services());
    let pinned = document_version(&new).expect("it is JSON").pinned();
    let second = flow.with_version(pinned).launch().store(&store).thread("t");
    let text = approve(&second).await.unwrap_err().to_string();
    for part in ["document `g`", &version(&old), &version(&new), "pinned"] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    // A new turn is no part of the old version.
    let begun = second.run(Envelope::new()).await;
    let waits = begun.unwrap_err();
    assert!(matches!(
        waits.thread_error(),
        Some(ThreadError::Waiting { .. })
    ));
    // Without the pin, the answer is still open.
    let envelope = approve(&thread(&store, &new))
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(envelope.get_var_string("text"), "new");
    // The turn has ended, so there is nothing that another version could change.
    let newer = review("1.0", "review", "newer");
    let pinned = document_version(&newer).expect("it is JSON").pinned();
    let third = load_flow(&newer, &services()).with_version(pinned);
    let third = third.launch().store(&store).thread("t");
    assert!(matches!(third.resume(()).await, Ok(Outcome::Finished(_))));
}

#[tokio::test]
async fn labels_of_the_program_remain() {
    let store = InMemoryStore::new();
    let old = review("1.0", "review", "old");
    let first = thread(&store, &old);
    first.set_labels([("user", "ann")]).await.unwrap();
    assert!(first.run(Envelope::new()).await.is_ok());
    let info = first.info().await.unwrap().unwrap();
    assert_eq!(info.labels["user"], "ann");
    assert_eq!(info.labels[DocumentVersion::LABEL], version(&old));
}

#[tokio::test]
async fn a_long_version_is_stored_and_compared() {
    let store = InMemoryStore::new();
    let long = "9".repeat(1_000);
    let (old, new) = (
        review(&long, "review", "old"),
        review(&long, "check", "new"),
    );
    let first = thread(&store, &old);
    assert!(first.run(Envelope::new()).await.is_ok());
    assert!(label(&first).await.starts_with("9999"));
    assert_eq!(label(&first).await, version(&old));
    let text = thread(&store, &new)
        .resume(())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.contains(&version(&old)) && text.contains(&version(&new)),
        "{text}"
    );
}

#[test]
fn the_form_of_a_document_is_not_its_version() {
    let read = |name: &str, text: &str| -> GraphDefinition {
        let checked = Source::new(name, text).check(&Catalog::default());
        checked.expect("it is right").graph(&Catalog::default())
    };
    let yaml = read(
        "a.yaml",
        "# A comment.\nid: a\nversion: '1'\nkind: graph\nedges: []\nnodes:\n  - { id: n, type: transform, config: { template: x, output_var: y, transform: template } }\n",
    );
    let node: Value = json!({ "id": "n", "type": "transform", "config": { "output_var": "y", "transform": "template", "template": "x" } });
    let text = json!({ "version": "1", "nodes": [node], "kind": "graph", "id": "a", "edges": [] });
    let json = read("a.json", &text.to_string());
    assert_eq!(version(&yaml), version(&json));
    let text = text.to_string().replace("\"x\"", "\"z\"");
    assert_ne!(version(&read("a.json", &text)), version(&json));
}
