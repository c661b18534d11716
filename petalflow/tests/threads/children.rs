//! Threads that start others and wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::Flow;
use petalflow::checkpoint::{Claim, InMemoryStore, Store, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::prelude::*;
use petalflow::run::CancelToken;
use petalflow::thread::{Durability, JoinError, Outcome, Thread, Threads};
use tokio::time::sleep;

const DAY: Duration = Duration::from_hours(24);

/// How often nodes have run.
#[derive(Default)]
struct Counts {
    parents: AtomicU32,
    children: AtomicU32,
}

#[state]
#[derive(Debug)]
struct Part {
    #[key(input)]
    number: u32,
    #[key(sum)]
    square: u64,
}

/// 13 fails, and 7000 sleeps for a day.
#[node(Part)]
async fn multiply(
    number: &u32,
    cx: Context,
    counts: Managed<Counts>,
) -> petalflow::Result<PartSquare> {
    if *number == 13 {
        return Err("13 brings bad luck".into());
    }
    if *number == 7_000 {
        cx.sleep(DAY).await?;
    }
    counts.children.fetch_add(1, SeqCst);
    Ok(PartSquare(u64::from(*number) * u64::from(*number)))
}

flow!(Multiply(Part) { multiply });

#[state]
#[derive(Debug)]
struct Total {
    #[key(input)]
    numbers: Vec<u32>,
    #[key(sum)]
    squares: u64,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Total)]
async fn add(
    numbers: &[u32],
    cx: Context,
    parts: Managed<Threads<Multiply>>,
    counts: Managed<Counts>,
) -> petalflow::Result<TotalSquares> {
    counts.parents.fetch_add(1, SeqCst);
    let mut children = Vec::new();
    for number in numbers {
        let id = format!("part-{number}");
        children.push(cx.start(&parts, id, *number).cancel_with_parent().await?);
    }
    let parts = cx.join_all(&children).await?;
    Ok(TotalSquares(parts.iter().map(|part| part.square).sum()))
}

flow!(Add(Total) { add });

/// Starts a part in one node, and waits for it in another one.
#[node(Total)]
async fn begin(
    numbers: &[u32],
    cx: Context,
    parts: Managed<Threads<Multiply>>,
) -> petalflow::Result<TotalNotes> {
    let first = cx.start(&parts, "first", numbers[0]).await?;
    // The same task gets the same thread.
    let same = cx.start(&parts, "first", numbers[0]).await?;
    assert_eq!(first.id(), same.id());
    Ok(TotalNotes(vec!["begun".into()]))
}

#[node(Total)]
async fn finish(cx: Context, parts: Managed<Threads<Multiply>>) -> petalflow::Result<TotalSquares> {
    let part = cx.join(&parts.thread("first")).await?;
    Ok(TotalSquares(part.square))
}

flow!(Later(Total) { begin -> finish });

/// A program: both flows over one store.
struct Program {
    counts: Arc<Counts>,
    parts: Threads<Multiply>,
    totals: Threads<Add>,
    later: Threads<Later>,
}

fn program(store: &(impl Store + Clone), durability: Durability) -> Program {
    let counts = Arc::<Counts>::default();
    let parts = Multiply::new()
        .manage_with(Arc::clone(&counts))
        .store(store)
        .durability(durability);
    let totals = Add::new()
        .manage_with(Arc::clone(&counts))
        .manage(parts.clone())
        .store(store)
        .durability(durability);
    let later = Later::new()
        .manage(parts.clone())
        .store(store)
        .durability(durability);
    Program {
        counts,
        parts,
        totals,
        later,
    }
}

impl Program {
    /// Wakes the threads of all flows, until the process ends.
    fn wake(&self) -> [tokio::task::JoinHandle<()>; 3] {
        [
            tokio::spawn(self.parts.wake().run()),
            tokio::spawn(self.totals.wake().run()),
            tokio::spawn(self.later.wake().run()),
        ]
    }
}

async fn info<F: Flow>(thread: &Thread<F>) -> ThreadInfo {
    thread.info().await.unwrap().expect("it exists")
}

async fn state<F: Flow>(thread: &Thread<F>) -> F::State {
    thread.snapshot().await.unwrap().expect("it exists").state
}

/// The parent waits for its children, and for no person.
fn waits(outcome: Outcome<Total>) {
    let paused = outcome.into_finished().expect_err("it waits");
    assert!(paused.interrupts.is_empty() && paused.wakes.is_some());
}

#[tokio::test(start_paused = true)]
async fn f43_a_parent_waits_for_its_children_and_holds_nothing() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let store = InMemoryStore::new();
        let program = program(&store, durability);
        let parent = program.totals.thread("total");
        waits(parent.run(vec![2, 3]).await.unwrap());
        let listed = info(&parent).await;
        assert_eq!(listed.status, ThreadStatus::Sleeping);
        assert!(listed.due_ms.is_some());
        // Nobody wakes the other flow yet: its threads are due, and are not run.
        let child = info(&program.parts.thread("part-2")).await;
        assert_eq!(
            (&*child.flow, child.status),
            ("Multiply", ThreadStatus::Running)
        );
        assert!(
            child
                .due_ms
                .is_some_and(|due| due <= child.created_ms + 1_000)
        );
        assert_eq!(program.counts.children.load(SeqCst), 0);

        program.wake();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(info(&parent).await.status, ThreadStatus::Finished);
        assert_eq!(state(&parent).await.squares, 13, "{durability:?}");
        assert_eq!(program.counts.children.load(SeqCst), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn f43_a_child_that_sleeps_for_a_day_wakes_its_parent_at_once() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    program.wake();
    let parent = program.totals.thread("total");
    waits(parent.run(vec![7_000]).await.unwrap());
    sleep(DAY.saturating_sub(Duration::from_secs(1))).await;
    assert_eq!(info(&parent).await.status, ThreadStatus::Sleeping);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(state(&parent).await.squares, 49_000_000);
    assert_eq!(info(&parent).await.status, ThreadStatus::Finished);
}

#[tokio::test(start_paused = true)]
async fn f43_a_child_of_one_node_is_joined_by_another() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    program.wake();
    let parent = program.later.thread("total");
    waits(parent.run(vec![5]).await.unwrap());
    sleep(Duration::from_secs(1)).await;
    let total = state(&parent).await;
    assert_eq!(
        (total.squares, &*total.notes),
        (25, &["begun".to_string()][..])
    );
}

#[tokio::test(start_paused = true)]
async fn f43_a_thousand_children_cost_a_few_runs_of_their_parent() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    program.wake();
    let parent = program.totals.thread("total");
    let numbers: Vec<u32> = (1_000..2_000).collect();
    let sum: u64 = numbers.iter().map(|number| u64::from(*number).pow(2)).sum();
    waits(parent.run(numbers).await.unwrap());
    sleep(Duration::from_mins(1)).await;
    assert_eq!(info(&parent).await.status, ThreadStatus::Finished);
    assert_eq!(state(&parent).await.squares, sum, "each once");
    assert_eq!(program.counts.children.load(SeqCst), 1_000, "each once");
    let runs = program.counts.parents.load(SeqCst);
    assert!(runs <= 30, "the parent has run {runs} times");
}

#[tokio::test(start_paused = true)]
async fn f43_a_failing_child_is_an_error_of_its_parent() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    program.wake();
    let parent = program.totals.thread("total");
    waits(parent.run(vec![13, 2]).await.unwrap());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(info(&parent).await.status, ThreadStatus::Failed);
    let snapshot = parent.snapshot().await.unwrap().expect("it exists");
    let error = snapshot.tasks[0].error.as_ref().expect("it failed");
    let text = error.to_string();
    assert!(text.contains("thread `part-13` has failed"), "{text}");
    assert!(text.contains("13 brings bad luck"), "{text}");

    // In memory, the error has its type.
    let error = Add::new()
        .manage(program.parts)
        .manage(Counts::default())
        .run(vec![13])
        .await
        .expect_err("the child fails");
    assert!(error.to_string().contains("13 brings bad luck"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn f43_in_memory_children_run_within_the_run() {
    let store = InMemoryStore::new();
    let parts = Multiply::new().manage(Counts::default()).store(&store);
    let run = Add::new().manage(parts.clone()).manage(Counts::default());
    assert_eq!(run.run(vec![2, 3, 4]).await.unwrap().squares, 29);
    let later = Later::new().manage(parts).run(vec![5]).await.unwrap();
    assert_eq!(later.squares, 25);
    let stored = store.threads(ThreadQuery::default()).await.unwrap();
    assert!(stored.is_empty(), "nothing is stored");
}

#[tokio::test(start_paused = true)]
async fn f43_an_id_that_belongs_to_something_else_is_an_error() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    let taken = program.parts.thread("part-2").run(2).await.unwrap();
    assert_eq!(taken.into_finished().unwrap().square, 4);
    let error = program.totals.thread("total").run(vec![2]).await;
    let error = error.expect_err("it is no child").to_string();
    assert!(
        error.contains("thread `part-2` exists, and this task has not started it"),
        "{error}"
    );

    // Also the child of another thread.
    program.wake();
    waits(program.totals.thread("one").run(vec![3]).await.unwrap());
    let error = program.totals.thread("another").run(vec![3]).await;
    let error = error.expect_err("it is another's").to_string();
    assert!(error.contains("thread `part-3` exists"), "{error}");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(state(&program.totals.thread("one")).await.squares, 9);
}

#[tokio::test(start_paused = true)]
async fn f43_a_fork_of_the_parent_is_another_task() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    let parent = program.totals.thread("total");
    waits(parent.run(vec![2]).await.unwrap());
    let first = parent.snapshot().await.unwrap().unwrap().info.checkpoint;
    parent.fork(first).await.unwrap();
    let error = parent.resume(()).await.expect_err("its task is another");
    let text = error.to_string();
    assert!(text.contains("thread `part-2` exists"), "{text}");
    assert!(text.contains("cx.task_id()"), "{text}");

    // The child does not depend on its parent.
    parent.delete().await.unwrap();
    program.wake();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(state(&program.parts.thread("part-2")).await.square, 4);
}

#[tokio::test(start_paused = true)]
async fn f43_cancel_goes_down_to_children_that_ask_for_it() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    program.wake();
    let parent = program.totals.thread("total");
    waits(parent.run(vec![7_000, 2]).await.unwrap());
    sleep(Duration::from_secs(1)).await;
    let child = program.parts.thread("part-7000");
    assert_eq!(info(&child).await.status, ThreadStatus::Sleeping);

    let token = CancelToken::new();
    token.cancel();
    let cancelled = program.totals.clone().cancel_with(&token).thread("total");
    assert!(cancelled.resume(()).await.is_err());
    assert_eq!(info(&parent).await.status, ThreadStatus::Held);
    assert_eq!(info(&child).await.status, ThreadStatus::Held);
    let done = info(&program.parts.thread("part-2")).await;
    assert_eq!(done.status, ThreadStatus::Finished, "it has ended before");

    // Nobody continues them.
    sleep(2 * DAY).await;
    assert_eq!(info(&child).await.status, ThreadStatus::Held);

    // A person lets both go on: first the parent, which says why it cannot.
    let error = parent.resume(()).await.expect_err("the child is held");
    assert!(
        error.to_string().contains("thread `part-7000` is held"),
        "{error}"
    );
    let resumed = child.resume(()).await.unwrap();
    assert_eq!(resumed.into_finished().unwrap().square, 49_000_000);
    let total = parent.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(total.squares, 49_000_004);
}

#[tokio::test(start_paused = true)]
async fn f43_a_child_whose_process_has_died_is_held_when_its_claim_ends() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    let parent = program.totals.thread("total");
    waits(parent.run(vec![2]).await.unwrap());
    // The claim of a process that has died remains for a while.
    let died = "a process that has died";
    let claimed = store.claim("part-2", died).await.unwrap();
    assert_eq!(claimed, Claim::Granted);

    let token = CancelToken::new();
    token.cancel();
    let cancelled = program.totals.clone().cancel_with(&token).thread("total");
    assert!(cancelled.resume(()).await.is_err());
    assert_eq!(info(&parent).await.status, ThreadStatus::Held);
    let child = program.parts.thread("part-2");
    assert_eq!(info(&child).await.status, ThreadStatus::Running);

    store.release("part-2", died);
    sleep(Duration::from_mins(1)).await;
    assert_eq!(info(&child).await.status, ThreadStatus::Held);
    // A program that starts leaves it alone.
    let interrupted = ThreadQuery {
        status: Some(ThreadStatus::Running),
        ..ThreadQuery::default()
    };
    let recovered = program.parts.resume_all(interrupted).await.unwrap();
    assert!(recovered.is_empty());
    assert_eq!(program.counts.children.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn f43_a_deleted_child_is_not_started_again() {
    let store = InMemoryStore::new();
    let program = program(&store, Durability::Sync);
    let parent = program.totals.thread("total");
    waits(parent.run(vec![2]).await.unwrap());
    program.parts.thread("part-2").delete().await.unwrap();
    let error = parent.resume(()).await.expect_err("there is no child");
    let text = error.to_string();
    assert!(
        text.contains("there is no thread `part-2` to wait for"),
        "{text}"
    );
    assert!(
        program
            .parts
            .thread("part-2")
            .info()
            .await
            .unwrap()
            .is_none()
    );
}

/// Drops the runs of both flows after each number of polls, and continues with another process.
#[tokio::test(start_paused = true)]
async fn f43_dropped_after_any_poll_each_child_runs_once_and_its_parent_goes_on() {
    for polls in (0..400).step_by(3) {
        let store = InMemoryStore::new();
        let slow = super::faults::Faulty::over(&store, usize::MAX, true);
        let before = program(&slow, Durability::Sync);
        {
            let thread = before.totals.thread("total");
            let mut run = std::pin::pin!(async {
                let _ = thread.run(vec![2, 3]).await;
                let _ = before.parts.thread("part-2").recover().await;
                let _ = before.parts.thread("part-3").recover().await;
                let _ = thread.recover().await;
            });
            let waker = std::task::Waker::noop();
            for _ in 0..polls {
                let mut cx = std::task::Context::from_waker(waker);
                if Future::poll(run.as_mut(), &mut cx).is_ready() {
                    break;
                }
            }
        }
        let after = program(&store, Durability::Sync);
        let wakers = after.wake();
        // As a program does that starts: what a crash has interrupted.
        let interrupted = ThreadQuery {
            status: Some(ThreadStatus::Running),
            ..ThreadQuery::default()
        };
        after.totals.resume_all(interrupted).await.unwrap();
        after.parts.resume_all(interrupted).await.unwrap();
        let parent = after.totals.thread("total");
        if parent.info().await.unwrap().is_none() {
            assert!(polls < 40, "it has begun by now");
            wakers.iter().for_each(tokio::task::JoinHandle::abort);
            continue;
        }
        sleep(Duration::from_mins(20)).await;
        assert_eq!(
            info(&parent).await.status,
            ThreadStatus::Finished,
            "{polls}"
        );
        assert_eq!(state(&parent).await.squares, 13, "{polls}");
        let stored = store.threads(ThreadQuery::default()).await.unwrap();
        assert_eq!(stored.len(), 3, "{polls}");
        let both = [&before, &after].map(|program| program.counts.children.load(SeqCst));
        // A node runs again if its run was dropped behind it.
        let runs = both.iter().sum::<u32>();
        assert!((2..=3).contains(&runs), "{polls}: {runs} runs");
        wakers.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

#[test]
fn f43_the_errors_of_a_join_name_the_thread() {
    let thread = || "order-7".to_string();
    let failed = JoinError::Failed {
        thread: thread(),
        cause: None,
    };
    let texts = [
        failed,
        JoinError::Held { thread: thread() },
        JoinError::Unknown { thread: thread() },
    ]
    .map(|error| error.to_string());
    for text in texts {
        assert!(text.contains("`order-7`"), "{text}");
    }
}
