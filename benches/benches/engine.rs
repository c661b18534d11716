//! petalflow and hand-written Rust, in one process and in alternating order: `cargo bench`.
//!
//! Machines differ and have noise, so compare the ratios. `cargo bench -- chain` runs the benches with `chain` in their name.

#![allow(clippy::cast_precision_loss)]

use std::future::Future;
use std::hint::black_box;
use std::time::{Duration, Instant};

use petalflow_benches::table::is_selected;
use petalflow_benches::{chain, chat, counter, fork, sleep};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    println!(
        "{:<44} {:>12} {:>12} {:>8}  allocations per unit",
        "work (unit)", "by hand", "petalflow", "ratio"
    );
    if is_selected("chain") {
        chains(&runtime);
    }
    if is_selected("loop") {
        let hand = || async { black_box(counter::by_hand(0).await) };
        let flow = || async {
            black_box(
                counter::Count::new()
                    .limit(u64::MAX)
                    .run(0_u64)
                    .await
                    .expect("it counts")
                    .n,
            )
        };
        compare(
            &runtime,
            "loop of 10,000 supersteps (superstep)",
            10_000,
            200,
            hand,
            flow,
        );
    }
    if is_selected("fork") {
        let hand = || async { black_box(fork::by_hand().await) };
        let flow = || async {
            black_box(
                fork::Rounds::new()
                    .limit(1_000)
                    .run(())
                    .await
                    .expect("it adds")
                    .total,
            )
        };
        compare(
            &runtime,
            "fork of 16 and join, 100 rounds (node)",
            1_800,
            200,
            hand,
            flow,
        );
        waiting_fork(&runtime);
    }
    if is_selected("chat") {
        for messages in [100, 1_000, 10_000] {
            let hand = || async { black_box(chat::by_hand(messages).await.len()) };
            let flow = || async {
                black_box(
                    chat::Talk::new()
                        .limit(u64::MAX)
                        .run(messages)
                        .await
                        .expect("they talk")
                        .messages
                        .len(),
                )
            };
            compare(
                &runtime,
                &format!("chat to {messages} messages (message)"),
                messages,
                100,
                hand,
                flow,
            );
        }
    }
    if is_selected("concurrent") {
        concurrent();
    }
}

fn chains(runtime: &Runtime) {
    macro_rules! chain {
        ($module:ident, $nodes:literal, $samples:literal) => {
            let hand = || async {
                black_box(
                    chain::$module::by_hand(chain::$module::Count { n: 0 })
                        .await
                        .n,
                )
            };
            let flow = || async {
                black_box(
                    chain::$module::Chain::new()
                        .limit($nodes)
                        .run(0_u64)
                        .await
                        .expect("it counts")
                        .n,
                )
            };
            compare(
                runtime,
                concat!("chain of ", $nodes, " nodes (node)"),
                $nodes,
                $samples,
                hand,
                flow,
            );
        };
    }
    chain!(ten, 10, 2_000);
    chain!(hundred, 100, 1_000);
    chain!(thousand, 1_000, 300);
}

/// Measures both in alternating order. Prints the medians, the median of the ratios, and the allocations.
fn compare<H, HF, F, FF>(
    runtime: &Runtime,
    name: &str,
    units: usize,
    samples: usize,
    hand: H,
    flow: F,
) where
    H: Fn() -> HF,
    HF: Future,
    F: Fn() -> FF,
    FF: Future,
{
    // The first runs build the execution plan and fill the caches.
    for _ in 0..3 {
        runtime.block_on(hand());
        runtime.block_on(flow());
    }
    let mut pairs: Vec<(f64, f64)> = (0..samples)
        .map(|_| (time(runtime, &hand), time(runtime, &flow)))
        .collect();
    let per_unit = |nanoseconds: f64| nanoseconds / units as f64;
    let by_hand = per_unit(median(&mut pairs, |pair| pair.0));
    let by_flow = per_unit(median(&mut pairs, |pair| pair.1));
    let ratio = median(&mut pairs, |pair| pair.1 / pair.0);
    let of_hand = allocation_counter::measure(|| drop(runtime.block_on(hand()))).count_total as f64;
    let of_flow = allocation_counter::measure(|| drop(runtime.block_on(flow()))).count_total as f64;
    println!(
        "{name:<44} {by_hand:>9.1} ns {by_flow:>9.1} ns {ratio:>7.2}x  {:.3} by hand, {:.3}",
        of_hand / units as f64,
        of_flow / units as f64
    );
}

fn time<W: Future>(runtime: &Runtime, work: &impl Fn() -> W) -> f64 {
    runtime.block_on(async {
        let begun = Instant::now();
        work().await;
        begun.elapsed().as_nanos() as f64
    })
}

fn median<T>(samples: &mut [T], of: impl Fn(&T) -> f64) -> f64 {
    samples.sort_by(|a, b| of(a).total_cmp(&of(b)));
    of(&samples[samples.len() / 2])
}

/// Sixteen parallel nodes that wait ten milliseconds each. Together they need ten milliseconds.
fn waiting_fork(runtime: &Runtime) {
    let mut samples: Vec<f64> = (0..20)
        .map(|_| {
            time(runtime, &|| async {
                black_box(sleep::Fork::run(()).await.expect("it waits").done);
            })
        })
        .collect();
    let wait = median(&mut samples, |sample| *sample) / 1e6;
    println!(
        "{:<44} {:>9.1} ms {wait:>9.1} ms {:>7.2}x",
        "16 nodes that wait 10 ms at once",
        10.0,
        wait / 10.0
    );
}

/// A thousand concurrent runs and a thousand bare tasks: the time in alternating pairs, and the peak memory.
fn concurrent() {
    const RUNS: usize = 1_000;
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime can be built");
    let many = |spawn: &dyn Fn() -> tokio::task::JoinHandle<u32>| {
        let begun = Instant::now();
        runtime.block_on(async {
            let handles: Vec<_> = (0..RUNS).map(|_| spawn()).collect();
            for handle in handles {
                black_box(handle.await.expect("no task panics"));
            }
        });
        begun.elapsed()
    };
    let hand = || many(&|| tokio::spawn(sleep::by_hand()));
    let flow =
        || many(&|| tokio::spawn(async { sleep::Chain::run(()).await.expect("it waits").done }));
    hand();
    flow();
    let mut pairs: Vec<(Duration, Duration)> = (0..30).map(|_| (hand(), flow())).collect();
    let ratio = median(&mut pairs, |pair| {
        pair.1.as_secs_f64() / pair.0.as_secs_f64()
    });
    let by_hand = median(&mut pairs, |pair| pair.0.as_secs_f64() * 1e3);
    let by_flow = median(&mut pairs, |pair| pair.1.as_secs_f64() * 1e3);
    println!(
        "{:<44} {by_hand:>9.1} ms {by_flow:>9.1} ms {ratio:>7.2}x",
        "1,000 concurrent runs of ten 1 ms nodes"
    );

    // On one thread, because the counter counts the current thread only.
    let one = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    let peak = |spawn: &dyn Fn() -> tokio::task::JoinHandle<u32>| {
        let work = || {
            one.block_on(async {
                let handles: Vec<_> = (0..RUNS).map(|_| spawn()).collect();
                for handle in handles {
                    black_box(handle.await.expect("no task panics"));
                }
            });
        };
        work();
        allocation_counter::measure(work).bytes_max as f64 / RUNS as f64
    };
    let of_hand = peak(&|| tokio::spawn(sleep::by_hand()));
    let of_flow =
        peak(&|| tokio::spawn(async { sleep::Chain::run(()).await.expect("it waits").done }));
    println!(
        "{:<44} {of_hand:>10.0} B {of_flow:>10.0} B {:>7.2}x",
        "the same, peak memory (run)",
        of_flow / of_hand
    );
}
