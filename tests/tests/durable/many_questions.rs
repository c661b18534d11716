//! The time of an answer is in proportion to the questions that are open.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use petalflow::Flow;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Ask, Resume};
use petalflow::prelude::*;
use petalflow::thread::Thread;
use serde::Serialize;

#[derive(Serialize)]
struct IsRight {
    line: u32,
}

impl Ask for IsRight {
    type Answer = bool;
    const NAME: &'static str = "is-right";

    fn key(&self) -> String {
        self.line.to_string()
    }
}

#[state]
struct Page {
    #[key(input)]
    lines: u32,
    #[key(append)]
    right: Vec<bool>,
}

#[node(Page)]
async fn split(lines: &u32) -> Each<u32> {
    Each((0..*lines).collect())
}

/// A task for each question.
#[node(Page)]
async fn check(#[item] line: &u32, cx: Context) -> petalflow::Result<PageRight> {
    Ok(PageRight(vec![cx.ask(IsRight { line: *line }).await?]))
}

/// One task for all questions.
#[node(Page)]
async fn check_all(lines: &u32, cx: Context) -> petalflow::Result<PageRight> {
    let asked = (0..*lines).map(|line| cx.ask(IsRight { line }));
    Ok(PageRight(try_join_all(asked).await?))
}

flow!(Each1(Page) { split -> each check });
flow!(AtOnce(Page) { check_all });

/// Asks, and returns how long one answer and then all others take.
async fn times<F: Flow<State = Page>>(thread: Thread<F>, lines: u32) -> [Duration; 2] {
    let asked = thread.run(lines).await.expect("it asks");
    let open = asked.interrupts().to_vec();
    assert_eq!(open.len(), lines as usize);
    let began = Instant::now();
    let first = open[0].answer::<IsRight>(true).expect("it asks this");
    let asked = thread.resume(Resume::new().answer(first)).await;
    let one = began.elapsed();
    assert_eq!(
        asked.expect("it asks the others").interrupts().len(),
        lines as usize - 1
    );
    let others = open[1..].iter().map(|it| it.answer::<IsRight>(true));
    let others = others.fold(Resume::new(), |resume, answer| {
        resume.answer(answer.expect("it asks this"))
    });
    let began = Instant::now();
    let done = thread.resume(others).await.expect("it goes on");
    let all = began.elapsed();
    assert_eq!(done.state().right.len(), lines as usize);
    [one, all]
}

/// The shortest times of three attempts, because others use the machine too.
async fn shortest<F: Flow<State = Page>>(
    thread: impl Fn() -> Thread<F>,
    lines: u32,
) -> [Duration; 2] {
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..3 {
        let times = times(thread(), lines).await;
        shortest = [shortest[0].min(times[0]), shortest[1].min(times[1])];
    }
    shortest
}

#[tokio::test]
async fn f42_an_answer_takes_time_in_proportion_to_the_open_questions() {
    const FEW: u32 = 500;
    const FACTOR: u32 = 8;
    let each = || Each1::new().store(&InMemoryStore::new()).thread("t");
    let at_once = || AtOnce::new().store(&InMemoryStore::new()).thread("t");
    for (case, few, many) in [
        (
            "a task each",
            shortest(each, FEW).await,
            shortest(each, FACTOR * FEW).await,
        ),
        (
            "one task",
            shortest(at_once, FEW).await,
            shortest(at_once, FACTOR * FEW).await,
        ),
    ] {
        for (what, few, many) in [("one", few[0], many[0]), ("all others", few[1], many[1])] {
            // In proportion it is 8 times, and 64 times with the square.
            assert!(
                many < few * FACTOR * 3,
                "{case}, {what}: {few:?} for {FEW} questions, {many:?} for {FACTOR} times as many"
            );
        }
    }
}
