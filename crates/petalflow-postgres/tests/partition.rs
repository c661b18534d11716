//! A process that is cut off from the server while a node of its run is about to have an effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use petalflow::error::message_with_sources;
use petalflow::prelude::*;
use petalflow::thread::OnBusy;
use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_test_servers::fresh_name;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use crate::{open, shared_server, sql};

/// A proxy that can stop to pass anything on, without closing its connections.
struct Proxy {
    port: u16,
    passes: watch::Sender<bool>,
}

impl Proxy {
    async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (passes, passing) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, passing) = (server.clone(), passing.clone());
                tokio::spawn(async move {
                    let upstream = TcpStream::connect(server).await.unwrap();
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = upstream.into_split();
                    let back = relay(from_server, to_client, passing.clone());
                    tokio::join!(relay(from_client, to_server, passing), back);
                });
            }
        });
        Proxy { port, passes }
    }

    fn stall(&self) {
        self.passes.send_replace(false);
    }

    fn pass(&self) {
        self.passes.send_replace(true);
    }
}

/// Passes bytes on, also the end, while the proxy passes them.
async fn relay(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut passing: watch::Receiver<bool>,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await.unwrap_or(0);
        let _ = passing.wait_for(|passes| *passes).await;
        if read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            let _ = to.shutdown().await;
            return;
        }
    }
}

#[state]
#[derive(Debug)]
struct Order {
    #[key(input)]
    customer: String,
    paid: bool,
}

/// What the two runs share.
#[derive(Default)]
struct Scene {
    payments: AtomicU32,
    /// Whether the first run has reached its effect.
    reached: AtomicBool,
    is_there: Notify,
    goes_on: Notify,
}

#[node(Order)]
async fn pay(cx: Context, scene: Managed<Scene>) -> petalflow::Result<OrderPaid> {
    if !scene.reached.swap(true, Ordering::SeqCst) {
        scene.is_there.notify_one();
        scene.goes_on.notified().await;
    }
    let payment = async {
        scene.payments.fetch_add(1, Ordering::SeqCst);
        Ok::<_, petalflow::BoxError>(())
    };
    cx.once("payment", payment).await?;
    Ok(OrderPaid(true))
}

flow!(TakeOrder(Order) { pay });

/// The time limit of statements of the process that is cut off.
const LIMIT: Duration = Duration::from_millis(700);

/// What happens to the connections of the first process before its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The server ends them, and the process cannot connect again.
    UntilTheEnd,
    /// The same, and the process can connect again after another has finished the thread.
    UntilAnotherHasFinished,
    /// The server ends them, and the process connects again before another asks for the thread.
    Reopened,
}

/// Runs a thread in two processes, of which the first is cut off before its payment. Returns how often it was paid, and how the
/// first run ended.
async fn payments(cut: Cut) -> Option<(u32, petalflow::Result<Order>)> {
    let server = shared_server()?;
    let (schema, scene) = (fresh_name("partition"), Arc::new(Scene::default()));
    let address = server.url.split_once('@').unwrap().1;
    let (address, database) = address.split_once('/').unwrap();
    let proxy = Proxy::start(address.into()).await;
    let user = server.url.split_once('@').unwrap().0;
    let port = proxy.port;
    let url = format!("{user}@127.0.0.1:{port}/{database}?application_name={schema}");
    let options = PostgresOptions::new(url).schema(&schema);
    let options = options.connect_timeout(LIMIT).statement_timeout(LIMIT);
    let store = PostgresStore::connect_with(options).await.unwrap();
    let launch = TakeOrder::new().manage_with(Arc::clone(&scene));
    let first = launch.clone().store(&store).thread("order");
    let others = async {
        scene.is_there.notified().await;
        if cut != Cut::Reopened {
            proxy.stall();
        }
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{schema}'"
        );
        sql(&server.url, &end).await;
        if cut != Cut::Reopened {
            let second = launch
                .store(&open(&server.url, &schema).await.unwrap())
                .on_busy(OnBusy::Queue)
                .thread("order");
            assert!(second.resume(()).await?.into_finished()?.paid);
        }
        if cut == Cut::UntilAnotherHasFinished {
            proxy.pass();
        }
        scene.goes_on.notify_one();
        Ok::<_, petalflow::BoxError>(())
    };
    let (ended, resumed) = tokio::join!(first.run("Ann".to_string()), others);
    resumed.unwrap();
    let ended = async { Ok(ended?.into_finished()?) }.await;
    Some((scene.payments.load(Ordering::SeqCst), ended))
}

#[tokio::test]
async fn a_process_that_cannot_reach_the_server_has_no_effect() {
    if let Some((payments, ended)) = payments(Cut::UntilTheEnd).await {
        assert_eq!(payments, 1);
        let message = message_with_sources(&*ended.unwrap_err());
        assert!(message.contains("took too long"), "{message}");
    }
}

#[tokio::test]
async fn a_process_whose_thread_another_has_finished_has_no_effect() {
    if let Some((payments, ended)) = payments(Cut::UntilAnotherHasFinished).await {
        assert_eq!(payments, 1);
        let message = message_with_sources(&*ended.unwrap_err());
        assert!(
            message.contains("the claim on thread `order` is lost"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_process_that_has_connected_again_in_time_continues() {
    if let Some((payments, ended)) = payments(Cut::Reopened).await {
        assert_eq!(payments, 1);
        assert!(ended.unwrap().paid);
    }
}
