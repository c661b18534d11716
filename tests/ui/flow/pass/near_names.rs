//! Correct programs that are similar to those in `../fail`: flows whose names begin like their states, declared at any place.
#![deny(warnings, missing_docs, unreachable_pub)]

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    /// Writes an [`Essay`].
    #[cfg(all())]
    pub(crate) EssayFlow(Essay) { START -> write }
}

flow!(r#EssayPlan(self::Essay) { START -> write });

mod inner {
    use super::*;

    flow!(pub(super) EssaySub(Essay) { write });

    pub(crate) mod deep {
        use super::*;

        flow!(pub(in super::super) EssayDeep(Essay) { write });
    }
}

#[state]
struct Book {
    #[key(input)]
    topic: String,
    draft: String,
}

flow! {
    BookFlow(Book) {
        node one: inner::EssaySub { in: |topic: &str| topic.to_string(), out: |e: Essay| BookDraft(e.draft) };
        node two: EssayFlow { in: |topic: &str| topic.to_string(), out: |e: Essay| BookDraft(e.draft) };
        node three: inner::deep::EssayDeep { in: |topic: &str| topic.to_string(), out: |e: Essay| BookDraft(e.draft) };
        START -> one -> two -> three;
    }
}

fn local() {
    #[state]
    struct Inner {
        #[key(input)]
        n: u32,
    }

    #[node(Inner)]
    async fn step(n: &u32) -> InnerN {
        InnerN(*n)
    }

    flow!(InnerFlow(Inner) { step });

    let flow: InnerFlow = InnerFlow;
    assert_eq!(format!("{flow:?}"), "InnerFlow");
    drop(InnerFlow::run(1_u32));
}

fn main() {
    local();
    drop(EssayFlow::run("petals".to_string()));
    drop(EssayPlan::run("petals".to_string()));
    drop(BookFlow::run("petals".to_string()));
}
