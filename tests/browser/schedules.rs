//! The view of schedules.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::with_page;
use crate::served::builder;

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_is_paused_continued_and_run_now() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.press("Schedules").await;
        page.wait_for_text("1 schedule").await;
        for text in [
            "morning",
            "research",
            "At 07:00, on Monday, Tuesday, Wednesday, Thursday, and Friday.",
            "0 7 * * MON-FRI",
            "Europe/Berlin",
            "7:00 AM",
        ] {
            page.wait_for_text(text).await;
        }
        assert_eq!(page.eval("seen('.next-times li').length").await, 3);

        page.press("Pause morning").await;
        page.wait_for_text("1 schedule, 1 paused").await;
        page.wait_for_text("None while it is paused.").await;
        assert_eq!(page.served.get("/schedules/morning").await["paused"], true);
        // The button that was pressed is drawn again, and keeps the focus.
        page.wait_for("words(document.activeElement) === 'Continue morning'")
            .await;
        page.press("Continue morning").await;
        page.wait_for("document.querySelectorAll('.next-times li').length === 3")
            .await;
        assert_eq!(page.served.get("/schedules/morning").await["paused"], false);

        page.press("Run now morning").await;
        let thread = page.thread().await;
        assert!(thread.starts_with("research:morning@"), "{thread}");
        page.press("Schedules").await;
        page.press("Threads morning").await;
        page.wait_for_text("1 thread").await;
        page.wait_for(&format!("named('{thread}')")).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_schedule_is_created_changed_and_deleted() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.press("Schedules").await;
        page.wait_for_text("1 schedule").await;
        page.wait_for("!named('Delete morning')").await;
        page.press("Create a schedule").await;
        page.press("Create").await;
        page.wait_for_text("The name is empty. Type one.").await;
        page.fill("Name", "evening").await;
        page.choose("Flow", "steps").await;
        page.fill("Time zone", "UTC").await;
        page.fill("total", "2").await;
        page.fill("Times", "0 18 * * *").await;
        page.press("Create").await;
        page.wait_for_text("2 schedules").await;
        let defined = page.served.get("/schedules/evening").await;
        assert_eq!(
            (&defined["source"], &defined["zone"]),
            (&json!("client"), &json!("UTC"))
        );
        assert_eq!(defined["input"]["total"], 2, "{defined}");

        page.press("Change evening").await;
        page.fill("Times", "30 18 * * *").await;
        page.choose("Missed times", "Begin each of them").await;
        page.press("Save").await;
        page.wait_for_text("30 18 * * *").await;
        let defined = page.served.get("/schedules/evening").await;
        assert_eq!(
            (&defined["missed"], &defined["input"]["total"]),
            (&json!("all"), &json!(2))
        );

        page.press("Past times evening").await;
        page.press("Begin").await;
        page.wait_for_text("A time is missing. Choose both.").await;
        for (label, time) in [("From", "2026-01-01T00:00"), ("To", "2026-01-04T00:00")] {
            page.eval(&format!("(labelled('{label}').value = '{time}', 1)"))
                .await;
        }
        page.press("Begin").await;
        page.wait_for_text("3 threads begun.").await;
        let begun = page
            .served
            .get("/threads?label=petalflow.schedule:evening")
            .await;
        assert_eq!(
            begun["threads"].as_array().map(Vec::len),
            Some(3),
            "{begun}"
        );

        page.press("Delete evening").await;
        page.press("Delete the schedule").await;
        page.wait_for_text("1 schedule").await;
        let listed = page.served.get("/schedules").await;
        assert_eq!(
            listed["schedules"].as_array().map(Vec::len),
            Some(1),
            "{listed}"
        );
    })
    .await;
}
