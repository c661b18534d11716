//! Nodes that sleep, while the processes that run them are killed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow_restate::{Client, Endpoint, RestateFlow};

use crate::support::{PROGRAM, Server, free_ports, until};

/// What a process of this test serves: `driver` or `host`, and its address.
const ROLE: &str = "PETALFLOW_RESTATE_TEST_SLEEP_ROLE";
const ADDRESS: &str = "PETALFLOW_RESTATE_TEST_SLEEP_ADDRESS";

#[state]
struct Naps {
    #[key(input)]
    nap_ms: u64,
    #[key(append)]
    log: Vec<String>,
}

fn line(text: &str) -> NapsLog {
    NapsLog(vec![text.into()])
}

#[node(Naps)]
async fn lie_down() -> NapsLog {
    line("lies down")
}

#[node(Naps)]
async fn nap_here(nap_ms: &u64, cx: Context) -> petalflow::Result<NapsLog> {
    cx.sleep(Duration::from_millis(*nap_ms)).await?;
    Ok(line("here"))
}

/// Runs on a host.
#[node(Naps)]
async fn nap_there(nap_ms: &u64, cx: Context) -> petalflow::Result<NapsLog> {
    cx.sleep(Duration::from_millis(*nap_ms)).await?;
    cx.sleep(Duration::from_millis(*nap_ms / 4)).await?;
    Ok(line("there"))
}

#[node(Naps)]
async fn get_up() -> NapsLog {
    line("gets up")
}

flow!(Sleeping(Naps) { lie_down -> nap_here & nap_there -> get_up });

fn flow() -> RestateFlow<Sleeping> {
    let flow = RestateFlow::new(Sleeping::new());
    flow.place("nap_there", "beds").expect("it has the node")
}

/// Serves as another process of the test. Does nothing in a usual run of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_of_the_sleep_test() {
    let (Ok(role), Ok(address)) = (std::env::var(ROLE), std::env::var(ADDRESS)) else {
        return;
    };
    let endpoint = match &*role {
        "driver" => Endpoint::new().threads(&flow()),
        _ => Endpoint::new().nodes(&flow(), "beds"),
    };
    let bound = endpoint.expect("its name is good").bind(&address).await;
    bound.expect("the port is free").serve().await;
}

/// A process that serves. Dropping it kills it.
struct Process(Child);

impl Process {
    fn start(role: &str, port: u16) -> Self {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "--exact",
                "sleeps::process_of_the_sleep_test",
                "--nocapture",
            ])
            .env(ROLE, role)
            .env(ADDRESS, format!("127.0.0.1:{port}"))
            .env_remove(PROGRAM)
            .stdout(Stdio::null())
            .spawn();
        Process(child.expect("it starts"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f43_a_sleep_goes_on_while_all_processes_are_dead() {
    let Some(server) = Server::start().await else {
        return;
    };
    let [one, two] = free_ports();
    let processes = || (Process::start("driver", one), Process::start("host", two));
    let first = processes();
    server.register([one, two]).await;
    let client = Client::new(&flow(), server.ingress());
    // On a busy machine a short sleep may be over before the test sees it.
    let mut nap_ms = 2_000;
    let (thread, begun) = loop {
        let begun = Instant::now();
        let thread = client.thread(format!("nap-{nap_ms}"));
        thread.begin(nap_ms).await.expect("it begins");
        let rest = thread.wait().await.expect("it sleeps");
        assert_eq!(rest.failure, None);
        if rest.status == ThreadStatus::Sleeping {
            break (thread, begun);
        }
        nap_ms *= 3;
        assert!(nap_ms < 60_000, "it does not sleep: {rest:?}");
    };
    drop(first);
    let _second = processes();
    until("its processes run again", async || {
        let rest = thread.rest().await;
        match rest.map(|rest| (rest.status, rest.failure)) {
            Ok((ThreadStatus::Finished, _)) => true,
            Ok((ThreadStatus::Running | ThreadStatus::Sleeping, _)) | Err(_) => false,
            Ok(other) => panic!("{other:?}"),
        }
    })
    .await;
    let least = Duration::from_millis(nap_ms + nap_ms / 4);
    assert!(begun.elapsed() >= least, "{:?}", begun.elapsed());
    let snapshot = thread.snapshot().await.expect("it is read");
    let log = snapshot.expect("it exists").state.log;
    assert_eq!(log, ["lies down", "here", "there", "gets up"]);
}
