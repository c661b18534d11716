//! How the throughput of a pool grows with its node hosts: `cargo bench --bench hosts`, with `PETALFLOW_RESTATE_BIN` set.
//!
//! Each node waits, as one that calls a model or reads a page does. A host runs eight of them at once.

use std::time::{Duration, Instant};

use petalflow::prelude::*;
use petalflow_restate::{Client, Endpoint, RestateFlow};
use support::Server;
use tokio::net::{TcpListener, TcpStream};

#[path = "../tests/support/mod.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod support;

const PAGES: u32 = 400;
const CONCURRENCY: u32 = 8;
const WAIT: Duration = Duration::from_millis(100);

#[state]
struct Crawl {
    #[key(input)]
    pages: u32,
    #[key(sum)]
    read: u32,
}

#[node(Crawl)]
async fn list(pages: &u32) -> Each<u32> {
    (0..*pages).collect()
}

#[node(Crawl)]
async fn read(#[item] _page: &u32) -> CrawlRead {
    tokio::time::sleep(WAIT).await;
    CrawlRead(1)
}

flow!(CrawlAll(Crawl) {
    list -> each read;
    with read { remote: "crawlers" };
});

#[tokio::main]
async fn main() {
    let Some(server) = Server::start().await else {
        return;
    };
    let flow = RestateFlow::new(CrawlAll::new());
    let driver = Endpoint::new().threads(&flow).expect("a good name");
    let driver = driver.bind("127.0.0.1:0").await.expect("a port");
    let port = driver.address().port();
    tokio::spawn(driver.serve());
    server.register([port]).await;
    let client = Client::new(&flow, server.ingress());
    let mut of_one = None;
    for hosts in [1_u32, 2, 4] {
        let mut ports = Vec::new();
        for _ in 0..hosts {
            let host = Endpoint::new().nodes(&flow, "crawlers");
            let host = host.expect("a good name").concurrency(CONCURRENCY as usize);
            let host = host.bind("127.0.0.1:0").await.expect("a port");
            ports.push(host.address().port());
            tokio::spawn(host.serve());
        }
        // A service has one address, which is that of a load balancer.
        let balancer = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = balancer.local_addr().expect("an address").port();
        tokio::spawn(balance(balancer, ports));
        server.register([port]).await;
        let begun = Instant::now();
        let thread = client.thread(format!("hosts-{hosts}"));
        thread.begin(PAGES).await.expect("it begins");
        thread.wait().await.expect("it ends");
        let took = begun.elapsed();
        let read = thread.snapshot().await.expect("it is there");
        assert_eq!(read.expect("it is there").state.read, PAGES);
        let per_second = f64::from(PAGES) / took.as_secs_f64();
        let ratio = per_second / *of_one.get_or_insert(per_second);
        let most = f64::from(hosts * CONCURRENCY) / WAIT.as_secs_f64();
        println!(
            "{hosts} hosts: {per_second:.0} nodes per second of at most {most:.0}, {ratio:.2} times those of one host"
        );
    }
}

/// Gives each connection to the next host.
async fn balance(listener: TcpListener, ports: Vec<u16>) {
    for port in ports.into_iter().cycle() {
        let Ok((mut client, _)) = listener.accept().await else {
            return;
        };
        tokio::spawn(async move {
            let mut host = TcpStream::connect(("127.0.0.1", port)).await?;
            client.set_nodelay(true)?;
            host.set_nodelay(true)?;
            tokio::io::copy_bidirectional(&mut client, &mut host).await
        });
    }
}
