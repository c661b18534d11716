//! A thread that runs in another process, and the thread of this process that has started it.

use std::time::{Duration, Instant};

use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow::run::CancelToken;
use petalflow::thread::Threads;

use crate::other_process::OtherProcess;
use crate::store_tests::{ServerStore, fresh, store_of_first_process};

/// How long a test waits for what happens soon, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

#[state]
#[derive(Debug)]
struct Parcel {
    #[key(default)]
    labels: Vec<String>,
}

/// Ends only if it is cancelled.
#[node(Parcel)]
async fn pack() {
    println!("packing");
    std::future::pending::<()>().await;
}

flow!(Pack(Parcel) { pack });

#[state]
#[derive(Debug)]
struct Order {
    #[key(default)]
    sent: Vec<String>,
}

#[node(Order)]
async fn send(cx: Context, parcels: Managed<Threads<Pack>>) -> petalflow::Result<()> {
    let parcel = cx
        .start(&parcels, "parcel", ())
        .cancel_with_parent()
        .await?;
    cx.join(&parcel).await?;
    Ok(())
}

flow!(Send(Order) { send });

/// The test that starts another process, which runs one of these itself. They stand at the root of the test program.
#[macro_export]
macro_rules! other_child_tests {
    ($kind:ty) => {
        #[tokio::test]
        async fn f43_a_child_in_another_process_is_cancelled_with_its_parent() {
            $crate::other_children::a_child_in_another_process_is_cancelled_with_its_parent::<$kind>()
                .await;
        }

        #[tokio::test]
        async fn other_process_runs_a_child() {
            $crate::other_children::run_a_child::<$kind>().await;
        }
    };
}

/// A child in another process is cancelled with its parent. If that process has died, the child is held when its claim ends.
pub async fn a_child_in_another_process_is_cancelled_with_its_parent<S>()
where
    S: ServerStore<Store: Clone>,
{
    for dies in [false, true] {
        let Some((store, place)) = fresh::<S>("children").await else {
            return;
        };
        let parcels = Pack::new().store(&store);
        let orders = Send::new().manage(parcels.clone()).store(&store);
        let waits = orders.thread("order").run(()).await.unwrap();
        waits.into_finished().expect_err("it waits for the parcel");

        let mut process = OtherProcess::start("other_process_runs_a_child", &place);
        process.wait_for("packing");
        let running = if dies {
            process.kill();
            None
        } else {
            Some(process)
        };
        let token = CancelToken::new();
        token.cancel();
        let order = orders.clone().cancel_with(&token).thread("order");
        order.resume(()).await.expect_err("it is cancelled");
        assert_eq!(status(&order).await, ThreadStatus::Held);

        let deadline = Instant::now() + PATIENCE;
        let parcel = parcels.thread("parcel");
        while status(&parcel).await != ThreadStatus::Held {
            assert!(Instant::now() < deadline, "the parcel goes on, dies {dies}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        parcel.recover().await.expect_err("a person holds it");
        // It lives until here.
        drop(running);
    }
}

async fn status<F: Flow>(thread: &petalflow::thread::Thread<F>) -> ThreadStatus {
    let info = thread.info().await.unwrap();
    info.expect("it exists").status
}

/// The other process of [`a_child_in_another_process_is_cancelled_with_its_parent`].
pub async fn run_a_child<S>()
where
    S: ServerStore<Store: Clone>,
{
    if let Some(store) = store_of_first_process::<S>().await {
        let parcel = Pack::new().store(&store).thread("parcel");
        parcel.recover().await.expect_err("it is cancelled");
    }
}
