//! The pictures in the documents: a thread in the middle of a run.

use std::path::Path;

use petalflow::checkpoint::InMemoryStore;
use serde_json::json;

use crate::page::{Page, with_page};
use crate::served::builder;

/// The documents show two of these sizes.
const LARGEST_BYTES: usize = 200 << 10;

/// The page with a thread in the middle of a run, as an image.
async fn picture(page: &Page, theme: &str) -> Vec<u8> {
    let select = page
        .element("document.querySelector('.theme select')")
        .await;
    select
        .select_by_label(theme)
        .await
        .expect("there is the theme");
    page.eval("document.activeElement.blur()").await;
    page.client.screenshot().await.expect("a picture")
}

/// With `PETALFLOW_BLESS=1`, the pictures are written again. Otherwise it is checked that they can be made, and that there are some.
#[tokio::test(flavor = "multi_thread")]
async fn the_pictures_show_a_thread_in_the_middle_of_a_run() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images"));
    with_page(builder(&InMemoryStore::new()), async |page| {
        page.resize(1200, 760, 1.5).await;
        let input = json!({ "topic": "the history of tea", "rounds": 1000 });
        let research = json!({ "id": "tea", "input": input, "labels": { "team": "news" } });
        let thread = page.served.thread("research", research).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.wait_for_text("Superstep 5").await;
        page.wait_for_mark("read", "running").await;
        for theme in ["Light", "Dark"] {
            page.wait_for_mark("read", "running").await;
            let image = picture(page, theme).await;
            assert!(image.starts_with(b"\x89PNG"));
            assert!(image.len() <= LARGEST_BYTES, "{} bytes", image.len());
            let file = folder.join(format!("studio-{}.png", theme.to_lowercase()));
            if std::env::var_os("PETALFLOW_BLESS").is_some() {
                std::fs::create_dir_all(folder).expect("the folder can be made");
                std::fs::write(&file, image).expect("it is written");
            }
            assert!(
                file.exists(),
                "{} is missing: run this test with PETALFLOW_BLESS=1",
                file.display()
            );
        }
        page.served
            .call("POST", &format!("/threads/{thread}/cancel"), json!({}))
            .await;
    })
    .await;
}
