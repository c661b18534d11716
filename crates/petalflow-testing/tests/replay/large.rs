//! Threads of many supersteps.

use super::*;

#[state]
struct Count {
    #[key(input)]
    goal: u32,
    #[key(default)]
    steps: u32,
}

#[node(Count)]
async fn step(steps: &u32, goal: &u32) -> (CountSteps, bool) {
    (CountSteps(steps + 1), steps + 1 < *goal)
}

flow!(CountUp(Count) { step -> match { true => step, false => END } });

#[tokio::test]
async fn f44_all_supersteps_of_a_long_thread_are_compared() {
    let launch = || CountUp::new().limit(301);
    let threads = threads(launch());
    let run = threads.thread("long").run(300_u32).await.unwrap();
    assert_eq!(run.into_finished().unwrap().steps, 300);
    let file = exported(&threads, "long").await;
    let report = Replay::of_file(file)
        .flow(launch())
        .run_all()
        .report()
        .await;
    assert!(report.is_same(), "{report}");
    assert_eq!(
        (report.replayed.supersteps, report.replayed.ran),
        (300, 300)
    );
}
