//! A process that stalls for longer than its claim lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use petalflow::error::message_with_sources;
use petalflow::prelude::*;
use petalflow::thread::OnBusy;
use petalflow_test_servers::fresh_name;

use crate::{LASTS, open, shared_server};

#[state]
#[derive(Debug)]
struct Order {
    #[key(input)]
    customer: String,
    paid: bool,
}

/// What the two runs of a test share.
#[derive(Clone, Default)]
struct Scene {
    payments: Arc<AtomicU32>,
    /// Whether the first run has begun to stall.
    stalled: Arc<AtomicBool>,
    /// Whether the second run fails after its payment.
    fails: bool,
}

#[node(Order)]
async fn pay(cx: Context) -> petalflow::Result<OrderPaid> {
    let scene = cx.managed::<Scene>().ok_or("a scene")?.clone();
    let is_first = !scene.stalled.swap(true, Ordering::SeqCst);
    if is_first {
        // The thread that runs the flow, and renews the claim, does nothing else meanwhile.
        std::thread::sleep(3 * LASTS);
    }
    let payment = async {
        scene.payments.fetch_add(1, Ordering::SeqCst);
        Ok::<_, petalflow::BoxError>(())
    };
    cx.once("payment", payment).await?;
    if scene.fails && !is_first {
        return Err("the second run fails".into());
    }
    Ok(OrderPaid(true))
}

flow!(TakeOrder(Order) { pay });

/// Runs a thread in two processes, of which the first stalls before its payment. Returns how often it was paid, and how the
/// first run ended.
async fn payments(fails: bool) -> Option<(u32, petalflow::Result<Order>)> {
    let server = shared_server()?;
    let prefix = fresh_name("stalled");
    let scene = Scene {
        fails,
        ..Scene::default()
    };
    let launch = TakeOrder::new().manage(scene.clone());
    // A runtime of its own, as in another process: the stall must not hold up the second run.
    let first = std::thread::spawn({
        let (launch, prefix) = (launch.clone(), prefix.clone());
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let store = open(&server.url, &prefix).await.unwrap();
                let thread = launch.store(&store).thread("order");
                let outcome = thread.run("Ann".to_string()).await?;
                Ok(outcome.into_finished()?)
            })
        }
    });
    while !scene.stalled.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let second = launch
        .store(&open(&server.url, &prefix).await.unwrap())
        .on_busy(OnBusy::Queue)
        .thread("order");
    assert_eq!(second.resume(()).await.is_err(), fails);
    let first = first.join().unwrap();
    Some((scene.payments.load(Ordering::SeqCst), first))
}

#[tokio::test]
async fn a_stalled_run_does_not_repeat_an_effect_after_another_run_has_continued() {
    let Some((payments, first)) = payments(false).await else {
        return;
    };
    assert_eq!(payments, 1);
    let message = message_with_sources(&*first.unwrap_err());
    assert!(message.contains("written to by another run"), "{message}");
}

#[tokio::test]
async fn a_stalled_run_uses_the_record_of_an_effect_that_another_run_has_left() {
    let Some((payments, first)) = payments(true).await else {
        return;
    };
    assert_eq!(payments, 1);
    assert!(first.unwrap().paid);
}
