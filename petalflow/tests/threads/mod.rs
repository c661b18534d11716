//! Threads as a store lists them: status, labels, times, removal, questions that expire, and their JSON.

mod bulk;
mod busy;
mod children;
mod combined;
mod effects_in_flight;
mod event_log;
mod faults;
mod held;
mod indexed;
mod json;
mod live_answers;
mod live_approvals;
mod live_expiries;
mod messages;
mod option_pairs;
mod receive;
mod recovered;
mod responses;
mod retention;
mod sleeps;
mod status;
mod stored;
mod subflow_attempts;

use petalflow::checkpoint::{InMemoryStore, ThreadInfo, ThreadQuery};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::Thread;

/// A state with which one flow does whatever a test asks for.
#[state]
#[derive(Debug)]
struct Work {
    #[key(input)]
    task: String,
    #[key(sum)]
    count: u64,
    answer: String,
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String, expires = 1h, default = "late".to_string())]
struct Hour {
    page: u32,
}

/// Long enough for a run to stop at the question.
const SOON: std::time::Duration = std::time::Duration::from_millis(200);

/// Expires soon.
#[derive(serde::Serialize, serde::Deserialize)]
struct Now;

impl Ask for Now {
    type Answer = String;
    const NAME: &'static str = "Now";

    fn expires(&self) -> Option<petalflow::interrupt::Expiry<String>> {
        Some(petalflow::interrupt::Expiry {
            after: SOON,
            answer: "nobody answered".into(),
        })
    }
}

#[node(Work)]
async fn work(
    task: &str,
    count: &u64,
    cx: Context,
) -> petalflow::Result<(WorkCount, WorkAnswer, bool)> {
    let answer = match task {
        "fail" => return Err("broken".into()),
        "ask" => cx.ask(Hour { page: 7 }).await?,
        "ask now" => cx.ask(Now).await?,
        "hang" => std::future::pending().await,
        "sleep" => {
            tokio::time::sleep(std::time::Duration::from_secs(10)).await;
            "slept".into()
        }
        _ => {
            // So that a listener sees each superstep before the next begins.
            tokio::task::yield_now().await;
            String::new()
        }
    };
    let again = task
        .parse()
        .is_ok_and(|supersteps: u64| count + 1 < supersteps);
    Ok((WorkCount(1), WorkAnswer(answer), again))
}

flow!(DoWork(Work) {
    work -> match { true => work, false => END };
});

fn launch() -> Launch<DoWork> {
    DoWork::new().limit(1_000_000)
}

fn thread(store: &InMemoryStore, id: &str) -> Thread<DoWork> {
    launch().store(store).thread(id)
}

async fn info(thread: &Thread<DoWork>) -> ThreadInfo {
    thread.info().await.unwrap().expect("it exists")
}

async fn ids(threads: &petalflow::thread::Threads<DoWork>, query: ThreadQuery<'_>) -> Vec<String> {
    let infos = threads.list(query).await.unwrap();
    infos.into_iter().map(|info| info.id).collect()
}
