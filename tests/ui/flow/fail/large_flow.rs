//! Mistakes that are close together in a flow with many checks are all reported.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn first(draft: &str) -> Verdict {
    let _ = draft;
    Verdict::Publish
}

#[node(Essay)]
async fn second(draft: &str) -> Verdict {
    let _ = draft;
    Verdict::Publish
}

#[node(Essay)]
async fn step0() {}

#[node(Essay)]
async fn step1() {}

#[node(Essay)]
async fn step2() {}

#[node(Essay)]
async fn step3() {}

#[node(Essay)]
async fn step4() {}

#[node(Essay)]
async fn step5() {}

#[node(Essay)]
async fn step6() {}

#[node(Essay)]
async fn step7() {}

#[node(Essay)]
async fn step8() {}

#[node(Essay)]
async fn step9() {}

#[node(Essay)]
async fn step10() {}

#[node(Essay)]
async fn step11() {}

#[node(Essay)]
async fn step12() {}

#[node(Essay)]
async fn step13() {}

#[node(Essay)]
async fn step14() {}

#[node(Essay)]
async fn step15() {}

#[node(Essay)]
async fn step16() {}

#[node(Essay)]
async fn step17() {}

#[node(Essay)]
async fn step18() {}

#[node(Essay)]
async fn step19() {}

#[node(Essay)]
async fn step20() {}

#[node(Essay)]
async fn step21() {}

#[node(Essay)]
async fn step22() {}

#[node(Essay)]
async fn step23() {}

#[node(Essay)]
async fn step24() {}

#[node(Essay)]
async fn step25() {}

#[node(Essay)]
async fn step26() {}

#[node(Essay)]
async fn step27() {}

#[node(Essay)]
async fn step28() {}

#[node(Essay)]
async fn step29() {}

#[node(Essay)]
async fn step30() {}

#[node(Essay)]
async fn step31() {}

#[node(Essay)]
async fn step32() {}

#[node(Essay)]
async fn step33() {}

#[node(Essay)]
async fn step34() {}

#[node(Essay)]
async fn step35() {}

#[node(Essay)]
async fn step36() {}

#[node(Essay)]
async fn step37() {}

#[node(Essay)]
async fn step38() {}

#[node(Essay)]
async fn step39() {}

flow! {
    WriteEssay(Essay) {
        START -> write -> first -> match { Revse => write, Publish => second };
        second -> match { Revise => write, Pubish => step0, Pubsh => step39 };
        step0 -> step1;
        step1 -> step2;
        step2 -> step3;
        step3 -> step4;
        step4 -> step5;
        step5 -> step6;
        step6 -> step7;
        step7 -> step8;
        step8 -> step9;
        step9 -> step10;
        step10 -> step11;
        step11 -> step12;
        step12 -> step13;
        step13 -> step14;
        step14 -> step15;
        step15 -> step16;
        step16 -> step17;
        step17 -> step18;
        step18 -> step19;
        step19 -> step20;
        step20 -> step21;
        step21 -> step22;
        step22 -> step23;
        step23 -> step24;
        step24 -> step25;
        step25 -> step26;
        step26 -> step27;
        step27 -> step28;
        step28 -> step29;
        step29 -> step30;
        step30 -> step31;
        step31 -> step32;
        step32 -> step33;
        step33 -> step34;
        step34 -> step35;
        step35 -> step36;
        step36 -> step37;
        step37 -> step38;
        step0 -> step39;
        step1 -> step39;
        step2 -> step39;
        step3 -> step39;
        step4 -> step39;
        step5 -> step39;
        step6 -> step39;
        step7 -> step39;
        step8 -> step39;
        step9 -> step39;
        step10 -> step39;
        step11 -> step39;
        step12 -> step39;
        step13 -> step39;
        step14 -> step39;
        step15 -> step39;
        step16 -> step39;
        step17 -> step39;
        step18 -> step39;
        step19 -> step39;
        step20 -> step39;
        step21 -> step39;
        step22 -> step39;
        step23 -> step39;
        step24 -> step39;
        step25 -> step39;
        step26 -> step39;
        step27 -> step39;
        step28 -> step39;
        step29 -> step39;
        step30 -> step39;
        step31 -> step39;
        step32 -> step39;
        step33 -> step39;
        step34 -> step39;
        step35 -> step39;
        step36 -> step39;
        step37 -> step39;
    }
}

fn main() {}
