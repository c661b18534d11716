//! Keys with `recover`: what the finished tasks of a superstep that did not end have written.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;

#[state]
#[derive(Debug)]
struct Pages {
    #[key(input)]
    list: Vec<u32>,
    #[key(append, ephemeral, recover)]
    read: Vec<u32>,
    #[key(append, ephemeral)]
    lost: Vec<u32>,
    #[key(append)]
    log: Vec<String>,
}

#[node(Pages)]
async fn begin(list: &[u32], read: &[u32], lost: &[u32]) -> (PagesLog, Each<u32>) {
    let log = format!("{list:?} after {read:?} and {lost:?}");
    (PagesLog(vec![log]), list.iter().copied().collect())
}

/// The page 0 has no end.
#[node(Pages)]
async fn read(#[item] page: &u32) -> (PagesRead, PagesLost) {
    if *page == 0 {
        std::future::pending::<()>().await;
    }
    (PagesRead(vec![*page]), PagesLost(vec![*page]))
}

/// Fails if a page is 13.
#[node(Pages)]
async fn gather(read: &[u32]) -> petalflow::Result<PagesLog> {
    if read.contains(&13) {
        return Err("bad luck".into());
    }
    Ok(PagesLog(vec![format!("read {read:?}")]))
}

flow!(ReadAll(Pages) { begin -> each read -> gather });

#[tokio::test(start_paused = true)]
async fn a_turn_after_one_that_broke_off_begins_with_what_had_finished() {
    let store = InMemoryStore::new();
    let thread = ReadAll::new().store(&store).thread("t");
    let crash = tokio::time::timeout(Duration::from_secs(1), thread.run(vec![3, 0, 1]));
    crash.await.unwrap_err();
    let pages = thread.run(vec![4]).await.unwrap().into_finished().unwrap();
    assert_eq!(
        pages.log,
        [
            "[3, 0, 1] after [] and []",
            "[4] after [3, 1] and []",
            "read [4]"
        ]
    );
    // A turn after one that ended begins without.
    let pages = thread.run(vec![5]).await.unwrap().into_finished().unwrap();
    assert_eq!(pages.log[3..], ["[5] after [] and []", "read [5]"]);
}

#[tokio::test]
async fn results_that_the_next_superstep_has_not_read_remain() {
    let store = InMemoryStore::new();
    let thread = ReadAll::new().store(&store).thread("t");
    thread.run(vec![7, 13]).await.unwrap_err();
    let pages = thread.run(vec![4]).await.unwrap().into_finished().unwrap();
    assert_eq!(pages.log[1], "[4] after [7, 13] and []");
}

#[tokio::test(start_paused = true)]
async fn a_resume_runs_what_had_not_finished_as_before() {
    let store = InMemoryStore::new();
    let thread = ReadAll::new().store(&store).thread("t");
    let crash = tokio::time::timeout(Duration::from_secs(1), thread.run(vec![3, 0]));
    crash.await.unwrap_err();
    let crash = tokio::time::timeout(Duration::from_secs(1), thread.resume(()));
    crash.await.unwrap_err();
    let pages = thread.run(vec![]).await.unwrap().into_finished().unwrap();
    assert_eq!(pages.log[1], "[] after [3] and []");
}

#[state]
#[derive(Debug)]
struct Bill {
    #[key(input)]
    outcome: String,
    #[key(sum, ephemeral, recover)]
    unfinished: u64,
    #[key(sum)]
    paid: u64,
    #[key(append)]
    seen: Vec<Option<u64>>,
}

#[node(Bill)]
async fn open(unfinished: &u64) -> BillPaid {
    BillPaid(*unfinished)
}

/// Costs 3 and then 4, and then does what the input says.
#[node(Bill)]
async fn spend(outcome: &str, cx: Context) -> petalflow::Result<(BillPaid, BillSeen)> {
    let before = cx.unfinished::<BillUnfinished>();
    let spent = before.unwrap_or_default();
    cx.record_unfinished(BillUnfinished(spent + 3)).await?;
    cx.record_unfinished(BillUnfinished(spent + 7)).await?;
    match outcome {
        "fail" => Err("no luck".into()),
        "hang" => std::future::pending().await,
        _ => Ok((BillPaid(spent + 7), BillSeen(vec![before]))),
    }
}

flow!(Shop(Bill) { open -> spend });

#[tokio::test(start_paused = true)]
async fn records_of_a_node_count_only_if_the_node_does_not_finish() {
    let store = InMemoryStore::new();
    let thread = Shop::new().store(&store).thread("t");
    let turn = |outcome: &str| thread.run(outcome.to_string());
    turn("fail").await.unwrap_err();
    let crash = tokio::time::timeout(Duration::from_secs(1), turn("hang"));
    crash.await.unwrap_err();
    let bill = turn("pay").await.unwrap().into_finished().unwrap();
    assert_eq!((bill.paid, &*bill.seen), (21, &[None][..]));
    let bill = turn("pay").await.unwrap().into_finished().unwrap();
    assert_eq!(bill.paid, 28, "nothing counts twice");
}

#[tokio::test]
async fn a_node_that_runs_again_reads_what_it_has_recorded() {
    let store = InMemoryStore::new();
    let thread = Shop::new().store(&store).thread("t");
    thread.run("fail".to_string()).await.unwrap_err();
    thread.resume(()).await.unwrap_err();
    let bill = thread.run("pay".to_string()).await.unwrap();
    assert_eq!(bill.into_finished().unwrap().paid, 21);
}
