//! A conversation in a store.

use petalflow::thread::OnBusy;
use petalflow_sqlite::SqliteStore;

use super::local_model;

#[tokio::test]
async fn f44_10_the_second_turn_of_a_thread_sends_the_first() {
    let Some(local) = local_model().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("talk.db");
    let mut turns = Vec::new();
    for question in ["What is the sky?", "Why?"] {
        // As another process would. The claim of the first turn is released in the background.
        let store = SqliteStore::open(&file).await.unwrap();
        let threads = local.agent(12).store(&store).on_busy(OnBusy::Queue);
        let thread = threads.thread("ann");
        let talk = thread.run(question).await.unwrap().into_finished().unwrap();
        turns.push((talk.events.len(), talk.turn_usage(), talk.usage()));
    }
    let [(two, first, _), (four, second, all)] = turns[..] else {
        panic!("{turns:?}");
    };
    assert_eq!((two, four, all.requests), (2, 4, 2));
    // The second question is shorter.
    let (first, second) = (first.tokens, second.tokens);
    assert!(
        second.input > first.input + first.output / 2,
        "{first:?} {second:?}"
    );
    assert!(second.cached <= second.input, "{second:?}");
    assert_eq!(all.tokens.input, first.input + second.input);
    assert_eq!(all.tokens.output, first.output + second.output);
}
