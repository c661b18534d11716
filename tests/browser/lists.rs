//! The list of many threads.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::flows::{RunSteps, StepsInput};
use crate::page::with_page;
use crate::served::builder;

const THREADS: usize = 10_000;

/// Stores threads that have finished.
async fn fill(store: &InMemoryStore) {
    let threads = RunSteps::new().store(store);
    for number in 0..THREADS {
        let input = StepsInput {
            total: 1,
            note: String::new(),
            gate: "open".into(),
        };
        crate::flows::gate("open").add_permits(1);
        let thread = threads.thread(format!("steps:{number:05}"));
        let outcome = thread.run(input).await.expect("it runs");
        outcome.into_finished().expect("it finishes");
        if number == 7_777 {
            let labels = [("customer", "ann")];
            thread.set_labels(labels).await.expect("it is labelled");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_found_among_ten_thousand() {
    let store = InMemoryStore::new();
    fill(&store).await;
    with_page(builder(&store), async |page| {
        page.go("#/threads").await;
        page.wait_for_text("More are loaded while you scroll").await;
        // The thread that changed last is the first row.
        page.wait_for("named('steps:09999')").await;
        // Only the visible rows are elements.
        assert_eq!(
            page.eval("document.querySelectorAll('.list-row').length < 60")
                .await,
            true
        );

        page.fill("Id begins with", "steps:0777").await;
        page.wait_for_text("10 threads").await;
        page.fill("Id begins with", "x").await;
        page.wait_for_text("No thread has these properties").await;
        page.element("document.getElementById('filter-id')")
            .await
            .clear()
            .await
            .expect("a field");
        page.fill("Label", "customer:ann").await;
        page.wait_for("words(document.querySelector('.list-summary')) === '1 thread'")
            .await;
        page.press("steps:07777").await;
        page.wait_for_status("finished").await;
        page.wait_for_text("customer: ann").await;

        // The end of the list is reached with the keyboard.
        page.go("#/threads?flow=steps&order=id").await;
        page.wait_for_text("More are loaded while you scroll").await;
        page.press_element("seen('.list-header')[0]").await;
        for _ in 0..THREADS.div_ceil(500) {
            page.eval("(seen('.thread-list')[0].scrollTop = 1e9, 1)")
                .await;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        page.wait_for("(seen('.thread-list')[0].scrollTop = 1e9, named('steps:09999'))")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_command_is_given_to_all_threads_of_the_filter() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        for number in 0..3 {
            let customer = if number == 0 { "bob" } else { "ann" };
            let body = json!({ "input": { "total": 1 }, "labels": { "customer": customer } });
            let thread = page.served.thread("steps", body).await;
            page.served.settled(&thread).await;
        }
        page.go("#/threads?label=customer:ann").await;
        page.wait_for_text("2 threads").await;
        page.press("Command for all\u{2026}").await;
        page.choose("Command", "Cancel").await;
        page.press("Next").await;
        page.wait_for_text("Cancel: 2 threads").await;
        page.press("Cancel 2 threads").await;
        // Finished threads cannot be cancelled, and are named with the reason.
        page.wait_for_text("The command has ended: 0 of 2 threads done, 2 failed.")
            .await;
        assert_eq!(page.eval("seen('.bulk-failures li').length").await, 2);

        page.press("Command for all\u{2026}").await;
        page.choose("Command", "Set labels").await;
        page.press("Next").await;
        page.wait_for_text("There is no label. Add one.").await;
        page.choose("Command", "Delete").await;
        page.press("Next").await;
        page.wait_for_text("This cannot be undone.").await;
        page.wait_for_text("The filters: label customer:ann.").await;
        page.press("Delete 2 threads").await;
        page.wait_for_text("The command has ended: 2 of 2 threads done.")
            .await;
        page.wait_for_text("No thread has these properties").await;
        let left = page.served.get("/threads").await;
        let left = left["threads"].as_array().expect("threads");
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0]["labels"]["customer"], "bob");
        page.press("Close").await;
        page.wait_for("seen('.bulk').length === 0").await;
    })
    .await;
}
