//! `cargo run --bin studio -- studio.db 127.0.0.1:3000`: three flows, an agent and a schedule behind one page.

use petalflow_documents::kinds::TriggerAuth;
use petalflow_sqlite::SqliteStore;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let mut words = std::env::args().skip(1);
    let file = words.next().unwrap_or_else(|| "studio.db".into());
    let address = words.next().unwrap_or_else(|| "127.0.0.1:3000".into());

    let store = SqliteStore::open(&file).await?;
    let token = format!("{:032x}", fastrand::u128(..));
    let header = TriggerAuth::HeaderToken {
        header: "X-PetalFlow-Token".into(),
        token: token.clone(),
    };
    let server = petalflow_studio_example::server(&store, header)?
        .on_notice(|notice| println!("{notice}"))
        .build()?;
    let listener = TcpListener::bind(&address).await?;
    println!("http://{}/studio/#token={token}", listener.local_addr()?);
    server
        .serve(listener, async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    Ok(())
}
