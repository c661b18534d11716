//! An effect that is in flight when its task is dropped is awaited and recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Ask, Resume};
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{Durability, Outcome, Thread};

/// What was paid, and how long the bank takes.
struct Bank {
    paid: AtomicU32,
    takes: Duration,
}

impl Bank {
    fn taking(ms: u64) -> Arc<Self> {
        Arc::new(Bank {
            paid: AtomicU32::new(0),
            takes: Duration::from_millis(ms),
        })
    }

    /// The money has left when the request arrives. The receipt comes later.
    async fn pay(&self, order: &str) -> petalflow::Result<String> {
        self.paid.fetch_add(1, SeqCst);
        tokio::time::sleep(self.takes).await;
        Ok(order.into())
    }

    fn paid(&self) -> u32 {
        self.paid.load(SeqCst)
    }
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = bool, key = order)]
struct MayPay {
    order: String,
}

#[state]
#[derive(Debug)]
struct Orders {
    #[key(append)]
    receipts: Vec<String>,
}

async fn one(cx: &Context, bank: &Bank, order: &str) -> petalflow::Result<String> {
    cx.ask(MayPay {
        order: order.into(),
    })
    .await?;
    cx.once(order, bank.pay(order)).await
}

#[node(Orders)]
async fn pay_both(cx: Context, bank: Managed<Bank>) -> petalflow::Result<OrdersReceipts> {
    let (a, b) = tokio::join!(one(&cx, &bank, "A"), one(&cx, &bank, "B"));
    Ok(OrdersReceipts(vec![a?, b?]))
}

flow!(PayBoth(Orders) { pay_both });

/// Pays on another task of the runtime, and asks meanwhile: the node does not poll the effect.
#[node(Orders)]
async fn pay_in_task(cx: Context, bank: Managed<Bank>) -> petalflow::Result<OrdersReceipts> {
    let paying = {
        let cx = cx.clone();
        tokio::spawn(async move { cx.once("A", bank.pay("A")).await })
    };
    tokio::task::yield_now().await;
    cx.ask(MayPay { order: "B".into() }).await?;
    Ok(OrdersReceipts(vec![paying.await??]))
}

flow!(PayInTask(Orders) { pay_in_task });

#[node(Orders)]
async fn pay_alone(cx: Context, bank: Managed<Bank>) -> petalflow::Result<OrdersReceipts> {
    Ok(OrdersReceipts(vec![cx.once("pay", bank.pay("C")).await?]))
}

#[node(Orders)]
async fn pay_twice(cx: Context, bank: Managed<Bank>) -> petalflow::Result<OrdersReceipts> {
    let first = cx.once("first", bank.pay("D")).await?;
    let second = cx.once("second", bank.pay("E")).await?;
    Ok(OrdersReceipts(vec![first, second]))
}

/// Fails while the first payment is in flight.
#[node(Orders)]
async fn fails(bank: Managed<Bank>, failed: Managed<AtomicU32>) -> petalflow::Result<()> {
    tokio::time::sleep(bank.takes / 2).await;
    match failed.fetch_add(1, SeqCst) {
        0 => Err("a sibling fails".into()),
        _ => Ok(()),
    }
}

flow!(Siblings(Orders) { START -> pay_alone & fails; });
flow!(SiblingOfTwo(Orders) { START -> pay_twice & fails; });

flow! {
    Nested(Orders) {
        START -> inner & fails;
        node inner: PayAlone { in: || (), out: |end: Orders| OrdersReceipts(end.receipts) };
    }
}

flow!(PayAlone(Orders) { pay_alone });

#[node(Orders)]
async fn asks(cx: Context) -> petalflow::Result<()> {
    cx.ask(MayPay { order: "X".into() }).await?;
    Ok(())
}

flow!(AskBesidePay(Orders) { START -> pay_alone & asks; });

flow! {
    Deep(Orders) {
        inner;
        node inner: AskBesidePay { in: || (), out: |end: Orders| OrdersReceipts(end.receipts) };
    }
}

fn thread<F: Flow<State = Orders> + Clone>(
    launch: Launch<F>,
    bank: &Arc<Bank>,
    durability: Durability,
) -> Thread<F> {
    launch
        .manage_with(Arc::clone(bank))
        .manage(AtomicU32::new(0))
        .store(&InMemoryStore::new())
        .durability(durability)
        .thread("t")
}

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[tokio::test(start_paused = true)]
async fn f42_an_effect_beside_a_question_is_recorded_before_its_task_is_dropped() {
    for durability in DURABILITIES {
        let bank = Bank::taking(20);
        let thread = thread(PayBoth::new(), &bank, durability);
        let asked = thread.run(()).await.unwrap();
        assert_eq!(asked.interrupts().len(), 2, "{durability:?}");
        let answer = asked.interrupts()[0].answer::<MayPay>(true).unwrap();
        let still = thread.resume(answer).await.unwrap();
        assert_eq!(
            (still.interrupts().len(), bank.paid()),
            (1, 1),
            "{durability:?}"
        );
        let end = thread.answer::<MayPay>(true).await.unwrap();
        assert_eq!(end.into_finished().unwrap().receipts, ["A", "B"]);
        assert_eq!(bank.paid(), 2, "{durability:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_an_effect_on_another_task_of_the_runtime_is_recorded_before_its_node_waits() {
    let bank = Bank::taking(20);
    let thread = thread(PayInTask::new(), &bank, Durability::Sync);
    let asked = thread.run(()).await.unwrap();
    assert_eq!((asked.interrupts().len(), bank.paid()), (1, 1));
    let end = thread.answer::<MayPay>(true).await.unwrap();
    assert_eq!(end.into_finished().unwrap().receipts, ["A"]);
    assert_eq!(bank.paid(), 1);
}

#[tokio::test(start_paused = true)]
async fn f42_an_effect_beside_a_sibling_that_fails_is_recorded() {
    for durability in DURABILITIES {
        let bank = Bank::taking(20);
        let thread = thread(Siblings::new(), &bank, durability);
        let error = thread.run(()).await.unwrap_err();
        assert!(matches!(error.kind(), RunErrorKind::Node(error) if error.node == "fails"));
        let end = thread.resume(()).await.unwrap().into_finished().unwrap();
        assert_eq!((&*end.receipts[0], bank.paid()), ("C", 1), "{durability:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_after_a_failure_no_other_effect_begins() {
    let bank = Bank::taking(20);
    let thread = thread(SiblingOfTwo::new(), &bank, Durability::Sync);
    thread.run(()).await.unwrap_err();
    assert_eq!(bank.paid(), 1, "the second payment did not begin");
    let end = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(
        (end.receipts, bank.paid()),
        (vec!["D".into(), "E".into()], 2)
    );
}

#[tokio::test(start_paused = true)]
async fn f42_an_effect_of_a_sub_flow_beside_a_sibling_that_fails_is_recorded() {
    let bank = Bank::taking(20);
    let thread = thread(Nested::new(), &bank, Durability::Sync);
    thread.run(()).await.unwrap_err();
    let end = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((&*end.receipts[0], bank.paid()), ("C", 1));
}

#[tokio::test(start_paused = true)]
async fn f42_an_effect_of_a_sub_flow_is_recorded_before_the_flow_waits() {
    let bank = Bank::taking(20);
    let thread = thread(Deep::new(), &bank, Durability::Sync);
    let Outcome::Paused(paused) = thread.run(()).await.unwrap() else {
        panic!("it asks")
    };
    let answer = paused.interrupts[0].answer::<MayPay>(true).unwrap();
    let resume = Resume::new().answer(answer);
    let end = thread
        .resume(resume)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!((&*end.receipts[0], bank.paid()), ("C", 1));
}

#[tokio::test(start_paused = true)]
async fn f42_a_drain_waits_for_an_effect() {
    let (bank, token) = (Bank::taking(20), CancelToken::new());
    let launch = PayAlone::new().cancel_with(&token);
    let thread = thread(launch, &bank, Durability::Sync);
    let run = tokio::spawn({
        let thread = thread.clone();
        async move { thread.run(()).await }
    });
    tokio::time::sleep(Duration::from_millis(5)).await;
    token.drain();
    let end = run.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!((end.receipts, bank.paid()), (vec!["C".into()], 1));
}

#[tokio::test(start_paused = true)]
async fn f42_a_cancellation_does_not_wait_for_an_effect_of_a_failed_run() {
    let (bank, token) = (Bank::taking(60_000), CancelToken::new());
    let launch = Siblings::new().cancel_with(&token);
    let thread = thread(launch, &bank, Durability::Sync);
    let begun = tokio::time::Instant::now();
    let run = tokio::spawn(async move { thread.run(()).await });
    tokio::time::sleep(Duration::from_secs(40)).await;
    token.cancel();
    run.await.unwrap().unwrap_err();
    assert_eq!((begun.elapsed().as_secs(), bank.paid()), (40, 1));
}

/// What a context says after its node has ended.
#[derive(Default)]
struct Heard(std::sync::Mutex<Vec<String>>);

/// Leaves a context behind, which asks and pays when the node has ended.
#[node(Orders)]
async fn leaves_its_context(cx: Context, bank: Managed<Bank>, heard: Managed<Heard>) {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let paid = cx.once("late", bank.pay("L")).await.map(|_| ());
        let asked = cx.ask(MayPay { order: "L".into() }).await.map(|_| ());
        let told = [paid, asked].map(|result| result.unwrap_err().to_string());
        heard.0.lock().unwrap().extend(told);
    });
}

/// Asks on another task of the runtime, and does not wait for the answer.
#[node(Orders)]
async fn leaves_a_question(cx: Context, heard: Managed<Heard>) {
    tokio::spawn(async move {
        let asked = cx.ask(MayPay { order: "L".into() }).await;
        heard.0.lock().unwrap().push(asked.unwrap_err().to_string());
    });
}

#[node(Orders)]
async fn sleeps() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

flow!(Leave(Orders) { START -> leaves_its_context & sleeps; });
flow!(LeaveAlone(Orders) { leaves_its_context -> sleeps });
flow!(LeaveLast(Orders) { leaves_its_context });
flow!(LeaveQuestion(Orders) { leaves_a_question -> sleeps });

/// What the node heard that used its context after it had ended.
async fn told<F: Flow<State = Orders> + Clone>(launch: Launch<F>, number: u32) -> Vec<String> {
    let (heard, bank) = (Arc::new(Heard::default()), Bank::taking(1));
    let launch = launch.manage_with(Arc::clone(&heard));
    let thread = thread(launch, &bank, Durability::Async);
    thread.run(()).await.unwrap().into_finished().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(bank.paid(), 0, "case {number}");
    let heard = std::mem::take(&mut *heard.0.lock().unwrap());
    assert_eq!(heard.len(), 2, "case {number}");
    heard
}

#[tokio::test(start_paused = true)]
async fn f42_a_context_that_outlives_its_node_fails_with_words() {
    let outlived = |method| {
        format!(
            "`{method}` was called with the `Context` of a run of node `leaves_its_context` that has ended"
        )
    };
    let cases = [
        told(Leave::new(), 1).await,
        told(LeaveAlone::new(), 2).await,
        told(LeaveLast::new(), 3).await,
    ];
    for (number, case) in (1..).zip(cases) {
        assert!(
            case[0].starts_with(&outlived("once")),
            "case {number}: {case:?}"
        );
        assert!(
            case[1].starts_with(&outlived("ask")),
            "case {number}: {case:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_context_that_outlives_its_node_fails_in_a_run_without_a_store() {
    let (heard, bank) = (Arc::new(Heard::default()), Bank::taking(1));
    let launch = LeaveAlone::new().manage_with(Arc::clone(&heard));
    launch.manage_with(Arc::clone(&bank)).run(()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(bank.paid(), 0);
    let heard = heard.0.lock().unwrap();
    assert!(
        heard[0].starts_with("`once` was called with the `Context`"),
        "{heard:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn f42_a_question_that_nothing_awaits_ends_with_its_node() {
    let (heard, bank) = (Arc::new(Heard::default()), Bank::taking(1));
    let launch = LeaveQuestion::new().manage_with(Arc::clone(&heard));
    let thread = thread(launch, &bank, Durability::Sync);
    thread.run(()).await.unwrap().into_finished().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let heard = heard.0.lock().unwrap();
    assert!(
        heard[0].starts_with("`ask` was called with the `Context`"),
        "{heard:?}"
    );
}
