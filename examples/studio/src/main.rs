//! `cargo run --bin studio -- studio.db 127.0.0.1:3000`: three flows and an agent behind one page.

mod librarian;
mod refund;
mod research;

use axum::Router;
use petalflow_documents::Services;
use petalflow_documents::document::{Catalog, Source};
use petalflow_documents::kinds::{ThreadHandler, TriggerAuth};
use petalflow_server::{Schedule, Server};
use petalflow_sqlite::SqliteStore;
use serde_json::json;
use tokio::net::TcpListener;

const LETTERS: &str = include_str!("../documents/letters.graph.yaml");

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
    let letters = Source::new("letters.graph.yaml", LETTERS).check(&Catalog::default())?;
    let server = Server::builder(&store)
        .serve_flow(refund::served())
        .serve_flow(research::served())
        .document(
            letters.graph(&Catalog::default()),
            &Services::new().human(ThreadHandler),
        )
        .agent("librarian", &librarian::agent())
        .schedule(morning_research())
        .threads(header)
        .routes(Router::new().nest_service("/studio", petalflow_studio::router()))
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

/// A research each morning of a working day.
fn morning_research() -> Schedule {
    Schedule::new("morning", "research", "0 7 * * MON-FRI")
        .zone("Europe/Berlin")
        .input(json!({ "topic": "the news", "rounds": 2 }))
}
