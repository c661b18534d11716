//! What a person does with checkpoints: fork, edit, compare.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::with_page;
use crate::served::builder;

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_forked_at_an_earlier_checkpoint_edited_and_compared() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "id": "ann", "input": { "total": 3, "note": "first" } });
        let thread = page.served.thread("steps", input).await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}/history")).await;
        page.wait_for_text("6 checkpoints").await;
        // The one after the first `work`.
        page.press_element("seen('.row-button').find((row) => words(row).startsWith('#3 '))").await;
        page.wait_for_text("Checkpoint 3").await;
        page.press("Fork to a new thread").await;
        page.fill("Id of the new thread", "branch").await;
        page.press("Fork").await;
        page.wait_for_thread("steps:branch").await;
        page.wait_for_status("held").await;

        page.press("History").await;
        page.press("Edit keys").await;
        page.press_element("seen('dialog label.choice').find((one) => words(one).startsWith('note'))").await;
        page.fill("New value", "\"second\"").await;
        page.press("Write the keys").await;
        page.wait_for_text("second").await;
        page.press("Resume").await;
        page.wait_for_status("finished").await;

        let branch = page.served.get("/threads/steps:branch").await["state"].clone();
        assert_eq!((&branch["note"], &branch["done"]), (&json!("second"), &json!(3)));
        page.go("#/compare").await;
        page.element("document.getElementById('compare-left')").await
            .send_keys("steps:ann").await.expect("a field");
        page.element("document.getElementById('compare-right')").await
            .send_keys("steps:branch").await.expect("a field");
        page.press_element("seen('form button[type=submit]')[0]").await;
        page.wait_for("document.querySelector('table.compare')").await;
        let row = |key: &str| {
            format!("[...document.querySelectorAll('.compare tr')].find((row) => words(row).startsWith('{key}'))?.dataset.kind")
        };
        assert_eq!(page.wait_for(&row("note")).await, "changed");
        assert_eq!(page.wait_for(&row("done")).await, "same");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_goes_back_to_an_earlier_checkpoint() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = page
            .served
            .thread("steps", json!({ "input": { "total": 2 } }))
            .await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}/history?checkpoint=3"))
            .await;
        page.wait_for_text("Checkpoint 3").await;
        page.press("Fork here").await;
        page.press_element("seen('dialog button[type=submit]')[0]")
            .await;
        page.wait_for_status("held").await;
        page.press("Resume").await;
        page.wait_for_status("finished").await;
        let state = page.served.settled(&thread).await["state"].clone();
        assert_eq!(state["done"], 2, "{state}");
    })
    .await;
}
