//! Orders by webhook.
//!
//! ```sh
//! ORDERS_TOKEN=shop CLERK_TOKEN=clerk cargo run --bin webhooks -- orders.db 127.0.0.1:3000
//! curl localhost:3000/workflows/orders/webhooks/incoming -H 'X-PetalFlow-Webhook-Token: shop' \
//!     -H 'Idempotency-Key: 17' --json '{"order": 17, "euros": 1200}'
//! curl localhost:3000/threads/THREAD -H 'X-Clerk-Token: clerk'
//! curl localhost:3000/threads/THREAD/answers/QUESTION -H 'X-Clerk-Token: clerk' --json '{"approved": true}'
//! ```

use std::path::PathBuf;

use petalflow_server_example::webhooks::server;
use petalflow_sqlite::SqliteStore;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let mut words = std::env::args().skip(1);
    let file = PathBuf::from(words.next().unwrap_or_else(|| "orders.db".into()));
    let address = words.next().unwrap_or_else(|| "127.0.0.1:3000".into());

    let server = server(&SqliteStore::open(&file).await?)?;
    let listener = TcpListener::bind(&address).await?;
    for path in server.paths() {
        println!("listening on http://{}{path}", listener.local_addr()?);
    }
    // Continues what an earlier process has left, and stops the runs at their barriers in the end.
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    server.serve(listener, stop).await?;
    Ok(())
}
