//! Runs that wait for a thread.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::AnswerError;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{OnBusy, ThreadError};
use tokio::time::Instant;

use super::{Hour, launch};

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_begins_as_soon_as_the_other_has_ended() {
    let store = InMemoryStore::new();
    let thread = launch().store(&store).on_busy(OnBusy::Queue).thread("t");
    let begun = Instant::now();
    let waits = async || {
        let run = thread.run("sleep".to_string()).await.unwrap();
        run.into_finished().unwrap().count
    };
    let counts = tokio::join!(waits(), waits(), waits());
    let mut counts: [u64; 3] = counts.into();
    counts.sort_unstable();
    assert_eq!(counts, [1, 2, 3]);
    // With polling, each of them would begin some milliseconds late.
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_can_be_cancelled() {
    let store = InMemoryStore::new();
    let token = CancelToken::new();
    let first = launch().store(&store).thread("t");
    let waiting = launch()
        .cancel_with(&token)
        .store(&store)
        .on_busy(OnBusy::Queue)
        .thread("t");
    let begun = Instant::now();
    let (slept, (refused, after)) = tokio::join!(first.run("sleep".to_string()), async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            token.cancel();
        };
        let (refused, ()) = tokio::join!(waiting.run("sleep".to_string()), cancel);
        (refused, begun.elapsed())
    });
    slept.unwrap().into_finished().unwrap();
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused.thread_error(), Some(ThreadError::Busy { .. })),
        "{refused}"
    );
    assert_eq!(
        after,
        Duration::from_millis(1001),
        "it does not wait for the other run"
    );
}

#[tokio::test(start_paused = true)]
async fn the_second_of_two_answers_learns_of_the_first_without_waiting() {
    let store = InMemoryStore::new();
    let thread = launch().store(&store).thread("t");
    let paused = thread.run("ask".to_string()).await.unwrap();
    let answer = |text: &str| paused.interrupts()[0].answer::<Hour>(text.into()).unwrap();
    let begun = Instant::now();
    let (first, second) = tokio::join!(
        thread.resume(answer("yes")).begin(),
        thread.resume(answer("no")).begin()
    );
    let second = second.unwrap_err();
    assert!(
        matches!(
            second.thread_error(),
            Some(ThreadError::Answer(AnswerError::Answered { .. }))
        ),
        "{second}"
    );
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let state = first.unwrap().await.unwrap().into_finished().unwrap();
    assert_eq!(state.answer, "yes");
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_thread_that_is_busy_with_something_else_is_refused_at_once() {
    let store = InMemoryStore::new();
    let thread = launch().store(&store).thread("t");
    let paused = thread.run("ask".to_string()).await.unwrap();
    let answer = paused.interrupts()[0]
        .answer::<Hour>("late".into())
        .unwrap();
    let other = thread
        .run("sleep".to_string())
        .discard_pending()
        .begin()
        .await
        .unwrap();
    let other = tokio::spawn(other);
    tokio::task::yield_now().await;
    let begun = Instant::now();
    let refused = thread.resume(answer).await.unwrap_err();
    assert!(
        matches!(refused.thread_error(), Some(ThreadError::Busy { .. })),
        "{refused}"
    );
    assert_eq!(begun.elapsed(), Duration::ZERO);
    other.await.unwrap().unwrap().into_finished().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cancels_another_leaves_the_token_of_the_caller_alone() {
    let store = InMemoryStore::new();
    let shutdown = CancelToken::new();
    let threads = launch()
        .cancel_with(&shutdown)
        .store(&store)
        .on_busy(OnBusy::Cancel);
    let (thread, other) = (threads.thread("t"), threads.thread("other"));
    let second = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        thread.run("sleep".to_string()).await
    };
    let (first, second, other) = tokio::join!(
        thread.run("sleep".to_string()),
        second,
        other.run("sleep".to_string())
    );
    assert_eq!(*first.unwrap_err().kind(), RunErrorKind::Cancelled);
    second.unwrap().into_finished().unwrap();
    other.unwrap().into_finished().unwrap();
    assert!(!shutdown.is_cancelled());

    // It still stops all of them.
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        shutdown.cancel();
    };
    let (stopped, ()) = tokio::join!(thread.run("sleep".to_string()), stop);
    assert_eq!(*stopped.unwrap_err().kind(), RunErrorKind::Cancelled);
}
