//! Threads that run on from one of their supersteps.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use super::*;

/// How often each node was called.
static LOOKS: AtomicU32 = AtomicU32::new(0);
static WRITES: AtomicU32 = AtomicU32::new(0);

#[state]
struct Essay {
    #[key(input)]
    pages: u32,
    #[key(append)]
    found: Vec<String>,
    #[key(append)]
    drafts: Vec<String>,
}

#[node(Essay)]
async fn list(pages: &u32) -> Each<u32> {
    Each((0..*pages).collect())
}

#[node(Essay)]
async fn look(#[item] page: &u32) -> EssayFound {
    LOOKS.fetch_add(1, SeqCst);
    EssayFound(vec![format!("page {page}")])
}

#[node(Essay)]
async fn write(found: &[String], drafts: &[String]) -> EssayDrafts {
    WRITES.fetch_add(1, SeqCst);
    EssayDrafts(vec![format!("{} of {}", drafts.len(), found.len())])
}

#[node(Essay)]
async fn judge(drafts: &[String]) -> bool {
    drafts.len() >= 2
}

flow!(WriteEssay(Essay) { list -> each look -> write -> judge -> match { true => END, false => write } });

mod today {
    use super::*;

    #[node(Essay)]
    async fn write(found: &[String]) -> EssayDrafts {
        EssayDrafts(vec!["one".into(), found.join("+")])
    }

    /// Another item at the same place.
    #[node(Essay)]
    async fn list(pages: &u32) -> Each<u32> {
        Each((0..*pages).map(|page| page * 7).collect())
    }

    flow!(pub(super) WriteEssay(Essay) { list -> each look -> write -> judge -> match { true => END, false => write } });
}

#[tokio::test]
async fn f44_a_thread_runs_on_with_the_nodes_that_are_named() {
    let threads = threads(WriteEssay::new());
    let ended = threads.thread("essay").run(2).await.unwrap();
    let stored = ended.into_finished().unwrap();
    let file = exported(&threads, "essay").await;
    let calls = || (LOOKS.load(SeqCst), WRITES.load(SeqCst));
    assert_eq!(calls(), (2, 2));

    // The writer of today writes both drafts at once: `judge` gives its recorded result, which is of the first draft.
    let replay = || Replay::of_file(file.clone()).flow(today::WriteEssay::new());
    let ends = replay().run("write").run("judge").from(1, 3).ends().await;
    assert_eq!(ends.recorded.drafts, stored.drafts);
    assert_eq!(ends.found.drafts, ["one", "page 0+page 1"]);
    assert_eq!(
        (ends.ran, &ends.stopped),
        (2, &None),
        "{:?}",
        ends.found.drafts
    );
    assert_eq!(calls(), (2, 2));

    // Of the items that are others, none has a recorded result.
    let ends = replay().run("list").from(1, 1).ends().await;
    let stopped = ends.stopped.expect("it stops");
    assert!(
        stopped.starts_with("`look` was to run and was not named"),
        "{stopped}"
    );
    assert!(ends.found.found.len() < 2, "{:?}", ends.found.found);
    assert_eq!(calls(), (2, 2), "nothing is called that was not named");

    // The same program, and nothing that runs: the same end.
    let same = Replay::of_file(file.clone()).flow(WriteEssay::new());
    let ends = same.from(1, 1).ends().await;
    assert_eq!((ends.ran, ends.stopped), (0, None));
    assert_eq!(ends.found.drafts, stored.drafts);
    assert_eq!(calls(), (2, 2));
}

#[tokio::test]
#[should_panic(expected = "has no superstep 9 of turn 1: those of this turn in its file are `1, 2")]
async fn f44_an_unknown_superstep_is_refused() {
    let threads = threads(today::WriteEssay::new());
    let ended = threads.thread("other").run(0).await.unwrap();
    ended.into_finished().unwrap();
    let file = exported(&threads, "other").await;
    let _ = Replay::of_file(file)
        .flow(today::WriteEssay::new())
        .from(1, 9)
        .ends()
        .await;
}
