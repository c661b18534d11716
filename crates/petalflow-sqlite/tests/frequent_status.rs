//! Lists by a status that many threads have: they are read in the order of the ids, and not by the index of the status.

use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
use petalflow::prelude::*;
use petalflow_sqlite::SqliteStore;

#[state]
struct Note {
    #[key(input)]
    text: String,
    length: usize,
}

#[node(Note)]
async fn measure(text: &str) -> petalflow::Result<NoteLength> {
    if text.is_empty() {
        return Err("there is no text".into());
    }
    Ok(NoteLength(text.len()))
}

flow!(Measure(Note) { measure });

#[tokio::test]
async fn a_frequent_and_a_rare_status_are_listed_in_pages() {
    let store = SqliteStore::in_memory().expect("it opens");
    let threads = Measure::new().store(&store);
    // More than are found by the index, and a few with another status between them.
    for number in 0..1_010 {
        let thread = threads.thread(format!("t{number:04}"));
        let text = if number % 200 == 199 { "" } else { "some" };
        let run = thread.run(text.to_string()).await;
        assert_eq!(run.is_err(), text.is_empty());
    }
    let list = async |status, after: Option<&str>, limit| {
        let query = ThreadQuery {
            status: Some(status),
            after,
            limit: Some(limit),
            ..ThreadQuery::default()
        };
        let listed = threads.list(query).await.expect("they are listed");
        assert!(listed.iter().all(|info| info.status == status));
        listed.into_iter().map(|info| info.id).collect::<Vec<_>>()
    };
    let finished = list(ThreadStatus::Finished, None, 2_000).await;
    assert_eq!(finished.len(), 1_005);
    let page = list(ThreadStatus::Finished, Some("t0197"), 3).await;
    assert_eq!(page, ["t0198", "t0200", "t0201"]);
    let failed = list(ThreadStatus::Failed, None, 2_000).await;
    assert_eq!(failed, ["t0199", "t0399", "t0599", "t0799", "t0999"]);
    assert!(list(ThreadStatus::Waiting, None, 10).await.is_empty());
}
