//! A thread is saved as a file, and a test replays it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use petalflow::checkpoint::InMemoryStore;
use petalflow_testing::Replay;
use serde_json::json;

use crate::flows::RunSteps;
use crate::page::with_page;
use crate::served::builder;

/// The only file of the folder, as soon as the browser has written all of it.
async fn downloaded(folder: &Path) -> PathBuf {
    let begin = Instant::now();
    loop {
        let files = std::fs::read_dir(folder).into_iter().flatten();
        let files: Vec<PathBuf> = files.map(|it| it.expect("a file").path()).collect();
        match &files[..] {
            [file] if file.extension().is_some_and(|it| it == "json") => return file.clone(),
            _ => {}
        }
        assert!(
            begin.elapsed() < Duration::from_secs(30),
            "no download: {files:?}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_7_the_export_of_a_thread_is_a_file_that_is_replayed() {
    with_page(builder(&InMemoryStore::new()), async |page| {
        let input = json!({ "total": 3, "note": "<b>note</b> \u{e9} \"quoted\"" });
        let thread = page
            .served
            .thread("steps", json!({ "id": "ann-7", "input": input }))
            .await;
        page.served.settled(&thread).await;
        page.go(&format!("#/thread/{thread}")).await;
        page.press("Export").await;
        let file = downloaded(&page.downloads()).await;
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.expect("a name");
        page.wait_for_text(&format!("The thread was saved as {name}."))
            .await;
        assert!(name.ends_with(".thread.json"), "{name}");
        // The bytes are those of the server.
        let path = format!("/threads/{thread}/export");
        assert_eq!(
            serde_json::from_slice::<serde_json::Value>(&std::fs::read(&file).expect("a file"))
                .expect("JSON"),
            page.served.get(&path).await
        );

        let report = Replay::of(&file)
            .flow(RunSteps::new().limit(10_000))
            .run_all();
        let report = report.report().await;
        assert_eq!(report.thread, thread);
        assert!(report.is_same(), "{report}");
    })
    .await;
}
