//! Questions that expire while other nodes of their superstep run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::Launch;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{AnswerError, Ask, Expiry};
use petalflow::prelude::*;
use petalflow::thread::{Durability, Thread, ThreadError};
use tokio::time::{Instant, sleep};

/// Expires after so many seconds, or never.
#[derive(serde::Serialize, serde::Deserialize)]
struct Which {
    about: String,
    after: Option<u64>,
}

impl Ask for Which {
    type Answer = String;
    const NAME: &'static str = "Which";

    fn key(&self) -> String {
        self.about.clone()
    }

    fn expires(&self) -> Option<Expiry<String>> {
        Some(Expiry {
            after: Duration::from_secs(self.after?),
            answer: format!("no answer about {}", self.about),
        })
    }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(append)]
    lines: Vec<String>,
}

/// The second in which the node that asks has ended, and how often its effect has run.
struct Times {
    begun: Instant,
    ended: AtomicU32,
    effects: AtomicU32,
}

impl Times {
    fn now(&self) -> u32 {
        u32::try_from(self.begun.elapsed().as_secs()).unwrap()
    }
}

#[node(Log)]
async fn heavy() -> LogLines {
    sleep(Duration::from_hours(2)).await;
    LogLines(vec!["heavy".into()])
}

fn which(about: &str, after: Option<u64>) -> Which {
    let about = about.into();
    Which { about, after }
}

#[node(Log)]
async fn asks(cx: Context, times: Managed<Times>) -> petalflow::Result<LogLines> {
    let effect = async {
        times.effects.fetch_add(1, SeqCst);
        petalflow::Result::<()>::Ok(())
    };
    cx.once("effect", effect).await?;
    let answer = cx.ask(which("it", Some(3600))).await?;
    times.ended.store(times.now(), SeqCst);
    Ok(LogLines(vec![answer]))
}

/// Asks two questions at once. The second expires later.
#[node(Log)]
async fn asks_twice(cx: Context, times: Managed<Times>) -> petalflow::Result<LogLines> {
    let (first, second) = tokio::join!(
        cx.ask(which("one", Some(1800))),
        cx.ask(which("two", Some(3600)))
    );
    times.ended.store(times.now(), SeqCst);
    Ok(LogLines(vec![first?, second?]))
}

flow!(Both(Log) { START -> heavy & asks; });
flow!(Twice(Log) { START -> heavy & asks_twice; });

flow! {
    Inside(Log) {
        both;
        node both: Both { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

flow!(Asks(Log) { asks });

flow! {
    Beside(Log) {
        START -> heavy & inner;
        node inner: Asks { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

fn thread<F: Flow<State = Log> + Clone>(
    launch: Launch<F>,
    durability: Durability,
) -> (Thread<F>, Arc<Times>) {
    let times = Arc::new(Times {
        begun: Instant::now(),
        ended: AtomicU32::new(0),
        effects: AtomicU32::new(0),
    });
    let launch = launch.manage_with(Arc::clone(&times));
    let threads = launch.store(&InMemoryStore::new()).durability(durability);
    (threads.thread("t"), times)
}

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

/// Runs the flow. Returns its sorted lines, and checks when the node that asks has ended.
async fn ended_after_an_hour<F: Flow<State = Log> + Clone>(
    launch: Launch<F>,
    effects: u32,
    case: &str,
) -> Vec<String> {
    let mut ends = Vec::new();
    for durability in DURABILITIES {
        let (thread, times) = thread(launch.clone(), durability);
        let log = thread.run(()).await.unwrap().into_finished().unwrap();
        let ended = times.ended.load(SeqCst);
        // The clock of the store has gone on for some milliseconds.
        assert!((3590..3660).contains(&ended), "{case}: {ended} s");
        assert!((7200..7260).contains(&times.now()), "{case}");
        assert_eq!(times.effects.load(SeqCst), effects, "{case}");
        let mut lines = log.lines;
        lines.sort_unstable();
        ends.push(lines);
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{case}: {ends:?}");
    ends.swap_remove(0)
}

#[tokio::test(start_paused = true)]
async fn f42_a_question_expires_while_its_siblings_run() {
    let expected = ["heavy", "no answer about it"];
    for (case, lines) in [
        ("both", ended_after_an_hour(Both::new(), 1, "both").await),
        (
            "inside",
            ended_after_an_hour(Inside::new(), 1, "inside").await,
        ),
        (
            "beside",
            ended_after_an_hour(Beside::new(), 1, "beside").await,
        ),
    ] {
        assert_eq!(lines, expected, "{case}");
    }
    // The second question keeps its time although the node asks it again.
    let lines = ended_after_an_hour(Twice::new(), 0, "twice").await;
    assert_eq!(
        lines,
        ["heavy", "no answer about one", "no answer about two"]
    );
}

#[tokio::test(start_paused = true)]
async fn f42_nobody_answers_a_question_that_has_expired_and_the_store_knows_it() {
    let (thread, times) = thread(Both::new(), Durability::Sync);
    let run = tokio::spawn({
        let thread = thread.clone();
        async move { thread.run(()).await }
    });
    sleep(Duration::from_secs(10)).await;
    let asked = thread.snapshot().await.unwrap().unwrap().interrupts;
    sleep(Duration::from_hours(1)).await;
    let answer = asked[0].answer::<Which>("late".into()).unwrap();
    let refused = thread.resume(answer).await.unwrap_err();
    assert!(
        matches!(
            refused.thread_error(),
            Some(ThreadError::Answer(AnswerError::Answered { .. }))
        ),
        "{refused}"
    );
    // Nothing but the store has it.
    run.abort();
    assert!(run.await.is_err());
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines.len(), 2);
    assert!(log.lines.contains(&"no answer about it".into()), "{log:?}");
    assert_eq!(times.effects.load(SeqCst), 1);
}
