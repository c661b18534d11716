//! A command for many threads, whose process is killed.

use petalflow::checkpoint::{
    Address, Store, StoredCheckpoint, ThreadChange, ThreadQuery, ThreadStatus,
};
use serde_json::json;

use super::{Process, open};

const THREADS: u64 = 300;

#[test]
fn f43_a_command_for_many_threads_goes_on_after_its_process_was_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = open(folder.path()).await;
        for number in 0..THREADS {
            let id = format!("steps:{number:03}");
            let first = StoredCheckpoint {
                seq: 1,
                base: 1,
                created_ms: 1,
                bytes: vec![7],
            };
            let appended = store.append(Address::root(&id), &first, None, 0..0, None);
            appended.await.expect("it is stored");
            let ended = ThreadChange::Status {
                flow: "RunSteps",
                status: ThreadStatus::Finished,
                due_ms: None,
            };
            store.describe(&id, ended, None).await.expect("it is set");
        }
    });
    for (command, left) in [
        (
            json!({ "command": "label", "labels": { "seen": "yes" } }),
            THREADS,
        ),
        (json!({ "command": "delete" }), 0),
    ] {
        let process = Process::start(folder.path());
        let path = "/thread-commands?flow=steps&status=finished";
        let begun = process.call("POST", path, &command);
        let thread = begun["thread"].as_str().expect("an id").to_owned();
        // It has given the command to none, to some or to all.
        drop(process);

        let next = Process::start(folder.path());
        let view = next.wait_for(&thread, "finished");
        let state = &view["state"];
        assert_eq!(
            (&state["matched"], &state["done"], &state["failures"]),
            (&json!(THREADS), &json!(THREADS), &json!([])),
            "{command}"
        );
        let labelled = runtime.block_on(async {
            let store = open(folder.path()).await;
            let query = ThreadQuery {
                prefix: "steps:",
                label: Some(("seen", "yes")),
                ..ThreadQuery::default()
            };
            store.threads(query).await.expect("they are listed").len()
        });
        assert_eq!(labelled as u64, left, "{command}");
    }
}
