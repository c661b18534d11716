//! A process that begins turns in the place of others, which it undoes, and is killed again and again.

use std::sync::Arc;

use tokio::sync::Notify;

use super::*;

/// How many turns remain of those that the process begins. As many are undone.
const TURNS: usize = 4;

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Talk {
    #[key(input, append)]
    said: Vec<String>,
    #[key(append)]
    log: Vec<String>,
}

#[node(Talk)]
async fn hear(said: &[String]) -> TalkLog {
    TalkLog(vec![format!("heard {}", said.last().map_or("", |it| it))])
}

/// Never ends in a turn that is to be undone.
#[node(Talk)]
async fn reply(said: &[String], reached: Managed<Notify>) -> TalkLog {
    let last = said.last().cloned().unwrap_or_default();
    if last.starts_with("undone") {
        reached.notify_one();
        std::future::pending::<()>().await;
    }
    TalkLog(vec![format!("replied to {last}")])
}

flow!(Reply(Talk) { hear -> reply });

/// What the thread has after `kept` turns, and what has begun of another one.
fn after(kept: usize, begun: Option<&str>) -> (Vec<String>, Vec<String>) {
    let turns = (1..=kept).map(|turn| format!("kept {turn}"));
    let mut said: Vec<String> = turns.collect();
    let of_turn = |it: &String| [format!("heard {it}"), format!("replied to {it}")];
    let log = said.iter().flat_map(of_turn).collect();
    said.extend(begun.map(|begun| format!("{begun} {}", kept + 1)));
    (said, log)
}

/// How many turns the thread has, and what has begun of another one. Anything else is a panic.
fn progress(talk: &Talk, is_finished: bool) -> (usize, Option<&'static str>) {
    let said = (talk.said.len(), talk.said.last());
    let begun = match said.1 {
        Some(last) if last.starts_with("undone") => Some("undone"),
        Some(_) if !is_finished => Some("kept"),
        _ => None,
    };
    let kept = said.0 - usize::from(begun.is_some());
    let (said, mut log) = after(kept, begun);
    assert_eq!(talk.said, said, "{talk:?}");
    if talk.log.len() > log.len() {
        let begun = said.last().expect("a turn has begun");
        log.push(format!("heard {begun}"));
    }
    assert_eq!(talk.log, log, "{talk:?}");
    assert_eq!(is_finished, begun.is_none(), "{talk:?}");
    (kept, begun)
}

async fn work(store: impl Store + Clone, on_busy: OnBusy, _: &Path, number: usize) {
    let reached = Arc::new(Notify::new());
    let threads = Reply::new()
        .manage_with(Arc::clone(&reached))
        .store(&store)
        // With `Durability::Exit`, nothing of a turn that has not ended is there to be undone.
        .durability(if number.is_multiple_of(2) {
            Durability::Sync
        } else {
            Durability::Async
        });
    let id = format!("talk-{number}");
    let plain = threads.clone().on_busy(on_busy).thread(&id);
    let instead = threads.on_busy(OnBusy::Rollback).thread(&id);
    loop {
        let stored = plain.snapshot().await.expect("it can be read");
        let found = stored.map(|stored| progress(&stored.state, stored.is_finished()));
        match found.unwrap_or((0, None)) {
            (TURNS, None) => return,
            (kept, None) => {
                let turn = plain.run(vec![format!("undone {}", kept + 1)]);
                tokio::select! {
                    // The run is dropped.
                    () = reached.notified() => {}
                    ended = turn => panic!("it has no end, and ended with {ended:?}"),
                }
            }
            (kept, Some("undone")) => {
                let turn = instead.run(vec![format!("kept {}", kept + 1)]).await;
                turn.expect("a turn does not fail").into_finished().unwrap();
            }
            (_, Some(_)) => {
                let turn = plain.resume(()).await;
                turn.expect("a turn does not fail").into_finished().unwrap();
            }
        }
    }
}

fn kill<St: Store + Clone, M: Future<Output = St>>(
    child: &str,
    folder: &Path,
    place: &str,
    open: impl Fn(String) -> M,
) {
    let mut kills = Kills::begin();
    let (mut number, mut killed) = (0, 0);
    while number < 4 || !kills.are_enough() {
        let mut process = start(child, folder, place, number);
        std::thread::sleep(random_lifetime(killed));
        process.kill().expect("it can be killed, or has ended");
        let output = process.wait_with_output().expect("it ends");
        match output.status.code() {
            None => {
                kills.count += 1;
                killed += 1;
            }
            Some(0) => {
                let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
                runtime.block_on(async {
                    let store = open(place.to_string()).await;
                    check(&store, &format!("talk-{number}")).await;
                });
                number += 1;
                killed = 0;
            }
            Some(_) => panic!(
                "thread {number}, after {} kills: {}",
                kills.count,
                String::from_utf8_lossy(&output.stderr)
            ),
        }
    }
    kills.check();
}

async fn check(store: &(impl Store + Clone), id: &str) {
    let threads = Reply::new().manage(Notify::new()).store(store);
    let stored = threads.thread(id).snapshot().await.unwrap().unwrap();
    assert!(stored.is_finished());
    let (said, log) = after(TURNS, None);
    assert_eq!((stored.state.said, stored.state.log), (said, log));
    let stored = petalflow::thread::StoredThreads::new(store);
    let problems = stored.verify(id).await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
}

for_each_store!(f43_a_turn_is_undone_wholly_or_not_at_all_although_the_process_is_killed);
