//! Deliveries of webhooks.

use std::time::Duration;

use petalflow::checkpoint::{Store, ThreadQuery, ThreadStatus};
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::kinds::FuncNode;
use petalflow_documents::{Changes, Services};
use serde_json::{Value, json};

use super::{Process, open, server};
use crate::kit::{HOOK, graph};

const STEPS: usize = 20;

/// A trigger, and nodes that take some time.
pub(super) fn document() -> (GraphDefinition, Services) {
    let mut services = Services::new();
    let names: Vec<String> = (0..STEPS).map(|step| format!("step{step}")).collect();
    for name in names.iter().cloned() {
        let node = FuncNode::new({
            let name = name.clone();
            move |_| {
                let name = name.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    Ok(Changes::new().var(name, true))
                }
            }
        });
        services = services.function(name, node);
    }
    let nodes: Vec<Value> = names
        .iter()
        .map(|name| json!({ "id": name, "type": "func" }))
        .collect();
    (graph(json!({}), &nodes), services)
}

/// Sends a delivery and returns its thread, or nothing if the server does not answer.
fn deliver(process: &Process, key: usize) -> Option<String> {
    let key = format!("Idempotency-Key: {key}");
    let (status, body) = process.request("POST", HOOK, &key, "")?;
    assert_eq!(status, 202, "{body}");
    Some(body["thread"].as_str()?.to_owned())
}

#[test]
fn every_delivery_with_a_202_ends_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut threads = Vec::new();
    for round in 0..8 {
        let process = Process::start(folder.path());
        for key in 0..3 {
            threads.extend(deliver(&process, 3 * round + key));
        }
        std::thread::sleep(Duration::from_millis(20 * round as u64));
    }
    assert_eq!(threads.len(), 24);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = open(folder.path()).await;
        server(&store).recover().await.expect("it lists");
        let found = loop {
            let found = store.threads(ThreadQuery::default()).await;
            let found = found.expect("it lists");
            let mut statuses = found.iter().map(|info| info.status);
            if statuses.all(|status| status != ThreadStatus::Running) {
                break found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let finished = found
            .iter()
            .filter(|info| info.status == ThreadStatus::Finished);
        let mut finished: Vec<_> = finished.map(|info| info.id.clone()).collect();
        finished.sort();
        threads.sort();
        assert_eq!(finished, threads);
    });
}
