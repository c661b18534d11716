//! Threads that start others and wait for their ends, while the process that runs all of them is killed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow::thread::Threads;
use petalflow_restate::{Client, Endpoint, RestateFlow};

use crate::support::{Process, Server, free_ports, until};

/// The address at which a process of this test serves, the ingress of the server, and the folder of its files.
const ADDRESS: &str = "PETALFLOW_RESTATE_TEST_CHILDREN_ADDRESS";
const INGRESS: &str = "PETALFLOW_RESTATE_TEST_CHILDREN_INGRESS";
const FOLDER: &str = "PETALFLOW_RESTATE_TEST_CHILDREN_FOLDER";

/// Holds nodes: while there is a file of this name in the folder, those wait that come to it. It notes who has come.
#[derive(Clone)]
struct Folder(PathBuf);

impl Folder {
    async fn pass(&self, name: &str) {
        use std::io::Write as _;
        let file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(self.0.join("passed"));
        writeln!(file.expect("it opens"), "{name}").expect("it is written");
        while self.0.join(name).exists() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    fn hold(&self, name: &str) {
        std::fs::write(self.0.join(name), "").expect("it is written");
    }

    fn release(&self, name: &str) {
        std::fs::remove_file(self.0.join(name)).expect("it is there");
    }

    /// How often nodes have come to this.
    fn count(&self, name: &str) -> usize {
        let passed = std::fs::read_to_string(self.0.join("passed")).unwrap_or_default();
        passed.lines().filter(|line| *line == name).count()
    }
}

#[state]
struct Parcel {
    #[key(input)]
    article: String,
    #[key(append)]
    labels: Vec<String>,
}

#[node(Parcel)]
async fn pack(article: &str, folder: Managed<Folder>) -> petalflow::Result<ParcelLabels> {
    folder.pass(article).await;
    if article == "stone" {
        return Err("it is too heavy".into());
    }
    Ok(ParcelLabels(vec![format!("a box with one {article}")]))
}

flow!(Pack(Parcel) { pack });

#[state]
struct Order {
    #[key(input)]
    articles: Vec<String>,
    #[key(append)]
    sent: Vec<String>,
}

#[node(Order)]
async fn send(
    articles: &[String],
    cx: Context,
    parcels: Managed<Threads<Pack>>,
    folder: Managed<Folder>,
) -> petalflow::Result<OrderSent> {
    let mut started = Vec::new();
    for article in articles {
        let start = cx.start(&parcels, article, article.clone());
        started.push(start.cancel_with_parent().await?);
        folder.pass("started").await;
    }
    let packed = cx.join_all(&started).await?;
    let labels = packed.iter().flat_map(|parcel| parcel.labels.clone());
    Ok(OrderSent(labels.collect()))
}

flow!(Send(Order) { send });

/// The flows of a process.
struct Flows {
    orders: RestateFlow<Send>,
    parcels: RestateFlow<Pack>,
}

impl Flows {
    /// `send` runs on the pool if it is placed.
    fn new(ingress: &str, folder: &Path, places: bool) -> Self {
        let folder = Folder(folder.into());
        let parcels = RestateFlow::new(Pack::new().manage(folder.clone()));
        let threads = Pack::new().store(&Client::new(&parcels, ingress).store());
        let mut orders = RestateFlow::new(Send::new().manage(threads).manage(folder));
        if places {
            orders = orders.place("send", "pool").expect("it has the node");
        }
        Flows { orders, parcels }
    }

    async fn serve(&self, address: &str) -> petalflow_restate::Bound {
        let endpoint = Endpoint::new()
            .threads(&self.orders)
            .and_then(|endpoint| endpoint.threads(&self.parcels))
            .and_then(|endpoint| endpoint.nodes(&self.orders, "pool"));
        let bound = endpoint.expect("the names are good").bind(address).await;
        bound.expect("the port is free")
    }
}

/// A server with both flows in this process, and the folder.
async fn start(places: bool) -> Option<(Server, Flows, Folder, tempfile::TempDir)> {
    let server = Server::start().await?;
    let folder = tempfile::tempdir().expect("a folder");
    let flows = Flows::new(&server.ingress(), folder.path(), places);
    let bound = flows.serve("127.0.0.1:0").await;
    let port = bound.address().port();
    tokio::spawn(bound.serve());
    server.register([port]).await;
    let files = Folder(folder.path().into());
    Some((server, flows, files, folder))
}

fn articles(articles: &[&str]) -> Vec<String> {
    articles.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_thread_starts_others_and_sleeps_until_they_have_ended() {
    for places in [false, true] {
        let Some((server, flows, files, _folder)) = start(places).await else {
            return;
        };
        files.hold("lamp");
        let order = Client::new(&flows.orders, server.ingress()).thread("order-7");
        order.begin(articles(&["lamp", "chair"])).await.unwrap();
        until("the order waits", async || {
            order.rest().await.unwrap().status == ThreadStatus::Sleeping
        })
        .await;
        files.release("lamp");
        until("the order is sent", async || {
            let rest = order.rest().await.unwrap();
            assert_eq!(rest.failure, None, "placed {places}");
            rest.status == ThreadStatus::Finished
        })
        .await;
        let state = order.snapshot().await.unwrap().unwrap().state;
        assert_eq!(state.sent, ["a box with one lamp", "a box with one chair"]);
        for article in ["lamp", "chair"] {
            assert_eq!(files.count(article), 1, "{article}, placed {places}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_the_end_of_a_thread_is_told_if_it_fails_is_stopped_or_deleted() {
    let Some((server, flows, files, _folder)) = start(false).await else {
        return;
    };
    let orders = Client::new(&flows.orders, server.ingress());
    let parcels = Client::new(&flows.parcels, server.ingress());
    for article in ["stone", "lamp", "chair"] {
        files.hold(article);
        let order = orders.thread(format!("order of a {article}"));
        order.begin(articles(&[article])).await.unwrap();
        until("the order waits", async || {
            order.rest().await.unwrap().status == ThreadStatus::Sleeping
        })
        .await;
        let parcel = parcels.thread(article);
        match article {
            "stone" => files.release(article),
            "lamp" => assert_eq!(parcel.cancel().await.unwrap(), ThreadStatus::Held),
            _ => {
                parcel.cancel().await.unwrap();
                parcel.delete().await.unwrap();
            }
        }
        until("the order fails", async || {
            order.rest().await.unwrap().status == ThreadStatus::Failed
        })
        .await;
        let failure = order.rest().await.unwrap().failure.expect("it says why");
        let expected: &[&str] = match article {
            "stone" => {
                &["thread `stone` has failed: node `pack` failed in superstep 1: it is too heavy"]
            }
            "lamp" => &["thread `lamp` is held"],
            // It may look before the parcel is deleted.
            _ => &["there is no thread `chair`", "thread `chair` is held"],
        };
        assert!(expected.iter().any(|it| failure.contains(it)), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_threads_are_stopped_with_the_one_that_has_started_them() {
    let Some((server, flows, files, _folder)) = start(false).await else {
        return;
    };
    let order = Client::new(&flows.orders, server.ingress()).thread("order-7");
    let parcel = Client::new(&flows.parcels, server.ingress()).thread("lamp");
    for waits in [true, false] {
        files.hold("lamp");
        if !waits {
            files.hold("started");
        }
        order.begin(articles(&["lamp"])).await.unwrap();
        until("the parcel is packed", async || files.count("lamp") == 1).await;
        let status = async || order.rest().await.unwrap().status;
        if waits {
            until("it waits", async || {
                status().await == ThreadStatus::Sleeping
            })
            .await;
        } else {
            until("it runs", async || files.count("started") > 0).await;
        }
        order.cancel().await.unwrap();
        assert_eq!(status().await, ThreadStatus::Held, "waits {waits}");
        until("the parcel is held", async || {
            parcel.rest().await.unwrap().status == ThreadStatus::Held
        })
        .await;
        order.delete().await.unwrap();
        parcel.delete().await.unwrap();
        std::fs::remove_file(files.0.join("passed")).unwrap();
    }
}

/// Serves as another process of the test. Does nothing in a usual run of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_of_the_children_test() {
    let variable = |name| std::env::var(name).ok();
    let (Some(address), Some(ingress), Some(folder)) =
        (variable(ADDRESS), variable(INGRESS), variable(FOLDER))
    else {
        return;
    };
    let flows = Flows::new(&ingress, Path::new(&folder), false);
    flows.serve(&address).await.serve().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_killed_process_starts_no_thread_twice_and_misses_no_end() {
    let Some(server) = Server::start().await else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let files = Folder(folder.path().into());
    let [port] = free_ports();
    let process = || {
        let (address, ingress) = (format!("127.0.0.1:{port}"), server.ingress());
        let variables: [(&str, &OsStr); 3] = [
            (ADDRESS, address.as_ref()),
            (INGRESS, ingress.as_ref()),
            (FOLDER, folder.path().as_ref()),
        ];
        Process::of_test("children::process_of_the_children_test", &variables)
    };
    let flows = Flows::new(&server.ingress(), folder.path(), false);
    files.hold("started");
    files.hold("chair");
    let first = process();
    server.register([port]).await;
    let order = Client::new(&flows.orders, server.ingress()).thread("order-7");
    order.begin(articles(&["lamp", "chair"])).await.unwrap();

    // Between the two starts.
    until("a parcel was started", async || files.count("started") == 1).await;
    until("it is packed", async || files.count("lamp") == 1).await;
    drop(first);
    files.release("started");
    let second = process();
    // While one has ended, and the other one is packed.
    until("the other is packed", async || files.count("chair") == 1).await;
    until("the order waits", async || {
        let rest = order.rest().await;
        rest.is_ok_and(|rest| rest.status == ThreadStatus::Sleeping)
    })
    .await;
    drop(second);
    files.release("chair");
    let _third = process();
    until("the order is sent", async || {
        let rest = order.rest().await;
        rest.is_ok_and(|rest| rest.status == ThreadStatus::Finished)
    })
    .await;
    let state = order.snapshot().await.unwrap().unwrap().state;
    assert_eq!(state.sent, ["a box with one lamp", "a box with one chair"]);
    // One turn of each parcel.
    let parcels = Client::new(&flows.parcels, server.ingress());
    for article in ["lamp", "chair"] {
        let parcel = parcels.thread(article).snapshot().await.unwrap().unwrap();
        assert_eq!(parcel.state.labels.len(), 1, "{article}");
    }
}
