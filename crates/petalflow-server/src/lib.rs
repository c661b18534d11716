//! An HTTP server for webhooks: a request to a trigger starts a durable run of a graph over an
//! [`Envelope`](petalflow_documents::Envelope).
//!
//! ```
//! use petalflow::checkpoint::InMemoryStore;
//! use petalflow_documents::document::{Catalog, Source};
//! use petalflow_documents::Services;
//! use petalflow_server::Server;
//! use tokio::net::TcpListener;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let source = Source::new("orders.graph.yaml", "
//! id: orders
//! version: '1.0'
//! kind: graph
//! nodes:
//!   - id: incoming
//!     type: webhook_trigger
//!     config: { auth: { type: header_token, token: secret } }
//!   - id: thank
//!     type: transform
//!     config: { transform: template, template: 'Thank you for order {{.webhook_body.order}}.', output_var: text }
//! edges:
//!   - { source: incoming, target: thank }
//! ");
//! let graph = source.check(&Catalog::default())?.graph(&Catalog::default());
//! // Any store: a file, PostgreSQL, Redis.
//! let store = InMemoryStore::new();
//! let server = Server::builder(&store).document(&graph, &Services::new()).build()?;
//!
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! // Serves until the second argument is ready: a signal, for example `tokio::signal::ctrl_c()`.
//! server.serve(listener, async {}).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Addresses
//!
//! | request | response |
//! | --- | --- |
//! | to `/workflows/{graph}/webhooks/{trigger}` | 202 and `{"thread": ..}`: the input is stored, and the run continues |
//! | `GET /threads/{thread}` | the status, the envelope and the open questions |
//! | `GET /threads/{thread}/events` | the events of the thread, and those that follow (SSE); with `Last-Event-ID` those after it, and 204 if none will follow, so that a browser does not connect again |
//! | `POST /threads/{thread}/answers/{question}` with a [`HumanResponse`](petalflow_documents::kinds::HumanResponse) | 202 for the first answer, 409 for all others |
//! | `GET /health` | 200 if the store answers, and 503 otherwise or while the server stops |
//!
//! The addresses of threads are served only with [`ServerBuilder::threads`], which sets their authentication. An error is
//! `{"error": "what is wrong"}`.
//!
//! | status | reason |
//! | --- | --- |
//! | 400 | the body is not the JSON that its content type announces, or not an answer, also if a field is unknown; the identifier of the delivery is empty; the request has no `Host` |
//! | 401 | the token is missing or wrong |
//! | 404 | there is no such trigger, thread or address |
//! | 405 | the trigger does not allow the method; the header `Allow` has those that it does |
//! | 408 | the body took too long |
//! | 409 | another caller has answered, or a delivery with the same identifier has not been stored yet |
//! | 413, 431 | the body or the headers are too large |
//! | 422 | the answer does not fit the question, or a repeated delivery has another body |
//! | 500 | a node failed while the caller waited, or the store has damaged data |
//! | 503 | a [limit](Limits) is reached, the store cannot be reached, or the server stops; `Retry-After` says when to try again |
//!
//! # What is promised
//!
//! * **202 means stored.** The input is in the store before the response is sent. A client that disconnects, a crash and a
//!   shutdown lose nothing: the next process continues the run.
//! * **One delivery, one thread.** With the header `Idempotency-Key`, a repeated delivery gets the thread of the first one,
//!   also from another process with the same store. A repeated delivery with another body is refused.
//! * **A token is compared in a time that does not depend on it**, before the body is read.
//! * **Bounded memory.** At most [`Limits::max_requests`] bodies are in memory, each of at most the size that its trigger
//!   allows.
//!
//! # What differs from PetalFlow
//!
//! PetalFlow's server runs the graph while the client waits, and answers with the result. Here the client gets 202. With
//! [`Limits::max_wait`], a client may wait: `Prefer: wait=10`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod answers;
mod builder;
mod delivery;
mod error;
mod events;
mod health;
mod hook;
mod limits;
mod notice;
mod refusal;
mod request;
mod router;
mod serve;
mod server;
mod settings;
mod status;

pub use builder::ServerBuilder;
pub use error::{SetupError, SetupErrors};
pub use limits::Limits;
pub use notice::Notice;
pub use server::Server;
