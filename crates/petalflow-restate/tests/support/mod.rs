//! A Restate server for tests.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use petalflow_restate::Admin;

/// The environment variable with the path of the server's program.
pub(crate) const PROGRAM: &str = "PETALFLOW_RESTATE_BIN";

/// A Restate server. It is killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    ports: [u16; 3],
    folder: tempfile::TempDir,
    program: String,
}

impl Server {
    /// Starts a server, or returns `None` and says so if there is no program.
    pub(crate) async fn start() -> Option<Self> {
        let Ok(program) = std::env::var(PROGRAM) else {
            eprintln!("skipped: set {PROGRAM} to the path of `restate-server`");
            return None;
        };
        let ports = free_ports();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let child = spawn(&program, ports, &folder);
        let mut server = Server {
            child,
            ports,
            folder,
            program,
        };
        server.ready().await;
        Some(server)
    }

    pub(crate) fn ingress(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports[0])
    }

    pub(crate) fn admin(&self) -> Admin {
        Admin::new(format!("http://127.0.0.1:{}", self.ports[1]))
    }

    /// Kills the server with SIGKILL, and starts it again.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it was killed");
        self.child = spawn(&self.program, self.ports, &self.folder);
        self.ready().await;
    }

    async fn ready(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let http = reqwest::Client::new();
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
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(program: &str, ports: [u16; 3], folder: &tempfile::TempDir) -> Child {
    let log = folder.path().join("log");
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log)
        .expect("a log");
    Command::new(program)
        .args(["--no-logo", "--node-name", "test", "--base-dir"])
        .arg(folder.path().join("data"))
        .args([
            "--listen-mode",
            "tcp",
            "--bind-ip",
            "127.0.0.1",
            "--advertised-host",
            "127.0.0.1",
        ])
        .env("RESTATE_INGRESS__BIND_PORT", ports[0].to_string())
        .env("RESTATE_ADMIN__BIND_PORT", ports[1].to_string())
        .env("RESTATE_BIND_PORT", ports[2].to_string())
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
        .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "128MB")
        .env("DO_NOT_TRACK", "1")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .stdout(Stdio::from(log.try_clone().expect("a second handle")))
        .stderr(Stdio::from(log))
        .spawn()
        .expect("the server starts")
}

/// Ports that were free a moment ago. All are taken at once, so they differ.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}
