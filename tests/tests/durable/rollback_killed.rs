//! A process that undoes a turn, and dies at every write to the store.

use std::pin::pin;
use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::thread::{Durability, OnBusy, StoredThreads, Thread};
use petalflow_testing::{Fault, FaultKind, FaultyStore};
use tokio::sync::Notify;

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Talk {
    #[key(input, append)]
    said: Vec<String>,
    #[key(append)]
    log: Vec<String>,
}

#[state]
#[derive(Debug)]
struct Count {
    #[key(sum)]
    turns: u32,
}

#[node(Count)]
async fn add() -> CountTurns {
    CountTurns(1)
}

flow!(CountTurn(Count) { add });

#[node(Talk)]
async fn hear(said: &[String]) -> TalkLog {
    TalkLog(vec![format!("heard {}", said.last().map_or("", |it| it))])
}

/// Never ends in the turn that is undone.
#[node(Talk)]
async fn reply(said: &[String], reached: Managed<Notify>) -> TalkLog {
    let last = said.last().cloned().unwrap_or_default();
    if last == "undone" {
        reached.notify_one();
        std::future::pending::<()>().await;
    }
    TalkLog(vec![format!("replied to {last}")])
}

flow!(Converse(Talk) {
    node count: CountTurn { in: || (), out: |count: Count| TalkLog(vec![format!("turn {}", count.turns)]), keep: thread };
    hear -> count -> reply;
});

/// What undoes the turn: another process than the one that has begun it, which lives or has died.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Owner {
    Lives,
    Died,
}

fn thread(
    store: &FaultyStore,
    durability: Durability,
    on_busy: OnBusy,
) -> (Thread<Converse>, Arc<Notify>) {
    let reached = Arc::new(Notify::new());
    let threads = Converse::new()
        .manage_with(Arc::clone(&reached))
        .store(store)
        .durability(durability)
        .on_busy(on_busy);
    (threads.thread("talk"), reached)
}

fn said(text: &str) -> Vec<String> {
    vec![text.into()]
}

/// What the flow adds to the log in the n-th turn, with this input.
fn lines(turn: usize, input: &str) -> [String; 3] {
    [
        format!("heard {input}"),
        format!("turn {turn}"),
        format!("replied to {input}"),
    ]
}

/// Whether the second turn of the thread is the one that was to be undone, or the one in its place. It has nothing of the other one.
fn second_turn(talk: &Talk) -> Option<&str> {
    let inputs: Vec<&str> = talk.said.iter().map(|it| &**it).collect();
    assert_eq!(inputs.first(), Some(&"first"), "{talk:?}");
    assert!(inputs.len() <= 2, "{talk:?}");
    let turns = (1..).zip(&inputs);
    let whole: Vec<String> = turns.flat_map(|(turn, input)| lines(turn, input)).collect();
    assert!(
        talk.log.len() >= 3 && whole.starts_with(&talk.log),
        "{talk:?}"
    );
    inputs.get(1).copied()
}

/// Runs the trial. Returns whether the process died.
async fn trial(owner: Owner, durability: Durability, fault: Fault) -> bool {
    let store = InMemoryStore::new();
    let what = format!("{owner:?}, {durability:?}, {fault}");
    let first = FaultyStore::new(&store);
    let (begun, reached) = thread(&first, durability, OnBusy::Refuse);
    let turn = begun.run(said("first")).await.unwrap();
    turn.into_finished().unwrap();
    let mut undone = tokio::spawn(begun.run(said("undone")).into_future());
    reached.notified().await;
    if owner == Owner::Died {
        undone.abort();
        (&mut undone).await.unwrap_err();
        first.detach();
    }
    let second = FaultyStore::new(&store);
    second.inject(fault);
    let (instead, _) = thread(&second, durability, OnBusy::Rollback);
    let died = tokio::select! {
        biased;
        ended = instead.run(said("second")) => {
            // Its last write may be the one at which it dies.
            if !second.fault_occurred() {
                ended.unwrap().into_finished().unwrap();
            }
            second.fault_occurred()
        }
        () = pin!(second.died()) => true,
    };
    second.detach();
    drop((begun, first, instead, second));

    // Whoever reads the thread now sees one of the two turns, and nothing of the other one.
    let third = FaultyStore::new(&store);
    let (after, _) = thread(&third, durability, OnBusy::Rollback);
    let found = after.snapshot().await.unwrap().unwrap();
    let has_begun = match second_turn(&found.state) {
        Some("second") => true,
        Some("undone") => false,
        // The first process stores nothing before it ends.
        None if durability == Durability::Exit => false,
        other => panic!("{what}: {other:?}"),
    };
    // The caller, who has no answer, looks at the thread and repeats what has not begun.
    let ended = match (has_begun, found.is_finished()) {
        (true, true) => found.state,
        (true, false) => {
            let again = after.resume(()).await.unwrap();
            again.into_finished().unwrap()
        }
        (false, _) => {
            let again = after.run(said("second")).await;
            let again = again.unwrap_or_else(|error| panic!("{what}: {error}"));
            again.into_finished().unwrap()
        }
    };
    assert_eq!(ended.said, ["first", "second"], "{what}");
    let expected = [lines(1, "first"), lines(2, "second")].concat();
    assert_eq!(ended.log, expected, "{what}");
    let problems = StoredThreads::new(&store).verify("talk").await.unwrap();
    assert!(problems.is_empty(), "{what}: {problems:?}");
    if owner == Owner::Lives {
        undone.await.unwrap().unwrap_err();
    }
    died
}

#[tokio::test(start_paused = true)]
async fn f43_a_process_that_dies_while_it_undoes_a_turn_leaves_one_of_the_two_turns() {
    let durabilities = [Durability::Sync, Durability::Async, Durability::Exit];
    for owner in [Owner::Died, Owner::Lives] {
        for durability in durabilities {
            for kind in FaultKind::KILLED {
                let mut deaths = 0;
                while trial(
                    owner,
                    durability,
                    Fault {
                        kind,
                        nth: deaths + 1,
                    },
                )
                .await
                {
                    deaths += 1;
                }
                // A claim, the turn, what follows, and the end.
                assert!(deaths >= 3, "{owner:?}, {durability:?}, {kind:?}: {deaths}");
            }
        }
    }
}
