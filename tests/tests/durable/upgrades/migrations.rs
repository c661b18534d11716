//! Migrations.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Resume;
use petalflow::thread::Edit;

use super::{refusal, reopened};

use crate::support::expect_finished;

mod v1 {
    use petalflow::prelude::*;

    use crate::durable::upgrades::stop;

    #[state]
    #[derive(Debug)]
    pub(super) struct Essay {
        #[key(input)]
        pub(super) words: String,
        #[key(append)]
        remarks: Vec<String>,
        #[key(append)]
        dropped: Vec<u8>,
    }

    #[node(Essay)]
    async fn split() -> (EssayRemarks, EssayDropped, Each<u32>) {
        (
            EssayRemarks(vec!["one".into()]),
            EssayDropped(vec![1]),
            Each(vec![1, 2]),
        )
    }

    #[node(Essay)]
    async fn dig(#[item] depth: &u32, words: &str) -> petalflow::Result<EssayRemarks> {
        if *depth == 2 && words != "runs" {
            stop()
        } else {
            Ok(EssayRemarks(vec![format!("dug {depth}")]))
        }
    }

    flow!(pub(super) Write(Essay) { split -> each dig });
}

mod v2 {
    use petalflow::prelude::*;
    use petalflow::state::Migration;

    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub(super) struct Note {
        pub(super) text: String,
    }

    #[state(version = 2, migrate = migrate)]
    #[derive(Debug)]
    pub(super) struct Essay {
        #[key(input)]
        pub(super) words: u64,
        #[key(prepend)]
        pub(super) notes: Vec<Note>,
        pub(super) last: String,
    }

    fn migrate(from: u32, thread: &mut Migration) -> petalflow::Result<()> {
        if from < 1 {
            thread.rename("remarks", "notes")?;
            thread.fold("notes", state::reduce::append::<Vec<String>>)?;
            let notes: Vec<String> = thread.get("notes")?.unwrap_or_default();
            thread.put("last", notes.last().map_or("none", |last| last))?;
            thread.map("notes", |old: Vec<String>| -> Vec<Note> {
                old.into_iter().map(|text| Note { text }).collect()
            })?;
            assert!(thread.remove("dropped"));
        }
        if from < 2 {
            let words: String = thread.take("words")?.ok_or("no words")?;
            thread.put("words", &words.parse::<u64>()?)?;
            thread.map_item("dig", |depth: u32| depth.to_string())?;
        }
        Ok(())
    }

    #[node(Essay)]
    async fn split() -> Each<String> {
        Each(vec![])
    }

    #[node(Essay)]
    async fn dig(#[item] depth: &String) -> EssayNotes {
        EssayNotes(vec![Note {
            text: format!("anew {depth}"),
        }])
    }

    flow!(pub(super) Write(Essay) { split -> each dig });
}

/// The same, where the writes to the growing key stay what they are.
mod v3 {
    use petalflow::prelude::*;
    use petalflow::state::Migration;

    #[state(version = 1, migrate = migrate)]
    #[derive(Debug)]
    pub(super) struct Essay {
        #[key(input)]
        words: String,
        #[key(append, id = "remarks")]
        pub(super) lengths: Vec<usize>,
    }

    fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
        thread.remove("dropped");
        let lengths = |old: Vec<String>| old.iter().map(String::len).collect::<Vec<_>>();
        Ok(thread.map("remarks", lengths)?)
    }

    #[node(Essay)]
    async fn split() -> Each<u32> {
        Each(vec![])
    }

    #[node(Essay)]
    async fn dig(#[item] _depth: &u32) -> EssayLengths {
        EssayLengths(vec![0])
    }

    flow!(pub(super) Write(Essay) { split -> each dig });
}

fn texts(notes: &[v2::Note]) -> Vec<&str> {
    notes.iter().map(|note| note.text.as_str()).collect()
}

#[tokio::test]
async fn values_writes_and_items_are_migrated_and_pending_tasks_run_again() {
    let thread = reopened!("400".to_string());
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(texts(&snapshot.state.notes), ["one"]);
    let essay = expect_finished(thread.resume(())).await;
    assert_eq!(texts(&essay.notes), ["anew 2", "anew 1", "one"]);
    assert_eq!((essay.words, essay.last.as_str()), (400, "one"));
    // The history is readable at any version, and a fork of an old checkpoint resumes.
    assert_eq!(thread.snapshot_at(0).await.unwrap().state.last, "none");
    let essay = thread.snapshot_at(2).await.unwrap().state;
    assert_eq!(texts(&essay.notes), ["anew 2", "anew 1", "one"]);
    thread.fork(1).await.unwrap();
    let essay = expect_finished(thread.resume(())).await;
    assert_eq!(texts(&essay.notes), ["anew 2", "anew 1", "one"]);
}

#[tokio::test]
async fn each_write_of_a_growing_key_is_migrated() {
    let store = InMemoryStore::new();
    let first = v1::Write::new().store(&store).thread("t");
    first.run("400".to_string()).await.unwrap_err();
    let thread = v3::Write::new().store(&store).thread("t");
    let essay = expect_finished(thread.resume(())).await;
    assert_eq!(essay.lengths, [3, 0, 0]);
    // A migrated thread can be edited, too.
    let number = thread
        .update(Edit::new(v3::EssayLengths(vec![9])))
        .await
        .unwrap();
    assert_eq!(
        thread.snapshot_at(number).await.unwrap().state.lengths,
        [3, 0, 0, 9]
    );
    let fresh = v1::Write::new().store(&store).thread("u");
    fresh.run("400".to_string()).await.unwrap_err();
    let thread = v3::Write::new().store(&store).thread("u");
    let number = thread
        .update(Edit::new(v3::EssayLengths(vec![9])))
        .await
        .unwrap();
    assert_eq!(
        thread.snapshot_at(number).await.unwrap().state.lengths,
        [3, 9]
    );
}

#[tokio::test]
async fn a_newer_thread_is_refused() {
    let store = InMemoryStore::new();
    let thread = v2::Write::new().store(&store).thread("t");
    expect_finished(thread.run(1)).await;
    let old = v3::Write::new().store(&store).thread("t");
    let (problem, diff) = refusal(old.resume(()).await.unwrap_err());
    assert_eq!(
        problem,
        "it was written by a newer program, at version 2 of `Essay`, and this one is at version 1: read it with that program"
    );
    assert!(
        diff.contains(&"+ key remarks: Vec<usize> append".to_string()),
        "{diff:?}"
    );
}

#[tokio::test]
async fn a_failed_migration_does_not_change_the_thread() {
    let store = InMemoryStore::new();
    let old = v1::Write::new().store(&store).thread("t");
    old.run("many".to_string()).await.unwrap_err();
    let thread = v2::Write::new().store(&store).thread("t");
    for _ in 0..2 {
        let (problem, _) = refusal(thread.resume(Resume::new()).await.unwrap_err());
        assert_eq!(
            problem,
            "the migration from version 0 of `Essay` to 2 failed: invalid digit found in string"
        );
    }
    assert_eq!(old.snapshot().await.unwrap().unwrap().state.words, "many");
}

/// A flow inside another, whose state is migrated while it waits for a person.
mod inside {
    use petalflow::checkpoint::InMemoryStore;
    use petalflow::interrupt::Ask;
    use petalflow::prelude::*;
    use petalflow::state::Migration;
    use petalflow::thread::Outcome;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Sure {}

    impl Ask for Sure {
        type Answer = bool;
        const NAME: &'static str = "sure";
    }

    #[state]
    #[derive(Debug)]
    struct Outer {
        #[key(append)]
        texts: Vec<String>,
    }

    mod v1 {
        use super::*;

        #[state]
        struct Review {
            #[key(input)]
            words: String,
        }

        #[node(Review)]
        async fn ask(cx: Context) -> petalflow::Result<()> {
            cx.ask(Sure {}).await?;
            Ok(())
        }

        flow!(Inner(Review) { ask });
        flow! {
            pub(super) Write(Outer) {
                node inner: Inner { in: || ReviewInput { words: "12".into() }, out: |review: Review| OuterTexts(vec![review.words]) };
                START -> inner;
            }
        }
    }

    mod v2 {
        use super::*;

        #[state(version = 1, migrate = migrate)]
        struct Review {
            #[key(input)]
            words: u32,
        }

        fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
            let words: String = thread.take("words")?.unwrap_or_default();
            Ok(thread.put("words", &words.parse::<u32>()?)?)
        }

        #[node(Review)]
        async fn ask(words: &u32, cx: Context) -> petalflow::Result<ReviewWords> {
            let sure = cx.ask(Sure {}).await?;
            Ok(ReviewWords(if sure { words + 1 } else { 0 }))
        }

        flow!(Inner(Review) { ask });
        flow! {
            pub(super) Write(Outer) {
                node inner: Inner { in: || ReviewInput { words: 0 }, out: |review: Review| OuterTexts(vec![review.words.to_string()]) };
                START -> inner;
            }
        }
    }

    #[tokio::test]
    async fn a_subflow_is_migrated_by_its_own_version() {
        let store = InMemoryStore::new();
        let thread = v1::Write::new().store(&store).thread("t");
        let outcome = thread.run(()).await.unwrap();
        assert!(matches!(outcome, Outcome::Paused(_)), "{outcome:?}");
        let thread = v2::Write::new().store(&store).thread("t");
        let outcome = thread.answer::<Sure>(true).await.unwrap();
        assert_eq!(outcome.into_finished().unwrap().texts, ["13"]);
    }
}
