//! The drawing of a graph: its size, what it follows, and its signs.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::{Page, with_page};
use crate::served::builder;

/// A refund that waits for a clerk.
async fn refund(page: &Page) -> String {
    let input = json!({ "input": { "cents": 5, "reason": "late", "card": "4242" } });
    let thread = page.served.thread("refunds", input).await;
    page.served.settled(&thread).await;
    page.go(&format!("#/thread/{thread}")).await;
    page.wait_for_mark("decide", "waiting").await;
    thread
}

/// Answers the question, as another client does.
async fn pay(page: &Page, thread: &str) {
    let view = page.served.get(&format!("/threads/{thread}")).await;
    let id = view["questions"][0]["id"].as_str().expect("an id");
    let path = format!("/threads/{thread}/answers/{id}");
    let answer = json!({ "answer": { "decision": "pay" } });
    let (status, text) = page.served.call("POST", &path, answer).await;
    assert!(status.is_success(), "{text}");
}

const WIDTH: &str = "document.querySelector('.pan-zoom svg').getBoundingClientRect().width";

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_graph_is_made_larger_with_buttons_the_wheel_and_keys() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        refund(page).await;
        let fitted = page.eval(WIDTH).await.as_f64().expect("a number");
        page.press_element("seen('.pan-zoom [aria-label=Larger]')[0]")
            .await;
        page.wait_for(&format!("{WIDTH} > {fitted}")).await;
        page.press_element("seen('.pan-zoom [aria-label=Smaller]')[0]")
            .await;
        page.wait_for(&format!("Math.abs({WIDTH} - {fitted}) < 1"))
            .await;

        let wheel = |delta: i32, control: bool| {
            format!(
                "document.querySelector('.pan-zoom-view').dispatchEvent(new WheelEvent('wheel', \
                 {{ deltaY: {delta}, ctrlKey: {control}, bubbles: true, cancelable: true }}))"
            )
        };
        // The page must not become larger with it.
        assert_eq!(page.eval(&wheel(-300, true)).await, false);
        page.wait_for(&format!("{WIDTH} > {fitted} * 2")).await;
        assert_eq!(page.eval(&wheel(-300, false)).await, true);
        page.press("Fit").await;
        page.wait_for(&format!("Math.abs({WIDTH} - {fitted}) < 1"))
            .await;

        let view = page
            .element("document.querySelector('.pan-zoom-view')")
            .await;
        view.send_keys("++").await.expect("it has the focus");
        page.wait_for(&format!("{WIDTH} > {fitted} * 1.5")).await;
        view.send_keys("0").await.expect("it has the focus");
        page.wait_for(&format!("Math.abs({WIDTH} - {fitted}) < 1"))
            .await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_graph_follows_the_active_node_until_a_person_moves_it() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = refund(page).await;
        let view = "document.querySelector('.pan-zoom-view')";
        for _ in 0..6 {
            page.press_element("seen('.pan-zoom [aria-label=Larger]')[0]").await;
        }
        page.eval(&format!("({view}.scrollTop = 0, {view}.scrollLeft = 0, 1)")).await;
        pay(page, &thread).await;
        page.wait_for_mark("pay", "waiting").await;
        let inside = format!(
            "(() => {{ const inner = document.querySelector('[data-node=pay] rect').getBoundingClientRect(); \
             const outer = {view}.getBoundingClientRect(); \
             return inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left \
             && inner.right <= outer.right; }})()"
        );
        page.wait_for(&inside).await;
        page.wait_for("named('Follow').getAttribute('aria-pressed') === 'true'").await;

        let element = page.element(view).await;
        element.send_keys("\u{e015}").await.expect("it has the focus");
        page.wait_for("named('Follow').getAttribute('aria-pressed') === 'false'").await;
        page.eval(&format!("({view}.scrollTop = 100000, 1)")).await;
        page.press("Follow").await;
        page.wait_for(&inside).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_no_label_of_an_edge_is_under_a_sign_and_no_sign_is_a_character() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = refund(page).await;
        pay(page, &thread).await;
        page.wait_for_mark("pay", "waiting").await;
        page.wait_for("document.querySelectorAll('.drawing .mark-sign circle').length === 2").await;
        let covered = "(() => { const boxes = (all) => [...all].map((one) => one.getBoundingClientRect()); \
            const signs = boxes(document.querySelectorAll('.drawing .mark-sign circle')); \
            const texts = [...document.querySelectorAll('.drawing text[font-style=italic]')]; \
            const labels = boxes(texts.filter((text) => text.textContent)); \
            return [signs.length, labels.length, signs.filter((a) => labels.some((b) => \
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length]; })()";
        assert_eq!(page.eval(covered).await, json!([2, 2, 0]));

        let texts = "[...document.querySelectorAll('.drawing text, .badge, .legend, .outcome')] \
            .map((one) => one.textContent).filter((text) => /[^\\x20-\\x7e]/.test(text))";
        assert_eq!(page.eval(texts).await, json!([]));
        assert_eq!(page.eval("seen('.facts .badge .icon').length").await, 1);
    })
    .await;
}
