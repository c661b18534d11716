//! Nodes that receive messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use petalflow::Flow;
use petalflow::checkpoint::{InMemoryStore, Store as _, ThreadChange, ThreadStatus};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::run::Mailbox;
use petalflow::thread::{Durability, OnBusy, StoredThreads, Thread, ThreadError, Threads};
use tokio::sync::Notify;

const DAY: Duration = Duration::from_hours(24);

#[state]
#[derive(Debug)]
struct Order {
    #[key(input)]
    wants: u32,
    #[key(receive)]
    payment: u32,
    #[key(receive, id = "cancelled by")]
    cancelled: String,
    #[key(append, inbox)]
    notes: Vec<String>,
    #[key(append)]
    log: Vec<String>,
}

/// Receives as many payments as the input says.
#[node(Order)]
async fn collect(wants: &u32, cx: Context) -> petalflow::Result<OrderLog> {
    let mut log = Vec::new();
    for _ in 0..*wants {
        let cents = cx.receive::<OrderPayment>().await?;
        log.push(format!("paid {cents}"));
    }
    Ok(OrderLog(log))
}

flow!(Collect(Order) { collect });

fn threads(store: &InMemoryStore) -> Threads<Collect> {
    Collect::new().store(store)
}

async fn status(thread: &Thread<impl Flow<State = Order>>) -> ThreadStatus {
    thread.info().await.unwrap().expect("it exists").status
}

async fn log(thread: &Thread<impl Flow<State = Order>>) -> Vec<String> {
    let snapshot = thread.snapshot().await.unwrap().expect("it exists");
    snapshot.state.log
}

async fn waits(thread: &Thread<impl Flow<State = Order>>, wants: u32) {
    let paused = thread.run(wants).await.unwrap().into_finished();
    let paused = paused.expect_err("it waits for a message");
    assert!(paused.interrupts.is_empty() && paused.wakes.is_some());
    assert_eq!(status(thread).await, ThreadStatus::Sleeping);
}

/// Wakes the threads of the flow once, as any process does.
async fn sweep<F: Flow<State = Order>>(threads: &Threads<F>) -> usize {
    let ended = threads.sweep().await.unwrap();
    ended.len()
}

#[tokio::test(start_paused = true)]
async fn f43_a_thread_waits_for_messages_and_any_process_continues_it() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let store = InMemoryStore::new();
        let orders = threads(&store).durability(durability);
        let thread = orders.thread("order");
        waits(&thread, 2).await;
        assert_eq!(sweep(&orders).await, 0, "nothing has happened");
        let waiting = thread.snapshot().await.unwrap().unwrap();
        let awaited = &waiting.tasks[0].receives;
        assert_eq!(awaited.len(), 1);
        assert_eq!((&*awaited[0].key, awaited[0].until_ms), ("payment", None));
        assert!(awaited[0].since_ms > 0);
        // Another handle, as that of another process.
        let sender = threads(&store).thread("order");
        assert_eq!(sender.send(OrderPayment(3)).await.unwrap(), 1);
        assert_eq!(sweep(&orders).await, 1);
        assert_eq!(status(&thread).await, ThreadStatus::Sleeping, "one more");
        assert_eq!(sender.send(OrderPayment(4)).await.unwrap(), 2);
        assert_eq!(sweep(&orders).await, 1);
        assert_eq!(status(&thread).await, ThreadStatus::Finished);
        assert_eq!(log(&thread).await, ["paid 3", "paid 4"], "{durability:?}");
        // Each once: the next turn waits for the next one.
        waits(&thread, 1).await;
        sender.send(OrderPayment(5)).await.unwrap();
        assert_eq!(sweep(&orders).await, 1);
        let expected = ["paid 3", "paid 4", "paid 5"];
        assert_eq!(log(&thread).await, expected, "{durability:?}");
        let problems = StoredThreads::new(&store).verify("order").await.unwrap();
        assert!(problems.is_empty(), "{problems:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f43_messages_that_were_sent_before_are_received_in_their_order() {
    let store = InMemoryStore::new();
    let orders = threads(&store);
    let thread = orders.thread("order");
    let unknown = thread.send(OrderPayment(1)).await.unwrap_err();
    assert!(
        matches!(unknown, ThreadError::Unknown { .. }),
        "{unknown:?}"
    );
    thread.run(0).await.unwrap().into_finished().unwrap();
    for cents in 1..=3 {
        thread.send(OrderPayment(cents)).await.unwrap();
    }
    for _ in 0..2 {
        let number = thread.send_once("bank-7", OrderPayment(4)).await.unwrap();
        assert_eq!(number, 4);
    }
    thread
        .send_value("payment", 5, Some("bank-8".into()))
        .await
        .unwrap();
    let order = thread.run(5).await.unwrap().into_finished().unwrap();
    assert_eq!(
        order.log,
        ["paid 1", "paid 2", "paid 3", "paid 4", "paid 5"]
    );
    assert_eq!(order.payment, 0, "messages do not change the key");
    waits(&thread, 1).await;
}

#[node(Order)]
async fn wait_a_day(cx: Context) -> petalflow::Result<OrderLog> {
    let paid = cx.receive::<OrderPayment>().within(DAY).await?;
    let line = paid.map_or("late".to_string(), |cents| format!("paid {cents}"));
    // It runs again, and finds what it has found before.
    cx.sleep(DAY).await?;
    Ok(OrderLog(vec![line]))
}

flow!(WaitADay(Order) { wait_a_day });

#[tokio::test(start_paused = true)]
async fn f43_a_wait_ends_at_its_time_and_that_remains() {
    let store = InMemoryStore::new();
    let orders = WaitADay::new().store(&store);
    let waking = tokio::spawn(orders.wake().run());
    let (late, early) = (orders.thread("late"), orders.thread("early"));
    waits(&late, 0).await;
    waits(&early, 0).await;
    tokio::time::sleep(DAY / 2).await;
    early.send(OrderPayment(3)).await.unwrap();
    tokio::time::sleep(DAY).await;
    // Its time was over, and it sleeps now.
    late.send(OrderPayment(4)).await.unwrap();
    tokio::time::sleep(2 * DAY).await;
    assert_eq!(log(&early).await, ["paid 3"]);
    assert_eq!(log(&late).await, ["late"]);
    // The message that came too late is for the next one.
    let _asleep = late.run(0).await.unwrap();
    tokio::time::sleep(2 * DAY).await;
    assert_eq!(log(&late).await, ["late", "paid 4"]);
    waking.abort();
}

#[tokio::test(start_paused = true)]
async fn f43_a_wake_that_was_lost_is_made_up_for() {
    let store = InMemoryStore::new();
    let orders = threads(&store);
    let thread = orders.thread("order");
    waits(&thread, 1).await;
    thread.send(OrderPayment(3)).await.unwrap();
    // As if the sender had died before it could make the thread due: it is due at its next look only.
    let info = thread.info().await.unwrap().unwrap();
    let change = ThreadChange::Status {
        flow: &info.flow,
        status: ThreadStatus::Sleeping,
        due_ms: Some(store.now_ms().await.unwrap() + 5_000),
    };
    store.describe("order", change, None).await.unwrap();
    assert_eq!(sweep(&orders).await, 0);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(sweep(&orders).await, 1);
    assert_eq!(log(&thread).await, ["paid 3"]);
}

/// Lets a test act while a node runs.
#[derive(Default)]
struct Gate {
    entered: Notify,
    open: Notify,
}

#[node(Order)]
async fn work(gate: Managed<Gate>) -> OrderLog {
    gate.entered.notify_one();
    gate.open.notified().await;
    OrderLog(vec!["worked".into()])
}

#[node(Order)]
async fn wait_and_open(cx: Context, gate: Managed<Gate>) -> petalflow::Result<OrderLog> {
    let cents = cx.receive::<OrderPayment>().await?;
    gate.open.notify_one();
    Ok(OrderLog(vec![format!("paid {cents}")]))
}

flow!(Both(Order) { START -> work & wait_and_open; });

#[tokio::test(start_paused = true)]
async fn f43_a_message_is_received_while_other_nodes_run() {
    let gate = Arc::new(Gate::default());
    let store = InMemoryStore::new();
    let orders = Both::new().manage_with(Arc::clone(&gate)).store(&store);
    let thread = orders.thread("order");
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run(0).await });
    gate.entered.notified().await;
    // Through another handle of the store, which knows nothing of the run.
    threads(&store)
        .thread("order")
        .send(OrderPayment(3))
        .await
        .unwrap();
    // Only the message opens the gate.
    let order = run.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!(order.log, ["worked", "paid 3"]);
}

#[node(Order)]
async fn take_one(cx: Context) -> petalflow::Result<OrderLog> {
    let cents = cx.receive::<OrderPayment>().await?;
    Ok(OrderLog(vec![cents.to_string()]))
}

#[node(Order)]
async fn take_another(cx: Context) -> petalflow::Result<OrderLog> {
    let cents = cx.receive::<OrderPayment>().await?;
    Ok(OrderLog(vec![cents.to_string()]))
}

#[node(Order)]
async fn be_told(cx: Context) -> petalflow::Result<OrderLog> {
    let by = cx.receive::<OrderCancelled>().await?;
    Ok(OrderLog(vec![by]))
}

flow!(Share(Order) { START -> take_one & take_another & be_told; });

#[tokio::test(start_paused = true)]
async fn f43_each_message_is_for_one_of_the_nodes_that_wait() {
    let orders = Share::new().store(&InMemoryStore::new());
    let thread = orders.thread("order");
    waits(&thread, 0).await;
    thread.send(OrderPayment(1)).await.unwrap();
    assert_eq!(sweep(&orders).await, 1);
    assert_eq!(status(&thread).await, ThreadStatus::Sleeping);
    thread.send(OrderCancelled("ann".into())).await.unwrap();
    assert_eq!(sweep(&orders).await, 1);
    thread.send(OrderPayment(2)).await.unwrap();
    assert_eq!(sweep(&orders).await, 1);
    let mut log = log(&thread).await;
    assert_eq!(log.pop().unwrap(), "ann");
    log.sort_unstable();
    assert_eq!(log, ["1", "2"]);
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct Ship;

/// What it has received does not depend on what comes while it waits for a person, and on how often it fails.
#[node(Order)]
async fn confirm(cx: Context, failures: Managed<AtomicU32>) -> petalflow::Result<OrderLog> {
    let first = cx.receive::<OrderPayment>().await?;
    if failures.fetch_add(1, Ordering::Relaxed) < 2 {
        return Err("broken".into());
    }
    let answer = cx.ask(Ship).await?;
    let second = cx.receive::<OrderPayment>().until(std::time::UNIX_EPOCH);
    Ok(OrderLog(vec![format!(
        "{first} {answer} {:?}",
        second.await?
    )]))
}

flow!(Confirm(Order) { confirm; with confirm { retry: 2 }; });

#[tokio::test(start_paused = true)]
async fn f43_a_node_that_runs_again_gets_the_same_messages() {
    let store = InMemoryStore::new();
    let orders = Confirm::new().manage(AtomicU32::new(0)).store(&store);
    let thread = orders.thread("order");
    waits(&thread, 0).await;
    thread.send(OrderPayment(1)).await.unwrap();
    // Both attempts fail with this message, and the thread is not asleep any more.
    assert_eq!(sweep(&orders).await, 1);
    assert_eq!(status(&thread).await, ThreadStatus::Failed);
    thread.send(OrderPayment(2)).await.unwrap();
    let asked = thread.resume(()).await.unwrap();
    assert_eq!(asked.interrupts().len(), 1);
    let order = thread.answer::<Ship>("yes".to_string()).await.unwrap();
    assert_eq!(order.into_finished().unwrap().log, ["1 yes Some(2)"]);
}

#[tokio::test(start_paused = true)]
async fn f43_a_turn_that_is_discarded_has_received_nothing() {
    let store = InMemoryStore::new();
    let orders = threads(&store);
    let thread = orders.thread("order");
    waits(&thread, 2).await;
    thread.send(OrderPayment(1)).await.unwrap();
    assert_eq!(sweep(&orders).await, 1);
    // It has got one, and waits for another.
    let refused = thread.run(1).await.unwrap_err();
    assert!(
        matches!(refused.thread_error(), Some(ThreadError::Sleeping { .. })),
        "{refused}"
    );
    let order = thread.run(1).discard_pending().await.unwrap();
    assert_eq!(order.into_finished().unwrap().log, ["paid 1"]);
}

#[tokio::test(start_paused = true)]
async fn f43_forks_and_copies_receive_what_the_thread_has_not_taken() {
    let store = InMemoryStore::new();
    let orders = threads(&store);
    let thread = orders.thread("order");
    waits(&thread, 1).await;
    let before = thread.snapshot().await.unwrap().unwrap().info.checkpoint;
    thread.send(OrderPayment(1)).await.unwrap();
    assert_eq!(sweep(&orders).await, 1);
    thread.send(OrderPayment(2)).await.unwrap();
    thread.fork(before).await.unwrap();
    let order = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(order.log, ["paid 2"], "it has taken the first one");
    let copy = orders.thread("copy");
    let _ = thread.copy_to("copy").await.unwrap();
    waits(&copy, 1).await;
}

/// Takes one message, and does not look at another that has arrived.
#[node(Order)]
async fn drop_a_call(cx: Context) -> petalflow::Result<OrderLog> {
    let dropped = cx.receive::<OrderPayment>().into_future();
    drop(dropped);
    let (first, second) = tokio::join!(
        cx.receive::<OrderPayment>().into_future(),
        cx.receive::<OrderPayment>().into_future()
    );
    Ok(OrderLog(vec![format!("{} {}", first?, second?)]))
}

flow!(DropACall(Order) { drop_a_call });

#[tokio::test(start_paused = true)]
async fn f43_calls_at_the_same_time_get_a_message_each() {
    let store = InMemoryStore::new();
    let orders = DropACall::new().store(&store);
    let thread = orders.thread("order");
    waits(&thread, 0).await;
    for cents in [1, 2] {
        thread.send(OrderPayment(cents)).await.unwrap();
        assert_eq!(sweep(&orders).await, 1);
    }
    assert_eq!(log(&thread).await, ["1 2"]);
}

#[tokio::test(start_paused = true)]
async fn f43_a_message_that_comes_as_the_run_ends_is_not_missed() {
    let store = InMemoryStore::new();
    let orders = threads(&store).on_busy(OnBusy::Queue);
    let waking = tokio::spawn(orders.wake().run());
    let mut runs = Vec::new();
    for thread in 0..50 {
        let orders = orders.clone();
        runs.push(tokio::spawn(async move {
            let thread = orders.thread(format!("order-{thread}"));
            let run = tokio::spawn({
                let thread = thread.clone();
                async move { thread.run(1).await }
            });
            loop {
                match thread.send(OrderPayment(1)).await {
                    Err(ThreadError::Unknown { .. }) => tokio::task::yield_now().await,
                    sent => {
                        sent.unwrap();
                        break;
                    }
                }
            }
            let _ = run.await.unwrap().unwrap();
            // Well before the thread looks by itself.
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert_eq!(log(&thread).await, ["paid 1"]);
        }));
    }
    for run in runs {
        run.await.unwrap();
    }
    waking.abort();
}

#[tokio::test(start_paused = true)]
async fn f43_a_run_without_a_store_receives_from_a_mailbox() {
    let mailbox = Mailbox::new();
    mailbox.send(OrderPayment(1));
    let run = Collect::new().manage(mailbox.clone()).run(2);
    let run = tokio::spawn(run.into_future());
    tokio::time::sleep(DAY).await;
    assert!(!run.is_finished());
    mailbox.send(OrderPayment(2));
    assert_eq!(run.await.unwrap().unwrap().log, ["paid 1", "paid 2"]);
    let failures = AtomicU32::new(0);
    mailbox.send(OrderPayment(3));
    let again = Repeat::new().manage(mailbox.clone()).manage(failures);
    assert_eq!(again.run(0).await.unwrap().log, ["3 None"]);
}

#[node(Order, retry = 3)]
async fn repeat(cx: Context, failures: Managed<AtomicU32>) -> petalflow::Result<OrderLog> {
    let first = cx.receive::<OrderPayment>().await?;
    let second = cx.receive::<OrderPayment>().within(DAY).await?;
    if failures.fetch_add(1, Ordering::Relaxed) < 2 {
        return Err("broken".into());
    }
    Ok(OrderLog(vec![format!("{first} {second:?}")]))
}

flow!(Repeat(Order) { repeat });

#[node(Order)]
async fn nap(cx: Context) -> petalflow::Result<OrderLog> {
    cx.sleep(DAY).await?;
    Ok(OrderLog(vec!["slept".into()]))
}

flow!(Nap(Order) { nap });

#[tokio::test(start_paused = true)]
async fn f43_a_message_does_not_wake_a_thread_that_waits_for_something_else() {
    let naps = Nap::new().store(&InMemoryStore::new());
    let thread = naps.thread("nap");
    waits(&thread, 0).await;
    thread.send(OrderPayment(1)).await.unwrap();
    thread.send(OrderNotes(vec!["hello".into()])).await.unwrap();
    assert_eq!(sweep(&naps).await, 0);
    tokio::time::sleep(2 * DAY).await;
    assert_eq!(sweep(&naps).await, 1);
    assert_eq!(log(&thread).await, ["slept"]);
}

#[state]
#[derive(Debug)]
struct Other {
    #[key(receive)]
    payment: u32,
    sum: u32,
}

#[node(Order)]
async fn wrong_key(cx: Context) -> petalflow::Result<OrderLog> {
    let cents = cx.receive::<OtherPayment>().await?;
    Ok(OrderLog(vec![cents.to_string()]))
}

flow!(WrongKey(Order) { wrong_key });

#[node(Other)]
async fn inside(cx: Context) -> petalflow::Result<OtherSum> {
    Ok(OtherSum(cx.receive::<OtherPayment>().await?))
}

flow!(Inside(Other) { inside });

flow!(Around(Order) {
    node sub: Inside { in: || (), out: |other: Other| OrderLog(vec![other.sum.to_string()]) };
    sub;
});

#[tokio::test]
async fn f43_what_cannot_be_received_is_an_error_that_says_so() {
    let store = InMemoryStore::new();
    let error = WrongKey::new().store(&store).thread("a").run(0).await;
    let error = error.unwrap_err().to_string();
    let expected = "node `wrong_key` receives messages to key `payment` of `Other`, and the flow runs over `Order`, so nobody can send one: receive a key of `Order`";
    assert!(error.contains(expected), "{error}");
    let nested = "node `inside` receives messages in a sub-flow, and messages are for the outermost flow: receive in a node of that flow, and give the sub-flow the message as its input";
    let stored = Around::new().store(&store).thread("b").run(0).await;
    let stored = stored.unwrap_err().to_string();
    assert!(stored.contains(nested), "{stored}");
    let in_memory = Around::run(0).await.unwrap_err().to_string();
    assert!(in_memory.contains(nested), "{in_memory}");
    let error = Collect::run(1).await.unwrap_err().to_string();
    let expected = "node `collect` receives messages to key `payment` of `Order`, and nobody can send one to this run: launch it with `.store(&store).thread(id)`, or give it a `Mailbox::<Order>` with `.manage(mailbox)`";
    assert!(error.contains(expected), "{error}");
    let thread = threads(&store).thread("c");
    thread.run(0).await.unwrap().into_finished().unwrap();
    let error = thread.send_value("log", ["x"], None).await.unwrap_err();
    let expected = "the state `Order` has no key `log` that takes messages; those are `payment`, `cancelled`, `notes`";
    assert_eq!(error.to_string(), expected);
}
