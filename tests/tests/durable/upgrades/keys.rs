//! Keys that change.

use super::{refusal, reopened};

use crate::support::expect_finished;
use petalflow_test_support::assert_starts_with;

mod added_and_reordered {
    use super::*;

    mod v1 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::stop;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(input)]
            topic: String,
            #[key(sum)]
            rounds: u32,
            #[key(append)]
            notes: Vec<String>,
        }

        #[node(Essay)]
        async fn note() -> (EssayNotes, EssayRounds) {
            (EssayNotes(vec!["one".into()]), EssayRounds(2))
        }

        #[node(Essay)]
        async fn last() -> petalflow::Result<()> {
            stop()
        }

        flow!(pub(super) Write(Essay) { note -> last });
    }

    mod v2 {
        use petalflow::prelude::*;

        // `notes` first, `rounds` wider, `draft` and `words` new, the state renamed.
        #[state]
        #[derive(Debug)]
        pub(super) struct Article {
            #[key(append)]
            pub(super) notes: Vec<String>,
            #[key(sum, default)]
            pub(super) rounds: u64,
            #[key(default = "none".into())]
            pub(super) draft: String,
            #[key(sum)]
            pub(super) words: u32,
            #[key(input, id = "topic")]
            pub(super) title: Option<String>,
        }

        #[node(Article)]
        async fn note() {}

        #[node(Article)]
        async fn last(rounds: &u64) -> (ArticleNotes, ArticleRounds) {
            (ArticleNotes(vec!["two".into()]), ArticleRounds(rounds - 1))
        }

        flow!(pub(super) Write(Article) { note -> last });
    }

    #[tokio::test]
    async fn added_reordered_renamed_and_wider_keys_pass() {
        let thread = reopened!("petals".to_string());
        let article = expect_finished(thread.resume(())).await;
        assert_eq!(article.notes, ["one", "two"]);
        assert_eq!((article.rounds, article.words), (3, 0));
        assert_eq!(article.draft, "none");
        assert_eq!(article.title.as_deref(), Some("petals"));
        // The checkpoint of the new program is complete, and can be read again.
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.notes, ["one", "two"]);
        assert_eq!(snapshot.state.rounds, 3);
        // An old checkpoint is read by the new program, too.
        let first = thread.snapshot_at(0).await.unwrap();
        assert!(first.state.notes.is_empty());
    }
}

mod removed {
    use super::*;

    mod v1 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::stop;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(input)]
            topic: String,
            #[key(append)]
            notes: Vec<String>,
            #[key(append)]
            never: Vec<String>,
            #[key(ephemeral)]
            scratch: String,
        }

        #[node(Essay)]
        async fn note(topic: &str) -> (EssayNotes, EssayScratch) {
            let notes = if topic == "nothing" {
                vec![]
            } else {
                vec!["one".into()]
            };
            (EssayNotes(notes), EssayScratch("gone".into()))
        }

        #[node(Essay)]
        async fn wait() {}

        #[node(Essay)]
        async fn last() -> petalflow::Result<()> {
            stop()
        }

        flow!(pub(super) Write(Essay) { note -> wait -> last });
    }

    mod v2 {
        use petalflow::prelude::*;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(input)]
            pub(super) topic: String,
            // What was `notes`, without an `id` to say so.
            #[key(append)]
            remarks: Vec<String>,
        }

        #[node(Essay)]
        async fn note() {}

        #[node(Essay)]
        async fn wait() {}

        #[node(Essay)]
        async fn last() {}

        flow!(pub(super) Write(Essay) { note -> wait -> last });
    }

    #[tokio::test]
    async fn a_removed_key_that_holds_data_is_refused() {
        let thread = reopened!("petals".to_string());
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_eq!(
            problem,
            "it has a value of the key `notes`, which `Essay` does not store: if the key was renamed, give it its old name in storage with `#[key(id = \"notes\")]`; otherwise convert or remove the value in a migration, `#[state(version = .., migrate = ..)]`"
        );
        assert_eq!(
            diff,
            [
                "- key never: Vec<String> append",
                "- key notes: Vec<String> append",
                "+ key remarks: Vec<String> append",
                "- key scratch: String replace ephemeral",
            ]
        );
        // Nothing is half-read: not the state, not the history, not under a new turn.
        refusal(thread.snapshot().await.unwrap_err());
        refusal(thread.run("again".to_string()).await.unwrap_err());
        refusal(
            thread
                .fork(1)
                .await
                .err()
                .unwrap_or_else(|| panic!("forked")),
        );
    }

    #[tokio::test]
    async fn a_removed_key_that_holds_nothing_passes() {
        let store = petalflow::checkpoint::InMemoryStore::new();
        let first = v1::Write::new().store(&store).thread("t");
        first.run("nothing".to_string()).await.unwrap_err();
        let thread = v2::Write::new().store(&store).thread("t");
        // Before the write to `notes`, even one of nothing.
        assert_eq!(thread.snapshot_at(0).await.unwrap().state.topic, "nothing");
    }
}

mod unreadable {
    use super::*;

    mod v1 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::stop;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(input)]
            rounds: u64,
        }

        #[node(Essay)]
        async fn last() -> petalflow::Result<()> {
            stop()
        }

        flow!(pub(super) Write(Essay) { last });
    }

    mod v2 {
        use petalflow::prelude::*;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(input)]
            pub(super) rounds: u8,
            #[key(input, default)]
            topic: String,
        }

        #[node(Essay)]
        async fn last() {}

        flow!(pub(super) Write(Essay) { last });
    }

    #[tokio::test]
    async fn a_changed_type_is_accepted_if_it_reads_the_stored_values() {
        let thread = reopened!(7);
        let essay = expect_finished(thread.resume(())).await;
        assert_eq!(essay.rounds, 7);
        let thread = reopened!(700);
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_starts_with(
            &problem,
            "the value of the key `rounds` cannot be read as `u8`: ",
        );
        assert!(
            problem.ends_with(
                "; convert it in a migration, `migration.map(\"rounds\", |old: u64| ..)`"
            ),
            "{problem}"
        );
        assert_eq!(
            diff,
            [
                "- key rounds: u64 replace required",
                "+ key rounds: u8 replace required",
                "+ key topic: String replace"
            ]
        );
    }
}

mod required {
    use super::*;

    mod v1 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::stop;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {}

        #[node(Essay)]
        async fn last() -> petalflow::Result<()> {
            stop()
        }

        flow!(pub(super) Write(Essay) { last });
    }

    mod v2 {
        use petalflow::prelude::*;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(input)]
            topic: String,
        }

        #[node(Essay)]
        async fn last() {}

        flow!(pub(super) Write(Essay) { last });
    }

    #[tokio::test]
    async fn a_new_key_without_a_default_is_refused() {
        let thread = reopened!(());
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_starts_with(
            &problem,
            "it has no value of the key `topic`, which has no default: give the key a default, `#[key(default)]`",
        );
        assert_eq!(diff, ["+ key topic: String replace required"]);
    }
}

mod reducers {
    use super::*;

    mod v1 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::stop;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(append)]
            notes: Vec<u32>,
        }

        #[node(Essay)]
        async fn note() -> EssayNotes {
            EssayNotes(vec![1, 2])
        }

        #[node(Essay)]
        async fn last() -> petalflow::Result<()> {
            stop()
        }

        flow!(pub(super) Write(Essay) { note -> last });
    }

    mod v2 {
        use petalflow::prelude::*;

        #[state]
        #[derive(Debug)]
        pub(super) struct Essay {
            #[key(prepend)]
            pub(super) notes: Vec<u32>,
        }

        #[node(Essay)]
        async fn note() {}

        #[node(Essay)]
        async fn last() -> EssayNotes {
            EssayNotes(vec![3])
        }

        flow!(pub(super) Write(Essay) { note -> last });
    }

    /// What each reducer has folded, and the program with another one.
    mod totals {
        use petalflow::prelude::*;
        use petalflow::state::Migration;

        macro_rules! program {
            ($name:ident: $reducer:ident $(, $version:ident = $number:literal, $migrate:ident = $function:ident)?) => {
                pub(crate) mod $name {
                    use super::*;

                    #[state($($version = $number, $migrate = super::$function)?)]
                    #[derive(Debug)]
                    pub(crate) struct Bill {
                        #[key($reducer, default)]
                        pub(crate) total: i64,
                    }

                    #[node(Bill)]
                    async fn add() -> BillTotal {
                        BillTotal(100)
                    }

                    #[node(Bill)]
                    async fn more() -> petalflow::Result<BillTotal> {
                        crate::durable::upgrades::stop()
                    }

                    flow!(pub(crate) Count(Bill) { add -> more });
                }
            };
        }

        fn keep(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
            Ok(thread.map("total", |total: i64| total)?)
        }

        program!(sums: sum);
        program!(replaces: replace);
        program!(largest: max);
        program!(migrated: max, version = 1, migrate = keep);
    }

    /// Row by row: a total of 100 that was folded with one reducer is not read by a program with another one.
    #[tokio::test]
    async fn f42_a_value_is_refused_by_a_program_with_another_reducer() {
        macro_rules! refused {
            ($was:ident, $is:ident) => {{
                let store = petalflow::checkpoint::InMemoryStore::new();
                let was = totals::$was::Count::new().store(&store).thread("t");
                was.run(()).await.expect_err("it stops");
                assert_eq!(was.snapshot().await.unwrap().unwrap().state.total, 100);
                let is = totals::$is::Count::new().store(&store).thread("t");
                let resumed = is.resume(()).await.expect_err("it is refused");
                let read = is.snapshot().await.expect_err("it is refused");
                (refusal(resumed).0, read.to_string())
            }};
        }
        for (row, was, is, (problem, read)) in [
            (1, "sum", "replace", refused!(sums, replaces)),
            (2, "sum", "max", refused!(sums, largest)),
            (3, "replace", "sum", refused!(replaces, sums)),
            (4, "replace", "max", refused!(replaces, largest)),
            (5, "max", "sum", refused!(largest, sums)),
            (6, "max", "replace", refused!(largest, replaces)),
        ] {
            let expected = format!(
                "its value of the key `total` was folded with `{was}`, and the next write is folded with `{is}`: convert the value in a migration, `migration.map(\"total\", ..)`, or give the key another name"
            );
            assert_eq!(problem, expected, "row {row}");
            assert!(read.contains(&expected), "row {row}: {read}");
        }
    }

    #[tokio::test]
    async fn f42_a_migration_says_that_a_value_means_the_same_with_another_reducer() {
        let store = petalflow::checkpoint::InMemoryStore::new();
        let was = totals::sums::Count::new().store(&store).thread("t");
        was.run(()).await.expect_err("it stops");
        let is = totals::migrated::Count::new().store(&store).thread("t");
        let snapshot = is.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.total, 100);
    }

    #[tokio::test]
    async fn writes_do_not_fold_with_another_reducer() {
        let thread = reopened!(());
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_eq!(
            problem,
            "its writes to the key `notes` fold with `append`, and the reducer of the key is `prepend` now: fold them in a migration, `migration.fold(\"notes\", reduce::append)`"
        );
        assert_eq!(
            diff,
            [
                "- key notes: Vec<u32> append",
                "+ key notes: Vec<u32> prepend"
            ]
        );
        // The first checkpoint holds the value.
        let number = thread.fork(0).await.unwrap();
        assert!(
            thread
                .snapshot_at(number)
                .await
                .unwrap()
                .state
                .notes
                .is_empty()
        );
        // The fork resumes at `note`, which no longer writes.
        let essay = expect_finished(thread.resume(())).await;
        assert_eq!(essay.notes, [3]);
    }
}
