//! The token of a person.

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::{with_browser, with_page};
use crate::served::{TOKEN, builder};

#[tokio::test(flavor = "multi_thread")]
async fn the_link_signs_in_and_its_token_leaves_the_address() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.wait_for_text("refunds").await;
        let address = page.eval("location.href").await;
        let expected = format!("http://{}/studio/#/flows", page.served.address);
        assert_eq!(address, json!(expected));
        // Nor is it in an entry of the history before this one.
        assert_eq!(
            page.eval("navigation.entries().filter(({ url }) => url.includes('token')).length")
                .await,
            0
        );
        page.client.refresh().await.expect("it loads again");
        page.wait_for_text("refunds").await;
        let stored = page.eval("Object.values({ ...localStorage })").await;
        assert!(!stored.to_string().contains(TOKEN), "{stored}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_the_link_types_the_token() {
    with_browser(builder(&InMemoryStore::new()), async |page| {
        page.go("").await;
        page.wait_for_text("The server asks for a token").await;
        page.fill("Token", TOKEN).await;
        page.press("Use this token").await;
        page.wait_for("!document.querySelector('dialog')").await;
        page.wait_for_text("refunds").await;
        let errors = page.console_errors().await;
        // The refused requests are all that the console has.
        assert!(!errors.is_empty());
        assert!(
            errors.iter().all(|error| error.contains("401")),
            "{errors:#?}"
        );
    })
    .await;
}
