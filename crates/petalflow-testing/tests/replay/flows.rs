//! The flows whose threads are exported.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use petalflow::interrupt::{Ask, Decision};
use petalflow::prelude::*;
use petalflow::thread::{ThreadFile, Threads};
use tokio::sync::Semaphore;

use super::{exported, threads};

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool)]
pub(super) struct MayPay {
    euros: u32,
}

/// An approval, an effect that runs once, and a secret.
#[state]
pub(super) struct Refund {
    #[key(input)]
    pub(super) euros: u32,
    #[key(input, secret)]
    pub(super) card: String,
    #[key(append)]
    pub(super) log: Vec<String>,
    #[key(sum)]
    pub(super) fees: u32,
    pub(super) paid: bool,
}

#[node(Refund)]
pub(super) async fn price(euros: &u32) -> (RefundFees, RefundLog) {
    (
        RefundFees(euros / 10),
        RefundLog(vec![format!("{euros} euros")]),
    )
}

#[node(Refund)]
pub(super) async fn pay(
    euros: &u32,
    card: &str,
    cx: Context,
) -> petalflow::Result<(RefundPaid, RefundLog)> {
    let approved = *euros < 50 || cx.ask(MayPay { euros: *euros }).await?;
    let receipt = cx.once("charge", charge(card)).await?;
    Ok((RefundPaid(approved), RefundLog(vec![receipt])))
}

async fn charge(card: &str) -> petalflow::Result<String> {
    Ok(format!("receipt of {card}"))
}

flow!(pub(super) PayRefund(Refund) { price -> pay });

pub(super) async fn refund(euros: u32) -> ThreadFile {
    let threads = threads(PayRefund::new());
    let id = format!("refund-{euros}");
    let thread = threads.thread(&id);
    let ended = thread
        .run(RefundInput {
            euros,
            card: format!("4000-{euros}-card"),
        })
        .await
        .unwrap();
    if ended.into_finished().is_err() {
        let answered = thread
            .answer::<MayPay>(euros.is_multiple_of(2))
            .await
            .unwrap();
        answered.into_finished().unwrap();
    }
    exported(&threads, &id).await
}

/// A loop with a route.
#[state]
pub(super) struct Essay {
    #[key(input)]
    pub(super) goal: u32,
    #[key(default)]
    pub(super) words: u32,
    #[key(append)]
    pub(super) drafts: Vec<String>,
}

#[node(Essay)]
pub(super) async fn write(words: &u32) -> (EssayWords, EssayDrafts) {
    (
        EssayWords(words + 10),
        EssayDrafts(vec![format!("draft of {}", words + 10)]),
    )
}

#[node(Essay)]
pub(super) async fn judge(goal: &u32, words: &u32) -> bool {
    words >= goal
}

flow!(pub(super) WriteEssay(Essay) { START -> write -> judge -> match { true => END, false => write } });

pub(super) async fn essay(goal: u32) -> ThreadFile {
    let threads = threads(WriteEssay::new());
    let id = format!("essay-{goal}");
    threads
        .thread(&id)
        .run(goal)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    exported(&threads, &id).await
}

/// One task for each item, and a join.
#[state]
pub(super) struct Survey {
    #[key(input)]
    pub(super) pages: u32,
    #[key(append)]
    pub(super) found: Vec<String>,
    pub(super) report: String,
}

#[node(Survey)]
pub(super) async fn list(pages: &u32) -> Each<String> {
    Each((0..*pages).map(|page| format!("page {page}")).collect())
}

#[node(Survey)]
pub(super) async fn visit(#[item] page: &str) -> SurveyFound {
    SurveyFound(vec![format!("{page} was read")])
}

#[node(Survey)]
pub(super) async fn report(found: &[String]) -> SurveyReport {
    SurveyReport(found.join(", "))
}

flow!(pub(super) Read(Survey) { list -> each visit -> report });

pub(super) async fn survey(pages: u32) -> ThreadFile {
    let threads = threads(Read::new());
    let id = format!("survey-{pages}");
    threads
        .thread(&id)
        .run(pages)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    exported(&threads, &id).await
}

/// A sub-flow, in two turns, and messages.
#[state]
pub(super) struct Trip {
    #[key(input)]
    pub(super) days: u32,
    #[key(append, inbox)]
    pub(super) wishes: Vec<String>,
    pub(super) plan: String,
}

flow!(pub(super) Inner(Essay) { START -> write -> judge -> match { true => END, false => write } });

#[node(Trip)]
pub(super) async fn look() {}

#[node(Trip)]
pub(super) async fn sum_up(days: &u32, wishes: &[String], plan: &str) -> TripPlan {
    TripPlan(format!("{days} days, {plan}: {}", wishes.join(", ")))
}

flow!(pub(super) PlanTrip(Trip) {
    node essay: Inner {
        in: |days: &u32| *days * 10,
        out: |essay: Essay| TripPlan(essay.drafts.join(", ")),
    };
    look -> essay -> sum_up;
    interrupt before sum_up;
});

pub(super) async fn trip(days: u32) -> ThreadFile {
    let threads = threads(PlanTrip::new());
    let id = format!("trip-{days}");
    let thread = threads.thread(&id);
    for turn in 0..2 {
        let _ = thread.run(days).await.unwrap();
        thread
            .send(TripWishes(vec![format!("ice {turn}")]))
            .await
            .unwrap();
        let ended = thread.resume(Decision::approve()).await.unwrap();
        ended.into_finished().unwrap();
    }
    thread
        .send(TripWishes(vec!["too late".into()]))
        .await
        .unwrap();
    exported(&threads, &id).await
}

/// A sleep, and a child.
#[state]
pub(super) struct Order {
    #[key(input)]
    pub(super) items: u32,
    #[key(append)]
    pub(super) steps: Vec<String>,
}

#[node(Order)]
pub(super) async fn wait(cx: Context) -> petalflow::Result<OrderSteps> {
    cx.sleep(Duration::from_millis(1)).await?;
    Ok(OrderSteps(vec!["waited".into()]))
}

/// They outlive the runs of their parents.
fn children() -> &'static Threads<WriteEssay> {
    static CHILDREN: OnceLock<Threads<WriteEssay>> = OnceLock::new();
    CHILDREN.get_or_init(|| threads(WriteEssay::new()))
}

#[node(Order)]
pub(super) async fn ship(items: &u32, cx: Context) -> petalflow::Result<OrderSteps> {
    let child = format!("child-{items}");
    let child = cx.start(children(), &child, *items).await?;
    let essay = cx.join(&child).await?;
    Ok(OrderSteps(essay.drafts.clone()))
}

flow!(pub(super) ShipOrder(Order) { wait -> ship });

pub(super) async fn order(items: u32) -> ThreadFile {
    let threads = threads(ShipOrder::new());
    let id = format!("order-{items}");
    let thread = threads.thread(&id);
    let mut ended = thread.run(items).await.unwrap().into_finished();
    while ended.is_err() {
        // In production, a task of the program does it: `Threads::wake`.
        let child = children().thread(format!("child-{items}"));
        if child.info().await.unwrap().is_some() {
            child.resume(()).await.unwrap().into_finished().unwrap();
        }
        ended = thread.resume(()).await.unwrap().into_finished();
    }
    exported(&threads, &id).await
}

/// Fifty threads: ten of each flow.
pub(super) async fn fifty() -> Vec<ThreadFile> {
    let mut files = Vec::new();
    for n in 1..=10 {
        files.push(refund(n * 11).await);
        files.push(essay(n * 7).await);
        files.push(survey(n).await);
        files.push(trip(n % 4 + n).await);
        files.push(order(n * 3).await);
    }
    files
}

/// What a test and a node that hangs tell each other.
#[derive(Clone)]
pub(super) struct Gate {
    pub(super) reached: Arc<Semaphore>,
    pub(super) open: Arc<Semaphore>,
}

#[node(Survey)]
pub(super) async fn hold(
    #[item] page: &str,
    gate: Managed<Gate>,
) -> petalflow::Result<SurveyFound> {
    if page == "page 1" {
        gate.reached.add_permits(1);
        gate.open.acquire().await?.forget();
    }
    Ok(SurveyFound(vec![format!("{page} was read")]))
}

flow!(pub(super) Hold(Survey) { list -> each hold -> report });
