//! Text of users and models is shown as text, wherever it is shown.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::{Page, with_page};
use crate::served::builder;

const HOSTILE: &str =
    "<script>window.executed = 1</script><img src=x onerror='window.executed = 2'>";

/// Fails if the text is missing, or was executed, or became elements.
async fn check(page: &Page, view: &str) {
    page.go(view).await;
    page.client.refresh().await.expect("it loads again");
    page.wait_for("document.querySelector('main h1')").await;
    // Values are drawn when they are opened.
    let text = json!(HOSTILE);
    let open = "named('State')?.click(), document.querySelectorAll('main details').forEach((one) => { one.open = true; })";
    page.eval(open).await;
    page.wait_for(&format!(
        "(document.querySelectorAll('main details').forEach((one) => {{ one.open = true; }}), \
          document.body.textContent.includes({text}))"
    ))
    .await;
    // An image that cannot be loaded reports it a moment later.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let executed = page.eval("window.executed ?? null").await;
    assert_eq!(executed, json!(null), "{view}");
    let elements =
        "document.querySelectorAll('main img, main script, body > img, [onerror]').length";
    assert_eq!(page.eval(elements).await, 0, "{view}");
}

#[tokio::test(flavor = "multi_thread")]
async fn html_in_labels_states_questions_messages_and_errors_is_text() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let served = &page.served;
        let labels = json!({ "customer": HOSTILE });
        let input = json!({ "cents": 1, "reason": HOSTILE, "card": "4242" });
        let refund = json!({ "id": "ann", "input": input, "labels": labels });
        let refund = served.thread("refunds", refund).await;
        served.settled(&refund).await;
        let talk = served
            .thread("librarian", json!({ "input": HOSTILE }))
            .await;
        served.settled(&talk).await;
        let steps = json!({ "input": { "total": 1, "note": HOSTILE } });
        let steps = served.thread("steps", steps).await;
        served.settled(&steps).await;

        check(page, "#/threads").await;
        // The question, the labels and the state.
        check(page, &format!("#/thread/{refund}")).await;
        check(page, &format!("#/thread/{refund}/history")).await;
        check(page, &format!("#/thread/{steps}")).await;
        check(page, &format!("#/thread/{steps}/history")).await;
        check(page, &format!("#/compare?left={refund}&right={steps}")).await;
        // The messages.
        check(page, &format!("#/thread/{talk}/chat")).await;
        check(page, &format!("#/thread/{talk}")).await;
        // What the person has typed.
        let address = HOSTILE
            .replace('<', "%3C")
            .replace('>', "%3E")
            .replace(' ', "+");
        page.go(&format!("#/threads?prefix={address}")).await;
        page.wait_for_text("No thread has these properties").await;
        assert_eq!(page.eval("window.executed ?? null").await, json!(null));
    })
    .await;
}
