//! An HTTP server for flows, agents, conversations and documents: clients start durable threads, see them, answer their
//! questions and steer them. Webhooks start threads of documents, whose state is an
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
//! | `GET /flows`, `/flows/{flow}`, `/flows/{flow}/graph.svg` | the flows, with graphs and schemas |
//! | `POST /flows/{flow}/threads` | 202 and `{"thread": ..}`: the input is stored, and the run continues |
//! | to `/workflows/{graph}/webhooks/{trigger}` | the same, for the trigger of a document |
//! | `GET /threads`, `/threads/{thread}`, `/threads/{thread}/history`, `/threads/{thread}/checkpoints/{number}` | the threads, in pages; one thread; its checkpoints |
//! | `GET /threads/{thread}/export` | the thread as one file, without its secrets, for a test that [replays](petalflow::thread::ThreadFile) it |
//! | `GET /threads/{thread}/events` | the events of the thread, and those that follow (SSE); with `Last-Event-ID` those after it, and 204 if none will follow, so that a browser does not connect again |
//! | `GET /threads/{thread}/wait` | the thread when it rests, or 202 if it does not in this time |
//! | `GET /inbox` | what threads wait for: questions, approvals and calls of agents, oldest first, in pages |
//! | `POST /threads/{thread}/answers/{question}` | 202 for the first answer, 409 for all others |
//! | `POST /threads/{thread}/turns`, `/resume`, `/cancel`, `/edit`, `/fork`, `/copy`, `PUT /labels`, `DELETE` | what a person does with a thread |
//! | `GET /schedules`, `/schedules/{schedule}`, `POST /schedules/{schedule}/pause`, `/unpause`, `/run` | the schedules (feature `schedules`) |
//! | `GET /retention`, `PUT`, `DELETE /retention/{flow}` | which finished threads are kept |
//! | `GET /memory`, `/memory/search`, `GET`, `PUT`, `DELETE /memory/entry` | the long-term memory (feature `memory`) |
//! | `GET /info` | the version, the features, the flows and the store |
//! | `GET /metrics` | numbers for Prometheus (feature `metrics`) |
//! | `GET /openapi.json` | the interface as an OpenAPI 3.1 document |
//! | `GET /health` | 200 if the store answers, and 503 otherwise or while the server stops |
//!
//! The addresses of flows and threads are served only with [`ServerBuilder::threads`], which sets their authentication. An error
//! is `{"error": "what is wrong"}`.
//!
//! | status | reason |
//! | --- | --- |
//! | 400 | the body is not the JSON that its content type announces, or not an answer, also if a field is unknown; the identifier of the delivery is empty; the request has no `Host` |
//! | 401 | the token or the signature is missing or wrong |
//! | 403 | the server does not answer to this host, or the caller may not see threads |
//! | 404 | there is no such flow, trigger, thread, checkpoint or address |
//! | 405 | the address has no such method; for a trigger, the header `Allow` has those that it allows |
//! | 408 | the body took too long |
//! | 409 | another caller has answered, the thread is busy or exists already, or a request with the same identifier has not been stored yet |
//! | 413, 431 | the body or the headers are too large |
//! | 422 | the input or the answer does not fit, or a repeated request has another body |
//! | 500 | a node failed while the caller waited, or the store has damaged data |
//! | 503 | a [limit](Limits) is reached, the store cannot be reached, or the server stops; `Retry-After` says when to try again |
//!
//! # What is promised
//!
//! * **202 means stored.** The input is in the store before the response is sent. A client that disconnects, a crash and a
//!   shutdown lose nothing: the next process continues the run.
//! * **One request, one effect.** With the header `Idempotency-Key`, a repeated request gets the answer of the first one, also
//!   from another process with the same store, and begins nothing. A repeated request with another body is refused.
//! * **A token is compared in a time that does not depend on it**, before the body is read.
//! * **Bounded memory.** At most [`Limits::max_requests`] bodies are in memory, each of at most the size that its trigger
//!   or the [limits](Limits) allow.
//!
//! # What differs from PetalFlow
//!
//! PetalFlow's server runs the graph while the client waits, and answers with the result. Here the client gets 202. With
//! [`Limits::max_wait`], a client may wait: `Prefer: wait=10`.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "a2a")]
mod a2a;
mod access;
mod access_check;
#[cfg(feature = "agent")]
mod agent;
mod answers;
mod asking;
mod builder;
mod builder_hosts;
mod builder_idempotency;
#[cfg(feature = "memory")]
mod builder_memory;
#[cfg(feature = "metrics")]
mod builder_metrics;
mod builder_notify;
mod builder_remote;
mod builder_retention;
mod bulk;
#[cfg(feature = "agent")]
mod call_decision;
mod chosen_id;
#[cfg(feature = "conversation")]
mod conversation;
mod definitions;
mod delivery;
mod digest;
mod elsewhere;
mod error;
mod events;
mod flows;
mod health;
mod hook;
mod host;
mod idempotency;
mod info;
mod keyed_request;
mod limits;
#[cfg(feature = "metrics")]
mod measured_requests;
#[cfg(feature = "memory")]
mod memory;
#[cfg(feature = "memory")]
mod memory_http;
mod message_queue;
#[cfg(feature = "metrics")]
mod metrics;
mod multitask;
mod multitask_strategy;
mod name;
mod notice;
mod notification_delivery;
mod notify;
mod openapi;
#[cfg(feature = "agent")]
mod partial_outputs;
#[cfg(feature = "agent")]
mod pending_call;
#[cfg(feature = "protocol")]
#[cfg_attr(
    not(feature = "openai"),
    allow(dead_code, unused_imports, reason = "protocols use it")
)]
mod protocol;
mod recovery;
mod refusal;
mod repeated;
mod request;
mod request_body;
#[cfg(feature = "protocol")]
mod request_labels;
mod rest;
mod retention;
mod retention_sweep;
mod router;
mod running;
#[cfg(feature = "schedules")]
mod schedule;
#[cfg(feature = "schedules")]
mod scheduler;
#[cfg(feature = "metrics")]
mod scrape;
mod serve;
mod served;
mod server;
mod settings;
mod start_lock;
#[cfg(feature = "studio")]
#[cfg_attr(docsrs, doc(cfg(feature = "studio")))]
pub mod studio;
mod thread_commands;
mod thread_event;
mod threads;
#[cfg(feature = "protocol")]
#[cfg_attr(
    not(feature = "openai"),
    allow(dead_code, unused_imports, reason = "protocols use it")
)]
mod turn_parts;
mod wait;

#[cfg(feature = "a2a")]
pub use a2a::{A2a, AgentProfile, AgentSkill};
pub use access::Access;
pub use builder::ServerBuilder;
pub use error::{SetupError, SetupErrors};
pub use limits::Limits;
#[cfg(feature = "metrics")]
pub use metrics::ModelMetrics;
pub use multitask_strategy::MultitaskStrategy;
pub use notice::Notice;
pub use notify::{Notification, NotificationKind, Notifier};
#[cfg(feature = "notify")]
#[cfg_attr(docsrs, doc(cfg(feature = "notify")))]
pub use notify::{WebhookNotifier, WebhookNotifierError};
pub use retention::ThreadRetention;
#[cfg(feature = "schedules")]
pub use schedule::{Missed, Schedule};
pub use served::{FlowKind, RemoteThreads, RemoteTrouble, ServedFlow, ThreadWork};
pub use server::Server;
