//! The view of schedules.

use petalflow::checkpoint::InMemoryStore;

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
