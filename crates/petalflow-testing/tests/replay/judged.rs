//! The judgement: no difference with the same program, and exactly the planted ones with others.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::*;

#[tokio::test]
async fn f44_fifty_threads_replay_without_a_difference() {
    let files = flows::fifty().await;
    assert_eq!(files.len(), 50);
    for file in files {
        let same = match file.flow() {
            "PayRefund" => both(&file, flows::PayRefund::new).await,
            "WriteEssay" => both(&file, flows::WriteEssay::new).await,
            "Read" => both(&file, flows::Read::new).await,
            "PlanTrip" => both(&file, flows::PlanTrip::new).await,
            "ShipOrder" => both(&file, flows::ShipOrder::new).await,
            other => panic!("{other}"),
        };
        let (recorded, run) = same;
        assert!(recorded.is_same(), "{recorded}");
        assert_eq!(recorded.replayed.ran, 0);
        assert!(recorded.replayed.supersteps >= 2, "{recorded}");
        if file.flow() != "ShipOrder" {
            assert!(run.is_same(), "{run}\n{file}");
        }
        assert!(run.replayed.ran >= 2, "{run}");
    }
}

/// What a program without changes of its nodes differs in.
async fn recorded<F: Flow<State: State<Storage = Durable>>>(
    file: &ThreadFile,
    launch: Launch<F>,
) -> Vec<String> {
    rows(&Replay::of_file(file.clone()).flow(launch).report().await)
}

#[tokio::test]
async fn f44_changes_of_the_graph_are_found() {
    let essay = flows::essay(21).await;
    let added = recorded(&essay, changed::node_added::WriteEssay::new()).await;
    assert_eq!(
        added,
        [
            "program check node : - => node check",
            "1.1 write next : judge => check"
        ]
    );
    let routes = recorded(&essay, changed::route_changed::WriteEssay::new()).await;
    let expected = [
        "program judge edge [false]: write => END",
        "program judge edge [true]: END => write",
        "1.2 judge next : write => the end",
        "1.6 judge next : the end => write",
    ];
    assert_eq!(routes, expected);
    let trip = flows::trip(1).await;
    let removed = recorded(&trip, changed::node_removed::PlanTrip::new()).await;
    let expected = [
        "program look node : node look => -",
        "1.1 look resume checkpoint 0: resumes => ",
    ];
    assert_eq!(removed.len(), 2, "{removed:#?}");
    assert_eq!(removed[0], expected[0]);
    assert!(removed[1].starts_with(expected[1]), "{removed:#?}");
    let survey = flows::survey(2).await;
    let renamed = recorded(&survey, changed::node_renamed::Read::new()).await;
    assert_eq!(
        renamed[..2],
        [
            "program report node : node report => -",
            "program summary node : - => node summary"
        ]
    );
    assert!(
        renamed[2].starts_with("1.3 report resume checkpoint 2: resumes => "),
        "{renamed:#?}"
    );
    assert_eq!(renamed.len(), 3, "{renamed:#?}");
    let other = recorded(&survey, flows::WriteEssay::new()).await;
    assert_eq!(other, ["program - flow : Read => WriteEssay"]);
}

#[tokio::test]
async fn f44_changes_of_the_state_are_found() {
    let essay = flows::essay(21).await;
    let added = both(&essay, changed::key_added::WriteEssay::new).await;
    for report in [added.0, added.1] {
        assert_eq!(rows(&report), ["program - key tone: - => String replace"]);
    }
    let typed = both(&essay, changed::type_changed::WriteEssay::new).await;
    for report in [typed.0, typed.1] {
        assert_eq!(
            rows(&report),
            ["program - key words: u32 replace => u64 replace"]
        );
    }
    let reducer = recorded(&essay, changed::reducer_changed::WriteEssay::new()).await;
    assert_eq!(reducer[0], "program - key words: u32 replace => u32 sum");
    let refused =
        "1.1 write resume checkpoint 0: resumes => its value of the key `words` was folded";
    assert!(reducer[1].starts_with(refused), "{reducer:#?}");
    assert_eq!(reducer.len(), 2, "{reducer:#?}");
    let broken = recorded(&essay, changed::type_broken::WriteEssay::new()).await;
    assert_eq!(
        broken[0],
        "program - key words: u32 replace => String replace"
    );
    assert!(
        broken[1].starts_with("1.1 write resume checkpoint 0: resumes => "),
        "{broken:#?}"
    );
    assert!(broken[1].contains("words"), "{broken:#?}");
    assert_eq!(broken.len(), 2, "{broken:#?}");

    let threads = threads(changed::function_before::Play::new());
    let played = threads.thread("ann").run(7).await.unwrap();
    played.into_finished().unwrap();
    let file = exported(&threads, "ann").await;
    let same = both(&file, changed::function_before::Play::new).await;
    assert!(same.0.is_same() && same.1.is_same(), "{}", same.1);
    let function = recorded(&file, changed::function_after::Play::new()).await;
    assert_eq!(function, ["1.2 lose state best: 7 => 8"]);
}

#[tokio::test]
async fn f44_changes_of_nodes_are_found_where_they_run() {
    let essay = flows::essay(21).await;
    let changed = || Replay::of_file(essay.clone()).flow(changed::nodes_changed::WriteEssay::new());
    let recorded = changed().report().await;
    assert!(recorded.is_same(), "{recorded}");
    let write = changed().run("write").report().await;
    let expected = [
        "1.1 write output words: 10 => 11",
        "1.3 write output words: 20 => 21",
        "1.5 write output words: 30 => 31",
    ];
    assert_eq!(rows(&write), expected);
    assert_eq!((write.replayed.ran, write.replayed.supersteps), (3, 6));
    let judge = changed().run("judge").report().await;
    assert_eq!(
        rows(&judge),
        ["1.4 judge output route: \"false\" => \"true\""]
    );
}

#[tokio::test]
async fn f44_nothing_runs_that_was_not_recorded() {
    use std::sync::atomic::Ordering;

    let refund = flows::refund(44).await;
    let replay = Replay::of_file(refund.clone()).flow(changed::effect_added::PayRefund::new());
    let report = replay.run("pay").report().await;
    let expected = "1.2 pay effect mail: - => an effect that was not recorded; it was not run";
    assert_eq!(rows(&report), [expected]);
    assert_eq!(changed::effect_added::MAILS.load(Ordering::Relaxed), 0);
    let report = Replay::of_file(refund).flow(changed::obstacles::PayRefund::new());
    let report = report.run_all().report().await;
    let rows = rows(&report);
    assert!(
        rows[0].starts_with("1.1 price failure : a result => "),
        "{rows:#?}"
    );
    assert!(rows[0].contains("no price for 44"), "{rows:#?}");
    let waits = "1.2 pay wait : a result => it asks, sleeps or waits, which was not recorded";
    assert_eq!(rows[1..], [waits]);
}

#[tokio::test]
async fn f44_the_table_is_the_message_of_the_test() {
    let essay = flows::essay(11).await;
    let replay = Replay::of_file(essay).flow(changed::nodes_changed::WriteEssay::new());
    let report = replay.run("write").report().await;
    let table = "\
thread `essay-11`: 2 differences; 4 supersteps compared, 2 tasks run
  superstep  node   what    name   expected  found
  ---------  -----  ------  -----  --------  -----
  1          write  output  words  10        11
  3          write  output  words  20        21
";
    assert_eq!(report.to_string(), table);
}

#[tokio::test]
#[should_panic(expected = "1          write  output  words  10        11")]
async fn f44_a_difference_fails_the_test() {
    let essay = flows::essay(11).await;
    let replay = Replay::of_file(essay).flow(changed::nodes_changed::WriteEssay::new());
    replay.run("write").check().await;
}

#[tokio::test]
async fn f44_a_thread_without_results_is_told() {
    let threads = flows::WriteEssay::new().store(&InMemoryStore::new());
    let ended = threads.thread("plain").run(11).await.unwrap();
    ended.into_finished().unwrap();
    let file = exported(&threads, "plain").await;
    let history = &file.json()["history"];
    assert_eq!(history["supersteps_with_results"], 0);
    let report = Replay::of_file(file)
        .flow(flows::WriteEssay::new())
        .report()
        .await;
    assert!(!report.is_same());
    assert_eq!(report.replayed.without_results.len(), 4);
    assert!(
        report
            .to_string()
            .contains("4 supersteps were not compared"),
        "{report}"
    );
}

#[tokio::test]
async fn f44_secrets_are_removed_everywhere() {
    let file = flows::refund(44).await;
    let text = file.to_string();
    assert!(!text.contains("4000-44-card"), "{text}");
    assert!(text.contains("receipt of [removed]"), "{text}");
    assert_eq!(file.removed(), ["card"]);
}

#[tokio::test]
async fn f44_an_imported_thread_goes_on() {
    let threads = threads(flows::PayRefund::new());
    let thread = threads.thread("big");
    let input = flows::RefundInput {
        euros: 90,
        card: "4000-90".into(),
    };
    let _ = thread.run(input).await.unwrap();
    let file = exported(&threads, "big").await;
    let there = InMemoryStore::new();
    file.write_to(&there).await.unwrap();
    file.write_to(&there).await.unwrap_err();
    let thread = flows::PayRefund::new().store(&there).thread("big");
    let ended = thread.answer::<flows::MayPay>(true).await.unwrap();
    let refund = ended.into_finished().unwrap();
    assert!(refund.paid);
    assert_eq!(refund.log, ["90 euros", "receipt of [removed]"]);
}

#[tokio::test]
async fn f44_a_run_that_died_and_its_successor_leave_all_results() {
    let gate = flows::Gate {
        reached: Arc::new(Semaphore::new(0)),
        open: Arc::new(Semaphore::new(0)),
    };
    let launch = || flows::Hold::new().manage(gate.clone());
    let threads = threads(launch());
    let thread = threads.thread("died");
    let running = thread.clone();
    let run = tokio::spawn(async move { running.run(3).await });
    gate.reached.acquire().await.unwrap().forget();
    run.abort();
    assert!(run.await.is_err_and(|error| error.is_cancelled()));
    gate.open.add_permits(2);
    thread.resume(()).await.unwrap().into_finished().unwrap();
    let file = exported(&threads, "died").await;
    let history = &file.json()["history"];
    assert_eq!(history["supersteps_with_results"], 3, "{history}");
    let (recorded, run) = both(&file, launch).await;
    assert!(recorded.is_same() && run.is_same(), "{recorded}{run}");
    assert_eq!(run.replayed.ran, 5);
}

#[tokio::test]
async fn f44_a_thread_that_is_stored_at_its_end_has_no_results() {
    let threads = threads(flows::WriteEssay::new()).durability(petalflow::thread::Durability::Exit);
    let ended = threads.thread("exit").run(21).await.unwrap();
    ended.into_finished().unwrap();
    let file = exported(&threads, "exit").await;
    assert!(!file.to_string().contains("\"done\""), "{file}");
}

/// A node that receives two messages, and a message that nobody has received.
#[state]
struct Order {
    #[key(receive)]
    payment: u32,
    paid: u32,
}

#[petalflow::node(Order)]
async fn collect(cx: Context) -> petalflow::Result<OrderPaid> {
    let first = cx.receive::<OrderPayment>().await?;
    let second = cx.receive::<OrderPayment>().await?;
    Ok(OrderPaid(first + second))
}

flow!(Collect(Order) { collect });

#[tokio::test]
async fn f44_received_messages_are_exported_replayed_and_imported() {
    let threads = threads(Collect::new());
    let thread = threads.thread("order");
    let paused = thread.run(()).await.unwrap();
    assert!(paused.interrupts().is_empty());
    for payment in [3, 4, 5] {
        thread.send(OrderPayment(payment)).await.unwrap();
    }
    let order = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(order.paid, 7);

    let file = exported(&threads, "order").await;
    let (recorded, run) = both(&file, Collect::new).await;
    assert!(recorded.is_same() && run.is_same(), "{recorded}{run}");
    assert_eq!(run.replayed.ran, 1);

    let store = InMemoryStore::new();
    file.write_to(&store).await.unwrap();
    let copy = Collect::new().store(&store).thread("order");
    copy.send(OrderPayment(6)).await.unwrap();
    let order = copy.run(()).await.unwrap().into_finished().unwrap();
    assert_eq!(
        order.paid, 11,
        "the next ones are those that were not received"
    );
}
