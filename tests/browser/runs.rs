//! Runs: they are started with a form, and seen while they move.

use petalflow::checkpoint::InMemoryStore;

use crate::flows::gate;
use crate::page::with_page;
use crate::served::builder;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_started_with_the_form_and_moves_in_the_drawing() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.go("#/flow/steps").await;
        page.press("Start a thread").await;
        page.fill("total", "2").await;
        page.fill("gate", "moves").await;
        page.fill("Id", "ann").await;
        page.press("Start").await;
        page.wait_for_thread("steps:ann").await;
        page.wait_for_mark("begin", "finished").await;
        page.wait_for_mark("work", "running").await;
        page.wait_for_status("running").await;
        gate("moves").add_permits(1);
        page.wait_for_text("Superstep 2").await;
        page.wait_for_mark("work", "running").await;
        gate("moves").add_permits(1);
        page.wait_for_status("finished").await;
        page.wait_for_mark("work", "finished").await;
        page.wait_for_mark("end", "finished").await;
        page.press("State").await;
        page.wait_for_text("step 2").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_input_is_reported_at_its_field() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.go("#/flow/refunds").await;
        page.press("Start a thread").await;
        page.fill("cents", "many").await;
        page.press("Start").await;
        page.wait_for("document.activeElement === labelled('cents')")
            .await;
        page.wait_for("labelled('cents').getAttribute('aria-invalid') === 'true'")
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_cancelled_and_resumed() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = serde_json::json!({ "input": { "total": 1, "gate": "cancelled" } });
        let thread = page.served.thread("steps", input).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for_mark("work", "running").await;
        // To resume a thread that runs does nothing.
        page.wait_for("named('Hold') && !named('Resume')").await;
        page.press("Cancel").await;
        page.press("Cancel the run").await;
        page.wait_for("!document.querySelector('.facts .badge[data-status=running]')")
            .await;
        page.wait_for_status("held").await;
        page.wait_for_text("Nothing continues it until it is resumed. It continues with work.")
            .await;
        page.press("Resume").await;
        page.wait_for_mark("work", "running").await;
        gate("cancelled").add_permits(1);
        page.wait_for_status("finished").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_long_labels_leave_the_buttons_in_the_page() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let long = "m".repeat(200);
        let start = serde_json::json!({
            "input": { "total": 1 }, "labels": { "customer": long, "place": long },
        });
        let thread = page.served.thread("steps", start).await;
        page.served.settled(&thread).await;
        for (width, height) in [(1440, 900), (390, 844)] {
            page.resize(width, height, 1.0).await;
            page.go(&format!("#/thread/{thread}")).await;
            page.wait_for("seen('.facts .chip').length === 2 && named('Delete')")
                .await;
            let outside = "seen('.view-title button, .view-title .button').filter((button) => { \
                const { left, right } = button.getBoundingClientRect(); \
                return left < 0 || right > document.documentElement.clientWidth; }).length";
            assert_eq!(page.eval(outside).await, 0, "at {width}");
            let labels = "Math.max(...seen('.facts .chip').map((chip) => chip.getBoundingClientRect().height))";
            let tallest = page.eval(labels).await.as_f64().expect("a number");
            assert!(tallest < 40.0, "a label has one line, and not {tallest} pixels");
        }
    })
    .await;
}
