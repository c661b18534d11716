//! Counts the words of 200 documents. Two processes serve the node that reads a document. One command starts everything, with
//! `PETALFLOW_RESTATE_BIN` naming the server:
//!
//! ```text
//! cargo run --example crawl
//! ```
//!
//! With `--studio` (and the feature `server`) it runs until Ctrl-C, and serves the studio:
//!
//! ```text
//! cargo run --features server --example crawl -- --studio
//! ```
//!
//! If `CRAWL_REDIS` has the URL of a Redis server, the page shows the nodes while they run.
//!
//! `crawl driver ADDRESS` and `crawl host ADDRESS` are the processes that it starts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use petalflow::prelude::*;
use petalflow_redis::{RedisEvents, RedisOptions};
use petalflow_restate::{Admin, Client, Endpoint, RestateFlow};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const DOCUMENTS: usize = 200;

#[state]
struct Crawl {
    #[key(input)]
    folder: PathBuf,
    #[key(sum)]
    words: u64,
    #[key(append)]
    read_by: Vec<u32>,
    summary: String,
}

/// The documents of the folder.
#[node(Crawl)]
async fn list(folder: &Path) -> petalflow::Result<Each<PathBuf>> {
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        documents.push(entry?.path());
    }
    documents.sort();
    Ok(Each(documents))
}

/// Reads a document.
#[node(Crawl)]
async fn read(#[item] document: &Path) -> petalflow::Result<(CrawlWords, CrawlReadBy)> {
    let text = std::fs::read_to_string(document)?;
    // As long as a small page takes to arrive.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let words = text.split_whitespace().count() as u64;
    Ok((CrawlWords(words), CrawlReadBy(vec![std::process::id()])))
}

#[node(Crawl)]
async fn summarize(words: &u64, read_by: &[u32]) -> CrawlSummary {
    let processes: BTreeSet<&u32> = read_by.iter().collect();
    CrawlSummary(format!(
        "{words} words in {} documents, read by {} processes",
        read_by.len(),
        processes.len()
    ))
}

flow!(CrawlAll(Crawl) {
    list -> each read -> summarize;
    defer summarize;
    with read { remote: "crawlers" };
});

async fn flow() -> Result<RestateFlow<CrawlAll>> {
    let flow = RestateFlow::new(CrawlAll::new());
    Ok(match std::env::var("CRAWL_REDIS") {
        Ok(url) => flow.events(RedisEvents::connect(RedisOptions::new(url)).await?),
        Err(_) => flow,
    })
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => everything(false).await,
        ["--studio"] => everything(true).await,
        ["driver", address] => {
            Endpoint::new()
                .threads(&flow().await?)?
                .bind(address)
                .await?
                .serve()
                .await;
            Ok(())
        }
        ["host", address] => {
            let host = Endpoint::new()
                .nodes(&flow().await?, "crawlers")?
                .concurrency(16);
            host.bind(address).await?.serve().await;
            Ok(())
        }
        _ => Err(
            "use `crawl`, `crawl --studio`, `crawl driver ADDRESS` or `crawl host ADDRESS`".into(),
        ),
    }
}

/// A process that ends with the program.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Result<Self> {
        Ok(Process(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?,
        ))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn everything(shows_studio: bool) -> Result<()> {
    let program = std::env::var("PETALFLOW_RESTATE_BIN").map_err(|_| {
        "set PETALFLOW_RESTATE_BIN to the path of `restate-server`: `npm install --ignore-scripts @restatedev/restate-server` installs it"
    })?;
    let folder = std::env::temp_dir().join(format!("petalflow-crawl-{}", std::process::id()));
    let documents = folder.join("documents");
    write_documents(&documents)?;
    let _server = Process::start(&mut server(&program, &folder))?;
    let this = std::env::current_exe()?;
    let _driver = Process::start(Command::new(&this).args(["driver", "127.0.0.1:29080"]))?;
    // A service has one address. Where there are many hosts, it is that of a load balancer; here the balancer is this program.
    let _one = Process::start(Command::new(&this).args(["host", "127.0.0.1:29082"]))?;
    let _two = Process::start(Command::new(&this).args(["host", "127.0.0.1:29083"]))?;
    tokio::spawn(balance(
        "127.0.0.1:29081",
        ["127.0.0.1:29082", "127.0.0.1:29083"],
    ));
    let admin = Admin::new("http://127.0.0.1:29070");
    for endpoint in ["http://127.0.0.1:29080", "http://127.0.0.1:29081"] {
        let deadline = Instant::now() + Duration::from_secs(30);
        while let Err(error) = admin.register(endpoint).await {
            if Instant::now() > deadline {
                return Err(error.into());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let begun = Instant::now();
    let client = Client::new(&flow().await?, "http://127.0.0.1:28080");
    let thread = client.thread("crawls:first");
    thread.begin(documents).await?;
    let rest = thread.wait().await?;
    let snapshot = thread.snapshot().await?.ok_or("the thread is gone")?;
    println!(
        "{}: {} in {:?}",
        rest.status,
        snapshot.state.summary,
        begun.elapsed()
    );
    if shows_studio {
        studio(&client, &admin).await?;
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Serves the threads and the page until Ctrl-C.
#[cfg(feature = "server")]
async fn studio(client: &Client<CrawlAll>, admin: &Admin) -> Result<()> {
    use petalflow::checkpoint::InMemoryStore;
    use petalflow_documents::kinds::TriggerAuth;
    use petalflow_server::{ServedFlow, Server};

    let address = "127.0.0.1:28000";
    let threads = petalflow_restate::RestateThreads::new(client, admin);
    let server = Server::builder(&InMemoryStore::new())
        .serve_remote(ServedFlow::new(CrawlAll::new()).named("crawls"), threads)
        // Only programs on this machine reach the address.
        .threads(TriggerAuth::None)
        .hosts(["127.0.0.1", "localhost"])
        .routes(axum::Router::new().nest_service("/studio", petalflow_server::studio::router()))
        .build()?;
    println!("http://{address}/studio/");
    let listener = tokio::net::TcpListener::bind(address).await?;
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    Ok(server.serve(listener, stop).await?)
}

#[cfg(not(feature = "server"))]
async fn studio(_: &Client<CrawlAll>, _: &Admin) -> Result<()> {
    Err("the studio needs the feature `server`: cargo run --features server --example crawl -- --studio".into())
}

fn write_documents(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for number in 0..DOCUMENTS {
        let text = "petals fall on water ".repeat(number % 7 + 1);
        std::fs::write(folder.join(format!("{number:03}.txt")), text)?;
    }
    Ok(())
}

fn server(program: &str, folder: &Path) -> Command {
    let mut server = Command::new(program);
    server
        .args(["--no-logo", "--node-name", "crawl", "--listen-mode", "tcp"])
        .args([
            "--bind-ip",
            "127.0.0.1",
            "--advertised-host",
            "127.0.0.1",
            "--base-dir",
        ])
        .arg(folder.join("server"))
        .env("RESTATE_INGRESS__BIND_PORT", "28080")
        .env("RESTATE_ADMIN__BIND_PORT", "29070")
        .env("RESTATE_BIND_PORT", "25122")
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
        .env("RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE", "128MB")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("DO_NOT_TRACK", "1");
    server
}

/// Gives each connection to the next host.
async fn balance(address: &str, hosts: [&'static str; 2]) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    for host in hosts.into_iter().cycle() {
        let (mut client, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut server = tokio::net::TcpStream::connect(host).await?;
            client.set_nodelay(true)?;
            server.set_nodelay(true)?;
            tokio::io::copy_bidirectional(&mut client, &mut server).await
        });
    }
    Ok(())
}
