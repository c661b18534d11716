//! The input of a flow as a form and as a table.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::flows::{priced, unknown_input};
use crate::page::with_page;
use crate::served::builder;

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_input_of_a_document_is_a_table_of_variables() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.go("#/flow/letters").await;
        page.wait_for("seen('.schema-table').length > 0").await;
        page.press("Start a thread").await;
        page.press("Add an item").await;
        page.fill("name", "name").await;
        page.fill("text", "Ann").await;
        let words = page.eval("document.body.textContent").await;
        let words = words.as_str().expect("a text");
        assert!(
            !words.contains("use petalflow") && !words.contains("```"),
            "{words}"
        );
        assert!(
            !words.contains("artifacts") || !words.contains("WireEnvelope"),
            "{words}"
        );
        page.fill("Id", "ann").await;
        page.press("Start").await;
        page.wait_for_thread("letters:ann").await;
        let thread = page.served.settled("letters:ann").await;
        assert_eq!(thread["state"]["vars"]["name"], "Ann");
        assert_eq!(thread["state"]["vars"]["greeting"], "Dear Ann,");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_schema_is_shown_as_a_table_in_words() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.go("#/flow/refunds").await;
        page.wait_for("seen('.schema-table').length === 2").await;
        let rows = "[...seen('.schema-table')[0].querySelectorAll('tbody tr')].map(words).sort()";
        let expected = json!([
            "card text The number of the card.",
            "cents whole number from 1 The amount in cents.",
            "reason text What the customer writes.",
        ]);
        assert_eq!(page.eval(rows).await, expected);
        let answer = page
            .eval("words(seen('.schema-table')[1].querySelector('tbody'))")
            .await;
        assert_eq!(answer, "answer one of pay, refuse What a clerk decides.");
        assert_eq!(page.eval("seen('.panel .tree').length").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_an_input_without_a_schema_is_a_form_of_its_keys() {
    let builder = builder(&InMemoryStore::new()).serve_flow(priced());
    with_page(builder, async |page| {
        page.go("#/flow/priced").await;
        page.press("Start a thread").await;
        page.fill("prompt", "tea").await;
        page.fill("Id", "one").await;
        page.press("Start").await;
        page.wait_for_thread("priced:one").await;
        let thread = page.served.settled("priced:one").await;
        assert_eq!(thread["state"]["answer"], "100 words on tea");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_an_input_of_which_nothing_is_known_is_json_with_a_line_that_says_so() {
    let builder = builder(&InMemoryStore::new()).serve_flow(unknown_input());
    with_page(builder, async |page| {
        page.go("#/flow/unknown").await;
        page.wait_for_text("A thread starts with any value, as JSON.")
            .await;
        page.press("Start a thread").await;
        page.wait_for_text("Any value, as JSON: an object such as")
            .await;
        page.fill("Input", r#"{"prompt": "tea", "words": 2}"#).await;
        page.fill("Id", "one").await;
        page.press("Start").await;
        page.wait_for_thread("unknown:one").await;
        let thread = page.served.settled("unknown:one").await;
        assert_eq!(thread["state"]["answer"], "2 words on tea");
    })
    .await;
}
