//! A thread over several turns.

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::thread::{Durability, HistoryQuery};

use crate::support::expect_finished;

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Chat {
    #[key(input, append)]
    lines: Vec<String>,
    #[key(turn, sum)]
    steps: u64,
    #[key(untracked, sum)]
    secret: u64,
    #[key(ephemeral)]
    last: Option<String>,
    total: u64,
}

#[node(Chat)]
async fn count(lines: &[String]) -> (ChatSteps, ChatSecret, ChatLast, ChatTotal) {
    (
        ChatSteps(1),
        ChatSecret(1),
        ChatLast(lines.last().cloned()),
        ChatTotal(lines.len() as u64),
    )
}

#[node(Chat)]
async fn reply(lines: &[String], last: Option<&String>) -> (ChatLines, ChatSteps) {
    (
        ChatLines(vec![format!("re {} {last:?}", lines.len())]),
        ChatSteps(1),
    )
}

flow!(Talk(Chat) { count -> reply });

#[tokio::test]
async fn keys_of_a_turn_restart_and_untracked_keys_are_not_stored() {
    for durability in [
        Durability::Sync,
        Durability::Async,
        Durability::Exit,
        Durability::Interval(2.try_into().unwrap()),
    ] {
        let store = InMemoryStore::new();
        for turn in 1..=60u64 {
            // A launch of its own, as in a process of its own.
            let thread = Talk::new().store(&store).durability(durability).thread("t");
            let chat = expect_finished(thread.run(vec![format!("hi {turn}")])).await;
            assert_eq!(chat.lines.len() as u64, 2 * turn);
            assert_eq!((chat.steps, chat.secret, chat.total), (2, 1, 2 * turn - 1));
            let stored = thread.snapshot().await.unwrap().unwrap();
            assert_eq!(stored.state.lines, chat.lines);
            assert_eq!((stored.state.steps, stored.state.secret), (2, 0));
            assert_eq!(stored.state.last, None);
            assert_eq!((stored.info.turn, stored.info.superstep), (turn, 2));
            assert!(stored.is_finished());
        }
    }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Scratch {
    #[key(append)]
    log: Vec<String>,
    #[key(untracked, turn, sum)]
    per_turn: u32,
    #[key(untracked, ephemeral)]
    hint: Option<String>,
}

#[node(Scratch)]
async fn scribbles(per_turn: &u32) -> (ScratchPerTurn, ScratchHint, ScratchLog) {
    (
        ScratchPerTurn(1),
        ScratchHint(Some("x".into())),
        ScratchLog(vec![format!("{per_turn}")]),
    )
}

flow!(Scribble(Scratch) { scribbles });

#[tokio::test]
async fn a_new_turn_stores_nothing_of_keys_that_are_not_stored() {
    let thread = Scribble::new().store(&InMemoryStore::new()).thread("t");
    for turns in 1..=3 {
        let run = expect_finished(thread.run(())).await;
        assert_eq!((run.log.len(), run.per_turn), (turns, 1));
        let stored = thread.snapshot().await.unwrap().unwrap().state;
        assert_eq!(
            (stored.log, stored.per_turn),
            (vec!["0".to_string(); turns], 0)
        );
    }
}

struct Echo(&'static str);

#[node(Chat)]
impl Echo {
    async fn say(&self, lines: &[String]) -> ChatLines {
        ChatLines(vec![format!("{} {}", self.0, lines.len())])
    }
}

flow!(TalkBack(Chat) { echo; node echo: Echo; });

#[tokio::test]
async fn a_flow_with_a_node_value_runs_on_threads_too() {
    let launch = TalkBack::new().echo(Echo("echo")).launch();
    let thread = launch.store(&InMemoryStore::new()).thread("t");
    expect_finished(thread.run(vec!["hi".to_string()])).await;
    let chat = expect_finished(thread.run(vec!["ho".to_string()])).await;
    assert_eq!(chat.lines, ["hi", "echo 1", "ho", "echo 3"]);
}

#[tokio::test]
async fn c96_history_by_durability() {
    let count_of = async |durability| {
        let thread = Talk::new()
            .store(&InMemoryStore::new())
            .durability(durability)
            .thread("t");
        expect_finished(thread.run(vec!["i".to_string()])).await;
        let history = thread.history(HistoryQuery::all()).await.unwrap();
        history
            .iter()
            .map(|info| (info.superstep, info.next.clone()))
            .collect::<Vec<_>>()
    };
    let all = vec![
        (2, vec![]),
        (1, vec!["reply".to_string()]),
        (0, vec!["count".to_string()]),
    ];
    assert_eq!(count_of(Durability::Sync).await, all);
    assert_eq!(count_of(Durability::Async).await, all);
    assert_eq!(count_of(Durability::Exit).await, all[..1]);
}
