//! The sources that an answer cites are shown, and only addresses of the web are links.

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::Agent;
use petalflow_llm::native::{Citation, Source};
use petalflow_llm::{ChatMessage, LlmResponse, Part, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

use crate::page::{Page, with_page};
use crate::served::builder;

const HOSTILE: &str = "<img src=x onerror='window.executed = 1'><b>bold</b>";

fn web(url: &str, title: Option<&str>) -> Source {
    Source::Web {
        url: url.into(),
        title: title.map(Into::into),
    }
}

/// Each source, the text that is shown for it, and the address of its link.
fn sources() -> Vec<(Source, &'static str, Option<&'static str>)> {
    let link = "https://tokio.rs/blog?a=1&b=%22";
    vec![
        (
            web(link, Some("The blog of Tokio")),
            "The blog of Tokio",
            Some(link),
        ),
        (
            web("http://docs.rs/", None),
            "http://docs.rs/",
            Some("http://docs.rs/"),
        ),
        (
            web("HTTPS://docs.rs/tokio", Some("docs.rs")),
            "docs.rs",
            Some("https://docs.rs/tokio"),
        ),
        (
            web(
                "https://example.com/\"onclick=\"window.executed=2",
                Some(HOSTILE),
            ),
            HOSTILE,
            Some("https://example.com/%22onclick=%22window.executed=2"),
        ),
        (
            web("javascript:window.executed=3", Some("A script")),
            "A script",
            None,
        ),
        (
            web(" \njavascript:window.executed=4//https://a", None),
            "javascript:window.executed=4//https://a",
            None,
        ),
        (
            web(
                "data:text/html,<script>window.executed=5</script>",
                Some("Data"),
            ),
            "Data",
            None,
        ),
        (web("file:///etc/passwd", None), "file:///etc/passwd", None),
        (
            web("//example.com/relative", Some("Without a scheme")),
            "Without a scheme",
            None,
        ),
        (web("ftp://example.com", Some("FTP")), "FTP", None),
        (
            Source::File {
                id: Some("file-1".into()),
                name: Some("report.pdf".into()),
            },
            "report.pdf",
            None,
        ),
        (
            Source::Document {
                index: 0,
                title: Some("The contract".into()),
                place: None,
            },
            "The contract",
            None,
        ),
        (
            Source::File {
                id: None,
                name: None,
            },
            "a source without a name",
            None,
        ),
    ]
}

/// An agent that cites all of them, the first one twice.
fn researcher() -> Agent {
    let all = sources();
    let cited = all.iter().chain(&all[..1]);
    let cited = cited.map(|(source, ..)| {
        Part::Citation(Citation {
            quote: Some(format!("A quote: {HOSTILE}")),
            ..Citation::of(source.clone())
        })
    });
    let parts = [Part::text("Tokio is at 1.5.")].into_iter().chain(cited);
    let message = ChatMessage::new(Role::Assistant, parts.collect());
    Agent::new(ScriptedModel::from_fn(move |_| {
        Reply::from(LlmResponse {
            message: Some(message.clone()),
            ..LlmResponse::default()
        })
    }))
    .name("researcher")
}

/// The sources of the answer that the page shows: their text, and the attributes of their links.
async fn shown(page: &Page) -> Value {
    page.wait_for("seen('.part-source').length").await;
    let script = "seen('.part-source').map((one) => ({ \
        text: (one.querySelector('a') ?? one.querySelector('span')).textContent.trim(), \
        href: one.querySelector('a')?.href ?? null, rel: one.querySelector('a')?.rel ?? null, \
        target: one.querySelector('a')?.target ?? null, quote: one.querySelector('q').textContent, \
        elements: one.querySelectorAll('*').length }))";
    page.eval(script).await
}

fn expected() -> Value {
    let rows = sources().into_iter().map(|(_, text, href)| {
        let of_link = |value: &str| href.map(|_| value.to_owned());
        json!({
            "text": text, "href": href, "rel": of_link("noopener noreferrer"), "target": of_link("_blank"),
            // The link or the text, and the quote.
            "quote": format!("A quote: {HOSTILE}"), "elements": 2,
        })
    });
    rows.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_5_sources_are_shown_and_only_addresses_of_the_web_are_links() {
    let builder = builder(&InMemoryStore::new()).agent("researcher", &researcher());
    with_page(builder, async |page| {
        let thread = page
            .served
            .thread("researcher", json!({ "input": "How new is Tokio?" }))
            .await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}/chat")).await;
        page.wait_for_text("Tokio is at 1.5.").await;
        assert_eq!(shown(page).await, expected(), "each source once, in order");
        // A turn while the page is open is drawn from events.
        page.fill("Message", "And now?\n").await;
        page.wait_for("seen('.message[data-role=user]').length === 2")
            .await;
        let twice = sources().len() * 2;
        page.wait_for(&format!("seen('.part-source').length === {twice}"))
            .await;
        let all = shown(page).await;
        let all = all.as_array().expect("a list");
        assert_eq!(json!(all[..twice / 2]), expected());
        assert_eq!(json!(all[twice / 2..]), expected());
        // A click on a text does nothing, and no source became an element.
        page.eval("seen('.part-source span').forEach((one) => one.click())")
            .await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!(page.eval("window.executed ?? null").await, json!(null));
        assert_eq!(
            page.eval("document.querySelectorAll('main img, main b').length")
                .await,
            0
        );
    })
    .await;
}
