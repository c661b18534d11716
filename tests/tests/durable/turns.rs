//! A thread over several turns.

use petalflow::checkpoint::MemoryStore;
use petalflow::prelude::*;
use petalflow::thread::{Durability, HistoryQuery};

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
        let store = MemoryStore::new();
        for turn in 1..=60u64 {
            // A launch of its own, as in a process of its own.
            let thread = Talk::new().store(&store).durability(durability).thread("t");
            let chat = thread
                .run(vec![format!("hi {turn}")])
                .await
                .unwrap()
                .finished()
                .unwrap();
            assert_eq!(chat.lines.len() as u64, 2 * turn);
            assert_eq!((chat.steps, chat.secret, chat.total), (2, 1, 2 * turn - 1));
            let stored = thread.state().await.unwrap().unwrap();
            assert_eq!(stored.state.lines, chat.lines);
            assert_eq!((stored.state.steps, stored.state.secret), (2, 0));
            assert_eq!(stored.state.last, None);
            assert_eq!((stored.info.turn, stored.info.superstep), (turn, 2));
            assert!(stored.is_finished());
        }
    }
}

#[tokio::test]
async fn c96_history_by_durability() {
    let count_of = async |durability| {
        let thread = Talk::new()
            .store(&MemoryStore::new())
            .durability(durability)
            .thread("t");
        thread
            .run(vec!["i".to_string()])
            .await
            .unwrap()
            .finished()
            .unwrap();
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
