//! `cargo run --bin server -- refunds.db 127.0.0.1:3000`

use std::path::PathBuf;

use petalflow_server_example::{App, router};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let mut words = std::env::args().skip(1);
    let file = PathBuf::from(words.next().unwrap_or_else(|| "refunds.db".into()));
    let address = words.next().unwrap_or_else(|| "127.0.0.1:3000".into());

    let app = App::open(&file).await?;
    println!("{} unfinished refunds continue", app.recover().await?);
    let listener = TcpListener::bind(&address).await?;
    println!("listening on http://{}", listener.local_addr()?);

    // First the runs stop at their barriers, which ends the streams of events; then the server waits for its connections.
    let stopping = app.clone();
    axum::serve(listener, router(app))
        .with_graceful_shutdown(async move {
            let _ = tokio::signal::ctrl_c().await;
            println!("stopping");
            stopping.drain().await;
        })
        .await?;
    Ok(())
}
