//! Nodes, edges, joins and items that change.

use petalflow::interrupt::Resume;
use petalflow::thread::HistoryQuery;
use petalflow_test_support::{assert_contains, assert_starts_with};

use super::{refusal, reopened};

use crate::support::expect_finished;

/// The state, which stays as it is.
mod essay {
    use petalflow::prelude::*;

    #[state]
    #[derive(Debug)]
    pub(super) struct Essay {
        /// Which of the nodes stops.
        #[key(input)]
        pub(super) stops: String,
        #[key(append)]
        pub(super) notes: Vec<String>,
    }
}

mod v1 {
    use petalflow::prelude::*;

    use crate::durable::upgrades::nodes::essay::{Essay, EssayNotes};
    use crate::durable::upgrades::stop;

    macro_rules! notes {
        ($($node:ident)*) => {$(
            #[node(Essay)]
            async fn $node(stops: &str) -> petalflow::Result<EssayNotes> {
                let name = stringify!($node);
                if stops == name { stop() } else { Ok(EssayNotes(vec![name.into()])) }
            }
        )*};
    }
    notes!(plan quick slow slower gather report);

    #[node(Essay)]
    async fn split() -> Each<u32> {
        Each(vec![1, 2])
    }

    #[node(Essay)]
    async fn dig(#[item] depth: &u32, stops: &str) -> petalflow::Result<EssayNotes> {
        if stops == "dig" {
            stop()
        } else {
            Ok(EssayNotes(vec![depth.to_string()]))
        }
    }

    flow! {
        pub(super) Write(Essay) {
            START -> plan -> quick & slow & report;
            slow -> slower;
            quick & slower -> gather;
            gather -> split -> each dig -> END;
            defer report;
        }
    }
}

mod v2 {
    use petalflow::prelude::*;

    use crate::durable::upgrades::nodes::essay::{Essay, EssayNotes};

    macro_rules! notes {
        ($($node:ident)*) => {$(
            #[node(Essay)]
            async fn $node() -> EssayNotes {
                EssayNotes(vec![concat!(stringify!($node), " anew").into()])
            }
        )*};
    }
    notes!(plan quick slow slower gather report check dig);

    // The nodes in another order, the join's sides too; `check` is new, `report` waits no more, `dig` takes no item.
    flow! {
        pub(super) Write(Essay) {
            slower & quick -> gather;
            START -> plan -> report & slow & quick;
            slow -> slower;
            gather -> dig -> check -> END;
        }
    }
}

#[tokio::test]
async fn added_and_reordered_nodes_pass() {
    let thread = reopened!("slower".to_string());
    let essay = expect_finished(thread.resume(())).await;
    // `quick` had reached the join; the deferred `report` waits until no other task is active.
    assert_eq!(
        essay.notes,
        [
            "plan",
            "quick",
            "slow",
            "slower anew",
            "gather anew",
            "dig anew",
            "check anew",
            "report anew"
        ]
    );
}

#[tokio::test]
async fn an_item_that_the_node_no_longer_takes_is_dropped() {
    let thread = reopened!("dig".to_string());
    let essay = expect_finished(thread.resume(())).await;
    assert_eq!(
        essay.notes[5..],
        ["dig anew", "dig anew", "check anew", "report anew"]
    );
}

mod removed {
    use super::*;

    use super::v1;

    mod v2 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::nodes::essay::{Essay, EssayNotes};

        #[node(Essay)]
        async fn plan() {}

        #[node(Essay)]
        async fn finish() -> EssayNotes {
            EssayNotes(vec!["finished".into()])
        }

        flow!(pub(super) Write(Essay) { START -> plan -> finish });
    }

    #[tokio::test]
    async fn a_removed_node_in_the_frontier_is_refused() {
        let thread = reopened!("slow".to_string());
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_eq!(
            problem,
            "it resumes at node `quick`, which does not exist any more: if the node was renamed, give it its old name in storage with `with .. { id: \"quick\" }`; otherwise resume at another node with `Resume::goto`"
        );
        assert!(diff.contains(&"- node quick".to_string()), "{diff:?}");
        assert!(diff.contains(&"+ node finish".to_string()), "{diff:?}");
        assert!(!diff.contains(&"  node plan".to_string()), "{diff:?}");
        // The state can still be read, and a person may choose where to resume.
        assert_eq!(
            thread.snapshot().await.unwrap().unwrap().state.notes,
            ["plan"]
        );
        let essay = thread.resume(Resume::new().goto("finish")).await.unwrap();
        assert_eq!(essay.into_finished().unwrap().notes, ["plan", "finished"]);
    }

    #[tokio::test]
    async fn a_new_turn_ignores_where_the_thread_stopped() {
        let thread = reopened!("slow".to_string());
        let essay = thread.run("nowhere".to_string()).await.unwrap();
        assert_eq!(essay.into_finished().unwrap().notes, ["plan", "finished"]);
    }
}

mod join {
    use super::*;

    use super::v1;

    mod v2 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::nodes::essay::Essay;

        macro_rules! notes {
            ($($node:ident)*) => {$(
                #[node(Essay)]
                async fn $node() {}
            )*};
        }
        notes!(plan quick slow slower gather report split);

        #[node(Essay)]
        async fn dig(#[item] _depth: &String) {}

        #[node(Essay)]
        async fn list() -> Each<String> {
            Each(vec![])
        }

        flow! {
            pub(super) Write(Essay) {
                START -> plan -> quick & slow & report;
                slow -> slower;
                quick & slower & slow -> gather -> split -> list -> each dig;
                defer report;
            }
        }
    }

    #[tokio::test]
    async fn a_changed_join_that_holds_an_arrival_is_refused() {
        let thread = reopened!("slower".to_string());
        let (problem, diff) = refusal(thread.resume(()).await.unwrap_err());
        assert_eq!(
            problem,
            "some sources of the join `quick & slower -> gather` have arrived, and the join does not exist any more: remove the join only after such threads have passed it, or resume at another node with `Resume::goto`"
        );
        assert!(
            diff.contains(&"- join quick & slower -> gather".to_string()),
            "{diff:?}"
        );
        assert!(
            diff.contains(&"+ join quick & slow & slower -> gather".to_string()),
            "{diff:?}"
        );
    }

    #[tokio::test]
    async fn an_item_of_another_type_is_refused_by_its_value() {
        let thread = reopened!("dig".to_string());
        let (problem, _) = refusal(thread.resume(()).await.unwrap_err());
        assert_starts_with(&problem, "the item of node `dig` cannot be read: ");
        assert_contains(&problem, "`migration.map_item(\"dig\", |old: u32| ..)`");
    }

    #[tokio::test]
    async fn a_join_without_an_arrival_may_change() {
        let thread = reopened!("plan".to_string());
        expect_finished(thread.resume(())).await;
    }
}

mod item_needed {
    use super::*;

    use super::v1;

    mod v2 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::nodes::essay::Essay;

        #[node(Essay)]
        async fn split() -> Each<u32> {
            Each(vec![])
        }

        #[node(Essay)]
        async fn plan(#[item] _depth: &u32) {}

        flow!(pub(super) Write(Essay) { split -> each plan });
    }

    #[tokio::test]
    async fn a_node_that_now_takes_an_item_is_refused_without_one() {
        let thread = reopened!("plan".to_string());
        let (problem, _) = refusal(thread.resume(()).await.unwrap_err());
        assert_starts_with(
            &problem,
            "it resumes at node `plan` without an item, and the node takes an item now: ",
        );
    }
}

mod flow_renamed {
    use super::*;
    use petalflow::checkpoint::InMemoryStore;
    use petalflow::prelude::*;

    #[state]
    #[derive(Debug)]
    struct Essay {
        #[key(input)]
        topic: String,
    }

    #[node(Essay)]
    async fn write() {}

    flow!(Write(Essay) { write });
    flow!(WriteEssay(Essay) { write });
    flow! {
        #[flow(id = "Write")]
        WriteArticle(Essay) { write }
    }

    #[tokio::test]
    async fn a_renamed_flow_keeps_its_threads_with_an_id() {
        let store = InMemoryStore::new();
        let thread = Write::new().store(&store).thread("t");
        expect_finished(thread.run("petals".to_string())).await;
        let thread = WriteEssay::new().store(&store).thread("t");
        let (problem, diff) = refusal(thread.snapshot().await.unwrap_err());
        assert_eq!(
            problem,
            "it belongs to the flow `Write`, and this is `WriteEssay`: a flow that was renamed keeps its name in storage with `#[flow(id = \"Write\")]`"
        );
        assert!(diff.is_empty(), "{diff:?}");
        let thread = WriteArticle::new().store(&store).thread("t");
        assert_eq!(
            thread.snapshot().await.unwrap().unwrap().state.topic,
            "petals"
        );
        expect_finished(thread.resume(())).await;
    }
}

mod renamed {
    use super::*;

    use super::v1;

    mod v2 {
        use petalflow::prelude::*;

        use crate::durable::upgrades::nodes::essay::{Essay, EssayNotes};

        macro_rules! notes {
            ($($node:ident)*) => {$(
                #[node(Essay)]
                async fn $node() -> EssayNotes {
                    EssayNotes(vec![stringify!($node).into()])
                }
            )*};
        }
        notes!(plan fast slow slowest collect report);

        flow! {
            pub(super) Write(Essay) {
                START -> plan -> fast & slow & report;
                slow -> slowest;
                fast & slowest -> collect;
                with fast { id: "quick" };
                with slowest { id: "slower" };
                with collect { id: "gather" };
            }
        }
    }

    #[tokio::test]
    async fn renamed_nodes_keep_their_threads_with_an_id() {
        let thread = reopened!("slower".to_string());
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.info.next, ["slowest"]);
        assert_eq!(snapshot.tasks[0].node, "slowest");
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        let next: Vec<_> = history.into_iter().map(|info| info.next).collect();
        assert_eq!(next, [vec!["slowest"], vec!["fast", "slow"], vec!["plan"]]);
        let essay = expect_finished(thread.resume(())).await;
        assert_eq!(
            essay.notes,
            ["plan", "quick", "slow", "slowest", "collect", "report"]
        );
        // People name nodes as the program does.
        thread.fork(1).await.unwrap();
        let goto = Resume::new().goto("collect");
        let essay = expect_finished(thread.resume(goto)).await;
        assert_eq!(essay.notes, ["plan", "collect"]);
    }
}

mod asker_renamed {
    use petalflow::checkpoint::InMemoryStore;
    use petalflow::interrupt::Ask;
    use petalflow::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::essay::{Essay, EssayNotes};

    #[derive(Serialize, Deserialize)]
    struct Go;

    impl Ask for Go {
        type Answer = String;
        const NAME: &'static str = "go";
    }

    #[node(Essay)]
    async fn review(cx: Context) -> petalflow::Result<EssayNotes> {
        Ok(EssayNotes(vec![cx.ask(Go).await?]))
    }

    mod v1 {
        petalflow::flow!(pub(super) Write(super::Essay) { node ask_ann = super::review; ask_ann });
    }

    mod v2 {
        petalflow::flow! {
            pub(super) Write(super::Essay) {
                node ask_people = super::review;
                ask_people;
                with ask_people { id: "ask_ann" };
            }
        }
    }

    #[tokio::test]
    async fn a_question_names_the_renamed_node() {
        let store = InMemoryStore::new();
        let thread = v1::Write::new().store(&store).thread("t");
        let asked = thread.run(String::new()).await.unwrap();
        assert_eq!(asked.interrupts()[0].node, "ask_ann");
        let thread = v2::Write::new().store(&store).thread("t");
        let stored = thread.snapshot().await.unwrap().unwrap().interrupts;
        assert_eq!(stored[0].node, "ask_people");
        assert_eq!(stored[0].id, asked.interrupts()[0].id);
        let answered = thread.answer::<Go>("good".into()).await.unwrap();
        assert_eq!(answered.into_finished().unwrap().notes, ["good"]);
    }
}

mod named_by_its_option {
    use super::*;
    use petalflow::checkpoint::InMemoryStore;
    use petalflow::interrupt::Decision;
    use petalflow::prelude::*;
    use petalflow::{Flow, Launch};

    #[state]
    #[derive(Debug)]
    struct Letter {
        #[key(append)]
        lines: Vec<String>,
    }

    #[node(Letter, name = "compose")]
    async fn write(cx: Context) -> LetterLines {
        LetterLines(vec![cx.node().into()])
    }

    flow! {
        WriteLetter(Letter) {
            node revise = write;
            START -> write -> revise;
            interrupt before write;
            interrupt before revise;
        }
    }

    fn built() -> Graph<Letter> {
        let builder = Graph::builder("WriteLetter")
            .node(write {})
            .node_as("revise", write {})
            .edge(START, "compose")
            .edge("compose", "revise")
            .interrupt_before("compose")
            .interrupt_before("revise");
        builder.build().unwrap()
    }

    /// Runs a thread of `first` to its first stop, and resumes it with the other flow.
    async fn check_resume(
        first: Launch<impl Flow<State = Letter>>,
        then: Launch<impl Flow<State = Letter>>,
    ) {
        let store = InMemoryStore::new();
        let outcome = first.store(&store).thread("t").run(()).await.unwrap();
        assert_eq!(outcome.interrupts()[0].node, "compose");
        let thread = then.store(&store).thread("t");
        let approve = || Resume::new().decide_all(Decision::approve());
        let outcome = thread.resume(approve()).await.unwrap();
        assert_eq!(outcome.interrupts()[0].node, "revise");
        let letter = expect_finished(thread.resume(approve())).await;
        assert_eq!(letter.lines, ["compose", "revise"]);
    }

    #[tokio::test]
    async fn flow_and_builder_resume_each_others_threads() {
        check_resume(WriteLetter::new(), built().launch()).await;
        check_resume(built().launch(), WriteLetter::new()).await;
    }
}
