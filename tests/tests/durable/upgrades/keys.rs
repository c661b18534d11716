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

        // `notes` first, `rounds` wider and with another reducer, `draft` and `words` new, the state renamed.
        #[state]
        #[derive(Debug)]
        pub(super) struct Article {
            #[key(append)]
            pub(super) notes: Vec<String>,
            #[key(max, default)]
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
        assert_eq!((article.rounds, article.words), (2, 0));
        assert_eq!(article.draft, "none");
        assert_eq!(article.title.as_deref(), Some("petals"));
        // The checkpoint of the new program is complete, and can be read again.
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.notes, ["one", "two"]);
        assert_eq!(snapshot.state.rounds, 2);
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

    #[tokio::test]
    async fn writes_do_not_fold_with_another_reducer() {
        let thread = reopened!(());
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_eq!(
            problem,
            "it has writes to the key `notes` that fold with `append`, and the reducer of the key is `prepend` now: fold them in a migration, `migration.fold(\"notes\", reduce::append)`"
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
