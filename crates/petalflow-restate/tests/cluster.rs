//! Three servers that store everything twice. One of them is lost while threads run.

use petalflow_restate::Client;

use crate::kills::{HOLD, Process, SellAll, check, flow, run};
use crate::support::{Server, free_ports, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_loses_a_server_loses_nothing() {
    let Some([first, mut second, third]) = Server::start_cluster().await else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let effects = folder.path().join("effects");
    let hold = folder.path().join(HOLD);
    std::fs::write(&hold, "").expect("a file");
    let [one, two] = free_ports();
    let _driver = Process::start("driver", one, &effects);
    let _host = Process::start("host", two, &effects);
    first.register([one, two]).await;
    let expected = SellAll::run(4).await.expect("it ends");

    // Half of the threads are begun at one of the servers that remain, half at the other.
    let threads = (0..6).map(|number| {
        let server = if number % 2 == 0 { &first } else { &third };
        let (client, id) = (
            Client::new(&flow(&effects), server.ingress()),
            format!("thread-{number}"),
        );
        tokio::spawn(async move { (run(&client, &id).await, id) })
    });
    let threads: Vec<_> = threads.collect();
    until("a thread has an effect", async || effects.exists()).await;
    second.stop();
    std::fs::remove_file(&hold).expect("it is there");
    for thread in threads {
        let (found, id) = thread.await.expect("it ends");
        check(&found, &expected, &id);
    }
    let happened = std::fs::read_to_string(&effects).expect("effects");
    let recorded = 6 * (expected.paid.len() + expected.booked.len());
    assert!(happened.lines().count() >= recorded);
}
