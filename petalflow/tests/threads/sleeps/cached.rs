//! A node with a cache that sleeps.

use petalflow::cache::InMemoryCache;

use super::*;

#[state]
#[derive(Debug)]
struct Report {
    #[key(input)]
    topic: String,
    #[key(append)]
    lines: Vec<String>,
}

#[node(Report, cache = 30d)]
async fn order_report(
    topic: &str,
    cx: Context,
    counter: Managed<Counter>,
) -> petalflow::Result<ReportLines> {
    let ordered = cx.once("order", async {
        Ok::<_, petalflow::BoxError>(counter.add())
    });
    let ordered = ordered.await?;
    cx.sleep(DAY).await?;
    Ok(ReportLines(vec![format!("order {ordered} of {topic}")]))
}

flow!(OrderReport(Report) { order_report });

/// What is cached is the result behind the sleep, never that of a node that still sleeps.
#[tokio::test(start_paused = true)]
async fn f43_a_node_with_a_cache_sleeps_once() {
    let (store, counter) = (InMemoryStore::new(), Arc::new(Counter::default()));
    let threads = OrderReport::new()
        .manage_with(Arc::clone(&counter))
        .cache(&InMemoryCache::new())
        .store(&store);
    let topic = || "petals".to_string();
    let sleeps = |outcome: petalflow::thread::Outcome<Report>| {
        let paused = outcome.into_finished().expect_err("it sleeps");
        assert!(paused.wakes.is_some() && paused.interrupts.is_empty());
    };
    let (ann, bob) = (threads.thread("ann"), threads.thread("bob"));
    sleeps(ann.run(topic()).await.unwrap());
    // Nothing is cached yet, so another thread sleeps too.
    sleep(DAY / 2).await;
    sleeps(bob.run(topic()).await.unwrap());
    sleep(DAY / 2).await;
    let report = ann.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(report.lines, ["order 1 of petals"]);
    assert_eq!(counter.get(), 2);
    // It finds the result when it goes on, before its own time has come.
    let report = bob.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(report.lines, ["order 1 of petals"]);
    assert_eq!(info(&bob).await.due_ms, None);
    let report = threads.thread("cat").run(topic()).await.unwrap();
    let report = report.into_finished().expect("it does not sleep");
    assert_eq!((&*report.lines[0], counter.get()), ("order 1 of petals", 2));
}
