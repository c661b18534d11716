//! Three flows, an agent and a schedule behind one page. The program is in `main.rs`; tests open the page in a browser.

mod librarian;
mod refund;
mod research;

use axum::Router;
use petalflow::checkpoint::Store;
use petalflow_documents::Services;
use petalflow_documents::document::{Catalog, Source};
use petalflow_documents::kinds::{ThreadHandler, TriggerAuth};
use petalflow_server::{Schedule, Server, ServerBuilder};
use serde_json::json;

const LETTERS: &str = include_str!("../documents/letters.graph.yaml");

/// The server of the example, with its threads in this store.
///
/// # Errors
///
/// If the document of the letters is wrong.
pub fn server(
    store: &(impl Store + Clone),
    auth: TriggerAuth,
) -> Result<ServerBuilder, petalflow::BoxError> {
    let letters = Source::new("letters.graph.yaml", LETTERS).check(&Catalog::default())?;
    Ok(Server::builder(store)
        .serve_flow(refund::served())
        .serve_flow(research::served())
        .document(
            letters.graph(&Catalog::default()),
            &Services::new().human(ThreadHandler),
        )
        .agent("librarian", &librarian::agent())
        .schedule(morning_research())
        .threads(auth)
        .routes(Router::new().nest_service("/studio", petalflow_server::studio::router())))
}

/// A research each morning of a working day.
fn morning_research() -> Schedule {
    Schedule::new("morning", "research", "0 7 * * MON-FRI")
        .zone("Europe/Berlin")
        .input(json!({ "topic": "the news", "rounds": 2 }))
}
