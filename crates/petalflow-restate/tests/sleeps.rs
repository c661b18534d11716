//! Nodes that sleep, while the processes that run them are killed.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use petalflow::checkpoint::ThreadStatus;
use petalflow::prelude::*;
use petalflow_restate::{Client, Endpoint, RestateFlow};

use crate::support::{PROGRAM, Server, free_ports};

/// What a process of this test serves: `driver` or `host`, and its address.
const ROLE: &str = "PETALFLOW_RESTATE_TEST_SLEEP_ROLE";
const ADDRESS: &str = "PETALFLOW_RESTATE_TEST_SLEEP_ADDRESS";
const NAP: Duration = Duration::from_secs(2);

#[state]
struct Naps {
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
async fn nap_here(cx: Context) -> petalflow::Result<NapsLog> {
    cx.sleep(NAP).await?;
    Ok(line("here"))
}

/// Runs on a host.
#[node(Naps)]
async fn nap_there(cx: Context) -> petalflow::Result<NapsLog> {
    cx.sleep(NAP).await?;
    cx.sleep(NAP / 4).await?;
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
    let thread = Client::new(&flow(), server.ingress()).thread("ann");
    let begun = Instant::now();
    thread.begin(()).await.expect("it begins");
    let asleep = thread.wait().await.expect("it sleeps");
    assert_eq!(
        asleep.status,
        ThreadStatus::Sleeping,
        "{:?}",
        asleep.failure
    );
    drop(first);
    tokio::time::sleep(NAP / 4).await;
    let _second = processes();
    let finished = async {
        loop {
            let rest = thread.rest().await;
            match rest.map(|rest| (rest.status, rest.failure)) {
                Ok((ThreadStatus::Finished, _)) => break,
                Ok((ThreadStatus::Running | ThreadStatus::Sleeping, _)) | Err(_) => {}
                Ok(other) => panic!("{other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let finished = tokio::time::timeout(Duration::from_secs(30), finished).await;
    finished.expect("its processes run again");
    assert!(begun.elapsed() >= NAP + NAP / 4, "{:?}", begun.elapsed());
    let snapshot = thread.snapshot().await.expect("it is read");
    let log = snapshot.expect("it exists").state.log;
    assert_eq!(log, ["lies down", "here", "there", "gets up"]);
}
