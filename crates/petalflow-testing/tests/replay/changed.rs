//! The same flows with one change each.

use petalflow::prelude::*;

/// A node between two others.
pub(super) mod node_added {
    use super::super::flows::{Essay, judge, write};
    use super::*;

    #[node(Essay)]
    async fn check() {}

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> check -> judge -> match { true => END, false => write }
    });
}

/// The routes of a node are swapped.
pub(super) mod route_changed {
    use super::super::flows::{Essay, judge, write};
    use super::*;

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> judge -> match { true => write, false => END }
    });
}

/// The first node is gone.
pub(super) mod node_removed {
    use super::super::flows::{Essay, Inner, Trip, sum_up};
    use super::*;

    flow!(pub(in super::super) PlanTrip(Trip) {
        node essay: Inner {
            in: |days: &u32| *days * 10,
            out: |essay: Essay| TripPlan(essay.drafts.join(", ")),
        };
        essay -> sum_up;
        interrupt before sum_up;
    });

    use super::super::flows::TripPlan;
}

/// The last node has another name.
pub(super) mod node_renamed {
    use super::super::flows::{Survey, SurveyReport, list, visit};
    use super::*;

    #[node(Survey)]
    async fn summary(found: &[String]) -> SurveyReport {
        SurveyReport(found.join(", "))
    }

    flow!(pub(in super::super) Read(Survey) { list -> each visit -> summary });
}

/// A new key, which no node uses.
pub(super) mod key_added {
    use super::*;

    #[state]
    pub(in super::super) struct Essay {
        #[key(input)]
        goal: u32,
        #[key(default)]
        words: u32,
        #[key(append)]
        drafts: Vec<String>,
        #[key(default)]
        tone: String,
    }

    #[node(Essay)]
    async fn write(words: &u32) -> (EssayWords, EssayDrafts) {
        (
            EssayWords(words + 10),
            EssayDrafts(vec![format!("draft of {}", words + 10)]),
        )
    }

    #[node(Essay)]
    async fn judge(goal: &u32, words: &u32, tone: &str) -> bool {
        words >= goal && tone.is_empty()
    }

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> judge -> match { true => END, false => write }
    });
}

/// A wider type, which reads the stored values.
pub(super) mod type_changed {
    use super::*;

    #[state]
    pub(in super::super) struct Essay {
        #[key(input)]
        goal: u32,
        #[key(default)]
        words: u64,
        #[key(append)]
        drafts: Vec<String>,
    }

    #[node(Essay)]
    async fn write(words: &u64) -> (EssayWords, EssayDrafts) {
        (
            EssayWords(words + 10),
            EssayDrafts(vec![format!("draft of {}", words + 10)]),
        )
    }

    #[node(Essay)]
    async fn judge(goal: &u32, words: &u64) -> bool {
        *words >= u64::from(*goal)
    }

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> judge -> match { true => END, false => write }
    });
}

/// A type that cannot read the stored values.
pub(super) mod type_broken {
    use super::*;

    #[state]
    pub(in super::super) struct Essay {
        #[key(input)]
        goal: u32,
        #[key(default)]
        words: String,
        #[key(append)]
        drafts: Vec<String>,
    }

    #[node(Essay)]
    async fn write(words: &str) -> (EssayWords, EssayDrafts) {
        (EssayWords(words.into()), EssayDrafts(vec![words.into()]))
    }

    #[node(Essay)]
    async fn judge(goal: &u32) -> bool {
        *goal > 0
    }

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> judge -> match { true => END, false => write }
    });
}

/// A built-in reducer in the place of another one.
pub(super) mod reducer_changed {
    use super::*;

    #[state]
    pub(in super::super) struct Essay {
        #[key(input)]
        goal: u32,
        #[key(sum)]
        words: u32,
        #[key(append)]
        drafts: Vec<String>,
    }

    #[node(Essay)]
    async fn write(words: &u32) -> (EssayWords, EssayDrafts) {
        (
            EssayWords(words + 10),
            EssayDrafts(vec![format!("draft of {}", words + 10)]),
        )
    }

    #[node(Essay)]
    async fn judge(goal: &u32, words: &u32) -> bool {
        words >= goal
    }

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> judge -> match { true => END, false => write }
    });
}

/// A node that writes other values, and one that decides otherwise.
pub(super) mod nodes_changed {
    use super::super::flows::{Essay, EssayDrafts, EssayWords};
    use super::*;

    #[node(Essay)]
    async fn write(words: &u32) -> (EssayWords, EssayDrafts) {
        (
            EssayWords(words + 11),
            EssayDrafts(vec![format!("draft of {}", words + 10)]),
        )
    }

    #[node(Essay)]
    async fn judge(words: &u32) -> bool {
        *words > 10
    }

    flow!(pub(in super::super) WriteEssay(Essay) {
        START -> write -> judge -> match { true => END, false => write }
    });
}

/// An effect with another name, which must not run.
pub(super) mod effect_added {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::super::flows::{Refund, RefundFees, RefundLog, RefundPaid};
    use super::*;

    pub(in super::super) static MAILS: AtomicU32 = AtomicU32::new(0);

    #[node(Refund)]
    async fn price(euros: &u32) -> (RefundFees, RefundLog) {
        (
            RefundFees(euros / 10),
            RefundLog(vec![format!("{euros} euros")]),
        )
    }

    async fn mail() -> petalflow::Result<()> {
        MAILS.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[node(Refund)]
    async fn pay(cx: Context) -> petalflow::Result<RefundPaid> {
        cx.once("mail", mail()).await?;
        Ok(RefundPaid(true))
    }

    flow!(pub(in super::super) PayRefund(Refund) { price -> pay });
}

/// A node that waits, and one that fails.
pub(super) mod obstacles {
    use std::time::Duration;

    use super::super::flows::{Refund, RefundFees, RefundPaid};
    use super::*;

    #[node(Refund)]
    async fn price(euros: &u32) -> petalflow::Result<RefundFees> {
        Err(format!("no price for {euros}").into())
    }

    #[node(Refund)]
    async fn pay(cx: Context) -> petalflow::Result<RefundPaid> {
        cx.sleep(Duration::from_secs(1_000_000)).await?;
        Ok(RefundPaid(true))
    }

    flow!(pub(in super::super) PayRefund(Refund) { price -> pay });
}

/// A reducer of the program, before and after a change of its function.
pub(super) mod function_before {
    use super::*;

    fn keep(best: &mut u32, new: u32) {
        *best = new.max(*best);
    }

    #[state]
    pub(in super::super) struct Score {
        #[key(input)]
        first: u32,
        #[key(reduce = keep)]
        best: u32,
    }

    #[node(Score)]
    async fn play(first: &u32) -> ScoreBest {
        ScoreBest(*first)
    }

    #[node(Score)]
    async fn lose() -> ScoreBest {
        ScoreBest(1)
    }

    flow!(pub(in super::super) Play(Score) { play -> lose });
}

/// See [`function_before`].
pub(super) mod function_after {
    use super::*;

    fn keep(best: &mut u32, new: u32) {
        *best += new;
    }

    #[state]
    pub(in super::super) struct Score {
        #[key(input)]
        first: u32,
        #[key(reduce = keep)]
        best: u32,
    }

    #[node(Score)]
    async fn play(first: &u32) -> ScoreBest {
        ScoreBest(*first)
    }

    #[node(Score)]
    async fn lose() -> ScoreBest {
        ScoreBest(1)
    }

    flow!(pub(in super::super) Play(Score) { play -> lose });
}
