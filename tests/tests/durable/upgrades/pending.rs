//! The results and questions of a superstep that an older program did not finish.

use super::reopened;

use crate::support::expect_finished;

mod v1 {
    use petalflow::prelude::*;

    use crate::durable::upgrades::stop;

    #[derive(Route)]
    #[expect(dead_code, reason = "a node takes one of the routes at most")]
    pub(super) enum Way {
        Left,
        Right,
    }

    #[state]
    #[derive(Debug)]
    pub(super) struct Essay {
        #[key(append)]
        notes: Vec<String>,
        #[key(append)]
        words: Vec<String>,
        #[key(sum)]
        count: u32,
    }

    #[node(Essay)]
    async fn choose() -> (EssayNotes, Way) {
        (EssayNotes(vec!["choose".into()]), Way::Left)
    }

    #[node(Essay)]
    async fn kept() -> EssayNotes {
        EssayNotes(vec!["kept".into()])
    }

    #[node(Essay)]
    async fn plain() -> EssayNotes {
        EssayNotes(vec!["plain".into()])
    }

    #[node(Essay)]
    async fn counts() -> EssayCount {
        EssayCount(1)
    }

    #[node(Essay)]
    async fn last() -> petalflow::Result<()> {
        stop()
    }

    #[node(Essay)]
    async fn left() {}

    #[node(Essay)]
    async fn right() {}

    flow! {
        pub(super) Write(Essay) {
            START -> choose & kept & plain & counts & last;
            choose -> left | right;
        }
    }
}

mod v2 {
    use petalflow::prelude::*;

    #[derive(Route)]
    pub(super) enum Way {
        Center,
        Right,
    }

    #[state]
    #[derive(Debug)]
    pub(super) struct Essay {
        #[key(append)]
        pub(super) notes: Vec<String>,
        // Another type, which reads the values, but what a task left under it may have meant something else.
        #[key(max)]
        pub(super) count: u32,
        #[key(append)]
        pub(super) words: Vec<String>,
        #[key(append)]
        more: Vec<String>,
    }

    #[node(Essay)]
    async fn choose() -> (EssayNotes, Way) {
        (EssayNotes(vec!["choose again".into()]), Way::Center)
    }

    #[node(Essay)]
    async fn kept() -> EssayNotes {
        EssayNotes(vec!["kept again".into()])
    }

    #[node(Essay)]
    async fn plain() -> (EssayNotes, Way) {
        (EssayNotes(vec!["plain again".into()]), Way::Right)
    }

    #[node(Essay)]
    async fn counts() -> EssayCount {
        EssayCount(2)
    }

    #[node(Essay)]
    async fn last() {}

    #[node(Essay)]
    async fn center() -> EssayNotes {
        EssayNotes(vec!["center".into()])
    }

    #[node(Essay)]
    async fn right() -> EssayNotes {
        EssayNotes(vec!["right".into()])
    }

    flow! {
        pub(super) Write(Essay) {
            START -> choose & kept & plain & counts & last;
            choose -> center | right;
            plain -> center | right;
        }
    }
}

#[tokio::test]
async fn only_tasks_whose_records_no_longer_fit_run_again() {
    let thread = reopened!(());
    let essay = expect_finished(thread.resume(())).await;
    assert_eq!(
        essay.notes,
        ["choose again", "kept", "plain again", "center", "right"],
        "`choose` took a route that is gone, `plain` took none where one is needed now"
    );
    assert_eq!(essay.count, 2, "its reducer is another one");
    assert!(essay.words.is_empty());
}
