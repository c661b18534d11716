//! A Restate server for tests.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use petalflow_restate::Admin;

/// The environment variable with the path of the server's program.
pub(crate) const PROGRAM: &str = "PETALFLOW_RESTATE_BIN";

/// A Restate server. It is killed when it is dropped.
pub(crate) struct Server {
    child: Option<Child>,
    program: String,
    name: String,
    /// Those of the ingress, of the administration, and of the other servers.
    ports: [u16; 3],
    folder: tempfile::TempDir,
    /// The settings of its cluster.
    cluster: Vec<(String, String)>,
}

impl Server {
    /// Starts a server, or returns `None` and says so if there is no program.
    pub(crate) async fn start() -> Option<Self> {
        let Ok(program) = std::env::var(PROGRAM) else {
            eprintln!("skipped: set {PROGRAM} to the path of `restate-server`");
            return None;
        };
        let server = Self::spawn(&program, "test", free_ports(), &[]);
        server.ready().await;
        Some(server)
    }

    /// Starts three servers as one cluster that stores everything twice, or returns `None` and says so if there is no program.
    pub(crate) async fn start_cluster() -> Option<[Self; 3]> {
        let Ok(program) = std::env::var(PROGRAM) else {
            eprintln!("skipped: set {PROGRAM} to the path of `restate-server`");
            return None;
        };
        let all: [u16; 9] = free_ports();
        let addresses = [all[2], all[5], all[8]].map(|port| format!("http://127.0.0.1:{port}/"));
        let addresses = format!("{addresses:?}");
        let servers = [0, 1, 2].map(|number: usize| {
            let ports = [0, 1, 2].map(|port| all[3 * number + port]);
            let provisions = if number == 0 { "true" } else { "false" };
            let cluster = [
                ("RESTATE_AUTO_PROVISION", provisions),
                ("RESTATE_DEFAULT_REPLICATION", "2"),
                ("RESTATE_METADATA_CLIENT__ADDRESSES", &*addresses),
            ];
            Self::spawn(&program, &format!("node-{number}"), ports, &cluster)
        });
        for server in &servers {
            server.ready().await;
        }
        for server in &servers {
            server.has_members(servers.len()).await;
        }
        Some(servers)
    }

    fn spawn(program: &str, name: &str, ports: [u16; 3], cluster: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let mut server = Server {
            child: None,
            program: program.into(),
            name: name.into(),
            ports,
            folder,
            cluster: cluster.iter().map(own).collect(),
        };
        server.run();
        server
    }

    /// The id of its process, while it runs.
    #[allow(dead_code, reason = "a benchmark uses it")]
    pub(crate) fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    pub(crate) fn admin(&self) -> Admin {
        Admin::new(self.admin_url())
    }

    #[allow(dead_code, reason = "a benchmark does not use it")]
    pub(crate) fn admin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[1])
    }

    /// Registers the processes at these ports, once they listen.
    pub(crate) async fn register(&self, ports: impl IntoIterator<Item = u16>) {
        for port in ports {
            let url = format!("http://127.0.0.1:{port}");
            until("the process listens", async || {
                self.admin().register(&url).await.is_ok()
            })
            .await;
        }
    }

    /// Kills the server with SIGKILL, and starts it again.
    pub(crate) async fn kill(&mut self) {
        self.stop();
        self.run();
        self.ready().await;
    }

    /// Kills the server with SIGKILL.
    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn run(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("a log");
        let [ingress, admin, others] = self.ports.map(|port| port.to_string());
        let child = Command::new(&self.program)
            .args(["--no-logo", "--node-name", &self.name, "--base-dir"])
            .arg(self.folder.path().join("data"))
            .args(["--listen-mode", "tcp", "--bind-ip", "127.0.0.1"])
            .args(["--advertised-host", "127.0.0.1"])
            .env("RESTATE_INGRESS__BIND_PORT", ingress)
            .env("RESTATE_ADMIN__BIND_PORT", admin)
            .env("RESTATE_BIND_PORT", others)
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
            .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "128MB")
            .env("DO_NOT_TRACK", "1")
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .envs(self.cluster.iter().cloned())
            .stdout(Stdio::from(log.try_clone().expect("a second handle")))
            .stderr(Stdio::from(log))
            .spawn();
        self.child = Some(child.expect("the server starts"));
    }

    async fn ready(&self) {
        let deadline = Instant::now() + PATIENCE;
        let http = http();
        let urls = [
            format!("http://127.0.0.1:{}/health", self.ports[1]),
            format!("{}/restate/health", self.ingress()),
        ];
        for url in urls {
            loop {
                let answer = http.get(&url).send().await;
                if answer.is_ok_and(|answer| answer.status().is_success()) {
                    break;
                }
                assert!(
                    Instant::now() < deadline,
                    "the server does not answer at {url}"
                );
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// Waits until this many servers keep the metadata of the cluster. Before that, the loss of one may end the majority.
    async fn has_members(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        let url = format!("{}/cluster-health", self.admin_url());
        let http = http();
        loop {
            let members = async {
                let health = http.get(&url).send().await.ok()?.text().await.ok()?;
                let health: serde_json::Value = serde_json::from_str(&health).ok()?;
                let members = &health["metadata_cluster_health"]["members"];
                Some(members.as_array()?.len())
            };
            if members.await == Some(count) {
                return;
            }
            assert!(Instant::now() < deadline, "the cluster is not complete");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How long a test waits for what happens soon, also on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Waits until this is so.
pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Holds nodes of this process until the test opens it. A node that runs again after that is not held.
#[derive(Clone, Debug)]
pub(crate) struct Gate(tokio::sync::watch::Sender<bool>);

impl Gate {
    pub(crate) fn closed() -> Self {
        Gate(tokio::sync::watch::Sender::new(false))
    }

    pub(crate) fn opened() -> Self {
        Gate(tokio::sync::watch::Sender::new(true))
    }

    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn pass(&self) {
        let opened = self
            .0
            .subscribe()
            .wait_for(|is_open| *is_open)
            .await
            .map(drop);
        opened.expect("the node has the gate");
    }
}

/// Another process of a test. It is killed when it is dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Runs this test of this program, with these variables. It starts no server.
    pub(crate) fn of_test(test: &str, variables: &[(&str, &OsStr)]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["--exact", test, "--nocapture"])
            .envs(variables.iter().copied())
            .env_remove(PROGRAM)
            .stdout(Stdio::null());
        Process(command.spawn().expect("it starts"))
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("it was started").is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client of HTTP for the tests themselves.
pub(crate) fn http() -> reqwest::Client {
    // It fails if another test has done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Ports that were free a moment ago. All are taken at once, so they differ.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}
