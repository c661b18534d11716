//! The changes: those of the guide about upgrades.

use super::program::version;
use super::{Heals, Row};

/// The nodes of most versions: `far` is placed, and `ask` waits for a person beside it.
macro_rules! nodes {
    () => {
        #[node(Doc)]
        async fn far() -> DocLog {
            DocLog(vec!["far".into()])
        }

        nodes!(others);
    };
    (others) => {
        pub(super) use crate::runs::versions::program::MayI as Question;

        pub(super) fn answer() -> bool {
            true
        }

        nodes!(asks);
    };
    (asks) => {
        #[node(Doc)]
        async fn ask(cx: Context) -> petalflow::Result<DocLog> {
            let answer = cx.ask(Question {}).await?;
            Ok(DocLog(vec![format!("answer {answer}")]))
        }

        #[node(Doc)]
        async fn end() -> DocLog {
            DocLog(vec!["end".into()])
        }
    };
}

/// A version with the usual keys and nodes, these items, and this flow.
macro_rules! graph {
    ($name:ident: { $($items:item)* } $($flow:tt)*) => {
        mod $name {
            use petalflow::prelude::*;

            #[state]
            pub(super) struct Doc {
                #[key(input)]
                pub(super) text: String,
                #[key(append)]
                pub(super) log: Vec<String>,
            }

            nodes!();

            $($items)*

            petalflow::flow!(pub(super) $($flow)*);
        }
    };
}

/// A version with these keys and items, and the usual flow.
macro_rules! special {
    ($name:ident: { $($keys:tt)* } $($items:item)*) => {
        mod $name {
            use petalflow::prelude::*;

            #[state]
            pub(super) struct Doc {
                #[key(input)]
                pub(super) text: String,
                #[key(append)]
                pub(super) log: Vec<String>,
                $($keys)*
            }

            nodes!(others);

            $($items)*

            petalflow::flow!(pub(super) Review(Doc) {
                START -> far & ask;
                far & ask -> end;
                with far { remote: "pool" };
            });
        }
    };
}

graph!(first: {} Review(Doc) { START -> far & ask; far & ask -> end; with far { remote: "pool" } });

special!(key_added: { pub(super) note: Option<String>, }
    #[node(Doc)]
    async fn far() -> DocLog {
        DocLog(vec!["far".into()])
    }
);

special!(with_note: { pub(super) note: Option<String>, }
    #[node(Doc)]
    async fn far() -> (DocLog, DocNote) {
        (DocLog(vec!["far".into()]), DocNote(Some("kept".into())))
    }
);

special!(note_renamed: { #[key(id = "note")] pub(super) remark: Option<String>, }
    #[node(Doc)]
    async fn far() -> (DocLog, DocRemark) {
        (DocLog(vec!["far".into()]), DocRemark(Some("kept".into())))
    }
);

special!(note_untracked: { #[key(untracked)] pub(super) note: Option<String>, }
    #[node(Doc)]
    async fn far() -> DocLog {
        DocLog(vec!["far".into()])
    }
);

special!(narrow: { pub(super) pages: u32, }
    #[node(Doc)]
    async fn far() -> (DocLog, DocPages) {
        (DocLog(vec!["far".into()]), DocPages(7))
    }
);

special!(wide: { pub(super) pages: u64, }
    #[node(Doc)]
    async fn far() -> (DocLog, DocPages) {
        (DocLog(vec!["far".into()]), DocPages(7))
    }
);

special!(summed: { #[key(sum)] pub(super) pages: u32, }
    #[node(Doc)]
    async fn far() -> (DocLog, DocPages) {
        (DocLog(vec!["far".into()]), DocPages(7))
    }
);

special!(old_field: { pub(super) remark: Option<Remark>, }
    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub(super) struct Remark { text: String }

    #[node(Doc)]
    async fn far() -> (DocLog, DocRemark) {
        (DocLog(vec!["far".into()]), DocRemark(Some(Remark { text: "kept".into() })))
    }
);

special!(new_field: { pub(super) remark: Option<Remark>, }
    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub(super) struct Remark {
        #[serde(alias = "text")]
        body: String,
    }

    #[node(Doc)]
    async fn far() -> (DocLog, DocRemark) {
        (DocLog(vec!["far".into()]), DocRemark(Some(Remark { body: "kept".into() })))
    }
);

mod other_options {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Doc {
        #[key(append)]
        pub(super) log: Vec<String>,
        #[key(input, default = "none".to_string())]
        pub(super) text: String,
    }

    nodes!();

    petalflow::flow!(pub(super) Review(Doc) {
        START -> far & ask;
        far & ask -> end;
        with far { remote: "pool" };
    });
}

mod migrated {
    use petalflow::prelude::*;
    use petalflow::state::Migration;

    #[state(version = 1, migrate = migrate)]
    pub(super) struct Doc {
        #[key(input)]
        pub(super) text: String,
        #[key(append)]
        pub(super) log: Vec<String>,
        pub(super) words: usize,
    }

    fn migrate(_: u32, thread: &mut Migration) -> petalflow::Result<()> {
        Ok(thread.put("words", &1_usize)?)
    }

    nodes!();

    petalflow::flow!(pub(super) Review(Doc) {
        START -> far & ask;
        far & ask -> end;
        with far { remote: "pool" };
    });
}

graph!(node_added: {
    #[node(Doc)]
    async fn look() {}
} Review(Doc) { START -> far & ask; far & ask -> end -> look; with far { remote: "pool" } });

mod renamed {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Doc {
        #[key(input)]
        pub(super) text: String,
        #[key(append)]
        pub(super) log: Vec<String>,
    }

    nodes!(others);

    #[node(Doc)]
    async fn distant() -> DocLog {
        DocLog(vec!["far".into()])
    }

    petalflow::flow!(pub(super) Review(Doc) {
        START -> distant & ask;
        distant & ask -> end;
        with distant { remote: "pool", id: "far" };
    });
}

graph!(deferred: {} Review(Doc) { START -> far & ask; far & ask -> end; defer end; with far { remote: "pool" } });

graph!(other_order: {} Review(Doc) { ask & far -> end; START -> ask & far; with far { remote: "pool" } });

graph!(not_joined: {} Review(Doc) { START -> far & ask; ask -> end; far -> END; with far { remote: "pool" } });

graph!(retried: {} Review(Doc) { START -> far & ask; far & ask -> end; with far { remote: "pool", retry: 3 } });

mod named {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Doc {
        #[key(input)]
        pub(super) text: String,
        #[key(append)]
        pub(super) log: Vec<String>,
    }

    nodes!();

    petalflow::flow! {
        #[flow(id = "Review")]
        pub(super) Inspect(Doc) {
            START -> far & ask;
            far & ask -> end;
            with far { remote: "pool" };
        }
    }

    pub(super) type Review = Inspect;
}

mod once_text {
    use petalflow::prelude::*;

    #[state]
    pub(super) struct Doc {
        #[key(input)]
        pub(super) text: String,
        #[key(append)]
        pub(super) log: Vec<String>,
    }

    nodes!(others);

    #[node(Doc)]
    async fn far(cx: Context) -> petalflow::Result<DocLog> {
        let far = cx.once("far", async {
            Ok::<_, petalflow::BoxError>("far".to_string())
        });
        Ok(DocLog(vec![far.await?]))
    }

    petalflow::flow!(pub(super) Review(Doc) {
        START -> far & ask;
        far & ask -> end;
        with far { remote: "pool" };
    });
}

/// A version with an item of this type.
macro_rules! items {
    ($name:ident: $item:ty = $first:expr) => {
        mod $name {
            use petalflow::prelude::*;

            #[state]
            pub(super) struct Doc {
                #[key(input)]
                pub(super) text: String,
                #[key(append)]
                pub(super) log: Vec<String>,
            }

            nodes!(others);

            #[node(Doc)]
            async fn list() -> Each<$item> {
                Each(vec![$first])
            }

            #[node(Doc)]
            async fn pass() {}

            #[node(Doc)]
            async fn far(#[item] page: &$item) -> DocLog {
                DocLog(vec![if *page == $first { "far".into() } else { "wrong".into() }])
            }

            petalflow::flow!(pub(super) Review(Doc) {
                START -> list & pass;
                list -> each far;
                pass -> ask;
                far & ask -> end;
                with far { remote: "pool" };
            });
        }
    };
}

items!(short_item: u32 = 1);
items!(wide_item: u64 = 1);
items!(other_item: String = "1".to_string());

/// A version with another question.
macro_rules! question {
    ($name:ident: $question:ident, $($options:tt)*) => {
        mod $name {
            use petalflow::interrupt::Ask;
            use petalflow::prelude::*;

            #[state]
            pub(super) struct Doc {
                #[key(input)]
                pub(super) text: String,
                #[key(append)]
                pub(super) log: Vec<String>,
            }

            #[derive(serde::Serialize, serde::Deserialize, Ask)]
            #[ask($($options)*)]
            pub(super) struct $question {}

            pub(super) use $question as Question;

            pub(super) fn answer() -> <Question as Ask>::Answer {
                "true".parse().expect("it is one")
            }

            #[node(Doc)]
            async fn far() -> DocLog {
                DocLog(vec!["far".into()])
            }

            nodes!(asks);

            petalflow::flow!(pub(super) Review(Doc) {
                START -> far & ask;
                far & ask -> end;
                with far { remote: "pool" };
            });
        }
    };
}

question!(question_named: Permit, answer = bool, name = "MayI");
question!(question_renamed: Permit, answer = bool);
question!(answer_text: MayI, answer = String);

macro_rules! rows {
    ($($number:literal $change:literal: $old:ident -> $new:ident, $heals:ident heals, $outcomes:literal;)*) => {
        vec![$(Row {
            number: $number,
            change: $change,
            old: version::<_, $old::Question>($old::Review::new(), $old::answer, |state| state.log.clone()),
            new: version::<_, $new::Question>($new::Review::new(), $new::answer, |state| state.log.clone()),
            heals: Heals::$heals,
            outcomes: $outcomes,
        }),*]
    };
}

pub(super) fn all() -> Vec<Row> {
    rows! {
        1 "a key is added": first -> key_added, New heals, "FFFFFFFFFFFFFFFF";
        2 "a key without a value is removed": key_added -> first, New heals, "FFFFFFFFFFFFFFFF";
        3 "a key with a value is removed": with_note -> first, Old heals, "FFeFFFFFFFeFFFFF";
        4 "a key is renamed, with its id": with_note -> note_renamed, New heals, "FFFFFFFFFFFFFFFF";
        5 "a key becomes untracked": key_added -> note_untracked, New heals, "FFFFFFFFFFFFFFFF";
        6 "a type becomes wider": narrow -> wide, New heals, "FFeFFeFFFFeFFeFF";
        7 "a reducer changes": narrow -> summed, Answered heals, "FFeFFeFFFFeFFeFF";
        8 "a field is renamed, with an alias": old_field -> new_field, New heals, "FFFFFeFFFFFFFeFF";
        9 "other options and the order of keys": first -> other_options, New heals, "FFFFFFFFFFeFFFFF";
        10 "the version of the state, with a migration": first -> migrated, New heals, "FFeFFeFFrreFrrFF";
        11 "a node is added": first -> node_added, New heals, "FFFFFFFFFFFFFFFF";
        12 "a node is removed": node_added -> first, New heals, "FFFFFFFFFFFFFFFF";
        13 "a node is renamed, with its id": first -> renamed, New heals, "FFFFFFFFFFFFFFFF";
        14 "a node is deferred": first -> deferred, New heals, "FFFFFFFFFFFFFFFF";
        15 "the order of nodes and edges": first -> other_order, New heals, "FFFFFFFFFFFFFFFF";
        16 "a join changes": first -> not_joined, New heals, "FFFFFFFFFFFFFFFF";
        17 "a policy": first -> retried, New heals, "FFFFFFFFFFFFFFFF";
        18 "the flow is renamed, with its id": first -> named, New heals, "FFFFFFFFFFFFFFFF";
        19 "an effect is added": first -> once_text, New heals, "FFFFFFFFFFFFFFFF";
        20 "the type of an item becomes wider": short_item -> wide_item, New heals, "FFFFFFFFFFFFFFFF";
        21 "the type of an item is another one": short_item -> other_item, Begun heals, "FFrrFerrrreFrrFF";
        22 "the type of a question is renamed, with its name": first -> question_named, New heals, "FFFFFFFFFFFFFFFF";
        23 "the type of a question is renamed": first -> question_renamed, AskedAgain heals, "FFrrFFrrrrFFrrFF";
        24 "the type of an answer changes": first -> answer_text, AskedAgain heals, "FFrrFFrrrrFFrrFF";
    }
}
