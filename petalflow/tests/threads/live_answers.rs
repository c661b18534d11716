//! Questions that are told, and answered, while other nodes of their superstep run.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::event::{EventKind, EventName};
use petalflow::interrupt::{AnswerError, Ask, Interrupt};
use petalflow::prelude::*;
use petalflow::thread::{Durability, Thread, ThreadError};
use tokio::time::{Instant, sleep};

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String, key = about)]
struct Which {
    about: String,
}

/// An answer of another type to the same question.
#[derive(serde::Serialize, serde::Deserialize)]
struct Other;

impl Ask for Other {
    type Answer = String;
    const NAME: &'static str = "Other";
}

fn which(about: &str) -> Which {
    Which {
        about: about.into(),
    }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(input)]
    items: Vec<String>,
    #[key(append)]
    lines: Vec<String>,
}

/// When the nodes have ended, in milliseconds, and how often an effect ran.
struct Times {
    begun: Instant,
    answered: AtomicU32,
    effects: AtomicU32,
    fails: AtomicU32,
}

impl Times {
    fn new() -> Self {
        Times {
            begun: Instant::now(),
            answered: AtomicU32::new(0),
            effects: AtomicU32::new(0),
            fails: AtomicU32::new(0),
        }
    }

    fn now(&self) -> u32 {
        u32::try_from(self.begun.elapsed().as_millis()).unwrap()
    }
}

#[node(Log)]
async fn heavy(times: Managed<Times>) -> petalflow::Result<LogLines> {
    sleep(Duration::from_millis(500)).await;
    if times.fails.fetch_sub(1, SeqCst) == 1 {
        return Err("heavy fails".into());
    }
    Ok(LogLines(vec!["heavy".into()]))
}

#[node(Log)]
async fn asks(cx: Context, times: Managed<Times>) -> petalflow::Result<LogLines> {
    let effect = async {
        times.effects.fetch_add(1, SeqCst);
        petalflow::Result::<()>::Ok(())
    };
    cx.once("effect", effect).await?;
    let answer = cx.ask(which("it")).await?;
    times.answered.store(times.now(), SeqCst);
    Ok(LogLines(vec![answer]))
}

flow!(Both(Log) { START -> heavy & asks; });

flow! {
    Inside(Log) {
        both;
        node both: Both { in: || vec![], out: |log: Log| LogLines(log.lines) };
    }
}

flow!(Asks(Log) { asks });

flow! {
    Beside(Log) {
        START -> heavy & inner;
        node inner: Asks { in: || vec![], out: |log: Log| LogLines(log.lines) };
    }
}

#[node(Log)]
async fn list(items: &[String]) -> Each<String> {
    Each(items.to_vec())
}

#[node(Log)]
async fn asks_about(#[item] item: &str, cx: Context) -> petalflow::Result<LogLines> {
    if item == "slow" {
        sleep(Duration::from_millis(500)).await;
        return Ok(LogLines(vec!["slow".into()]));
    }
    let first = cx.ask(which(item)).await?;
    let second = cx.ask(which(&format!("{item}, again"))).await?;
    Ok(LogLines(vec![format!("{first} {second}")]))
}

flow!(AskAll(Log) { list -> each asks_about });

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

fn thread<F: Flow<State = Log> + Clone>(launch: Launch<F>, durability: Durability) -> Thread<F> {
    let threads = launch.manage(Times::new()).store(&InMemoryStore::new());
    threads.durability(durability).thread("t")
}

/// Waits until a snapshot of the thread shows this many questions.
async fn open<F: Flow<State = Log>>(thread: &Thread<F>, count: usize) -> Vec<Interrupt> {
    loop {
        sleep(Duration::from_millis(10)).await;
        let snapshot = thread.snapshot().await.unwrap();
        let interrupts = snapshot.map(|snapshot| snapshot.interrupts);
        if let Some(interrupts) = interrupts.filter(|open| open.len() == count) {
            return interrupts;
        }
    }
}

/// Runs the flow, answers its only question when it is seen, and checks when what happened.
async fn answered_in_between<F: Flow<State = Log> + Clone>(launch: Launch<F>, case: u32) {
    for durability in DURABILITIES {
        let case = format!("case {case}, {durability:?}");
        let times = std::sync::Arc::new(Times::new());
        let threads = launch.clone().manage_with(std::sync::Arc::clone(&times));
        let threads = threads.store(&InMemoryStore::new()).durability(durability);
        let thread = threads.thread("t");
        let answer = async {
            let asked = open(&thread, 1).await;
            assert_eq!(asked[0].question::<Which>().unwrap().about, "it", "{case}");
            assert!(times.now() < 100, "{case}: seen after {} ms", times.now());
            thread.answer::<Which>("yes".into()).await
        };
        let (ran, answered) = tokio::join!(thread.run(vec![]), answer);
        let (ran, answered) = (ran.unwrap(), answered.unwrap());
        let mut lines = ran.into_finished().unwrap().lines;
        lines.sort_unstable();
        assert_eq!(lines, ["heavy", "yes"], "{case}");
        assert_eq!(answered.into_finished().unwrap().lines.len(), 2, "{case}");
        let ended = times.answered.load(SeqCst);
        assert!(ended < 100, "{case}: the node ended after {ended} ms");
        assert_eq!(times.effects.load(SeqCst), 1, "{case}");
        assert!(
            (500..600).contains(&times.now()),
            "{case}: {} ms",
            times.now()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_question_is_answered_while_its_sibling_runs() {
    answered_in_between(Both::new(), 1).await;
    answered_in_between(Inside::new(), 2).await;
    answered_in_between(Beside::new(), 3).await;
}

#[tokio::test(start_paused = true)]
async fn f42_a_question_is_told_when_it_is_asked() {
    for (case, durability) in DURABILITIES.into_iter().enumerate() {
        let thread = thread(Both::new(), durability);
        let begun = Instant::now();
        let mut told = Vec::new();
        let mut events = thread.run(vec![]).events();
        while let Some(event) = events.next().await {
            if let EventKind::Asked { interrupts } = &event.kind {
                assert_eq!(interrupts[0].question::<Which>().unwrap().about, "it");
            }
            let name = EventName::from(&event.kind);
            if matches!(name, EventName::Asked | EventName::Interrupted) {
                told.push((name, begun.elapsed().as_millis()));
            }
        }
        let expected = [(EventName::Asked, 0), (EventName::Interrupted, 500)];
        assert_eq!(told, expected, "case {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_an_answer_that_is_accepted_survives_the_run() {
    for (case, durability) in DURABILITIES.into_iter().enumerate() {
        let thread = thread(Both::new(), durability);
        let run = tokio::spawn({
            let thread = thread.clone();
            async move { thread.run(vec![]).await }
        });
        let begun = Instant::now();
        let asked = open(&thread, 1).await;
        let answer = asked[0].answer::<Which>("yes".into()).unwrap();
        let answering = thread.resume(answer).begin().await.unwrap();
        assert!(begun.elapsed() < Duration::from_millis(100), "case {case}");
        // Nothing but the store has the answer.
        run.abort();
        drop(answering);
        assert!(run.await.is_err());
        let log = thread.resume(()).await.unwrap().into_finished().unwrap();
        assert!(log.lines.contains(&"yes".into()), "case {case}: {log:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_only_one_of_two_answers_is_taken_and_one_that_does_not_fit_is_refused() {
    let thread = thread(Both::new(), Durability::Sync);
    let answer = async {
        let asked = open(&thread, 1).await;
        let other = asked[0].answer::<Other>("no".into());
        assert!(other.is_err(), "it is another question");
        let answer = |text: &str| asked[0].answer::<Which>(text.into()).unwrap();
        let (first, second) = tokio::join!(
            thread.resume(answer("first")).begin(),
            thread.resume(answer("second")).begin()
        );
        drop(first.unwrap());
        let second = second.unwrap_err();
        assert!(
            matches!(
                second.thread_error(),
                Some(ThreadError::Answer(AnswerError::Answered { .. }))
            ),
            "{second}"
        );
    };
    let (ran, ()) = tokio::join!(thread.run(vec![]), answer);
    let lines = ran.unwrap().into_finished().unwrap().lines;
    assert!(lines.contains(&"first".into()), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn f42_a_node_asks_again_while_others_run() {
    let thread = thread(AskAll::new(), Durability::Async);
    let answers = async {
        for question in ["a", "a, again", "b"] {
            let asked = open(&thread, 2).await;
            let asked = asked
                .iter()
                .find(|asked| asked.question::<Which>().unwrap().about == question);
            let answer = asked
                .unwrap()
                .answer::<Which>(format!("<{question}>"))
                .unwrap();
            drop(thread.resume(answer).begin().await.unwrap());
            if question == "a, again" {
                open(&thread, 1).await;
            }
            if question == "a, again" {
                break;
            }
        }
    };
    let items = ["a", "b", "slow"].map(String::from).to_vec();
    let (ran, ()) = tokio::join!(thread.run(items), answers);
    let ran = ran.unwrap();
    // The run stops for what is still open.
    assert_eq!(ran.interrupts()[0].question::<Which>().unwrap().about, "b");
    assert_eq!(ran.interrupts().len(), 1);
    let asked = thread.answer::<Which>("<b>".into()).await.unwrap();
    assert_eq!(asked.interrupts().len(), 1);
    let end = thread.answer::<Which>("<b, again>".into()).await.unwrap();
    let lines = end.into_finished().unwrap().lines;
    assert_eq!(lines, ["<a> <a, again>", "<b> <b, again>", "slow"]);
}

#[tokio::test(start_paused = true)]
async fn f42_a_failure_after_an_answer_keeps_what_the_node_has_done() {
    let times = Times::new();
    times.fails.store(1, SeqCst);
    let launch = Both::new().manage(times);
    let thread = launch.store(&InMemoryStore::new()).thread("t");
    let answer = async {
        open(&thread, 1).await;
        // It ends as soon as the answer is stored.
        drop(thread.answer::<Which>("yes".into()).begin().await.unwrap());
    };
    let (ran, ()) = tokio::join!(thread.run(vec![]), answer);
    assert!(ran.unwrap_err().to_string().contains("heavy fails"));
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines.len(), 2, "{log:?}");
}
