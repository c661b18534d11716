//! The list of many threads.

use petalflow::checkpoint::InMemoryStore;

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
