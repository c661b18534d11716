//! What a run reads from its store before its first node, counted by `CountingStore`.

mod broken;
mod few_writes;
mod replay;

use petalflow::prelude::*;
use petalflow::thread::Thread;
use petalflow_testing::{CountingStore, Interruptions, SteppedDriver};

#[state]
struct Talk {
    #[key(input, append)]
    lines: Vec<String>,
}

#[node(Talk)]
async fn reply(lines: &[String]) -> TalkLines {
    TalkLines(vec![format!("{:>100}", lines.len())])
}

flow!(Reply(Talk) { reply });

#[state]
struct Meter {
    #[key(input)]
    reading: u64,
    shown: String,
}

#[node(Meter)]
async fn show(reading: &u64) -> MeterShown {
    MeterShown(format!("{reading:>100}"))
}

flow!(Show(Meter) { show });

/// What the next turn reads.
async fn read_by_turn(store: &CountingStore, thread: &Thread<Show>) -> (Vec<&'static str>, u64) {
    store.take();
    thread.run(0).await.unwrap().into_finished().unwrap();
    let traffic = store.take();
    (traffic.reads, traffic.read_bytes)
}

#[tokio::test]
async fn a_turn_reads_the_same_after_thousands_of_turns() {
    let store = CountingStore::default();
    let thread = Show::new().store(&store).thread("meter");
    thread.run(1).await.unwrap().into_finished().unwrap();
    let (reads, _) = read_by_turn(&store, &thread).await;
    assert_eq!(reads, ["read"]);
    let mut most = 0;
    for turn in 0..3_000 {
        thread.run(turn).await.unwrap().into_finished().unwrap();
        if turn % 100 == 0 {
            let (later, bytes) = read_by_turn(&store, &thread).await;
            assert_eq!(later, reads, "after {turn} turns");
            most = most.max(bytes);
        }
    }
    // A chain of checkpoints gets a new base when it has 4 KiB.
    assert!(most <= 5 * 1024, "{most} bytes");
}

#[tokio::test]
async fn a_turn_of_a_list_that_grows_reads_the_list_once() {
    let store = CountingStore::default();
    let thread = Reply::new().store(&store).thread("talk");
    for _ in 0..500 {
        let line = vec!["x".repeat(100)];
        thread.run(line).await.unwrap().into_finished().unwrap();
    }
    store.take();
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let own: usize = snapshot.state.lines.iter().map(String::len).sum();
    let traffic = store.take();
    assert_eq!(traffic.reads, ["read"]);
    let own = u64::try_from(own).unwrap();
    let bytes = traffic.read_bytes;
    assert!(bytes * 4 <= own * 5, "{bytes} bytes for {own} of text");
}

petalflow_testing::driver_contract! { stepped, async || Ok(Some(SteppedDriver::new())) }
petalflow_testing::driver_contract! { placed, async || Ok(Some(SteppedDriver::new().placed())) }
petalflow_testing::driver_contract! { logging, async || Ok(Some(SteppedDriver::new().placed().logging())) }
petalflow_testing::driver_contract! {
    interrupted,
    async || Ok(Some(SteppedDriver::new().interrupted(Interruptions::each(1))))
}
petalflow_testing::driver_contract! {
    placed_and_interrupted,
    async || Ok(Some(SteppedDriver::new().placed().interrupted(Interruptions::each(2))))
}
