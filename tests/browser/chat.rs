//! The chat with an agent.

use petalflow::checkpoint::InMemoryStore;

use crate::page::with_page;
use crate::served::builder;

#[tokio::test(flavor = "multi_thread")]
async fn a_person_talks_to_an_agent_and_approves_a_call() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let thread = page
            .served
            .thread("librarian", serde_json::json!({ "input": "hello" }))
            .await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}/chat")).await;
        page.wait_for_text("Hello! Ask me for a book.").await;
        page.fill("Message", "a book, please\n").await;
        page.wait_for_text("1 call waits for a person").await;
        page.wait_for_text("The Secret Garden").await;
        page.choose("Decision", "Approve the call").await;
        page.press_element("seen('form.questions button[type=submit]')[0]")
            .await;
        page.wait_for_text("It is done: look at the result above.")
            .await;
        page.wait_for_text("`The Secret Garden` is lent for four weeks")
            .await;
        assert_eq!(
            page.eval("seen('.message[data-role=user]').length").await,
            2
        );
        page.wait_for("!words(document.body).includes('waits for a person')")
            .await;
    })
    .await;
}
